/**
 * Reading: what the engine serves of a query is taken as it comes, what it leaves is done
 * here.
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
   * Whether to read one record more, to find out if another page follows. It prevents empty last
   * pages, and is off when no next page will be requested.
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

export interface FoundRecords<Item> {
  readonly records: Item[]
  /** Instead of records, where these were not needed. */
  readonly joined?: Joined | undefined
  /** Absent when nothing follows, or when that was not looked for. */
  readonly next: PagePosition | undefined
}

/** At once where the engine is, and has done all of it. */
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

/** What a first page makes of it, or those that follow. */
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
  // Most reads begin at the beginning: what is wanted is what is asked then.
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

/** What the engine left over of a filter. Others have their turn between records. */
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

/** Takes what matches, in the order in which it comes. */
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

/** Matching records, counted up to `stopAt`. */
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
      if (page.served.filter || (await isMatch(source, wanted.filter, record, caller)))
        yield record
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
  const best = new Best<Sortable<Item>>({
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

interface BestOptions<T> {
  readonly count: number
  readonly compare: (a: T, b: T) => number
  /** What comparisons add to that take long. */
  readonly pace: Pace
  readonly sizeOf: (item: T) => number
  /** The first of them that are held only to be left out. */
  readonly skip?: number
  /** Characters after which the others are cut. */
  readonly sizeMax?: number | undefined
  readonly limits: Limits
}

/**
 * Keeps the first of what is added, by cutting back whenever there are twice as many, or they
 * take twice what a reply may. Throws where what is skipped takes too much.
 */
export class Best<T> {
  readonly #options: BestOptions<T>
  #kept: T[] = []
  #size = 0

  constructor(options: BestOptions<T>) {
    this.#options = options
  }

  /** Returns the steps of cutting back, to be run before the next is added. */
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
    // One more says that there is more.
    this.#kept = best.slice(0, skip + shown.length + 1)
    this.#size = sumOf(this.#kept, sizeOf)
  }
}

function sumOf<T>(items: readonly T[], sizeOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0)
}
