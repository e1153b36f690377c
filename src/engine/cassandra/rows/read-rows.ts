/**
 * Reads of rows: one branch of the plan after the other, each in the order in which the
 * cluster keeps rows: partitions by their tokens, and within one by its sort.
 */
import type { Caller } from '../../../caller.ts'
import type { Column } from '../../../language/columns/column.ts'
import type { RowFilter } from '../../../language/columns/row-filter.ts'
import { storedDirection } from '../../../language/columns/stored-order.ts'
import { conditionsOf } from '../../../language/filters/filter-clause.ts'
import type { Row, RowPage, RowQuery } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { keyNames, type Table } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { Session } from '../cluster/session.ts'
import type { ReadLimits } from '../documents/read-documents.ts'
import { FoundRow, hasTerms, matchesHere, withoutTerms } from './found-row.ts'
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

/** Where rows are, and what the cluster that has them can do. */
export interface RowAccess {
  readonly session: Session
  readonly can: Capabilities
  readonly limits: ReadLimits
}

/** Rows of a page of the cluster's, where some of them may be left out. */
const pageMin = 50
const pageMax = 1_000

export async function readRows(
  access: RowAccess,
  table: Table,
  query: RowQuery,
  caller: Caller,
): Promise<RowPage> {
  const { filter, sort, limit, after, lookAhead, columns, sizeMax = Infinity } = query
  const direction = directionOf(table, query)
  const use = direction === -1 ? 'readBackwards' : 'read'
  const plan = servedPlan(access, table, filter, use)
  const served = { filter: plan.isServed, sort: direction !== undefined }
  const isServed = served.filter && served.sort
  const others = [...conditionsOf(filter), ...sort].map(({ column }) => column)
  const reading: Reading = {
    table,
    plan,
    columns: selectedColumns(table, [...columns, ...others]),
    direction: direction ?? 1,
    pageSize: isServed ? Math.min(limit + 1, pageMax) : pageMax,
  }
  let toSkip = isServed && after === undefined ? query.skip : 0
  const place = after === undefined ? firstPlace : readPlace(after, table)
  const records: PlacedRow[] = []
  let size = 0
  let next: RowPlace | undefined
  for await (const found of findRows(access, reading, place, caller)) {
    if (toSkip-- > 0) continue
    if (records.length === limit || (isServed && size > sizeMax)) {
      next = records.at(-1)!.place
      break
    }
    const record = new PlacedRow(found, columns)
    records.push(record)
    size += record.size
    if (isServed && lookAhead === false && records.length === limit) break
  }
  return {
    records,
    served,
    next: next && printPlace(next),
    positionAfter: (row: Row) => printPlace((row as PlacedRow).place),
  }
}

export async function countRows(
  access: RowAccess,
  table: Table,
  filter: RowFilter,
  stopAt: number,
  caller: Caller,
): Promise<number | undefined> {
  const plan = servedPlan(access, table, filter, 'read')
  if (!plan.isServed) return undefined
  const checked = conditionsOf(filter).map(({ column }) => column)
  const columns = selectedColumns(table, needsValues(plan) ? checked : [])
  const reading: Reading = { table, plan, columns, direction: 1, pageSize: pageMax }
  let count = 0
  const rows = findRows(access, reading, firstPlace, caller)
  while (count < stopAt && !(await rows.next()).done) count++
  await rows.return(undefined)
  return count
}

/** Whether rows come in the order that is asked for; undefined: they are to be sorted. */
function directionOf(table: Table, { sort, filter }: RowQuery): 1 | -1 | undefined {
  if (sort.length === 0) return 1
  const { definition, types } = table
  const key = keyNames(definition).map((name) =>
    definition.columns.find((column) => column.name === name)!,
  )
  return storedDirection({ sort, filter }, definition, key, types)
}

export interface ServedPlan extends RowConditions {
  /** Whether it finds no others than those that match. */
  readonly isServed: boolean
}

/** Terms that the cluster cannot look for are looked for above. */
export function servedPlan(
  { can }: Pick<RowAccess, 'can'>,
  table: Table,
  filter: RowFilter,
  use: QueryUse,
): ServedPlan {
  const plan = rowConditions(table, filter, can, use)
  const { branches, areDisjoint } = plan
  const isServed = branches.every(
    (branch) => !hasTerms(branch.rest) && (areDisjoint || !hasTerms(branch.filter)),
  )
  if (isServed) return { ...plan, isServed }
  return { ...rowConditions(table, withoutTerms(filter), can, use), isServed }
}

function needsValues({ branches, areDisjoint }: RowConditions): boolean {
  return !areDisjoint || branches.some(({ rest }) => !isEverything(rest))
}

function isEverything(filter: RowFilter): boolean {
  return filter.kind === 'and' && filter.of.length === 0
}

interface Reading {
  readonly table: Table
  readonly plan: RowConditions
  readonly columns: readonly Column[]
  readonly direction: 1 | -1
  /** Rows that are asked for at a time where none is left out. */
  readonly pageSize: number
}

interface Found extends SelectedRow {
  /** Just behind it. */
  readonly place: () => RowPlace
}

class PlacedRow extends FoundRow {
  readonly #place: () => RowPlace

  constructor({ values, place }: Found, shown: readonly Column[]) {
    super(values, shown)
    this.#place = place
  }

  get place(): RowPlace {
    return this.#place()
  }
}

async function* findRows(
  access: RowAccess,
  reading: Reading,
  start: RowPlace,
  caller: Caller,
): AsyncGenerator<Found> {
  const { table, plan } = reading
  const { scannedMax } = access.limits
  let scanned = 0
  for (let at = start.branch; at < plan.branches.length; at++) {
    const from = at === start.branch ? start : { ...firstPlace, branch: at }
    for await (const row of findByBranch(access, reading, from, caller)) {
      if (++scanned > scannedMax) throw tooMuch(table, scannedMax)
      const pause = caller.pause()
      if (pause !== undefined) await pause
      if (isWanted(plan, at, row.values, table)) yield row
    }
  }
}

async function* findByBranch(
  { session }: RowAccess,
  reading: Reading,
  from: RowPlace,
  caller: Caller,
): AsyncGenerator<Found> {
  const { table, plan, columns, direction } = reading
  const branch = plan.branches[from.branch]!
  const statement = selectRows(table, { columns, branch, direction, withToken: true })
  const { last } = from
  for (let page: RowPlace | undefined = { ...from, last: undefined }; page;) {
    caller.check()
    const { pageState } = page
    // Mostly it has the rows that came before and no others.
    const isAgain = pageState === from.pageState && last !== undefined
    const fetchSize = isAgain ? last.count : pageSizeOf(branch, reading)
    const found = await session.run(statement, 'read', { fetchSize, pageState })
    const behind = placeBehind(page, found.pageState)
    for (const [position, row] of found.rows.entries()) {
      const selected = readRow(table, columns, row)
      if (selected === undefined || (last && isDone(last, selected, reading))) continue
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
  { table, direction }: Reading,
): boolean {
  try {
    return isUpTo(last, row, table, direction)
  } catch {
    // It may have come from a client that made it up.
    throw noSuchPlace()
  }
}

function pageSizeOf({ rest }: RowBranch, { pageSize, plan }: Reading): number {
  return plan.areDisjoint && isEverything(rest) ? pageSize : Math.max(pageSize, pageMin)
}

/** Rows that several branches find count for the first of them. */
function isWanted(
  { branches, areDisjoint }: RowConditions,
  at: number,
  values: FoundRow['values'],
  table: Table,
): boolean {
  const { rest } = branches[at]!
  if (!isEverything(rest) && !matchesHere(rest, values, table)) return false
  return (
    areDisjoint ||
    !branches.slice(0, at).some(({ filter }) => matchesHere(filter, values, table))
  )
}

function placeBehind({ branch }: RowPlace, pageState: string | undefined): RowPlace {
  return pageState === undefined
    ? { ...firstPlace, branch: branch + 1 }
    : { ...firstPlace, branch, pageState }
}

function tooMuch({ name }: Table, scannedMax: number): EngineError {
  return new EngineError(
    'unsupported',
    `more than ${scannedMax} rows of ${name} had to be looked at. Add a condition on the ` +
      'partition or on a column with an index, or raise --max-scanned',
  )
}
