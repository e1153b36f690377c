/** Asserts the contract's promises about rows (see checked.ts). */
import assert from 'node:assert/strict'
import { parseStored } from '../../../src/json/parse.ts'
import { printJson } from '../../../src/json/print.ts'
import type { JsonObject, Value } from '../../../src/json/value.ts'
import type { Column } from '../../../src/language/columns/column.ts'
import { comparableScalar } from '../../../src/language/columns/comparable-values.ts'
import type { KeyConditions } from '../../../src/language/columns/key-conditions.ts'
import { matchesRow, type RowRules } from '../../../src/language/columns/match-row.ts'
import type { RowFilter, RowSortKey } from '../../../src/language/columns/row-filter.ts'
import { conditionsOf } from '../../../src/language/filters/filter-clause.ts'
import { compareValues } from '../../../src/language/values/order.ts'
import { analyzerFor } from '../../../src/search/lexical/analyzer.ts'
import type {
  MergeOutcome,
  Row,
  RowMerge,
  RowPage,
  RowQuery,
  RowSearch,
  RowSearchResult,
} from '../../../src/engine/contract.ts'
import { keyNames, type Table } from '../../../src/engine/schema.ts'

export function assertRowQuery(query: RowQuery, table: Table) {
  const { skip, limit, after, columns, needed = [] } = query
  assert(Number.isSafeInteger(limit) && limit >= 1, 'readRows: limit must be 1 or more')
  assert(Number.isSafeInteger(skip) && skip >= 0, 'readRows: skip must be 0 or more')
  assert(after !== '', 'readRows: a position must not be empty')
  for (const column of [...columns, ...needed]) columnOf(table, column.name)
}

export function assertRowPage(page: RowPage, query: RowQuery, table: Table): void {
  const { served, records: rows, joined } = page
  const count = joined?.count ?? rows.length
  assert(count <= query.limit, `readRows: ${count} rows on a page of ${query.limit}`)
  if (joined !== undefined) {
    assert(query.textsOnly === true, 'readRows: joined texts were not asked for')
    assert(served.filter && served.sort, 'readRows: texts joined in an unfinished page')
    assert(rows.length === 0, 'readRows: a page has joined texts or rows, not both')
    const texts = parseStored(`[${joined.text}]`) as JsonObject[]
    assert.equal(texts.length, count, 'readRows: wrong count of joined texts')
    for (const row of texts) assertText(row, query.columns)
  }
  assertRows('readRows', rows, query.columns, table)
  if (served.filter) assertMatching('readRows', rows, query, table)
  if (served.sort) assertSorted(rows, query.sort, table)
}

/**
 * The columns that a page of rows must contain: requested columns, and the columns of a filter or
 * sort that the engine did not serve.
 */
export function knownOfPage(
  { served }: RowPage,
  { columns, needed = [], filter, sort }: RowQuery,
): readonly Column[] {
  const filtered = served.filter ? [] : conditionsOf(filter)
  const sorted = served.sort ? [] : sort
  const compared = [...filtered, ...sorted].map(({ column }) => column)
  return [...columns, ...needed, ...compared]
}

/** Wraps a row so that reading a column that was not requested fails. */
export function checkedRow(row: Row, columns: readonly Column[], table: Table): Row {
  const known = new Set([...keyNames(table.definition), ...columns.map(({ name }) => name)])
  return {
    get(column) {
      assert(known.has(column.name), `a row was not asked for its column ${column.name}`)
      return row.get(column)
    },
    get text() {
      return row.text
    },
    get size() {
      return row.size
    },
    get unread() {
      return row.unread
    },
  }
}

export function assertFoundRows(
  { hits }: RowSearchResult,
  { columns, filter, limit, by, scoreMin = -Infinity }: RowSearch,
  table: Table,
): void {
  assert(hits.length <= limit, `searchRows: ${hits.length} hits where ${limit} fit`)
  const rows = hits.map(({ record }) => record)
  assertRows('searchRows', rows, columns, table)
  assertMatching('searchRows', rows, { filter, columns }, table)
  for (const [i, { score }] of hits.entries()) {
    assert(Number.isFinite(score), `searchRows: ${score} is no score`)
    assert(score >= scoreMin, `searchRows: ${score} is below the minimum, ${scoreMin}`)
    const before = hits[i - 1]
    if (before === undefined) continue
    const isInOrder =
      before.score === score
        ? compareKeys(before.record, rows[i]!, table) < 0
        : before.score > score
    assert(isInOrder, `searchRows: hits by ${by.kind} stand the wrong way round`)
  }
}

export function assertMerge({ values, elements }: RowMerge, table: Table): void {
  for (const name of keyNames(table.definition)) {
    const column = [...values.keys()].find((given) => given.name === name)
    assert(
      column !== undefined && values.get(column) !== undefined,
      `mergeRows: the key has no ${name}`,
    )
  }
  for (const column of elements?.keys() ?? [])
    assert(
      !values.has(column),
      `mergeRows: ${column.name} is both set and changed by element`,
    )
}

export function assertMerged(
  outcomes: readonly MergeOutcome[],
  merges: readonly RowMerge[],
  ordered: boolean,
): void {
  assert.equal(outcomes.length, merges.length, 'mergeRows: one outcome per merge')
  const firstUndone = outcomes.findIndex((outcome) => outcome !== 'done')
  for (const [i, outcome] of outcomes.entries()) {
    const mustSkip = ordered && firstUndone >= 0 && i > firstUndone
    assert(
      (outcome === 'skipped') === mustSkip,
      `mergeRows: number ${i} was skipped or not`,
    )
  }
}

/**
 * Asserts that key conditions compare all partition columns with =, and then sort columns in order.
 * Only the last sort condition may be a range.
 */
export function assertKeyConditions(conditions: KeyConditions, table: Table): void {
  const { definition } = table
  const key = keyNames(definition)
  const given = key.slice(0, conditions.size)
  assert(
    conditions.size >= definition.partitionBy.length &&
      given.every((name) => conditions.has(name)),
    'deleteRows: the conditions are not on a prefix of the key',
  )
  for (const name of given.slice(0, -1))
    assert(conditions.get(name)!.eq !== undefined, `deleteRows: a range of ${name}`)
}

function assertRows(
  call: string,
  rows: readonly Row[],
  columns: readonly Column[],
  table: Table,
): void {
  const seen = new Set<string>()
  for (const row of rows) {
    const key = printJson(keyOf(row, table))
    assert(!seen.has(key), `${call}: the row ${key} came twice`)
    seen.add(key)
    if (row.text !== undefined) assertText(parseStored(row.text) as JsonObject, columns)
  }
}

function assertText(row: JsonObject, columns: readonly Column[]): void {
  const names = columns.map(({ name }) => name)
  const shown = [...row.keys()]
  const expected = names.filter((name) => row.has(name))
  assert.deepEqual(shown, expected, 'the text of a row has other columns, or another order')
}

/**
 * Asserts that rows match the filter. Does nothing if the filter uses a column that the query did
 * not request.
 */
function assertMatching(
  call: string,
  rows: readonly Row[],
  { filter, columns }: { readonly filter: RowFilter; readonly columns: readonly Column[] },
  table: Table,
): void {
  const known = new Set([...columns.map(({ name }) => name), ...keyNames(table.definition)])
  if (!conditionsOf(filter).every(({ column }) => known.has(column.name))) return
  for (const row of rows)
    assert(
      matchesRow(filter, (column) => row.get(column), rulesOf(table)),
      `${call}: the filter was served, but ${printJson(keyOf(row, table))} does not match it`,
    )
}

function assertSorted(
  rows: readonly Row[],
  sort: readonly RowSortKey[],
  table: Table,
): void {
  const { types } = table
  const compare = (a: Row, b: Row) => {
    for (const { column, direction } of sort) {
      const of = (row: Row) => {
        const value = row.get(column)
        return value === undefined ? undefined : comparableScalar(column, types)(value)
      }
      const order = compareValues(of(a), of(b)) * direction
      if (order !== 0) return order
    }
    return 0
  }
  const key = new Set(keyNames(table.definition))
  if (!sort.every(({ column }) => key.has(column.name))) return
  for (let i = 1; i < rows.length; i++)
    assert(
      compare(rows[i - 1]!, rows[i]!) <= 0,
      'readRows: the sort was served, but rows stand the wrong way round',
    )
}

function keyOf(row: Row, table: Table): Value[] {
  return keyNames(table.definition).map((name) => {
    const value = row.get(columnOf(table, name))
    assert(value !== undefined, `a row without a value in its key column ${name}`)
    return value instanceof Float32Array ? [...value] : value
  })
}

function compareKeys(a: Row, b: Row, table: Table): number {
  const { partitionSort } = table.definition
  for (const name of keyNames(table.definition)) {
    const column = columnOf(table, name)
    const toComparable = comparableScalar(column, table.types)
    const order = compareValues(toComparable(a.get(column)!), toComparable(b.get(column)!))
    const declared = partitionSort.find((key) => key.column === name)
    if (order !== 0) return order * (declared?.direction ?? 1)
  }
  return 0
}

function columnOf(table: Table, name: string): Column {
  const column = table.definition.columns.find((other) => other.name === name)
  assert(column !== undefined, `${table.name} has no column ${name}`)
  return column
}

function rulesOf({ definition, types }: Table): RowRules {
  return {
    types,
    folding(column, part) {
      const index = definition.indexes.find(
        (other) =>
          other.kind === 'regular' && other.column === column.name && other.part === part,
      )
      return index?.kind === 'regular' ? index.folding : undefined
    },
    terms(column, text) {
      const index = definition.indexes.find(
        (other) => other.kind === 'text' && other.column === column.name,
      )
      return index?.kind === 'text' ? analyzerFor(index.analyzer).terms(text) : []
    },
  }
}
