/** Pages: the records that follow those which a page state says were given already. */
import type { Caller } from '../caller.ts'
import type { Joined, StoredRecord } from '../engine/contract.ts'
import type { Limits } from '../limits.ts'
import { decodePageState, encodePageState } from './page-state.ts'
import { read, type Source, type Wanted } from './read.ts'

export interface WantedPage extends Pick<
  Wanted,
  'filter' | 'sort' | 'withSearchFields' | 'textsOnly'
> {
  /** Names the query; asked only when there is another page. */
  readonly query: () => string
  /** Before the first page. */
  readonly skip: number
  /** Over all pages. */
  readonly limit: number
  readonly pageSize: number
  /** Absent or empty: the first page. */
  readonly pageState: string | undefined
}

export interface ReadPage {
  readonly records: readonly StoredRecord[]
  /** Instead of records, where these were not needed. */
  readonly joined?: Joined | undefined
  readonly nextPageState: string | null
}

export async function readPage(
  source: Source,
  wanted: WantedPage,
  caller: Caller,
): Promise<ReadPage> {
  const { query, limit, pageSize, pageState, ...rest } = wanted
  const from = pageState ? decodePageState(pageState, query(), source.limits) : undefined
  const before = from?.count ?? 0
  const left = limit - before
  if (left <= 0) return { records: [], nextPageState: null }
  const count = Math.min(left, pageSize)
  const { records, joined, next } = await read(
    source,
    {
      ...rest,
      limit: count,
      sizeMax: sizeMaxOf(count, source.limits),
      after: from?.place,
      stable: false,
      lookAhead: left > pageSize,
    },
    caller,
  )
  const given = before + (joined?.count ?? records.length)
  const nextPageState =
    next === undefined ? null : encodePageState({ count: given, place: next }, query())
  return { records, joined, nextPageState }
}

/** Undefined where so many records cannot have too many characters: then nobody counts. */
export function sizeMaxOf(count: number, limits: Limits): number | undefined {
  const { documentLengthMax, replySizeMax } = limits
  return count * documentLengthMax > replySizeMax ? replySizeMax : undefined
}
