/**
 * Hybrid search: runs a vector search and a term search concurrently, merges their results, and
 * orders them by the scores of a reranker.
 */
import type { Caller } from '../../caller/caller.ts'
import type { StoredRecord } from '../../engine/contract.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import type { LongText } from '../../json/long-text.ts'
import type { Value } from '../../json/value.ts'
import type { Filter } from '../../language/filters/filter.ts'
import { showAll } from '../../paging/show-all.ts'
import { compareReranked, fuse } from '../../search/hybrid/fusion.ts'
import { similarity } from '../../search/vector/similarity.ts'
import { idKey } from '../../language/values/record-id.ts'
import {
  hasAnyLexical,
  lacksLexical,
  searchBoth,
  type FoundByBoth,
} from './hybrid-search.ts'
import { show } from '../records.ts'
import {
  planRerank,
  type AskedRerank,
  type RerankPlan,
  type RerankServer,
} from './rerank-plan.ts'
import { selectDocuments, type Clauses, type Selection } from '../selection.ts'
import type { DocumentSource } from '../search-fields.ts'

export interface RerankedPage {
  /** The documents as JSON texts, separated by commas. */
  readonly documents: LongText
  /** Scores of each document, in the same order. */
  readonly scores: readonly Scores[]
  /** The query vector. */
  readonly sortVector: Float32Array
  readonly warnings: readonly ApiError[]
}

export interface Scores extends SearchScores {
  readonly rerank: number
}

interface SearchScores {
  /** The vector similarity; computed here for documents that only the term search found. */
  readonly vector: number
  readonly vectorRank: number | null
  readonly bm25Rank: number | null
  readonly rrf: number
}

/** Runs a findAndRerank. */
export async function findReranked(
  store: DocumentSource,
  asked: AskedRerank,
  clauses: Omit<Clauses, 'sort'>,
  server: RerankServer,
  caller: Caller,
): Promise<RerankedPage> {
  const plan = planRerank({ ...store, analysis: caller.analysis }, asked, server)
  const selection = selectDocuments(store, clauses, caller)
  const reranked = await rerank(store, plan, selection, server, caller)
  if (reranked.scores.length > 0 || plan.eligibility === 'vector') return reranked
  if (await hasAnyLexical(store, caller)) return reranked
  const alone = byVectorAlone(store, plan, reranked.sortVector)
  return rerank(store, alone, selection, server, caller)
}

/**
 * The plan for a collection without any $lexical: documents need only a vector. Reuses the
 * query vector of the first attempt, so that a text is embedded once.
 */
function byVectorAlone(
  { target }: DocumentSource,
  plan: RerankPlan,
  vector: Float32Array,
): RerankPlan {
  const warnings = plan.withWarnings
    ? [...plan.warnings, apiError('HYBRID_SEARCH_WITHOUT_LEXICAL', { target })]
    : []
  return { ...plan, byVector: { kind: 'vector', vector }, eligibility: 'vector', warnings }
}

async function rerank(
  store: DocumentSource,
  plan: RerankPlan,
  { filter, projection }: Selection,
  { models, credentials }: RerankServer,
  caller: Caller,
): Promise<RerankedPage> {
  const { query, service, limit } = plan
  const found = await searchBoth(store, plan, filter, caller)
  const candidates = candidatesOf(store, found)
  const passages = candidates.map(({ passage }) => passage)
  const [scores, warnings] = await Promise.all([
    passages.length === 0
      ? []
      : models.rerank({ service, query, passages, credentials, caller }),
    warningsAbout(store, plan, filter, { found, count: candidates.length }, caller),
  ])
  const best = candidates
    .map((candidate, i) => ({ ...candidate, rerank: scores[i]! }))
    .sort(compareReranked)
    .slice(0, limit)
  const records = best.map(({ record }) => record)
  return {
    documents: await showAll(records, (record) => show(record, projection), caller),
    scores: best,
    sortVector: found.byVector.numbers,
    warnings,
  }
}

interface Candidate extends SearchScores {
  readonly id: Value
  readonly record: StoredRecord
  /** The text that the reranker compares with the query. */
  readonly passage: string
}

/** Merges the results of both searches, with ranks and scores of each. */
function candidatesOf(
  { collection }: DocumentSource,
  found: FoundByBoth,
): readonly Candidate[] {
  const { metric } = collection.options.vector!
  const { numbers } = found.byVector
  return fuse(found, ({ record }) => idKey(record.id)).map(({ item, ...ranks }) => {
    const { record, passage, score } = item
    const near = () =>
      similarity(metric, numbers, Float32Array.from(record.search!.vector!.numbers))
    const vector = ranks.vectorRank === null ? near() : score
    return { id: record.id, record, passage, vector, ...ranks }
  })
}

/** Warns when the page is shorter than the limit because documents lack $lexical. */
async function warningsAbout(
  store: DocumentSource,
  plan: RerankPlan,
  filter: Filter,
  { found, count }: { readonly found: FoundByBoth; readonly count: number },
  caller: Caller,
): Promise<readonly ApiError[]> {
  const { limit, hybridLimits, eligibility, rerankOn, warnings } = plan
  if (!plan.withWarnings) return []
  const isVectorEnough = eligibility === 'vector'
  const isRerankedOn = rerankOn?.text === '$lexical'
  // A vector search that reached its limit may have further results.
  const isShort = count < limit && found.vector.length < hybridLimits.vector
  if (!isShort || (isVectorEnough && !isRerankedOn)) return warnings
  const missing = { by: found.byVector, filter, count }
  if (!(await lacksLexical(store, plan, missing, caller))) return warnings
  const { target } = store
  const facts = { target, count, limit, isVectorEnough, isRerankedOn }
  return [...warnings, apiError('HYBRID_SEARCH_MISSING_LEXICAL', facts)]
}
