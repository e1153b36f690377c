/**
 * Request and response formats of each reranking service. Services sort their results and can omit
 * the worst ones, but the server needs a score for every passage.
 */
import { at, byIndex } from './reply-shape.ts'

export interface RerankingAsk {
  readonly model: string
  readonly query: string
  readonly passages: readonly string[]
}

export interface RerankingWire {
  /** Maximum number of passages per request. */
  readonly batchSize: number
  readonly body: (ask: RerankingAsk) => object
  /** One entry per passage; undefined when the response has another format. */
  readonly scores: (reply: unknown) => unknown
  /** JSON pointers to the message in an error response. */
  readonly errorAt: readonly string[]
}

const nvidia: RerankingWire = {
  batchSize: 10,
  body: ({ model, query, passages }) => ({
    model,
    query: { text: query },
    passages: passages.map((text) => ({ text })),
    // A passage that is too long causes an error instead of being truncated.
    truncate: 'NONE',
  }),
  scores: (reply) => byIndex(at(reply, '/rankings'), 'logit'),
  errorAt: ['/message', '/detail'],
}

const cohere: RerankingWire = {
  batchSize: 100,
  body: ({ model, query, passages }) => ({ model, query, documents: passages }),
  scores: (reply) => byIndex(at(reply, '/results'), 'relevance_score'),
  errorAt: ['/message'],
}

const jinaAI: RerankingWire = {
  batchSize: 100,
  body: ({ model, query, passages }) => ({
    model,
    query,
    documents: passages,
    return_documents: false,
  }),
  scores: (reply) => byIndex(at(reply, '/results'), 'relevance_score'),
  errorAt: ['/detail'],
}

const voyageAI: RerankingWire = {
  batchSize: 100,
  body: ({ model, query, passages }) => ({ model, query, documents: passages }),
  scores: (reply) => byIndex(at(reply, '/data'), 'relevance_score'),
  errorAt: ['/detail'],
}

const textEmbeddingsInference: RerankingWire = {
  batchSize: 32,
  body: ({ query, passages }) => ({ query, texts: passages }),
  scores: (reply) => byIndex(reply, 'score'),
  errorAt: ['/error', '/message'],
}

/** Protocols by name of the provider. */
export const rerankingWires: ReadonlyMap<string, RerankingWire> = new Map([
  ['nvidia', nvidia],
  ['cohere', cohere],
  ['jinaAI', jinaAI],
  ['voyageAI', voyageAI],
  ['textEmbeddingsInference', textEmbeddingsInference],
])
