/** Asserts the contract's promises about documents (see checked.ts). */
import assert from 'node:assert/strict'
import { equalValues } from '../../../src/json/equal.ts'
import { parseStored } from '../../../src/json/parse.ts'
import { printJson } from '../../../src/json/print.ts'
import { isObject, type JsonObject } from '../../../src/json/value.ts'
import { rootFields, type Filter } from '../../../src/language/filters/filter.ts'
import { matches } from '../../../src/language/filters/matches.ts'
import { compareBy, compareValues } from '../../../src/language/values/order.ts'
import { analyzerFor } from '../../../src/search/lexical/analyzer.ts'
import type {
  Hit,
  NewRecord,
  Outcome,
  Page,
  Query,
  RowSearch,
  Search,
  SearchPlace,
  SearchResult,
  StoredRecord,
  Write,
} from '../../../src/engine/contract.ts'
import {
  documentView,
  searchFieldsSeen,
  type RecordView,
} from '../../../src/engine/record-view.ts'
import type { Collection } from '../../../src/engine/schema.ts'

export function assertQuery({ skip, limit, after }: Query): void {
  assert(Number.isSafeInteger(limit) && limit >= 1, 'read: limit must be 1 or more')
  assert(Number.isSafeInteger(skip) && skip >= 0, 'read: skip must be 0 or more')
  assert(after !== '', 'read: a position must not be empty')
}

export function assertPage(page: Page, query: Query, collection: Collection): void {
  const { served, next } = page
  const view = documentView(collection.options)
  const records = page.joined === undefined ? page.records : separate(page, query, view)
  assert(
    records.length <= query.limit,
    `read: ${records.length} records on a page of at most ${query.limit}`,
  )
  assert(next === undefined || isPosition(next), 'read: next is neither absent nor a text')
  assert(
    next === undefined ||
      query.lookAhead !== false ||
      !served.filter ||
      !served.sort ||
      isFull(records, query.sizeMax),
    'read: next is set, but the caller did not ask for it',
  )
  assertRecords('read', records, view)
  if (served.filter && served.sort) isFull(records, query.sizeMax)
  if (query.withSearchFields) assertSearchFields('read', records)
  if (served.filter) assertMatching('read', records, query, view)
  if (served.sort) assertSorted(records, query, view)
}

/**
 * Whether the total size of a page exceeds `sizeMax`. Asserts that the records before the last one
 * do not exceed it.
 */
function isFull(records: readonly StoredRecord[], sizeMax = Infinity): boolean {
  const size = (count: number) =>
    records.slice(0, count).reduce((sum, { text }) => sum + text.length, 0)
  assert(
    size(records.length - 1) <= sizeMax,
    'records follow the one that exceeded sizeMax',
  )
  return size(records.length) > sizeMax
}

export function assertSearch({
  limit,
  by,
  after,
  statistics,
  scoreMin,
}: Search | RowSearch): void {
  assert(Number.isSafeInteger(limit) && limit >= 1, 'search: limit must be 1 or more')
  assert(by.kind === 'vector' || scoreMin === undefined, 'search: terms have no scoreMin')
  if (by.kind === 'vector') {
    assert(after === undefined, 'search: a search by vector has one page')
    return
  }
  assert(by.terms.length > 0, 'search: there must be a term to look for')
  assertDistinct('search', by.terms)
  if (statistics === undefined) {
    assert(after === undefined, 'search: a later page needs the statistics of the first')
    return
  }
  assert.equal(
    statistics.documentFrequencies.length,
    by.terms.length,
    'search: the place is of a search for other terms',
  )
}

/**
 * Asserts that a search by terms returns its statistics, and that a later page uses the
 * statistics of the first page.
 */
export function assertStatistics(
  { hits, statistics }: SearchResult<unknown>,
  { by, statistics: given }: Search | RowSearch,
): void {
  if (by.kind === 'vector' || hits.length === 0) return
  assert(statistics !== undefined, 'search: the statistics of the scores are missing')
  assert.equal(
    statistics.documentFrequencies.length,
    by.terms.length,
    'search: each term has a document frequency',
  )
  if (given !== undefined)
    assert.deepEqual(statistics, given, 'search: other statistics were given')
}

export function assertHits(
  hits: readonly Hit[],
  search: Search,
  collection: Collection,
): void {
  const { limit, withSearchFields, scoreMin = -Infinity } = search
  const view = documentView(collection.options)
  assert(hits.length <= limit, `search: ${hits.length} hits, where at most ${limit} fit`)
  const records = hits.map(({ record }) => record)
  assertRecords('search', records, view)
  isFull(records, search.sizeMax)
  for (const [i, { score, record }] of hits.entries()) {
    assert(Number.isFinite(score), `search: ${score} is no score, of ${record.text}`)
    assert(score >= scoreMin, `search: ${score} is below the minimum, ${scoreMin}`)
    const before = i === 0 ? search.after : placeOf(hits[i - 1]!)
    if (before === undefined) continue
    const isInOrder =
      before.score === score
        ? compareValues(before.id, record.id) < 0
        : before.score > score
    assert(
      isInOrder,
      `search: these stand the wrong way round: ${printJson(before.id)}, which has ` +
        `${before.score}, and ${record.text}, which has ${score}`,
    )
  }
  if (withSearchFields) assertSearchFields('search', records)
  assertMatching('search', records, search, view)
  assertTerms(records, search, view)
}

/** Asserts that texts contain the searched terms, if search fields were requested. */
function assertTerms(
  records: readonly StoredRecord[],
  { by, withSearchFields }: Search,
  view: RecordView,
): void {
  if (by.kind !== 'lexical' || !withSearchFields) return
  const { path, terms, having } = by
  const analyzer = analyzerFor(view.texts.get(path)!.analyzer)
  for (const record of records) {
    const own = new Set(analyzer.terms(view.textOf(record, path) ?? ''))
    const found = terms.filter((term) => own.has(term)).length
    assert(
      having === 'all' ? found === terms.length : found > 0 && found < terms.length,
      `search: ${found} of the terms ${terms.join(', ')} are in the text of ${record.text}`,
    )
  }
}

function placeOf({ score, record }: Hit): Pick<SearchPlace, 'score' | 'id'> {
  return { score, id: record.id }
}

function assertSearchFields(call: string, records: readonly StoredRecord[]): void {
  for (const { search, text } of records)
    assert(search !== undefined, `${call}: no search fields came with ${text}`)
}

/** Parses the joined texts of a page into records. */
function separate(
  { joined, records, served }: Page,
  { textsOnly, withSearchFields }: Query,
  view: RecordView,
): StoredRecord[] {
  assert(textsOnly === true && !withSearchFields, 'read: joined texts were not asked for')
  assert(served.filter && served.sort, 'read: texts can be joined only in a finished page')
  assert(records.length === 0, 'read: a page has joined texts or records, not both')
  const documents = parseStored(`[${joined!.text}]`) as JsonObject[]
  assert(
    documents.length === joined!.count,
    `read: ${documents.length} texts were joined, not ${joined!.count} as counted`,
  )
  return documents.map((document) => {
    const text = printJson(document)
    return { id: view.idOf(text), text, version: 0 }
  })
}

function assertMatching(
  call: string,
  records: readonly StoredRecord[],
  { filter, withSearchFields }: Pick<Query, 'filter' | 'withSearchFields'>,
  view: RecordView,
): void {
  if (!isDecidable(filter, withSearchFields)) return
  for (const { text, search } of records) {
    const seen = new Map([
      ...view.see(text, rootFields(filter)),
      ...searchFieldsSeen({ ...(search && { search }) }),
    ])
    assert(
      matches(filter, seen),
      `${call}: the filter was served, but ${text} does not match it`,
    )
  }
}

/**
 * Whether the text of a record suffices to evaluate the filter. It does not suffice for $match, nor
 * for search fields that the record lacks.
 */
function isDecidable(filter: Filter, withSearchFields: boolean): boolean {
  if (filter.kind === 'and' || filter.kind === 'or')
    return filter.of.every((part) => isDecidable(part, withSearchFields))
  if (filter.kind === 'match') return false
  return withSearchFields || !filter.path.text.startsWith('$')
}

function assertSorted(
  records: readonly StoredRecord[],
  { sort }: Query,
  view: RecordView,
): void {
  if (sort.length === 0) return
  const compare = compareBy(sort)
  const names = new Set(['_id', ...sort.map(({ path }) => path.segments[0]!)])
  const documents = records.map(({ text }) => view.fields(text, names))
  for (let i = 1; i < documents.length; i++)
    assert(
      compare(documents[i - 1]!, documents[i]!) < 0,
      'read: the sort was served, but these stand the wrong way round: ' +
        `${records[i - 1]!.text} and ${records[i]!.text}`,
    )
}

/** Asserts that all records are well-formed and distinct. */
function assertRecords(
  call: string,
  records: readonly StoredRecord[],
  view: RecordView,
): void {
  for (const record of records) assertRecord(record, view)
  assertDistinct(
    call,
    records.map(({ id }) => printJson(id)),
  )
}

function assertRecord({ id, text, version }: StoredRecord, view: RecordView): void {
  assert(isObject(parseStored(text)), `a record's text must be an object: ${text}`)
  assert(text.startsWith('{"_id":'), `a document's text must start with its _id: ${text}`)
  assert(
    equalValues(view.idOf(text), id),
    `a record's id is ${printJson(id)}, but its text says otherwise: ${text}`,
  )
  assert(
    typeof version === 'string' || Number.isSafeInteger(version),
    `a record's version is not distinct: ${version}`,
  )
}

export function assertWrite(write: Write, view: RecordView): void {
  switch (write.kind) {
    case 'insert':
      assertNewRecord(write.record, view)
      return
    case 'replace': {
      assertRecord(write.before, view)
      assert(
        saysWhatIsIndexed(write.beforeDocument, write.before.text, view),
        `write: beforeDocument is not what the text before says: ${write.before.text}`,
      )
      assertNewRecord(write.after, view)
      assert(
        compareValues(write.before.id, write.after.id) === 0,
        `write: a replace cannot change the _id ${printJson(write.before.id)}`,
      )
      return
    }
    case 'delete':
      assertRecord(write.before, view)
  }
}

function assertNewRecord({ id, text, document }: NewRecord, view: RecordView): void {
  assertRecord({ id, text, version: 0 }, view)
  assert(
    saysWhatIsIndexed(document, text, view),
    `write: the document is not what it says: ${text}`,
  )
}

function saysWhatIsIndexed(document: JsonObject, text: string, view: RecordView): boolean {
  return equalValues(view.indexed(document), view.indexed(view.indexed(text)))
}

export function assertOutcomes(
  outcomes: readonly Outcome[],
  writes: readonly Write[],
  ordered: boolean,
): void {
  assert.equal(outcomes.length, writes.length, 'write: one outcome per write')
  const firstUndone = outcomes.findIndex((outcome) => outcome !== 'done')
  for (const [i, outcome] of outcomes.entries()) {
    const { kind } = writes[i]!
    if (outcome === 'exists')
      assert(kind === 'insert', `write: a ${kind} has the outcome exists`)
    if (outcome === 'conflict')
      assert(kind !== 'insert', 'write: an insert has no conflict')
    const mustSkip = ordered && firstUndone >= 0 && i > firstUndone
    assert(
      (outcome === 'skipped') === mustSkip,
      `write: number ${i} was ${outcome}, ${ordered ? 'in' : 'out of'} order, and the ` +
        `first that was not done is number ${firstUndone}`,
    )
  }
}

export function assertCount(call: string, count: number): void {
  assert(Number.isSafeInteger(count) && count >= 0, `${call}: ${count} is not a count`)
}

export function assertDistinct(call: string, names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    assert(!seen.has(name), `${call}: ${name} came twice`)
    seen.add(name)
  }
}

export function isPosition(position: unknown): boolean {
  return typeof position === 'string' && position !== ''
}
