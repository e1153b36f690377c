/**
 * Reads rows by our own term index, or one branch of the plan after the other, each branch in
 * Cassandra's storage order: by the token of the partition, then by clustering columns.
 */
import type { Caller } from '../../../caller/caller.ts'
import type { Column, RowValues } from '../../../language/columns/column.ts'
import type { RowFilter } from '../../../language/columns/row-filter.ts'
import { storedDirection } from '../../../language/columns/stored-order.ts'
import {
  conditionsOf,
  isLogical,
  requirementsOf,
} from '../../../language/filters/filter-clause.ts'
import { inTurns } from '../../../runtime/steps.ts'
import type { Position, Row, RowPage, RowQuery } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { keyColumns, type Table } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { isFilteringError } from '../cluster/failures.ts'
import type { SentStatements } from '../cluster/sent-statements.ts'
import { pageSizeOf } from '../cluster/page-size.ts'
import type { RunOptions, Session } from '../cluster/session.ts'
import type { ClusterPostings, TextPlace } from '../lexical/postings.ts'
import { keysWithTerms } from '../lexical/search-terms.ts'
import { placeInScan, Scan, textsMaxOf, type ReadLimits } from '../system/read-limits.ts'
import { FoundRow, RowFilters } from './found-row.ts'
import { keysInOrder } from './key-order.ts'
import type { QueryUse, RowBranch } from './row-branch.ts'
import { rowConditions, type RowConditions } from './row-conditions.ts'
import {
  firstPlace,
  isUpTo,
  noSuchPlace,
  placeAfter,
  printPlace,
  readPlace,
  type RowPlace,
} from './row-place.ts'
import { readRow, selectedColumns, selectRows, type SelectedRow } from './row-statements.ts'
import { filterForKey, textPlaceOf } from './row-texts.ts'

/** Everything that a read of rows needs. */
export interface RowAccess {
  readonly session: Session
  readonly can: Capabilities
  readonly limits: ReadLimits
  /** Our own term index, for clusters without one. */
  readonly postings: ClusterPostings
}

/** Number of rows that are read concurrently by key. */
const keysAtATime = 16

/** Minimum rows per page if some of them may be filtered out, and maximum rows per page. */
const pageMin = 50
const pageMax = 1_000

export async function readRows(
  access: RowAccess,
  table: Table,
  query: RowQuery,
  caller: Caller,
  sent?: SentStatements,
): Promise<RowPage> {
  const { filter, sort, limit, lookAhead, columns, needed = [], sizeMax = Infinity } = query
  const scan = new Scan(query.after)
  const direction = directionOf(table, query)
  const isServed = direction !== undefined
  const others = [...conditionsOf(filter), ...sort].map(({ column }) => column)
  const reading: Reading = {
    table,
    filter,
    use: direction === -1 ? 'readBackwards' : 'read',
    columns: selectedColumns(table, [...columns, ...needed, ...others]),
    pageSize: isServed ? Math.min(limit + 1, pageMax) : pageMax,
    found: { lacksIndex: false },
    sent,
  }
  let toSkip = isServed && scan.after === undefined ? query.skip : 0
  const records: PlacedRow[] = []
  let size = 0
  let scanned = 0
  let next: Position | undefined
  for await (const found of findRows(access, reading, scan, caller)) {
    if (toSkip-- > 0) continue
    if (records.length === limit || (isServed && size > sizeMax)) {
      const { place } = records.at(-1)!
      next = isServed ? place : placeInScan(scanned, place)
      break
    }
    const record = new PlacedRow(found, columns)
    records.push(record)
    scanned = scan.count
    size += record.size
    if (isServed && lookAhead === false && records.length === limit) break
  }
  return {
    records,
    served: { filter: true, sort: isServed },
    next,
    ...(reading.found.lacksIndex && { lacksIndex: true }),
    positionAfter: (row: Row) => (row as PlacedRow).place,
  }
}

export async function countRows(
  access: RowAccess,
  table: Table,
  filter: RowFilter,
  stopAt: number,
  caller: Caller,
  sent?: SentStatements,
): Promise<number> {
  const checked = conditionsOf(filter).map(({ column }) => column)
  const columns = selectedColumns(table, checked)
  const found = { lacksIndex: false }
  const reading: Reading = {
    ...{ table, filter, use: 'read', columns, pageSize: pageMax, found, sent },
  }
  let count = 0
  const rows = findRows(access, reading, new Scan(), caller)
  while (count < stopAt && !(await rows.next()).done) count++
  await rows.return(undefined)
  return count
}

/**
 * Direction of a read in which the storage order is the requested order; undefined: rows must be
 * sorted.
 */
function directionOf(table: Table, { sort, filter }: RowQuery): 1 | -1 | undefined {
  if (sort.length === 0) return 1
  const { definition, types } = table
  const key = keyColumns(definition)
  return storedDirection({ sort, filter }, definition, key, types)
}

function isEverything(filter: RowFilter): boolean {
  return filter.kind === 'and' && filter.of.length === 0
}

interface Reading {
  readonly table: Table
  readonly filter: RowFilter
  readonly use: QueryUse
  /** Columns of the key, the result, the filter and the sort. */
  readonly columns: readonly Column[]
  /** Rows per page when none are filtered out. */
  readonly pageSize: number
  /** Findings about the indexes, set while rows are read. */
  readonly found: { lacksIndex: boolean }
  readonly sent: SentStatements | undefined
}

interface FoundValues {
  readonly values: RowValues
  /** Position directly after this row. */
  readonly place: () => Position
}

class PlacedRow extends FoundRow {
  readonly #place: () => Position

  constructor({ values, place }: FoundValues, shown: readonly Column[]) {
    super(values, shown)
    this.#place = place
  }

  get place(): Position {
    return this.#place()
  }
}

async function* findRows(
  access: RowAccess,
  reading: Reading,
  scan: Scan,
  caller: Caller,
): AsyncGenerator<FoundValues> {
  const { table } = reading
  const { limits } = access
  for await (const row of findCandidates(access, reading, scan.after, caller)) {
    if (!scan.takeOne(limits)) throw tooMuch(table, limits)
    const pause = caller.pause()
    if (pause !== undefined) await pause
    if (await row.isWanted()) yield row
  }
}

interface Candidate extends FoundValues {
  isWanted(): Promise<boolean>
}

/**
 * Finds candidates by our term index if the filter contains terms and no other access path exists,
 * else by branches.
 */
function findCandidates(
  access: RowAccess,
  reading: Reading,
  after: Position | undefined,
  caller: Caller,
): AsyncGenerator<Candidate> {
  const { table, filter, use } = reading
  const plan = rowConditions(table, filter, access.can, use)
  const wanted = requirementsOf(filter).find((part) => part.kind === 'match')
  const place = wanted && textPlaceOf(table, wanted.column.name)
  const isLed = plan.branches.every(({ isServed }) => isServed)
  const isByTerms =
    place !== undefined && !isLed && wanted!.terms.length > 0 && !access.can.indexAnalyzer
  const checked = isByTerms ? [filter] : plan.branches.map(({ rest }) => rest)
  reading.sent?.check(checkedIn(checked))
  return isByTerms
    ? findByTerms(access, reading, place, wanted!.terms, after, caller)
    : findByBranches(access, reading, plan, after, caller)
}

/** The conditions of filters that the server checks, without their values. */
function checkedIn(filters: readonly RowFilter[]): readonly string[] {
  const names = filters
    .flatMap((filter) => requirementsOf(filter))
    .map((part) =>
      isLogical(part) ? `one of ${part.of.length}` : `${part.column.name} ${part.kind}`,
    )
  return [...new Set(names)]
}

async function* findByTerms(
  access: RowAccess,
  { table, filter, columns }: Reading,
  place: TextPlace,
  terms: readonly string[],
  after: Position | undefined,
  caller: Caller,
): AsyncGenerator<Candidate> {
  if (after !== undefined && !after.startsWith('t')) throw noSuchPlace()
  const textsMax = textsMaxOf(access.limits)
  const known = await keysWithTerms(access.postings, place, terms, textsMax, caller)
  const filters = new RowFilters(table, caller)
  const keys = await keysInOrder(known, after?.slice(1), table, caller)
  for (let from = 0; from < keys.length; from += keysAtATime) {
    const some = keys.slice(from, from + keysAtATime)
    const found = await Promise.all(
      some.map((key) => readByKey(access, table, key, columns, caller)),
    )
    for (const [at, values] of found.entries())
      if (values !== undefined)
        yield {
          values,
          place: () => `t${some[at]!}`,
          isWanted: () => filters.matches(filter, values),
        }
  }
}

/** Reads the row with a key; undefined: the row does not exist. */
export async function readByKey(
  { session, can }: RowAccess,
  table: Table,
  key: string,
  columns: readonly Column[],
  caller: Caller,
): Promise<RowValues | undefined> {
  const { branches } = rowConditions(table, filterForKey(table, key), can)
  for (const branch of branches) {
    const { rows } = await session.run(selectRows(table, { columns, branch }), 'read')
    const found = rows[0] && (await inTurns(readRow(table, columns, rows[0]), caller))
    if (found !== undefined) return found.values
  }
  return undefined
}

async function* findByBranches(
  access: RowAccess,
  reading: Reading,
  plan: RowConditions,
  after: Position | undefined,
  caller: Caller,
): AsyncGenerator<Candidate> {
  const start = after === undefined ? firstPlace : readPlace(after, reading.table)
  const filters = new RowFilters(reading.table, caller)
  for (let at = start.branch; at < plan.branches.length; at++) {
    const from = at === start.branch ? start : { ...firstPlace, branch: at }
    for await (const { place, values } of findByBranch(access, reading, plan, from, caller))
      yield {
        values,
        place: () => printPlace(place()),
        isWanted: () => isWanted(plan, at, values, filters),
      }
  }
}

async function* findByBranch(
  { session }: RowAccess,
  reading: Reading,
  plan: RowConditions,
  from: RowPlace,
  caller: Caller,
): AsyncGenerator<SelectedRow & { readonly place: () => RowPlace }> {
  const { table, columns, use } = reading
  const direction = use === 'readBackwards' ? -1 : 1
  let branch = plan.branches[from.branch]!
  const ask = (options: RunOptions) => {
    const select = { columns, branch, direction, withToken: true } as const
    return session.run(selectRows(table, select), 'read', options)
  }
  const { last } = from
  const size = pageSizeOf(table)
  for (let page: RowPlace | undefined = { ...from, last: undefined }; page;) {
    caller.check()
    const { pageState } = page
    // If the position is inside a page, the page is read again, but only up to the last returned
    // row. This gives the page state after that row.
    const isAgain = pageState === from.pageState && last !== undefined
    const fetchSize = isAgain ? last.count : size.rows(rowsMaxOf(branch, reading, plan))
    const found = await ask({ fetchSize, pageState }).catch((error: unknown) => {
      // The index may just have been dropped, or serve less than the schema suggests.
      if (branch.allowFiltering || !isFilteringError(error)) throw error
      branch = { ...branch, allowFiltering: true }
      reading.found.lacksIndex = true
      return ask({ fetchSize, pageState })
    })
    size.note(found.rows)
    const behind = placeBehind(page, found.pageState)
    for (const [position, row] of found.rows.entries()) {
      const selected = await inTurns(readRow(table, columns, row), caller)
      if (selected === undefined || (last && isDone(last, selected, table, direction)))
        continue
      const isLast = position === found.rows.length - 1
      const begin: RowPlace = page
      const place = () =>
        isLast ? behind : placeAfter(begin, position + 1, selected, table)
      yield { ...selected, place }
    }
    page = behind.branch === from.branch ? behind : undefined
  }
}

function isDone(
  last: NonNullable<RowPlace['last']>,
  row: SelectedRow,
  table: Table,
  direction: 1 | -1,
): boolean {
  try {
    return isUpTo(last, row, table, direction)
  } catch {
    // The position comes from a client and may be forged.
    throw noSuchPlace()
  }
}

function rowsMaxOf(
  { rest }: RowBranch,
  { pageSize }: Reading,
  { areDisjoint }: RowConditions,
): number {
  return areDisjoint && isEverything(rest) ? pageSize : Math.max(pageSize, pageMin)
}

/** Whether the row matches, and no earlier branch has returned it. */
async function isWanted(
  { branches, areDisjoint }: RowConditions,
  at: number,
  values: RowValues,
  filters: RowFilters,
): Promise<boolean> {
  const { rest, filter } = branches[at]!
  if (!isEverything(rest) && !(await filters.matches(rest, values))) return false
  if (areDisjoint) return true
  const others = branches.slice(0, at).filter((earlier) => earlier.filter !== filter)
  for (const earlier of others)
    if (await filters.matches(earlier.filter, values)) return false
  return true
}

function placeBehind({ branch }: RowPlace, pageState: string | undefined): RowPlace {
  return pageState === undefined
    ? { ...firstPlace, branch: branch + 1 }
    : { ...firstPlace, branch, pageState }
}

function tooMuch({ name }: Table, { scannedMax }: ReadLimits): EngineError {
  return new EngineError(
    'unsupported',
    `more than ${scannedMax} rows of ${name} must be read. Add a condition on the ` +
      'partition or on a column with an index, or raise --max-scanned',
  )
}
