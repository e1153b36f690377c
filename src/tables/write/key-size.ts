/** Detects key values that are empty or too long to store. */
import type { Column } from '../../language/columns/column.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import type { RowStore } from '../row-store.ts'
import type { Content, GivenContents, TextToEmbed } from './column-content.ts'

export interface UnfitKey {
  readonly column: Column
  /** Predicate of a sentence about the column or its value, such as "is empty, but …". */
  readonly problem: string
}

/**
 * Finds a key column whose value is empty or too long, or makes the partition key too long.
 * `contents` must have all columns of the key.
 */
export function findUnfitKey(
  { key, table, limits }: RowStore,
  contents: GivenContents,
): UnfitKey | undefined {
  const { keySizeMax } = limits
  const sized = key.map((column) => ({ column, size: sizeOf(contents.get(column)) }))
  const partition = sized.slice(0, table.definition.partitionBy.length)
  const [first] = partition
  if (partition.length === 1 && first!.size === 0)
    return {
      column: first!.column,
      problem: 'is empty, but a partition key cannot be empty',
    }
  const size = partition.reduce((sum, part) => sum + part.size, 0)
  if (size > keySizeMax) {
    const { column } = partition.reduce((a, b) => (b.size > a.size ? b : a))
    return {
      column,
      problem: `makes the partition key ${size} bytes long; the maximum is ${keySizeMax}`,
    }
  }
  const long = sized.slice(partition.length).find((part) => part.size > keySizeMax)
  return (
    long && {
      column: long.column,
      problem: `has ${long.size} bytes; the maximum in a primary key is ${keySizeMax}`,
    }
  )
}

/** Bytes of strings and blobs; other types are never empty and always short. */
function sizeOf(content: Content | TextToEmbed): number {
  if (typeof content === 'string') return Buffer.byteLength(content)
  const base64 = isObject(content as Value) && (content as JsonObject).get('$binary')
  return typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 8
}
