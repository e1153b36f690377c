/** The rows of a table in memory. */
import type {
  MergeOptions,
  MergeOutcome,
  Row,
  RowMerge,
  RowPage,
  RowQuery,
  RowSearch,
  RowSearchResult,
  Table,
} from '../../../src/engine/contract.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import { keyNames, type Column } from '../../../src/engine/schema.ts'
import { asFloats } from '../../../src/json/floats.ts'
import { printJson } from '../../../src/json/print.ts'
import type { Value } from '../../../src/json/value.ts'
import { withAdded, withoutAll } from '../../../src/language/columns/change-elements.ts'
import { atOnce } from '../../../src/runtime/steps.ts'
import type { CollectionType } from '../../../src/language/columns/collections.ts'
import type { ColumnValue } from '../../../src/language/columns/column.ts'
import { comparableScalar } from '../../../src/language/columns/comparable-values.ts'
import {
  keyFilter,
  type KeyConditions,
} from '../../../src/language/columns/key-conditions.ts'
import { matchesRow } from '../../../src/language/columns/match-row.ts'
import { keyOf } from '../../../src/language/values/key.ts'
import { similarityTo } from '../../../src/search/vector/similarity.ts'
import { bestOf, isEverything, pageOf, type Paged } from './memory-page.ts'

/** Values by column name. */
type Values = Map<string, ColumnValue>

interface Kept extends Row, Paged {
  readonly values: Values
  readonly wasInserted: boolean
  /** The key as texts. Rows are ordered by these texts, each in the direction of its column. */
  readonly key: readonly string[]
}

export class MemoryRows {
  /** Rows by position. */
  readonly #kept = new Map<string, Kept>()
  /** Rows in key order; undefined after a write, until the next read sorts them again. */
  #sorted: readonly Kept[] | undefined

  get size(): number {
    return this.#kept.size
  }

  clear(): void {
    this.#kept.clear()
    this.#sorted = undefined
  }

  read(table: Table, query: RowQuery): RowPage {
    const after = query.after === undefined ? undefined : keyAt(query.after, table)
    const rows = this.#inOrder(table)
    const start = after && rows.findIndex(({ key }) => compareKeys(table, key, after) > 0)
    return pageOf(start === -1 ? [] : rows.slice(start), query)
  }

  search(table: Table, search: RowSearch): RowSearchResult | undefined {
    const { by, filter } = search
    const index = table.definition.indexes.find(({ column }) => column === by.column.name)
    if (by.kind !== 'vector' || !isEverything(filter) || index?.kind !== 'vector')
      return undefined
    const scoreTo = similarityTo(index.metric, by.numbers)
    const vectorOf = (row: Row) => row.get(by.column) as Float32Array | undefined
    const scoreOf = (row: Row) => vectorOf(row) && scoreTo(vectorOf(row)!)
    return { hits: bestOf(this.#inOrder(table), scoreOf, search) }
  }

  merge(table: Table, merges: readonly RowMerge[], options: MergeOptions): MergeOutcome[] {
    let isStopped = false
    return merges.map((merge) => {
      const outcome = isStopped ? 'skipped' : this.#merge(table, merge, options.sizeMax)
      isStopped ||= (options.ordered ?? false) && outcome !== 'done'
      return outcome
    })
  }

  delete(table: Table, conditions: KeyConditions): void {
    const filter = keyFilter(conditions, keyColumns(table))
    const rules = { types: table.types, folding: () => undefined, terms: () => [] }
    for (const [position, row] of this.#kept)
      if (matchesRow(filter, (column) => row.get(column), rules))
        this.#kept.delete(position)
    this.#sorted = undefined
  }

  /** Changes the values of all rows, to match a table whose definition has already changed. */
  rewrite(table: Table, change: (values: Values) => void): void {
    const rows = [...this.#kept.values()]
    this.clear()
    for (const { values, wasInserted } of rows) {
      const changed = new Map(values)
      change(changed)
      this.#put(rowOf(table, changed, wasInserted))
    }
  }

  #merge(table: Table, { values, elements, kind }: RowMerge, sizeMax: number) {
    const given = new Map(Array.from(values, ([{ name }, value]) => [name, value!]))
    const before = this.#kept.get(rowOf(table, given, true).position)
    const merged: Values = new Map([...(before?.values ?? []), ...given])
    for (const [{ name, type }, { kind: how, elements: changed }] of elements ?? []) {
      const change = how === 'add' ? withAdded : withoutAll
      const stored = merged.get(name) as Value | undefined
      const changing = change(type as CollectionType, stored, changed, table.types)
      merged.set(name, atOnce(changing)!)
    }
    for (const [name, value] of merged)
      if ((value as ColumnValue | undefined) === undefined) merged.delete(name)
    const row = rowOf(table, merged, kind === 'insert' || (before?.wasInserted ?? false))
    if (!row.wasInserted && merged.size === row.key.length) {
      this.#kept.delete(row.position)
      this.#sorted = undefined
    } else if (row.size > sizeMax) return { tooLarge: row.size }
    else this.#put(row)
    return 'done'
  }

  #put(row: Kept): void {
    this.#kept.set(row.position, row)
    this.#sorted = undefined
  }

  #inOrder(table: Table): readonly Kept[] {
    const rows = this.#kept.values()
    return (this.#sorted ??= [...rows].toSorted((a, b) => compareKeys(table, a.key, b.key)))
  }
}

function rowOf(table: Table, values: Values, wasInserted: boolean): Kept {
  const key = keyColumns(table).map((column) => {
    const toComparable = comparableScalar(column, table.types)
    return Buffer.from(keyOf(toComparable(values.get(column.name)!))).toString('latin1')
  })
  const shown = Array.from(values).flatMap(([name, value]): [string, Value][] => {
    if ((value as ColumnValue | undefined) === undefined) return []
    return [[name, value instanceof Float32Array ? asFloats(value) : value]]
  })
  const size = printJson(new Map(shown)).length
  const get = ({ name }: Column) => values.get(name)
  return { values, wasInserted, key, position: JSON.stringify(key), size, get }
}

function keyColumns({ definition }: Table): Column[] {
  const columns = new Map(definition.columns.map((column) => [column.name, column]))
  return keyNames(definition).map((name) => columns.get(name)!)
}

function compareKeys(
  { definition: { partitionBy, partitionSort } }: Table,
  a: Kept['key'],
  b: Kept['key'],
): number {
  const at = a.findIndex((part, i) => part !== b[i])
  const direction = partitionSort[at - partitionBy.length]?.direction ?? 1
  return at < 0 ? 0 : a[at]! < b[at]! ? -direction : direction
}

function keyAt(position: string, table: Table): Kept['key'] {
  try {
    const key = JSON.parse(position) as unknown
    const isKey = Array.isArray(key) && key.length === keyNames(table.definition).length
    if (isKey && key.every((part) => typeof part === 'string')) return key
  } catch {
    // The position is not valid JSON.
  }
  throw new EngineError('position', 'no such place')
}
