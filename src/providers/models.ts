/**
 * The models that the server can ask: those of providers, over HTTP, and local ones. One
 * object for the whole server; callers bring along what differs between requests.
 */
import type { Entrant } from '../caller/fair-queue.ts'
import type { EmbeddingProviders } from './embedding-providers.ts'
import type { RerankingProviders } from './reranking-providers.ts'

export interface Models {
  readonly embeddingProviders: EmbeddingProviders
  readonly rerankingProviders: RerankingProviders
  /** One vector per text, in order. Throws an ApiError when the provider fails. */
  embed(request: EmbedRequest): Promise<readonly Float32Array[]>
  /** One score per passage, in order: greater fits the query better. Throws an ApiError. */
  rerank(request: RerankRequest): Promise<readonly number[]>
  /** The reranker that answers where this one is asked for: itself, or one in its place. */
  answeringReranker(service: RerankService): RerankService
  close(): Promise<void>
}

export interface RerankService {
  readonly provider: string
  readonly modelName: string
}

export interface EmbedRequest {
  /** As the collection keeps it. */
  readonly service: {
    readonly provider: string
    readonly modelName: string
    readonly authentication?: Readonly<Record<string, string>>
    readonly parameters?: Readonly<Record<string, unknown>>
  }
  readonly dimension: number
  readonly texts: readonly string[]
  /** Some models embed what is stored and what is searched for differently. */
  readonly purpose: 'index' | 'search'
  readonly credentials: ProviderCredentials
  readonly caller: Entrant
}

export interface RerankRequest {
  readonly service: RerankService
  readonly query: string
  readonly passages: readonly string[]
  readonly credentials: ProviderCredentials
  readonly caller: Entrant
}

/** Keys that came with a request, to be handed on to a provider; absent: not sent. */
export interface ProviderCredentials {
  /** Header x-embedding-api-key. */
  readonly embeddingKey?: string | undefined
  /** Header x-embedding-access-id. */
  readonly embeddingAccessId?: string | undefined
  /** Header x-embedding-secret-id. */
  readonly embeddingSecretId?: string | undefined
  /** Header reranking-api-key, or x-rerank-api-key. */
  readonly rerankingKey?: string | undefined
  /** The token that the request itself came with. */
  readonly token?: string | undefined
}
