import { counted } from '../../errors/catalog-entry.ts'
import type { Models } from '../../providers/models.ts'
import type { Trace } from './trace.ts'

/** Wraps models, so that the trace contains each call with its size and duration. */
export function tracedModels(models: Models, trace: Trace): Models {
  const timed = async <T>(
    what: string,
    { provider, modelName }: { readonly provider: string; readonly modelName: string },
    ask: () => Promise<T>,
  ): Promise<T> => {
    trace.begin()
    const startedAt = performance.now()
    const tell = (how: string) => {
      const ms = (performance.now() - startedAt).toFixed(1)
      trace.note(`${how} ${what} by ${provider} in ${ms} ms`, () => ({
        provider,
        modelName,
      }))
    }
    try {
      const answer = await ask()
      tell('Computed')
      return answer
    } catch (error) {
      tell('Failed to compute')
      throw error
    }
  }
  return {
    embeddingProviders: models.embeddingProviders,
    rerankingProviders: models.rerankingProviders,
    answeringReranker: (service) => models.answeringReranker(service),
    embed: (request) =>
      timed(
        `the vectors of ${counted(request.texts.length, 'text')}`,
        request.service,
        () => models.embed(request),
      ),
    rerank: (request) =>
      timed(
        `the scores of ${counted(request.passages.length, 'text')}`,
        request.service,
        () => models.rerank(request),
      ),
    close: () => models.close(),
  }
}
