/**
 * Rows per page of a read, derived from the size of the rows on earlier pages of the collection or
 * table. A node limits pages by rows, and the driver decodes a page in one turn of the event loop,
 * so a page of large rows would block other requests. A page may still be too large if its rows are
 * larger than earlier rows.
 */
import type { types } from 'cassandra-driver'

/** Maximum bytes of a page, which the driver decodes in a few milliseconds. */
export const pageBytesMax = 2_000_000

/** Rows of the first page of a collection or table. */
export const firstRows = 16

export class PageSize {
  #rowBytes = pageBytesMax / firstRows

  /** Rows of the next page: at least one, and at most `max`. */
  rows(max: number): number {
    return Math.max(1, Math.min(max, Math.floor(pageBytesMax / this.#rowBytes)))
  }

  /** Takes the rows of a page into account. */
  note(rows: readonly types.Row[]): void {
    if (rows.length === 0) return
    const size = rows.reduce((sum, row) => sum + bytesOfRow(row), 0)
    this.#rowBytes = size / rows.length
  }
}

/** The PageSize that all reads of a collection or table share. */
export function pageSizeOf(target: object): PageSize {
  let size = sizes.get(target)
  if (size === undefined) sizes.set(target, (size = new PageSize()))
  return size
}

const sizes = new WeakMap<object, PageSize>()

function bytesOfRow(row: types.Row): number {
  return row
    .values()
    .reduce((sum: number, value: unknown) => sum + bytesOf(value), scalarBytes)
}

/**
 * Approximate bytes of a value. The size of a list, set or map is estimated from its first
 * elements.
 */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (Array.isArray(value)) return sampled(value, value.length)
  if (value instanceof Map) return sampled([...firstOf(value)].flat(), value.size * 2)
  if (value instanceof Set) return sampled([...firstOf(value)], value.size)
  return scalarBytes
}

function sampled(values: readonly unknown[], count: number): number {
  const some = values.slice(0, sampleMax)
  if (some.length === 0) return scalarBytes
  return (some.reduce((sum: number, one) => sum + bytesOf(one), 0) / some.length) * count
}

function firstOf(values: Map<unknown, unknown> | Set<unknown>): Iterable<unknown> {
  return values[Symbol.iterator]().take(sampleMax)
}

const sampleMax = 16

/** Decoding a number takes about as long as decoding this many characters. */
const scalarBytes = 16
