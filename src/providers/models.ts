/**
 * The models available to the server: those of providers over HTTP, and local ones. One object
 * serves the whole server; callers pass what differs between requests.
 */
import type { Entrant } from '../caller/fair-queue.ts'
import type { EmbeddingProviders } from './embedding-providers.ts'
import type { RerankingProviders } from './reranking-providers.ts'

export interface Models {
  readonly embeddingProviders: EmbeddingProviders
  readonly rerankingProviders: RerankingProviders
  /** One vector per text, in order. Throws an ApiError when the provider fails. */
  embed(request: EmbedRequest): Promise<readonly Float32Array[]>
  /**
   * One score per passage, in order; greater is more relevant. Throws an ApiError when the provider
   * fails.
   */
  rerank(request: RerankRequest): Promise<readonly number[]>
  /** The reranker that answers for this service: the service itself or its replacement. */
  answeringReranker(service: RerankService): RerankService
  close(): Promise<void>
}

export interface RerankService {
  readonly provider: string
  readonly modelName: string
}

export interface EmbedRequest {
  /** The embedding service, as the collection or column stores it. */
  readonly service: {
    readonly provider: string
    readonly modelName: string
    readonly authentication?: Readonly<Record<string, string>>
    readonly parameters?: Readonly<Record<string, unknown>>
  }
  readonly dimension: number
  readonly texts: readonly string[]
  /** What the texts are for: some models embed stored texts and queries differently. */
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

/** Keys from the headers of a request, to forward to a provider; absent: not sent. */
export interface ProviderCredentials {
  /** Header x-embedding-api-key. */
  readonly embeddingKey?: string | undefined
  /** Header x-embedding-access-id. */
  readonly embeddingAccessId?: string | undefined
  /** Header x-embedding-secret-id. */
  readonly embeddingSecretId?: string | undefined
  /** Header reranking-api-key, or x-rerank-api-key. */
  readonly rerankingKey?: string | undefined
  /** The token that authenticated the request. */
  readonly token?: string | undefined
}
