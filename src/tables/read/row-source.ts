/** The rows of a table as a source of pages and searches. */
import type { Row, RowQuery, RowSearch } from '../../engine/contract.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Value } from '../../json/value.ts'
import type { Column } from '../../language/columns/column.ts'
import { comparableScalar } from '../../language/columns/comparable-values.ts'
import {
  rowMatcher,
  type RowMatcher,
  type RowRules,
} from '../../language/columns/match-row.ts'
import { storedDirection } from '../../language/columns/stored-order.ts'
import { compareValues } from '../../language/values/order.ts'
import type { Source } from '../../paging/source.ts'
import { analyzerFor } from '../../search/lexical/analyzer.ts'
import { andThen, inTurns } from '../../runtime/steps.ts'
import type { RowStore } from '../row-store.ts'
import { regularIndexOn } from './indexed-columns.ts'

export type RowSource = Source<Row, RowQuery, RowSearch>

/** The source of a table's rows. `lacksIndex` is called when an index could not be used. */
export function rowSource(
  store: RowStore,
  lacksIndex: () => void = () => undefined,
): RowSource {
  const { engine, table, limits, key } = store
  const { types } = table
  const { partitionBy, partitionSort } = table.definition
  const stored = [
    ...partitionBy.map(() => 1 as const),
    ...partitionSort.map(({ direction }) => direction),
  ]
  const backwards = stored.map((direction): 1 | -1 => (direction === 1 ? -1 : 1))
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
  const matchers = new WeakMap<RowQuery['filter'], RowMatcher>()
  const matcherOf = (filter: RowQuery['filter']) => {
    let matcher = matchers.get(filter)
    if (matcher === undefined) matchers.set(filter, (matcher = rowMatcher(filter, rules)))
    return matcher
  }
  return {
    limits,
    noun: 'row',
    everything: { kind: 'and', of: [] },
    read(query, caller) {
      return andThen(engine.readRows(table, query, caller), (page) => {
        if (page.lacksIndex) lacksIndex()
        return page
      })
    },
    count: (filter, stopAt, caller) => engine.countRows(table, filter, stopAt, caller),
    search: (search, caller) => engine.searchRows(table, search, caller),
    readFor: ({ columns, needed = [], by }) => ({
      columns,
      needed: [by.column, ...needed],
    }),
    matches(filter, row, caller) {
      const answer = matcherOf(filter)((column) => row.get(column))
      return typeof answer === 'boolean' ? answer : inTurns(answer, caller)
    },
    sortKey: (row, sort) => [
      ...sort.map(({ column }) => comparableOf(row, column)),
      ...key.map((column) => comparableOf(row, column)),
    ],
    idDirections: (query) =>
      storedDirection(query, table.definition, key, types) === -1 ? backwards : stored,
    idOf: (row) => key.map((column) => keyValue(row, column)),
    compareIds(a, b) {
      const [one, other] = [comparableKey(a, store), comparableKey(b, store)]
      for (const [at, direction] of stored.entries()) {
        const order = compareValues(one[at], other[at])
        if (order !== 0) return order * direction
      }
      return 0
    },
    sizeOf: ({ size }) => size,
    metricOf: ({ column }) => store.metricOf(column)!,
    vectorOf: (row, { column }) => row.get(column) as Float32Array | undefined,
    termsOf: (row, { column }) => termsOf(row, column),
  }
}

/** The comparable values of a key, which may come from a client's page state. */
function comparableKey(id: Value, { key, table }: RowStore): readonly Value[] {
  try {
    if (Array.isArray(id) && id.length === key.length)
      return key.map((column, at) => comparableScalar(column, table.types)(id[at]!))
  } catch {
    // A value does not have the type of its column; the error below says so.
  }
  throw new EngineError('position', 'the position does not belong to this table')
}

function keyValue(row: Row, column: Column): Value {
  const value = row.get(column)!
  return value instanceof Float32Array ? [...value] : value
}
