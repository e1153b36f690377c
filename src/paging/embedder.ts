/** Embeds texts with the embedding service of a collection or column. */
import type { Entrant } from '../caller/fair-queue.ts'
import type { EmbeddingService } from '../language/columns/column-type.ts'
import type { ProviderCredentials, Models } from '../providers/models.ts'

export interface Embedder {
  embed(
    texts: readonly string[],
    purpose: 'index' | 'search',
    caller: Entrant,
  ): Promise<readonly Float32Array[]>
}

/** The embedder for a vector's service; undefined when there is no service. */
export function embedderFor(
  {
    service,
    dimension,
  }: { readonly service?: EmbeddingService; readonly dimension: number },
  models: Pick<Models, 'embed'>,
  credentials: ProviderCredentials,
): Embedder | undefined {
  if (service === undefined) return undefined
  return {
    embed: (texts, purpose, caller) =>
      models.embed({ service, dimension, texts, purpose, credentials, caller }),
  }
}
