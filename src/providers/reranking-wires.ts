/**
 * How each reranking service wants to be asked, and how it answers. All of them sort their
 * answers and can leave out the worst, but here every passage needs its score.
 */
import { at, byIndex } from './reply-shape.ts'

export interface RerankingAsk {
  readonly model: string
  readonly query: string
  readonly passages: readonly string[]
}

export interface RerankingWire {
  /** Passages of one request. */
  readonly batchSize: number
  readonly body: (ask: RerankingAsk) => object
  /** One entry per passage; undefined when the reply is of another shape. */
  readonly scores: (reply: unknown) => unknown
  /** Where errors explain themselves, as JSON pointers. */
  readonly errorAt: readonly string[]
}

const nvidia: RerankingWire = {
  batchSize: 10,
  body: ({ model, query, passages }) => ({
    model,
    query: { text: query },
    passages: passages.map((text) => ({ text })),
    // What is too long is an error rather than half read.
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

/** By the name of the provider. */
export const rerankingWires: ReadonlyMap<string, RerankingWire> = new Map([
  ['nvidia', nvidia],
  ['cohere', cohere],
  ['jinaAI', jinaAI],
  ['voyageAI', voyageAI],
  ['textEmbeddingsInference', textEmbeddingsInference],
])
