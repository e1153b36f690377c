/** The documents of a collection in the form that paging and searches read. */
import type { Caller } from '../caller/caller.ts'
import type { Engine, Query, Search, SearchBy, StoredRecord } from '../engine/contract.ts'
import { documentView, searchFieldsSeen, type RecordView } from '../engine/record-view.ts'
import type { Collection } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { parseStoredInSteps } from '../json/parse.ts'
import type { JsonObject } from '../json/value.ts'
import { everything, rootFields, type Filter } from '../language/filters/filter.ts'
import { hasTermsIn, matchesInSteps } from '../language/filters/matches.ts'
import { compareValues } from '../language/values/order.ts'
import type { LexicalOperator } from '../language/sorts/sort.ts'
import type { Path } from '../language/values/path.ts'
import { valueAt } from '../language/values/value-at.ts'
import type { Limits } from '../limits.ts'
import { parseWithMemory } from '../paging/parse-with-memory.ts'
import { count } from '../paging/read.ts'
import type { Source } from '../paging/source.ts'
import { analyzerFor } from '../search/lexical/analyzer.ts'
import { inTurns, type Steps } from '../runtime/steps.ts'

export type CollectionSource = Source<StoredRecord, Query, Search> & {
  readonly engine: Engine
  readonly collection: Collection
}

export function collectionSource(
  engine: Engine,
  collection: Collection,
  limits: Limits,
): CollectionSource {
  const view = documentView(collection.options)
  const termsOf = (record: StoredRecord, { path }: Pick<SearchBy, 'path'>) => {
    const text = view.textOf(record, path)
    return text ? analyzerFor(view.texts.get(path)!.analyzer).terms(text) : undefined
  }
  const source: CollectionSource = {
    engine,
    collection,
    limits,
    noun: 'document',
    everything,
    read(query, caller) {
      const read = () => engine.read(collection, withNeededFields(query), caller)
      return limits.sortedDocumentsMax === 0 || query.sort.length === 0
        ? read()
        : checkSortable(source, query.filter, caller).then(read)
    },
    count: (filter, stopAt, caller) => engine.count(collection, filter, stopAt, caller),
    search: (search, caller) => engine.search(collection, search, caller),
    readFor: () => ({ stable: false, withSearchFields: true }),
    matches(filter, record, caller) {
      const termsAt = (path: string) => termsOf(record, { path })
      if (record.text.length > shortLength) {
        const steps = matchesLong(view, filter, record, termsAt)
        return parseWithMemory(record.text, steps, caller)
      }
      const document = view.see(record.text, rootFields(filter))
      const answer = matchesSeen(filter, document, record, termsAt)
      return typeof answer === 'boolean' ? answer : inTurns(answer, caller)
    },
    sortKey({ text }, sort) {
      const names = new Set(['_id', ...sort.map(({ path }) => path.segments[0]!)])
      const document = view.fields(text, names)
      return [...sort.map(({ path }) => valueAt(document, path)), document.get('_id')]
    },
    idDirections: () => [1],
    idOf: ({ id }) => id,
    compareIds: compareValues,
    sizeOf: ({ text }) => text.length,
    metricOf: ({ path }) => view.vectors.get(path)!.metric!,
    vectorOf: (record, { path }) => view.vectorOf(record, path),
    termsOf,
  }
  return source
}

async function checkSortable(
  source: CollectionSource,
  filter: Filter,
  caller: Caller,
): Promise<void> {
  const max = source.limits.sortedDocumentsMax
  const rest = { withSearchFields: false, stable: false }
  if ((await count(source, filter, max + 1, rest, caller)) > max)
    throw apiError('OVERLOADED_SORT_ROW_LIMIT', { reason: 'count', max, unit: 'documents' })
}

function withNeededFields(query: Query): Query {
  return query.withSearchFields || !mentionsSearchFields(query.filter)
    ? query
    : { ...query, withSearchFields: true }
}

/** Maximum characters of a document that is parsed without pausing, to evaluate a filter on it. */
const shortLength = 65_536

type TermsAt = (path: string) => readonly string[] | undefined

function* matchesLong(
  view: RecordView,
  filter: Filter,
  record: StoredRecord,
  termsAt: TermsAt,
): Steps<boolean> {
  const document = (yield* parseStoredInSteps(record.text)) as JsonObject
  const answer = matchesSeen(filter, yield* view.indexedInSteps(document), record, termsAt)
  return typeof answer === 'boolean' ? answer : yield* answer
}

function matchesSeen(
  filter: Filter,
  document: JsonObject,
  record: StoredRecord,
  termsAt: TermsAt,
): boolean | Steps<boolean> {
  for (const [name, value] of searchFieldsSeen(record)) document.set(name, value)
  return matchesInSteps(filter, document, hasTermsIn(termsAt))
}

function mentionsSearchFields(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.some(mentionsSearchFields)
    default:
      return filter.path.text.startsWith('$')
  }
}

/**
 * Restricts the filter to documents that a search can find. Documents whose vector is null still
 * match, because a filter cannot exclude them.
 */
export function withinReach(
  filter: Filter,
  by: SearchBy,
  operator: LexicalOperator,
): Filter {
  const path: Path = { text: by.path, segments: [by.path] }
  if (by.kind === 'vector')
    return { kind: 'and', of: [filter, { kind: 'exists', path, exists: true }] }
  const { terms, text } = by
  const isFound: Filter =
    operator === 'all'
      ? { kind: 'match', path, terms, text }
      : {
          kind: 'or',
          of: terms.map((term) => ({ kind: 'match', path, terms: [term], text: term })),
        }
  return { kind: 'and', of: [filter, isFound] }
}
