/**
 * Reading: what the engine serves of a query is taken as it comes, what it leaves is done
 * here.
 */
import type { Caller } from '../caller.ts'
import type {
  Engine,
  Joined,
  Page,
  Position,
  Query,
  StoredRecord,
} from '../engine/contract.ts'
import type { RecordView } from '../engine/record-view.ts'
import type { Target } from '../engine/schema.ts'
import { apiError } from '../errors/api-error.ts'
import { parseStored } from '../json/parse.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import { rootFields, type Filter } from '../language/filters/filter.ts'
import { matches } from '../language/filters/matches.ts'
import { compareValues } from '../language/values/order.ts'
import type { SortKey } from '../language/sorts/sort.ts'
import { analyzerFor } from '../search/lexical/analyzer.ts'
import { valueAt } from '../language/values/value-at.ts'

/** Where to read from. */
export interface Source {
  readonly engine: Engine
  /** The collection or table that the records are of. */
  readonly owner: Target
  readonly view: RecordView
  readonly limits: Limits
}

/** A query, with a place of our own. */
export interface Wanted extends Omit<
  Query,
  'after' | 'lookAhead' | 'textsOnly' | 'sizeMax'
> {
  readonly after: Place | undefined
  /**
   * Whether to find out if anything follows, by reading one record more: nobody should be
   * sent to fetch an empty page, and nobody should wait for what they will not fetch.
   */
  readonly lookAhead: boolean
  /** Whether the texts are passed on as they are, so that they may come joined. */
  readonly textsOnly: boolean
  /** Characters of texts that are enough; `next` says where they were. */
  readonly sizeMax?: number | undefined
}

/** To start with: from the beginning, as the records come. */
export const anyOrder = {
  sort: [],
  skip: 0,
  after: undefined,
  stable: false,
  withSearchFields: false,
  lookAhead: false,
  textsOnly: false,
} as const

/** A place in the results: the engine's, or in a sort made here the last record's key. */
export type Place =
  | { readonly kind: 'engine'; readonly position: Position }
  | { readonly kind: 'sorted'; readonly key: Key }

/** The values that a record is sorted by, its _id last. Missing ones are undefined. */
export type Key = readonly (Value | undefined)[]

export interface Found {
  readonly records: readonly StoredRecord[]
  /** Instead of records, where these were not needed. */
  readonly joined?: Joined | undefined
  /** Absent when nothing follows, or when that was not looked for. */
  readonly next: Place | undefined
}

export async function read(source: Source, wanted: Wanted, caller: Caller): Promise<Found> {
  if (source.limits.sortedDocumentsMax > 0) await checkSortable(source, wanted, caller)
  const query = firstQuery(wanted)
  const page = await source.engine.read(source.owner, query, caller)
  if (isServed(page, wanted)) {
    const { records, joined, next } = page
    return { records, joined, next: placeOf(next) }
  }
  const pages = followPages(source, query, page, caller)
  const isSorted =
    wanted.sort.length === 0 || (page.served.sort && wanted.after?.kind !== 'sorted')
  return isSorted ? filterHere(source, wanted, pages) : sortHere(source, wanted, pages)
}

function firstQuery(wanted: Wanted): Query {
  const { after, sizeMax, ...asked } = wanted
  return {
    ...asked,
    ...(sizeMax !== undefined && { sizeMax }),
    skip: after === undefined ? wanted.skip : 0,
    after: after?.kind === 'engine' ? after.position : undefined,
    withSearchFields: wanted.withSearchFields || mentionsSearchFields(wanted.filter),
  }
}

function isServed({ served }: Page, { sort, after }: Wanted): boolean {
  return served.filter && (sort.length === 0 || (served.sort && after?.kind !== 'sorted'))
}

function placeOf(position: Position | undefined): Place | undefined {
  return position === undefined ? undefined : { kind: 'engine', position }
}

/** Takes what matches, in the order in which it comes. */
async function filterHere(
  source: Source,
  wanted: Wanted,
  pages: AsyncIterable<Page>,
): Promise<Found> {
  const records: StoredRecord[] = []
  let room = wanted.sizeMax ?? Infinity
  let toSkip = wanted.after === undefined ? wanted.skip : 0
  let last: Page | undefined
  for await (const page of pages)
    for (const record of page.records) {
      if (!page.served.filter && !matchesRecord(source, wanted.filter, record)) continue
      if (toSkip-- > 0) continue
      if (records.length === wanted.limit || room < 0)
        return { records, next: placeOf(last!.positionAfter(records.at(-1)!)) }
      records.push(record)
      room -= record.text.length
      last = page
      if (records.length === wanted.limit && !wanted.lookAhead)
        return { records, next: undefined }
    }
  return { records, next: undefined }
}

/** Matching records, counted up to `stopAt`. */
export async function count(
  source: Source,
  filter: Filter,
  stopAt: number,
  caller: Caller,
): Promise<number> {
  const served = await source.engine.count(source.owner, filter, stopAt, caller)
  if (served !== undefined) return served
  const found = await read(source, { ...anyOrder, filter, limit: stopAt }, caller)
  return found.records.length
}

async function checkSortable(source: Source, { sort, filter }: Wanted, caller: Caller) {
  if (sort.length === 0) return
  const max = source.limits.sortedDocumentsMax
  if ((await count(source, filter, max + 1, caller)) > max)
    throw apiError('OVERLOADED_SORT_ROW_LIMIT', { max, unit: 'documents' })
}

/** Records per read once the engine is known to leave work: no promise, only a pace. */
const paceMin = 500

async function* followPages(
  { engine, owner }: Source,
  query: Query,
  first: Page,
  caller: Caller,
): AsyncGenerator<Page, void, undefined> {
  let page = first
  yield page
  while (page.next !== undefined) {
    const limit = Math.max(query.limit, paceMin)
    const next = { ...query, skip: 0, after: page.next, limit }
    page = await engine.read(owner, next, caller)
    yield page
  }
}

interface Sortable {
  readonly record: StoredRecord
  readonly key: Key
}

/** Sorts what the engine gave unsorted, holding on to no more than what is wanted. */
async function sortHere(
  source: Source,
  wanted: Wanted,
  pages: AsyncIterable<Page>,
): Promise<Found> {
  const after = wanted.after?.kind === 'sorted' ? wanted.after.key : undefined
  const skip = after === undefined ? wanted.skip : 0
  const end = skip + wanted.limit
  const best = new Best(end + 1, wanted.sort)
  const names = new Set(['_id', ...wanted.sort.map(({ path }) => path.segments[0]!)])
  for await (const page of pages)
    for (const record of page.records) {
      if (!page.served.filter && !matchesRecord(source, wanted.filter, record)) continue
      const key = keyOf(source.view.fields(record.text, names), wanted.sort)
      if (after === undefined || compareKeys(key, after, wanted.sort) > 0)
        best.add({ record, key })
    }
  const sorted = best.inOrder()
  const shown = upTo(sorted.slice(skip, end), wanted.sizeMax)
  const isCut = skip + shown.length < Math.min(end, sorted.length)
  return {
    records: shown.map(({ record }) => record),
    next:
      isCut || (wanted.lookAhead && sorted.length > end)
        ? { kind: 'sorted', key: shown.at(-1)!.key }
        : undefined,
  }
}

/** The first of some records, until their texts are enough. */
function upTo(sorted: readonly Sortable[], sizeMax = Infinity): readonly Sortable[] {
  let size = 0
  const past = sorted.findIndex(({ record }) => (size += record.text.length) > sizeMax)
  return past < 0 ? sorted : sorted.slice(0, past + 1)
}

/** Keeps the first `size` of what is added, by cutting back whenever it has twice as many. */
class Best {
  readonly #size: number
  readonly #sort: readonly SortKey[]
  #kept: Sortable[] = []

  constructor(size: number, sort: readonly SortKey[]) {
    this.#size = size
    this.#sort = sort
  }

  add(item: Sortable): void {
    this.#kept.push(item)
    if (this.#kept.length >= Math.max(2 * this.#size, paceMin)) this.#kept = this.inOrder()
  }

  inOrder(): Sortable[] {
    return this.#kept
      .toSorted((a, b) => compareKeys(a.key, b.key, this.#sort))
      .slice(0, this.#size)
  }
}

function keyOf(document: JsonObject, sort: readonly SortKey[]): Key {
  return [...sort.map(({ path }) => valueAt(document, path)), document.get('_id')]
}

/** By the sort, ties by ascending _id. */
function compareKeys(a: Key, b: Key, sort: readonly SortKey[]): number {
  for (const [i, { direction }] of sort.entries()) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order * direction
  }
  return compareValues(a[sort.length], b[sort.length])
}

/** What the text of a record says, parsed. */
export function parseRecord(record: StoredRecord): JsonObject {
  return parseStored(record.text) as JsonObject
}

export function matchesRecord(
  { view }: Source,
  filter: Filter,
  record: StoredRecord,
): boolean {
  const document = view.see(record.text, rootFields(filter))
  // Only their presence can be asked for.
  const { vector, vectorize, lexical } = record.search ?? {}
  if (vector !== undefined) document.set('$vector', null)
  if (vectorize !== undefined) document.set('$vectorize', null)
  if (lexical !== undefined) document.set('$lexical', null)
  return matches(filter, document, (terms, path) => {
    const text = view.textOf(record, path)
    if (!text) return false
    const found = new Set(analyzerFor(view.texts.get(path)!.analyzer).terms(text))
    return terms.every((term) => found.has(term))
  })
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
