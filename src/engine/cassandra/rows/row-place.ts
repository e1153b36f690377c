/**
 * Positions among the rows of a query: the branch of the plan, the page state where a page begins,
 * and the last returned row of that page. Any server can continue from a position, even after
 * writes, because rows have a fixed order.
 */
import { packValue, unpackList } from '../../../json/packed.ts'
import type { Value } from '../../../json/value.ts'
import type { Column, ColumnValue } from '../../../language/columns/column.ts'
import type { UserTypes } from '../../../language/columns/column-type.ts'
import { comparableScalar } from '../../../language/columns/comparable-values.ts'
import { compareValues } from '../../../language/values/order.ts'
import type { Position } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { Table } from '../../schema.ts'
import type { SelectedRow } from './row-statements.ts'
import { isFloating } from './term.ts'

export interface RowPlace {
  readonly branch: number
  /** The driver's page state; undefined: the first page. */
  readonly pageState: string | undefined
  /** The last returned row of the page; undefined: no row of the page was returned. */
  readonly last: LastRow | undefined
}

export interface LastRow {
  /** Position of this row in its page, starting at 1. */
  readonly count: number
  readonly token: bigint
  /** Values of the clustering columns. */
  readonly sort: readonly Value[]
}

export const firstPlace: RowPlace = { branch: 0, pageState: undefined, last: undefined }

export function placeAfter(
  page: RowPlace,
  count: number,
  { token, values }: SelectedRow,
  { definition }: Table,
): RowPlace {
  const sort = definition.partitionSort.map(({ column }) => values.get(column) as Value)
  return { ...page, last: { count, token: token!, sort } }
}

export function printPlace({ branch, pageState = '', last }: RowPlace): Position {
  const place = `${branch}:${pageState}`
  if (last === undefined) return place
  const sort = packValue(last.sort).toString('latin1')
  return `${place}:${last.count}:${last.token}:${sort}`
}

export function readPlace(position: Position, { definition }: Table): RowPlace {
  const [, branch, pageState, count, token, packed] = form.exec(position) ?? []
  if (branch === undefined) throw noSuchPlace()
  const place = {
    branch: Number(branch),
    pageState: pageState === '' ? undefined : pageState,
  }
  if (count === undefined) return { ...place, last: undefined }
  const sort = sortIn(packed!)
  if (sort.length !== definition.partitionSort.length) throw noSuchPlace()
  return { ...place, last: { count: Number(count), token: BigInt(token!), sort } }
}

const form = /^(\d{1,9}):((?:[0-9a-f]{2})*)(?::(\d{1,4}):(-?\d{1,19}):(.*))?$/s

function sortIn(packed: string): readonly Value[] {
  const sort = unpackList(Buffer.from(packed, 'latin1'), unpackLimits)
  if (sort === undefined || sort.includes(undefined)) throw noSuchPlace()
  return sort as Value[]
}

/** Limits for unpacking a position, which comes from a client and may be forged. */
const unpackLimits = { depthMax: 100, valuesMax: 100_000 }

export function noSuchPlace(): EngineError {
  return new EngineError('position', 'the position is invalid')
}

/** Whether a row is at or before the position. `direction` is the direction of the read. */
export function isUpTo(
  last: LastRow,
  { token, values }: SelectedRow,
  { definition, types }: Table,
  direction: 1 | -1,
): boolean {
  if (token !== last.token) return token! < last.token
  for (const [
    at,
    { column: name, direction: declared },
  ] of definition.partitionSort.entries()) {
    const column = definition.columns.find((candidate) => candidate.name === name)!
    const order = compareStored(column, values.get(name)!, last.sort[at]!, types)
    if (order !== 0) return order * declared * direction < 0
  }
  return true
}

/** Compares values in Cassandra's storage order. */
function compareStored(
  column: Column,
  a: ColumnValue,
  b: ColumnValue,
  types: UserTypes,
): number {
  const { type } = column.type
  if (type === 'text' || type === 'ascii')
    return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string))
  if (isFloating(type)) return compareFloats(Number(a), Number(b))
  const toComparable = comparableScalar(column, types)
  return compareValues(toComparable(a), toComparable(b))
}

/** Orders -0 before 0, and NaN last. */
function compareFloats(a: number, b: number): number {
  if (Object.is(a, b)) return 0
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1
  return a - b || (Object.is(a, -0) ? -1 : 1)
}
