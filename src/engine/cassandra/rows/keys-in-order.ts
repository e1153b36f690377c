/**
 * Keys of rows in the order in which rows are read: those of a partition as it is sorted, one
 * partition after the other. Which comes first nobody asks, so it goes by their texts.
 */
import { printJson } from '../../../json/print.ts'
import type { Value } from '../../../json/value.ts'
import { comparableScalar } from '../../../language/columns/comparable-values.ts'
import { compareValues } from '../../../language/values/order.ts'
import type { Deadline } from '../../../caller.ts'
import { mapInTurns } from '../../../steps.ts'
import type { Table } from '../../schema.ts'
import { noSuchPlace } from './row-place.ts'
import { valuesOfKey } from './row-texts.ts'

interface PlacedKey {
  readonly key: string
  readonly partition: string
  /** To be compared. */
  readonly sort: readonly Value[]
}

/** Those behind one, which comes from a client and may be forged. */
export async function keysInOrder(
  keys: readonly string[],
  after: string | undefined,
  table: Table,
  deadline: Deadline,
): Promise<readonly string[]> {
  const { columns, partitionBy, partitionSort } = table.definition
  const sorts = partitionSort.map(({ column: name, direction }) => {
    const column = columns.find((candidate) => candidate.name === name)!
    return { direction, toComparable: comparableScalar(column, table.types) }
  })
  const placed = (key: string): PlacedKey => {
    const values = valuesOfKey(key)
    const first = partitionBy.length
    return {
      key,
      partition: printJson(values.slice(0, first)),
      sort: sorts.map(({ toComparable }, at) => toComparable(values[first + at]!)),
    }
  }
  const compare = (a: PlacedKey, b: PlacedKey): number => {
    if (a.partition !== b.partition) return a.partition < b.partition ? -1 : 1
    for (const [at, { direction }] of sorts.entries()) {
      const order = compareValues(a.sort[at], b.sort[at])
      if (order !== 0) return order * direction
    }
    if (a.key === b.key) return 0
    return a.key < b.key ? -1 : 1
  }
  const all = await mapInTurns(keys, placed, deadline)
  const behind = after === undefined ? all : allAfter(after)
  return behind.toSorted(compare).map(({ key }) => key)

  function allAfter(key: string): readonly PlacedKey[] {
    try {
      const place = placed(key)
      return all.filter((one) => compare(one, place) > 0)
    } catch {
      throw noSuchPlace()
    }
  }
}
