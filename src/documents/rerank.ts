/**
 * Hybrid search: a search by vector and one by terms, at the same time; what they find is
 * brought together, and a reranker has the last word on the order.
 *
 * A document takes part only if it has both $vector and $lexical. One that does not, or that
 * has no text for the reranker, is left out, and keeps its rank in the search that found it.
 */
import type { Caller } from '../caller.ts'
import assert from 'node:assert/strict'
import type { Hit, SearchBy, StoredRecord } from '../engine/engine.ts'
import { apiError } from '../errors/api-error.ts'
import { printJson } from '../json/print.ts'
import { isNumeric, jsonTypeOf, type Value } from '../json/value.ts'
import type { Filter } from '../query/filter.ts'
import type { Path } from '../query/path.ts'
import type { Projection } from '../query/projection.ts'
import { showValue } from '../query/show.ts'
import { valueAt } from '../query/value-at.ts'
import { compareReranked, fuse } from '../search/hybrid/fusion.ts'
import { similarity } from '../search/vector/similarity.ts'
import { idKey } from '../records/record-id.ts'
import { parseRecord } from '../records/read.ts'
import { show } from './records.ts'
import { hasText, type RerankPlan, type RerankServer } from './rerank-plan.ts'
import { search } from '../records/search.ts'
import { searchedBy } from './searched-by.ts'
import type { DocumentSource } from './search-fields.ts'

export interface RerankedPage {
  /** JSON texts, with commas between them. */
  readonly documents: string
  /** Of each document, in the same order. */
  readonly scores: readonly Scores[]
  /** What the search by vector looked for. */
  readonly sortVector: Float32Array
}

export interface Scores extends SearchScores {
  readonly rerank: number
}

interface SearchScores {
  /** The similarity, even where the search by vector did not get to the document. */
  readonly vector: number
  readonly vectorRank: number | null
  readonly bm25Rank: number | null
  readonly rrf: number
}

/** Which documents, and what is shown of them. */
interface Selected {
  readonly filter: Filter
  readonly projection: Projection
}

export async function rerank(
  store: DocumentSource,
  plan: RerankPlan,
  { filter, projection }: Selected,
  { models, credentials }: RerankServer,
  caller: Caller,
): Promise<RerankedPage> {
  const { query, service, limit } = plan
  const found = await searchBoth(store, plan, filter, caller)
  const candidates = takePart(store, plan, found)
  const passages = candidates.map(({ passage }) => passage)
  const scores =
    passages.length === 0
      ? []
      : await models.rerank({
          service,
          query,
          passages,
          credentials,
          signal: caller.signal,
        })
  const best = candidates
    .map((candidate, i) => ({ ...candidate, rerank: scores[i]! }))
    .sort(compareReranked)
    .slice(0, limit)
  return {
    documents: best.map(({ record }) => show(record, projection)).join(','),
    scores: best,
    sortVector: found.sortVector,
  }
}

interface FoundByBoth {
  readonly sortVector: Float32Array
  readonly vector: readonly Hit[]
  readonly bm25: readonly Hit[]
}

async function searchBoth(
  store: DocumentSource,
  { byVector, byTerms, hybridLimits }: RerankPlan,
  filter: Filter,
  caller: Caller,
): Promise<FoundByBoth> {
  const find = (by: SearchBy, limit: number) =>
    search(store, { by, filter, limit, withSearchFields: true }, caller)
  const findByVector = async () => {
    const by = await searchedBy(byVector, store, caller)
    assert(by.kind === 'vector')
    return { sortVector: by.numbers, vector: await find(by, hybridLimits.vector) }
  }
  const [found, bm25] = await Promise.all([
    findByVector(),
    find({ ...byTerms, path: '$lexical' }, hybridLimits.lexical),
  ])
  return { ...found, bm25 }
}

interface Candidate extends SearchScores {
  readonly id: Value
  readonly record: StoredRecord
  /** What the reranker reads. */
  readonly passage: string
}

/** What was found and can be reranked. */
function takePart(
  { collection }: DocumentSource,
  { rerankOn }: RerankPlan,
  found: FoundByBoth,
): readonly Candidate[] {
  const { metric } = collection.options.vector!
  const candidates: Candidate[] = []
  for (const { item, ...ranks } of fuse(found, ({ record }) => idKey(record.id))) {
    const { record } = item
    const { vector, lexical } = record.search!
    if (!vector || !hasText(lexical)) continue
    const passage = passageOf(record, rerankOn)
    if (passage === undefined) continue
    const near =
      ranks.vectorRank === null
        ? similarity(metric, found.sortVector, Float32Array.from(vector.numbers))
        : item.score
    candidates.push({ id: record.id, record, passage, vector: near, ...ranks })
  }
  return candidates
}

/** Undefined where there is nothing to read. */
function passageOf(record: StoredRecord, rerankOn: Path | undefined): string | undefined {
  const value = valueToRead(record, rerankOn) ?? null
  if (value === null) return undefined
  if (typeof value === 'string') return hasText(value) ? value : undefined
  if (typeof value === 'boolean' || isNumeric(value)) return printJson(value)
  const error = apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command.options.rerankOn',
    value: showValue(rerankOn!.text),
    reason:
      `the document with _id ${showValue(record.id)} has an ${jsonTypeOf(value)} there, ` +
      'and only texts, numbers and booleans can be compared with the query',
  })
  error.documentIds = [record.id]
  throw error
}

function valueToRead(record: StoredRecord, rerankOn: Path | undefined): Value | undefined {
  const { lexical, vectorize } = record.search!
  switch (rerankOn?.text) {
    case undefined:
      return hasText(lexical) ? lexical : vectorize
    case '$lexical':
      return lexical
    case '$vectorize':
      return vectorize
    default:
      return valueAt(parseRecord(record), rerankOn!)
  }
}
