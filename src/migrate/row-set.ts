/** The rows of a table, for a migration. */
import { ownCaller } from '../caller/caller.ts'
import type { Engine, RowQuery } from '../engine/contract.ts'
import { throwFailed } from '../engine/errors.ts'
import { keyNames, type Column, type Table } from '../engine/schema.ts'
import { printJson } from '../json/print.ts'
import { isObject, type Value } from '../json/value.ts'
import type { ColumnValue, RowValues } from '../language/columns/column.ts'
import { keyFilter } from '../language/columns/key-conditions.ts'
import type { RowFilter } from '../language/columns/row-filter.ts'
import { analyzerFor } from '../search/lexical/analyzer.ts'
import { forEachConcurrent } from '../runtime/for-each-concurrent.ts'
import { pageSize, pageSizeMax, type RecordSet } from './record-set.ts'

/** Maximum number of rows that are looked up concurrently. */
const atATime = 32

export function rowSet(engine: Engine, table: Table): RecordSet<RowValues> {
  const { definition } = table
  const columns = definition.columns.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const byName = new Map(columns.map((column) => [column.name, column]))
  const key = keyNames(definition).map((part) => byName.get(part)!)
  const analyzers = new Map(
    definition.indexes.flatMap((index) =>
      index.kind === 'text' ? [[index.column, index.analyzer] as const] : [],
    ),
  )
  const caller = ownCaller()
  async function* read(filter: RowFilter): AsyncGenerator<readonly RowValues[]> {
    let after: string | undefined
    do {
      const query: RowQuery = {
        ...{ filter, sort: [], skip: 0, limit: pageSize, after, sizeMax: pageSizeMax },
        columns,
      }
      const page = await engine.readRows(table, query, caller)
      yield page.records.map(
        (row) =>
          new Map(
            columns.flatMap((column) => {
              const value = row.get(column)
              return value === undefined ? [] : [[column.name, value] as const]
            }),
          ),
      )
      after = page.next
    } while (after !== undefined)
  }
  const keyOf = (row: RowValues) =>
    printJson(key.map((part) => row.get(part.name) as Value))
  const findOne = async (row: RowValues) => {
    const conditions = new Map(
      key.map((part) => [part.name, { eq: [row.get(part.name)!] }]),
    )
    for await (const page of read(keyFilter(conditions, key)))
      for (const found of page) if (keyOf(found) === keyOf(row)) return found
    return undefined
  }
  return {
    noun: 'rows',
    pages: () => read({ kind: 'and', of: [] }),
    estimate: () => engine.estimateCount(table),
    canonical: (row) => canonicalRow(row, columns),
    keyOf,
    async find(records) {
      const found = new Map<string, RowValues>()
      await forEachConcurrent(records, atATime, async (row) => {
        const there = await findOne(row)
        if (there !== undefined) found.set(keyOf(row), there)
      })
      return found
    },
    async insert(records) {
      const merges = records.map((row) => {
        const values = new Map(
          Array.from(row, ([column, value]) => [byName.get(column)!, value]),
        )
        const terms = (column: Column) =>
          analyzerFor(analyzers.get(column.name)).terms(row.get(column.name) as string)
        return { kind: 'insert' as const, values, terms }
      })
      const outcomes = await engine.mergeRows(table, merges, { sizeMax: Infinity })
      throwFailed(outcomes)
      return records.map(() => 'done')
    },
  }
}

function canonicalRow(row: RowValues, columns: readonly Column[]): string {
  const parts = columns.flatMap(({ name, type }) => {
    const value = row.get(name)
    if (value === undefined) return []
    const isUnordered = type.type === 'set' || type.type === 'map'
    return [`${JSON.stringify(name)}:${canonicalValue(value, isUnordered)}`]
  })
  return `{${parts.join()}}`
}

/**
 * A value as text; equal values have equal texts. Sorts the elements of sets and maps and the
 * fields of user-defined types, because their order depends on the store.
 */
function canonicalValue(value: ColumnValue, isUnordered: boolean): string {
  if (value instanceof Float32Array) return `[${value.join()}]`
  if (Array.isArray(value)) {
    const elements = value.map((element) => canonicalValue(element, false))
    return `[${(isUnordered ? elements.toSorted() : elements).join()}]`
  }
  if (!isObject(value)) return printJson(value)
  const fields = Array.from(
    value,
    ([name, field]) => `${JSON.stringify(name)}:${canonicalValue(field, false)}`,
  )
  return `{${fields.toSorted().join()}}`
}
