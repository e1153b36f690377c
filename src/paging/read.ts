/**
 * Reads records: the engine executes what it can of a query, and this module does the rest.
 */
import type { Caller } from '../caller/caller.ts'
import type { Joined, Page, Position } from '../engine/contract.ts'
import { upToSize } from '../engine/up-to-size.ts'
import { apiError } from '../errors/api-error.ts'
import { compareLists } from '../language/values/order.ts'
import type { Limits } from '../limits.ts'
import { sortInSteps } from '../runtime/sort-in-steps.ts'
import { andThen, inTurns, Pace, type Steps } from '../runtime/steps.ts'
import type { AnyQuery, AnySearch, ReadFields, SortedBy, Source } from './source.ts'

/**
 * A query to this module. Unlike a query to the engine, it may continue after a record of a sort
 * that this module executes.
 */
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
   * Whether to read one record more, to find out if another page follows. Prevents an empty last
   * page. False if the caller will not request the next page.
   */
  readonly lookAhead: boolean
  /** Whether only texts are needed, so that the engine may return them joined. */
  readonly textsOnly: boolean
  /** Characters of texts after which a page ends; `next` is the position after it. */
  readonly sizeMax?: number | undefined
}

/** Defaults of a read: from the start, in the engine's order. */
export const anyOrder = {
  sort: [],
  skip: 0,
  after: undefined,
  lookAhead: false,
  textsOnly: false,
} as const

/**
 * A position in the results: a position of the engine or, if this module sorts, the sort key of the
 * last record.
 */
export type PagePosition =
  | { readonly kind: 'engine'; readonly position: Position }
  | { readonly kind: 'sorted'; readonly key: SortedBy }

export interface FoundRecords<Item> {
  readonly records: Item[]
  /** The joined texts, when the caller needs no records. */
  readonly joined?: Joined | undefined
  /**
   * Position of the next page; undefined when no records follow. With lookAhead false, it is only
   * set if `sizeMax` ended the page.
   */
  readonly next: PagePosition | undefined
}

/**
 * Reads a page. Returns synchronously if the engine returns synchronously and has executed the
 * whole query.
 */
export function read<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  caller: Caller,
): FoundRecords<Item> | Promise<FoundRecords<Item>> {
  const query = firstQuery(wanted)
  return andThen(source.read(query, caller), (page) =>
    readOn(source, wanted, query, page, caller),
  )
}

/** Completes a read after the engine's first page. */
function readOn<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  query: Q,
  page: Page<Item>,
  caller: Caller,
): FoundRecords<Item> | Promise<FoundRecords<Item>> {
  if (isServed(page, wanted)) {
    const { records, joined, next } = page
    return { records: [...records], joined, next: placeOf(next) }
  }
  const pages = followPages(source, query, page, caller)
  const isSorted =
    wanted.sort.length === 0 || (page.served.sort && wanted.after?.kind !== 'sorted')
  return isSorted
    ? filterHere(source, wanted, pages, caller)
    : sortHere(source, wanted, pages, caller)
}

function firstQuery<Q extends AnyQuery>(wanted: Wanted<Q>): Q {
  // The engine can execute the query of a first page as it is.
  if (wanted.after === undefined) return wanted as unknown as Q
  const { after, sizeMax, ...asked } = wanted
  const query = {
    ...asked,
    ...(sizeMax !== undefined && { sizeMax }),
    skip: 0,
    after: after.kind === 'engine' ? after.position : undefined,
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

/**
 * Whether a record matches a filter that the engine has not applied completely. Yields to other
 * requests between records.
 */
async function isMatch<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  filter: Q['filter'],
  record: Item,
  caller: Caller,
): Promise<boolean> {
  const pause = caller.pause()
  if (pause !== undefined) await pause
  return source.matches(filter, record, caller)
}

/** Checks the records of the engine's pages against the filter, in the engine's order. */
async function filterHere<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  pages: AsyncIterable<Page<Item>>,
  caller: Caller,
): Promise<FoundRecords<Item>> {
  const records: Item[] = []
  let room = wanted.sizeMax ?? Infinity
  let toSkip = wanted.after === undefined ? wanted.skip : 0
  let last: Page<Item> | undefined
  for await (const page of pages)
    for (const record of page.records) {
      if (!page.served.filter && !(await isMatch(source, wanted.filter, record, caller)))
        continue
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

/** Number of matching records, counted up to `stopAt`. */
export async function count<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  filter: Q['filter'],
  stopAt: number,
  fields: ReadFields<Q>,
  caller: Caller,
): Promise<number> {
  const served = await source.count(filter, stopAt, caller)
  if (served !== undefined) return served
  const wanted = { ...fields, ...anyOrder, filter, limit: paceMin } as unknown as Wanted<Q>
  let counted = 0
  const records = matching(source, wanted, caller)
  while (counted < stopAt && !(await records.next()).done) counted++
  return counted
}

/** Iterates over all matching records with a few in memory at a time. */
export async function* matching<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  caller: Caller,
): AsyncGenerator<Item, void, undefined> {
  const query = firstQuery({ ...wanted, lookAhead: true })
  const first = await source.read(query, caller)
  for await (const page of followPages(source, query, first, caller))
    for (const record of page.records)
      if (page.served.filter || (await isMatch(source, wanted.filter, record, caller)))
        yield record
}

/** Minimum records per page that is requested from the engine after the first page. */
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

/** Sorts unsorted records of the engine. Keeps only as many records as the page needs. */
async function sortHere<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Wanted<Q>,
  pages: AsyncIterable<Page<Item>>,
  caller: Caller,
): Promise<FoundRecords<Item>> {
  const after = wanted.after?.kind === 'sorted' ? wanted.after.key : undefined
  const skip = after === undefined ? wanted.skip : 0
  const end = skip + wanted.limit
  const directions = [
    ...wanted.sort.map(({ direction }) => direction),
    ...source.idDirections(wanted),
  ]
  const pace = new Pace()
  const compare = (a: SortedBy, b: SortedBy) => compareLists(a, b, directions, pace)
  const sizeOf = ({ record }: Sortable<Item>) => source.sizeOf(record)
  const best = new TopK<Sortable<Item>>({
    ...{ count: end + 1, skip, sizeOf, sizeMax: wanted.sizeMax, limits: source.limits },
    ...{ compare: (a, b) => compare(a.key, b.key), pace },
  })
  for await (const page of pages)
    for (const record of page.records) {
      if (!page.served.filter && !(await isMatch(source, wanted.filter, record, caller)))
        continue
      const key = source.sortKey(record, wanted.sort)
      if (after !== undefined && compare(key, after) <= 0) continue
      const cut = best.add({ record, key })
      if (cut !== undefined) await inTurns(cut, caller)
    }
  const sorted = await inTurns(best.inOrder(), caller)
  const within = sorted.slice(skip, end)
  const shown = upToSize(within, sizeOf, wanted.sizeMax)
  const isCut = skip + shown.length < Math.min(end, sorted.length)
  return {
    records: shown.map(({ record }) => record),
    next:
      isCut || (wanted.lookAhead && sorted.length > end)
        ? { kind: 'sorted', key: shown.at(-1)!.key }
        : undefined,
  }
}

interface TopKOptions<T> {
  readonly count: number
  readonly compare: (a: T, b: T) => number
  /** The pace, to which long comparisons add their cost. */
  readonly pace: Pace
  readonly sizeOf: (item: T) => number
  /** Number of leading records that are kept only to be skipped. */
  readonly skip?: number
  /** Characters after which the result is truncated. */
  readonly sizeMax?: number | undefined
  readonly limits: Limits
}

/**
 * Keeps the first `count` items of a sort. Truncates when it has twice as many items (but at least
 * `paceMin`), or when their size is twice that of a reply. Throws when skipped items exceed the
 * size of a reply.
 */
export class TopK<T> {
  readonly #options: TopKOptions<T>
  #kept: T[] = []
  #size = 0

  constructor(options: TopKOptions<T>) {
    this.#options = options
  }

  /** Adds an item. Returns the steps of a truncation, to be run before the next call. */
  add(item: T): Steps<void> | undefined {
    const { count, sizeOf, limits } = this.#options
    this.#kept.push(item)
    this.#size += sizeOf(item)
    const isMuch = this.#size > 2 * limits.replySizeMax
    const areMany = this.#kept.length >= Math.max(2 * count, paceMin)
    return isMuch || areMany ? this.#cut() : undefined
  }

  *inOrder(): Steps<T[]> {
    const { compare, count, pace } = this.#options
    return (yield* sortInSteps(this.#kept, compare, pace)).slice(0, count)
  }

  *#cut(): Steps<void> {
    const { sizeOf, skip = 0, sizeMax, limits } = this.#options
    const max = limits.replySizeMax
    const best = yield* this.inOrder()
    const skipped = best.slice(0, skip)
    if (sumOf(skipped, sizeOf) > max)
      throw apiError('OVERLOADED_SORT_ROW_LIMIT', { reason: 'skipped', max })
    const shown = upToSize(best.slice(skip), sizeOf, sizeMax ?? max)
    // One more item than the page has shows that the result continues.
    this.#kept = best.slice(0, skip + shown.length + 1)
    this.#size = sumOf(this.#kept, sizeOf)
  }
}

function sumOf<T>(items: readonly T[], sizeOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0)
}
