/** The rows of a table, as pages and searches are made of them. */
import type { Row, RowQuery, RowSearch } from '../../engine/contract.ts'
import type { Value } from '../../json/value.ts'
import type { Column } from '../../language/columns/column.ts'
import { comparableScalar } from '../../language/columns/comparable-values.ts'
import { matchesRow, type RowRules } from '../../language/columns/match-row.ts'
import type { Source } from '../../paging/source.ts'
import { analyzerFor } from '../../search/lexical/analyzer.ts'
import type { RowStore } from '../row-store.ts'
import { regularIndexOn } from './indexed-columns.ts'

export type RowSource = Source<Row, RowQuery, RowSearch>

export function rowSource(store: RowStore): RowSource {
  const { engine, table, limits, key } = store
  const { types } = table
  const { partitionSort } = table.definition
  const comparableOf = (row: Row, column: Column) => {
    const value = row.get(column)
    return value === undefined ? undefined : comparableScalar(column, types)(value)
  }
  const termsOf = (row: Row, column: Column) => {
    const text = row.get(column)
    return typeof text === 'string' && text !== '' ? rules.terms(column, text) : undefined
  }
  const rules: RowRules = {
    types,
    folding: (column, part) => regularIndexOn(store, column, part)?.folding,
    terms: (column, text) => analyzerFor(store.analyzerOf(column)).terms(text),
  }
  return {
    limits,
    noun: 'row',
    everything: { kind: 'and', of: [] },
    read: (query, caller) => engine.readRows(table, query, caller),
    count: (filter, stopAt, caller) => engine.countRows(table, filter, stopAt, caller),
    search: (search, caller) => engine.searchRows(table, search, caller),
    matches: (filter, row) => matchesRow(filter, (column) => row.get(column), rules),
    sortKey: (row, sort) => [
      ...sort.map(({ column }) => comparableOf(row, column)),
      ...key.map((column) => comparableOf(row, column)),
    ],
    idDirections: [
      ...key.slice(partitionSort.length).map(() => 1 as const),
      ...partitionSort.map(({ direction }) => direction),
    ],
    idOf: (row) => key.map((column) => keyValue(row, column)),
    sizeOf: ({ size }) => size,
    metricOf: ({ column }) => store.metricOf(column)!,
    vectorOf: (row, { column }) => row.get(column) as Float32Array | undefined,
    termsOf: (row, { column }) => termsOf(row, column),
  }
}

function keyValue(row: Row, column: Column): Value {
  const value = row.get(column)!
  return value instanceof Float32Array ? [...value] : value
}
