import { asFloating, asFloats, shortestFloat } from '../json/floats.ts'
import {
  readRerankService,
  type GivenRerankService,
} from '../collections/options/rerank-options.ts'
import type { HybridLimits } from '../collections/rerank/rerank-plan.ts'
import { findReranked, type Scores } from '../collections/rerank/rerank.ts'
import { isObject, type Value } from '../json/value.ts'
import { parseHybridSort, type HybridSort } from '../language/sorts/parse-hybrid-sort.ts'
import { defineCommand } from './dispatch/define.ts'
import {
  clause,
  clauseOrNull,
  flag,
  integer,
  options,
  text,
  type FieldContext,
} from './dispatch/fields.ts'
import { mismatch } from '../options/read-value.ts'

/**
 * Hybrid search: runs a vector search and a term search, and orders the results of both with a
 * reranker.
 */
export const findAndRerank = defineCommand({
  does: 'read',
  fields: {
    filter: clause,
    projection: clauseOrNull,
    sort: { takes: clause.takes, read: readSort },
    options: options({
      limit: integer({ min: 1 }),
      hybridLimits: { takes: { kind: 'anything' }, read: readHybridLimits },
      rerankOn: text,
      rerankQuery: text,
      rerank: { takes: { kind: 'object' }, read: readService },
      includeScores: flag(false),
      includeSortVector: flag(false),
    }),
  },

  async collection({ filter, projection, sort, options }, context) {
    const { limit, hybridLimits, rerankOn, rerankQuery, rerank: service } = options
    const { includeScores, includeSortVector } = options
    // The client sees warnings only if the reply has a status, which it has only if these options
    // are set.
    const withWarnings = includeScores || includeSortVector
    const found = await findReranked(
      context.documents,
      { sort, limit, hybridLimits, rerankOn, rerankQuery, service, withWarnings },
      { filter, projection },
      context,
      context.caller,
    )
    const { documents, scores, sortVector, warnings } = found
    return {
      data: { documents, nextPageState: null },
      status: {
        ...(includeScores && { documentResponses: scores.map(showScores) }),
        ...(includeSortVector && { sortVector: asFloats(sortVector) }),
      },
      warnings,
    }
  },
})

function showScores(scores: Scores): Value {
  const shown = new Map<string, Value>([
    ['$rerank', asFloating(scores.rerank)],
    ['$vector', asFloating(shortestFloat(scores.vector))],
    ['$vectorRank', scores.vectorRank],
    ['$bm25Rank', scores.bm25Rank],
    ['$rrf', asFloating(scores.rrf)],
  ])
  return new Map([['scores', shown]])
}

function readSort(value: Value | undefined, context: FieldContext): HybridSort {
  return parseHybridSort(clause.read(value, context))
}

/**
 * Parses hybridLimits: one number for both searches, or an object with one number for each search.
 * Bounds are checked later.
 */
function readHybridLimits(
  value: Value | undefined,
  context: FieldContext,
): HybridLimits | undefined {
  if (value === undefined || value === null) return undefined
  if (isWhole(value)) return { vector: value, lexical: value }
  if (isObject(value) && value.size === 2) {
    const vector = value.get('$vector')
    const lexical = value.get('$lexical')
    if (isWhole(vector) && isWhole(lexical)) return { vector, lexical }
  }
  return mismatch(context, value, 'an integer, or an Object of two: $vector and $lexical')
}

function isWhole(value: Value | undefined): value is number {
  return Number.isSafeInteger(value)
}

function readService(
  value: Value | undefined,
  { field }: FieldContext,
): GivenRerankService | undefined {
  return value === undefined || value === null ? undefined : readRerankService(value, field)
}
