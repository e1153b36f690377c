/** Walks documents in the order of their ids. */
import { rowColumns, type DocRow, type RowColumns } from '../format/doc-row.ts'
import type { Bounds } from './bounds.ts'
import type { PossibleMatch } from './conditions.ts'
import { boundsSql } from './id-bounds.ts'
import type { StoreConnection } from '../store/store-connection.ts'

/** A walk in the order of ids, or in its reverse. */
export interface IdWalk {
  readonly bounds: Bounds | undefined
  readonly direction: 1 | -1
  /** Only ids after this one, in the direction of the walk; absent: all ids. */
  readonly from?: Uint8Array | undefined
  /** Whether to read texts as well, because most of them will be needed. */
  readonly withTexts: boolean
}

/** Documents with ids within bounds, in the order of ids. */
export function* rowsWithin(
  store: StoreConnection,
  stretch: IdWalk,
): Generator<PossibleMatch & { readonly row?: DocRow }> {
  const { bounds, direction, from, withTexts } = stretch
  const within = bounds && boundsSql(bounds)
  const parts = [
    ...(from === undefined ? [] : [`d.id ${direction === 1 ? '>' : '<'} ?`]),
    ...(within === undefined ? [] : [within.sql]),
  ]
  const sql =
    `SELECT d.id, ${withTexts ? rowColumns : 'd.seq'} FROM doc d ` +
    (parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')} `) +
    `ORDER BY d.id ${direction === 1 ? 'ASC' : 'DESC'}`
  const parameters = [...(from === undefined ? [] : [from]), ...(within?.parameters ?? [])]
  for (const found of store.prepared(sql).iterate(...parameters)) {
    const [id, ...columns] = found as unknown as [Uint8Array, ...RowColumns]
    const met = { seq: columns[0], id: () => id }
    yield withTexts ? { ...met, row: store.rowOf(columns) } : met
  }
}

/** The ranges that have ids after `from`, in the order in which the walk reaches them. */
export function boundsFrom(
  bounds: readonly Bounds[],
  direction: 1 | -1,
  from: Uint8Array | undefined,
): readonly Bounds[] {
  const left = bounds.filter(
    ({ low, high }) =>
      from === undefined || isBefore(from, direction === 1 ? high.key : low.key, direction),
  )
  return direction === 1 ? left : left.toReversed()
}

function isBefore(a: Uint8Array, b: Uint8Array, direction: 1 | -1): boolean {
  return Buffer.compare(a, b) * direction < 0
}
