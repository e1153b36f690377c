/**
 * Runs the vector search and the term search of a findAndRerank, and selects eligible
 * documents. Without terms to search for, only the vector search runs.
 *
 * A document is eligible if it has $vector, $lexical (unless the server's setting requires only
 * a vector) and a passage to rerank. Ineligible documents must not use up the limits of the
 * searches, so each search adds these conditions to its filter, which the engine answers from
 * its indexes. A filter cannot express all conditions: a value may be null or blank, and
 * `rerankOn` may name an unindexed field. If too few results are eligible, the search is
 * repeated with ten times the limit, up to a maximum.
 */
import type { Caller } from '../../caller/caller.ts'
import assert from 'node:assert/strict'
import type { Hit, SearchBy, StoredRecord } from '../../engine/contract.ts'
import { ApiError, apiError } from '../../errors/api-error.ts'
import { parseStored } from '../../json/parse.ts'
import { printJson } from '../../json/print.ts'
import { isNumeric, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { Filter } from '../../language/filters/filter.ts'
import type { Path } from '../../language/values/path.ts'
import { quoteJson } from '../../language/values/quote-json.ts'
import { valueAt } from '../../language/values/value-at.ts'
import { count } from '../../paging/read.ts'
import { search } from '../../paging/search.ts'
import { hasText, type RerankPlan } from './rerank-plan.ts'
import { documentsAlone } from '../find-documents.ts'
import { documentsSearchedBy } from '../searched-by.ts'
import type { DocumentSource } from '../search-fields.ts'

/** A search result that is eligible for reranking. */
export interface EligibleHit extends Hit {
  /** The text that the reranker compares with the query. */
  readonly passage: string
}

export interface FoundByBoth {
  readonly byVector: Extract<SearchBy, { kind: 'vector' }>
  /** Eligible documents only, best first. */
  readonly vector: readonly EligibleHit[]
  readonly bm25: readonly EligibleHit[]
}

export async function searchBoth(
  store: DocumentSource,
  plan: RerankPlan,
  filter: Filter,
  caller: Caller,
): Promise<FoundByBoth> {
  const { hybridLimits } = plan
  const passage = passageConditions(store, plan)
  const text = plan.eligibility === 'both' ? [hasLexical] : []
  const amongTexts = allOf(filter, ...text, ...passage)
  const amongVectors = allOf(filter, hasVector, ...passage)
  const find = (by: SearchBy, among: Filter, limit: number) =>
    findEligible(store, plan, { by, filter: among, limit }, caller)
  const findByVector = async () => {
    const byVector = await documentsSearchedBy(plan.byVector, store, caller)
    assert(byVector.kind === 'vector')
    return { byVector, vector: await find(byVector, amongTexts, hybridLimits.vector) }
  }
  const findByTerms = async () => {
    if (plan.byTerms === undefined) return []
    const by = { ...plan.byTerms, path: '$lexical' }
    const limit = hybridLimits.lexical
    const withAll = await find({ ...by, having: 'all' }, amongVectors, limit)
    const missing = limit - withAll.length
    if (missing === 0 || by.terms.length === 1) return withAll
    // Few documents contain all words of a sentence, so a second search needs only some words.
    const withSome = await find({ ...by, having: 'some' }, amongVectors, missing)
    return [...withAll, ...withSome]
  }
  const [found, bm25] = await Promise.all([findByVector(), findByTerms()])
  return { ...found, bm25 }
}

/**
 * Whether any document lacks $lexical and meets all other conditions of eligibility. `count` is
 * the number of documents that both searches found together. All eligible documents are among
 * them, so a vector search for one more document finds a document that lacks $lexical, if there
 * is one.
 */
export async function lacksLexical(
  store: DocumentSource,
  plan: RerankPlan,
  { by, filter, count }: { by: SearchBy; filter: Filter; count: number },
  caller: Caller,
): Promise<boolean> {
  const { rerankOn } = plan
  const isOnLexical = rerankOn === undefined || rerankOn.text === '$lexical'
  const passage = isOnLexical ? [] : passageConditions(store, plan)
  const wanted = {
    by,
    filter: allOf(filter, ...passage),
    limit: count + 1,
    withSearchFields: true,
  }
  const hits = await search(store, wanted, caller)
  return hits.some(({ record }) => !hasText(record.search!.lexical))
}

/** Whether any document of the collection has $lexical. */
export async function hasAnyLexical(
  store: DocumentSource,
  caller: Caller,
): Promise<boolean> {
  return (await count(store, hasLexical, 1, documentsAlone, caller)) > 0
}

interface EligibleSearch {
  readonly by: SearchBy
  readonly filter: Filter
  readonly limit: number
}

/** Finds the best eligible documents. */
async function findEligible(
  store: DocumentSource,
  plan: RerankPlan,
  { by, filter, limit }: EligibleSearch,
  caller: Caller,
): Promise<readonly EligibleHit[]> {
  const widthMax = Math.max(store.limits.hybridCandidatesMax, limit)
  let eligible: EligibleHit[] = []
  for (let width = limit; ; width = Math.min(width * 10, widthMax)) {
    const wanted = { by, filter, limit: width, withSearchFields: true }
    let hits: readonly Hit[]
    try {
      hits = await search(store, wanted, caller)
    } catch (error) {
      // Only the results of the requested limit must fit into a reply. If the results of a
      // repetition with a larger limit do not fit, the eligible documents found so far are
      // returned.
      if (width > limit && isTooLarge(error)) return eligible
      throw error
    }
    eligible = []
    for (const hit of hits) {
      const passage = passageOf(hit.record, plan)
      if (passage !== undefined) eligible.push({ ...hit, passage })
      if (eligible.length === limit) return eligible
    }
    if (hits.length < width || width === widthMax) return eligible
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'REPLY_TOO_LARGE'
}

const hasVector: Filter = { kind: 'exists', path: pathOf('$vector'), exists: true }
const hasVectorize: Filter = { kind: 'exists', path: pathOf('$vectorize'), exists: true }
/** Matches every document with $lexical, because it searches for an empty set of terms. */
const hasLexical: Filter = {
  kind: 'match',
  path: pathOf('$lexical'),
  terms: [],
  text: '',
}

function pathOf(name: string): Path {
  return { text: name, segments: [name] }
}

function allOf(...of: readonly Filter[]): Filter {
  return { kind: 'and', of }
}

/** Conditions for a document to have a passage, as far as a filter can express them. */
function passageConditions(
  { indexing, collection }: DocumentSource,
  { rerankOn, eligibility }: RerankPlan,
): readonly Filter[] {
  switch (rerankOn?.text) {
    case undefined:
      // Eligibility 'both' already requires $lexical.
      if (eligibility === 'both') return []
      return collection.options.lexical.enabled
        ? [{ kind: 'or', of: [hasLexical, hasVectorize] }]
        : [hasVectorize]
    case '$lexical':
      return [hasLexical]
    case '$vectorize':
      return [hasVectorize]
    default:
      return indexing.covers(rerankOn!)
        ? [{ kind: 'exists', path: rerankOn!, exists: true }]
        : []
  }
}

/** The passage of a document; undefined when the document is ineligible. */
function passageOf(record: StoredRecord, plan: RerankPlan): string | undefined {
  const { rerankOn, eligibility } = plan
  const { vector, lexical } = record.search!
  if (!vector || (eligibility === 'both' && !hasText(lexical))) return undefined
  const value = valueToRead(record, rerankOn) ?? null
  if (value === null) return undefined
  if (typeof value === 'string') return hasText(value) ? value : undefined
  if (typeof value === 'boolean' || isNumeric(value)) return printJson(value)
  const error = apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command.options.rerankOn',
    value: quoteJson(rerankOn!.text),
    reason:
      `the document with _id ${quoteJson(record.id)} has an ${jsonTypeOf(value)} ` +
      'there, but only texts, numbers and booleans can be reranked',
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
      return valueAt(parseStored(record.text) as JsonObject, rerankOn!)
  }
}
