/** The order of rows by their keys: by partition, then by clustering columns. */
import type { Deadline } from '../../../caller/caller.ts'
import type { Value } from '../../../json/value.ts'
import type { ColumnValue } from '../../../language/columns/column.ts'
import { comparableScalar } from '../../../language/columns/comparable-values.ts'
import { compareValues } from '../../../language/values/order.ts'
import { sortInSteps } from '../../../runtime/sort-in-steps.ts'
import { inTurns, Pace, type Steps } from '../../../runtime/steps.ts'
import { keyColumns, type Table } from '../../schema.ts'
import { noSuchPlace } from './row-place.ts'
import { valuesOfKey } from './row-texts.ts'

/** Comparable forms of the key's values. */
export type ComparableKey = readonly Value[]

export class KeyOrder {
  readonly #toComparable: readonly ((value: ColumnValue) => Value)[]
  readonly #directions: readonly number[]

  constructor({ definition, types }: Table) {
    const { partitionBy, partitionSort } = definition
    const columns = keyColumns(definition)
    this.#toComparable = columns.map((column) => comparableScalar(column, types))
    this.#directions = columns.map(
      (_, at) => partitionSort[at - partitionBy.length]?.direction ?? 1,
    )
  }

  /** Comparable form of a key. `values` are in the order of the key's columns. */
  comparable(values: readonly ColumnValue[]): ComparableKey {
    return this.#toComparable.map((toComparable, at) => toComparable(values[at]!))
  }

  compare(a: ComparableKey, b: ComparableKey): number {
    for (const [at, direction] of this.#directions.entries()) {
      const order = compareValues(a[at], b[at])
      if (order !== 0) return order * direction
    }
    return 0
  }
}

/** Sorts the keys that come after `after`. This position comes from a client and may be forged. */
export async function keysInOrder(
  keys: readonly string[],
  after: string | undefined,
  table: Table,
  deadline: Deadline,
): Promise<readonly string[]> {
  const order = new KeyOrder(table)
  const read = (key: string) => ({ key, by: order.comparable(valuesOfKey(key)) })
  type ReadKey = ReturnType<typeof read>
  const compare = (a: ReadKey, b: ReadKey): number => {
    const found = order.compare(a.by, b.by)
    if (found !== 0 || a.key === b.key) return found
    return a.key < b.key ? -1 : 1
  }
  const place = after === undefined ? undefined : placeOf(after)
  return inTurns(sortedBehind(), deadline)

  function* sortedBehind(): Steps<readonly string[]> {
    const pace = new Pace()
    const behind: ReadKey[] = []
    for (const key of keys) {
      pace.spend(readCost)
      if (pace.isDue()) yield
      const one = read(key)
      if (place === undefined || isBehind(one, place)) behind.push(one)
    }
    const sorted = yield* sortInSteps(behind, compare, pace)
    return sorted.map(({ key }) => key)
  }

  function placeOf(key: string): ReadKey {
    try {
      return read(key)
    } catch {
      throw noSuchPlace()
    }
  }

  function isBehind(one: ReadKey, place: ReadKey): boolean {
    try {
      return compare(one, place) > 0
    } catch {
      throw noSuchPlace()
    }
  }
}

/** Cost of parsing a key, in visited values (see Pace). */
const readCost = 10
