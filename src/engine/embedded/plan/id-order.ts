/** Documents in the order of their ids, a few at a time. */
import type { Budget } from './budget.ts'
import type { Condition } from './conditions.ts'
import { boundsSql, type Bounds } from './id-bounds.ts'
import type { Key } from './access-paths.ts'
import { readBatch, type Batch } from '../store/row-batch.ts'
import type { StoreConnection } from '../store/store-connection.ts'

/** Which part of an order: so many, beyond an id. */
export interface Stretch {
  readonly direction: 1 | -1
  readonly from: Uint8Array | undefined
  readonly size: number
}

/** Rows within bounds that fulfil conditions; their ids come last. */
export function rowsById(
  store: StoreConnection,
  { direction, from, size }: Stretch,
  bounds: Bounds | undefined,
  conditions: readonly Condition[],
  budget: Budget,
): Batch {
  const within = bounds && boundsSql(bounds)
  const parts = [
    ...(from === undefined ? [] : [`d.id ${direction === 1 ? '>' : '<'} ?`]),
    ...(within === undefined ? [] : [within.sql]),
    ...conditions.map(({ sql }) => sql),
  ]
  return readBatch(
    store,
    'SELECT d.seq, d.version, d.text, d.id FROM doc d ' +
      `WHERE ${parts.length === 0 ? '1' : parts.join(' AND ')} ` +
      `ORDER BY d.id ${direction === 1 ? 'ASC' : 'DESC'} LIMIT ?`,
    [
      ...(from === undefined ? [] : [from]),
      ...(within?.parameters ?? []),
      ...conditions.flatMap(({ parameters }) => parameters),
      size,
    ],
    budget,
  )
}

/** Bounds in the order of a walk, from an id on; one without bounds where there are none. */
export function boundsFrom(
  bounds: readonly Bounds[] | undefined,
  direction: 1 | -1,
  from: Uint8Array | undefined,
): readonly (Bounds | undefined)[] {
  if (bounds === undefined) return [undefined]
  const left = bounds.filter(
    ({ low, high }) =>
      from === undefined || isBefore(from, direction === 1 ? high.key : low.key, direction),
  )
  return direction === 1 ? left : left.toReversed()
}

/** Rows that have a value. */
export function rowsByKey(
  store: StoreConnection,
  { path, value }: Key,
  { direction, from, size }: Stretch,
  budget: Budget,
): Batch {
  return readBatch(
    store,
    'SELECT d.seq, d.version, d.text FROM entry e CROSS JOIN doc d ON d.seq = e.doc ' +
      `WHERE e.path = ? AND e.value = ?${beyond(direction, from)} ` +
      `ORDER BY e.id ${direction === 1 ? 'ASC' : 'DESC'} LIMIT ?`,
    [path, value, ...(from === undefined ? [] : [from]), size],
    budget,
  )
}

/** Documents with their ids, and whether there are no others. */
export interface Following {
  readonly documents: readonly { readonly id: Uint8Array; readonly seq: number }[]
  readonly isLast: boolean
}

/**
 * The next documents that have one of several values, in order, each once: as many as are
 * known to come before all others. The entries of one value stand in the order of ids.
 */
export function nextByKeys(
  store: StoreConnection,
  keys: readonly Key[],
  { direction, from, size }: Stretch,
): Following {
  const sql =
    'SELECT e.id, e.doc FROM entry e ' +
    `WHERE e.path = ? AND e.value = ?${beyond(direction, from)} ` +
    `ORDER BY e.id ${direction === 1 ? 'ASC' : 'DESC'} LIMIT ?`
  const found = new Map<number, Uint8Array>()
  // Beyond the last that a value gave, it may have others.
  let sure: Uint8Array | undefined
  for (const { path, value } of keys) {
    const parameters = [path, value, ...(from === undefined ? [] : [from]), size]
    const rows = store.all(sql, parameters) as [Uint8Array, number][]
    for (const [id, seq] of rows) found.set(seq, id)
    if (rows.length < size) continue
    const [last] = rows.at(-1)!
    if (sure === undefined || isBefore(last, sure, direction)) sure = last
  }
  const documents = [...found]
    .map(([seq, id]) => ({ id, seq }))
    .filter(({ id }) => sure === undefined || !isBefore(sure, id, direction))
    .sort((a, b) => Buffer.compare(a.id, b.id) * direction)
  return { documents, isLast: sure === undefined }
}

function beyond(direction: 1 | -1, from: Uint8Array | undefined): string {
  return from === undefined ? '' : ` AND e.id ${direction === 1 ? '>' : '<'} ?`
}

function isBefore(a: Uint8Array, b: Uint8Array, direction: 1 | -1): boolean {
  return Buffer.compare(a, b) * direction < 0
}
