/**
 * Reading: what the engine serves of a query is taken as it comes, what it leaves is done
 * here.
 */
import type { Caller } from '../caller.ts'
import type { Joined, Page, Position } from '../engine/contract.ts'
import { compareValues } from '../language/values/order.ts'
import type { AnyQuery, AnySearch, SortedBy, Source } from './source.ts'

/** A query, with a place of our own. */
export type Wanted<Q extends AnyQuery> = Omit<
  Q,
  'after' | 'lookAhead' | 'textsOnly' | 'sizeMax'
> & {
  readonly filter: Q['filter']
  readonly sort: Q['sort']
  readonly skip: number
  readonly limit: number
  readonly after: PagePosition | undefined
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
  lookAhead: false,
  textsOnly: false,
} as const

/** A place in the results: the engine's, or in a sort made here the last record's key. */
export type PagePosition =
  | { readonly kind: 'engine'; readonly position: Position }
  | { readonly kind: 'sorted'; readonly key: SortedBy }

export interface Found<Item> {
  readonly records: Item[]
  /** Instead of records, where these were not needed. */
  readonly joined?: Joined | undefined
  /** Absent when nothing follows, or when that was not looked for. */
  readonly next: PagePosition | undefined
}

export async function read<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  caller: Caller,
): Promise<Found<Item>> {
  const query = firstQuery(wanted)
  const page = await source.read(query, caller)
  if (isServed(page, wanted)) {
    const { records, joined, next } = page
    return { records: [...records], joined, next: placeOf(next) }
  }
  const pages = followPages(source, query, page, caller)
  const isSorted =
    wanted.sort.length === 0 || (page.served.sort && wanted.after?.kind !== 'sorted')
  return isSorted ? filterHere(source, wanted, pages) : sortHere(source, wanted, pages)
}

function firstQuery<Q extends AnyQuery>(wanted: Wanted<Q>): Q {
  const { after, sizeMax, ...asked } = wanted
  const query = {
    ...asked,
    ...(sizeMax !== undefined && { sizeMax }),
    skip: after === undefined ? wanted.skip : 0,
    after: after?.kind === 'engine' ? after.position : undefined,
  }
  return query as unknown as Q
}

function isServed<Item, Q extends AnyQuery>(
  { served }: Page<Item>,
  { sort, after }: Wanted<Q>,
): boolean {
  return served.filter && (sort.length === 0 || (served.sort && after?.kind !== 'sorted'))
}

function placeOf(position: Position | undefined): PagePosition | undefined {
  return position === undefined ? undefined : { kind: 'engine', position }
}

/** Takes what matches, in the order in which it comes. */
async function filterHere<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  pages: AsyncIterable<Page<Item>>,
): Promise<Found<Item>> {
  const records: Item[] = []
  let room = wanted.sizeMax ?? Infinity
  let toSkip = wanted.after === undefined ? wanted.skip : 0
  let last: Page<Item> | undefined
  for await (const page of pages)
    for (const record of page.records) {
      if (!page.served.filter && !source.matches(wanted.filter, record)) continue
      if (toSkip-- > 0) continue
      if (records.length === wanted.limit || room < 0)
        return { records, next: placeOf(last!.positionAfter(records.at(-1)!)) }
      records.push(record)
      room -= source.sizeOf(record)
      last = page
      if (records.length === wanted.limit && !wanted.lookAhead)
        return { records, next: undefined }
    }
  return { records, next: undefined }
}

/** Matching records, counted up to `stopAt`. `rest` is what else a query says. */
export async function count<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  filter: Q['filter'],
  stopAt: number,
  rest: Omit<Q, keyof Wanted<Q>>,
  caller: Caller,
): Promise<number> {
  const served = await source.count(filter, stopAt, caller)
  if (served !== undefined) return served
  const wanted = { ...rest, ...anyOrder, filter, limit: paceMin } as unknown as Wanted<Q>
  let counted = 0
  const records = matching(source, wanted, caller)
  while (counted < stopAt && !(await records.next()).done) counted++
  return counted
}

/** All matching records, a few at a time in memory. */
export async function* matching<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  caller: Caller,
): AsyncGenerator<Item, void, undefined> {
  const query = firstQuery({ ...wanted, lookAhead: true })
  const first = await source.read(query, caller)
  for await (const page of followPages(source, query, first, caller))
    for (const record of page.records)
      if (page.served.filter || source.matches(wanted.filter, record)) yield record
}

/** Records per read once the engine is known to leave work: no promise, only a pace. */
const paceMin = 500

async function* followPages<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  query: Q,
  first: Page<Item>,
  caller: Caller,
): AsyncGenerator<Page<Item>, void, undefined> {
  let page = first
  yield page
  while (page.next !== undefined) {
    const limit = Math.max(query.limit, paceMin)
    page = await source.read({ ...query, skip: 0, after: page.next, limit }, caller)
    yield page
  }
}

interface Sortable<Item> {
  readonly record: Item
  readonly key: SortedBy
}

/** Sorts what the engine gave unsorted, holding on to no more than what is wanted. */
async function sortHere<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  pages: AsyncIterable<Page<Item>>,
): Promise<Found<Item>> {
  const after = wanted.after?.kind === 'sorted' ? wanted.after.key : undefined
  const skip = after === undefined ? wanted.skip : 0
  const end = skip + wanted.limit
  const directions = [
    ...wanted.sort.map(({ direction }) => direction),
    ...source.idDirections(wanted),
  ]
  const compare = (a: SortedBy, b: SortedBy) => compareKeys(a, b, directions)
  const best = new Best<Sortable<Item>>(end + 1, (a, b) => compare(a.key, b.key))
  for await (const page of pages)
    for (const record of page.records) {
      if (!page.served.filter && !source.matches(wanted.filter, record)) continue
      const key = source.sortKey(record, wanted.sort)
      if (after === undefined || compare(key, after) > 0) best.add({ record, key })
    }
  const sorted = best.inOrder()
  const within = sorted.slice(skip, end)
  const shown = upToSize(within, ({ record }) => source.sizeOf(record), wanted.sizeMax)
  const isCut = skip + shown.length < Math.min(end, sorted.length)
  return {
    records: shown.map(({ record }) => record),
    next:
      isCut || (wanted.lookAhead && sorted.length > end)
        ? { kind: 'sorted', key: shown.at(-1)!.key }
        : undefined,
  }
}

/** The first of some items: the one by which their sizes are more than enough is the last. */
export function upToSize<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  sizeMax = Infinity,
): readonly T[] {
  let size = 0
  const last = items.findIndex((item) => (size += sizeOf(item)) > sizeMax)
  return last < 0 ? items : items.slice(0, last + 1)
}

/** Keeps the first `size` of what is added, by cutting back whenever it has twice as many. */
export class Best<T> {
  readonly #size: number
  readonly #compare: (a: T, b: T) => number
  #kept: T[] = []

  constructor(size: number, compare: (a: T, b: T) => number) {
    this.#size = size
    this.#compare = compare
  }

  add(item: T): void {
    this.#kept.push(item)
    if (this.#kept.length >= Math.max(2 * this.#size, paceMin)) this.#kept = this.inOrder()
  }

  inOrder(): T[] {
    return this.#kept.toSorted(this.#compare).slice(0, this.#size)
  }
}

function compareKeys(a: SortedBy, b: SortedBy, directions: readonly (1 | -1)[]): number {
  for (const [i, direction] of directions.entries()) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order * direction
  }
  return 0
}
