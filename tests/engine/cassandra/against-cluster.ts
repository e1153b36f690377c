/**
 * Runs generated statements for tables on a real cluster. Start it by hand:
 *
 *     node tests/engine/cassandra/against-cluster.ts 127.0.0.1 [seed] [filters]
 *
 * It defines tables and reads their definitions back; then it writes, changes, reads and deletes
 * rows of all types, and finds them by random filters. Expected results come from match-row.ts and
 * change-elements.ts.
 */
import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { Client, type types as cql } from 'cassandra-driver'
import fc from 'fast-check'
import {
  readTable,
  readUserTypes,
  type ColumnRow,
  type TableRow,
  type TypeRow,
} from '../../../src/engine/cassandra/catalog/read-table.ts'
import type { IndexRow } from '../../../src/engine/cassandra/catalog/read-index.ts'
import {
  changeTable,
  createTable,
} from '../../../src/engine/cassandra/catalog/table-ddl.ts'
import { alterType, createType } from '../../../src/engine/cassandra/catalog/type-ddl.ts'
import {
  quoteTarget,
  type Statement,
} from '../../../src/engine/cassandra/cluster/statement.ts'
import { mergeRow } from '../../../src/engine/cassandra/rows/merge-statements.ts'
import { rowConditions } from '../../../src/engine/cassandra/rows/row-conditions.ts'
import {
  deleteRows,
  readRow,
  selectedColumns,
  selectNearest,
  selectRows,
} from '../../../src/engine/cassandra/rows/row-statements.ts'
import type { RowMerge } from '../../../src/engine/contract.ts'
import {
  keyNames,
  type Column,
  type Table,
  type TableIndex,
} from '../../../src/engine/schema.ts'
import { printJson } from '../../../src/json/print.ts'
import type { Value } from '../../../src/json/value.ts'
import { withAdded, withoutAll } from '../../../src/language/columns/change-elements.ts'
import { atOnce } from '../../../src/runtime/steps.ts'
import { isCollection } from '../../../src/language/columns/collections.ts'
import type { ColumnValue } from '../../../src/language/columns/column.ts'
import { primitiveNames } from '../../../src/language/columns/column-type.ts'
import { comparableScalar } from '../../../src/language/columns/comparable-values.ts'
import { matchesRow } from '../../../src/language/columns/match-row.ts'
import type { RowFilter } from '../../../src/language/columns/row-filter.ts'
import { conditionsOf } from '../../../src/language/filters/filter-clause.ts'
import { BadValue, readValue } from '../../../src/language/columns/values.ts'
import { apache } from './capabilities.ts'
import { givenValues } from './column-values.ts'
import { rowFilters } from './row-filters.ts'

const [host = '127.0.0.1', seedText = String(Date.now() % 2 ** 31), runs = '500'] =
  process.argv.slice(2)
const seed = Number(seedText)
console.log(`SEED=${seed}`)

const client = new Client({
  contactPoints: [host],
  localDataCenter: 'datacenter1',
  credentials: { username: 'cassandra', password: 'cassandra' },
  protocolOptions: { maxVersion: 4 },
  encoding: { map: Map, set: Set, useBigIntAsLong: true, useBigIntAsVarint: true },
  socketOptions: { readTimeout: 60_000 },
})

const keyspace = 'stela_rows'
let statements = 0
/**
 * Counts of the checked filters: `matching` match a row, `served` use the key or an index in every
 * query, `split` need several queries, and `exact` need no check after the queries.
 */
const tally = { matching: 0, served: 0, split: 0, exact: 0 }

async function run({ text, values }: Statement): Promise<readonly cql.Row[]> {
  statements++
  try {
    const { rows } = await client.execute(text, [...values], {
      prepare: true,
      fetchSize: 5_000,
    })
    return rows
  } catch (error) {
    throw new Error(text, { cause: error })
  }
}

async function define(text: string): Promise<void> {
  statements++
  try {
    await client.execute(text)
  } catch (error) {
    throw new Error(text, { cause: error })
  }
}

const primitives = primitiveNames.filter(
  (name) => name !== 'counter' && name !== 'timeuuid',
)
const place = { type: 'userDefined', udtName: 'Place' } as const

const columns: readonly Column[] = [
  { name: 'p', type: { type: 'int' } },
  { name: 'q', type: { type: 'double' } },
  { name: 'c', type: { type: 'text' } },
  { name: 'd', type: { type: 'timestamp' } },
  ...primitives.flatMap((type): Column[] => [
    { name: `plain ${type}`, type: { type } },
    { name: `indexed_${type}`, type: { type } },
  ]),
  { name: 'folded', type: { type: 'text' } },
  { name: 'vector', type: { type: 'vector', dimension: 3 } },
  { name: 'place', type: place },
  { name: '__proto__', type: { type: 'map', keyType: 'text', valueType: 'text' } },
  { name: 'texts', type: { type: 'list', valueType: 'text' } },
  { name: 'decimals', type: { type: 'set', valueType: 'decimal' } },
  { name: 'doubles', type: { type: 'list', valueType: 'double' } },
  { name: 'times', type: { type: 'set', valueType: 'timestamp' } },
  { name: 'places', type: { type: 'list', valueType: place } },
  { name: 'entries', type: { type: 'map', keyType: 'text', valueType: 'int' } },
  { name: 'inets', type: { type: 'map', keyType: 'inet', valueType: 'decimal' } },
  { name: 'by_place', type: { type: 'map', keyType: 'int', valueType: place } },
]

const regular = (
  column: string,
  part: 'value' | 'keys' | 'values' = 'value',
): TableIndex => ({
  kind: 'regular',
  name: `by_${column.replaceAll(/\W/g, '_')}_${part}`,
  column,
  part,
})

const folding = { ascii: true, caseSensitive: false, normalize: true }

const indexes: readonly TableIndex[] = [
  ...primitives
    .filter((type) => type !== 'blob' && type !== 'duration')
    .map((type) => regular(`indexed_${type}`)),
  { ...regular('folded'), folding } as TableIndex,
  regular('texts'),
  regular('decimals'),
  regular('doubles'),
  regular('entries'),
  regular('entries', 'keys'),
  regular('entries', 'values'),
  regular('inets'),
  {
    kind: 'vector',
    name: 'by_vector',
    column: 'vector',
    metric: 'cosine',
    sourceModel: 'bert',
  },
  { kind: 'text', name: 'by_terms', column: 'plain text', analyzer: 'standard' },
]

const key = {
  partitionBy: ['p', 'q'],
  partitionSort: sortOf([
    ['c', 1],
    ['d', -1],
  ]),
}

function sortOf(of: readonly (readonly [string, 1 | -1])[]) {
  return of.map(([column, direction]) => ({ column, direction }))
}

async function readBack(): Promise<Table> {
  const of = async <T>(name: string, where = '') => {
    const text = `SELECT * FROM system_schema.${name} WHERE keyspace_name = '${keyspace}'${where}`
    return (await client.execute(text)).rows as unknown as T[]
  }
  const types = readUserTypes(await of<TypeRow>('types'))
  const on = " AND table_name = 'all'"
  const [row] = await of<TableRow>('tables', on)
  return readTable(
    row!,
    await of<ColumnRow>('columns', on),
    await of<IndexRow>('indexes', on),
    types,
  )!
}

async function changeAll(
  change: Parameters<typeof changeTable>[1] extends infer C
    ? C extends unknown
      ? Omit<C, 'table'>
      : never
    : never,
): Promise<void> {
  const table = await readBack()
  const [source] = (
    await client.execute(
      `SELECT comment, extensions FROM system_schema.tables WHERE keyspace_name = '${keyspace}' AND table_name = 'all'`,
    )
  ).rows as unknown as TableRow[]
  const whole = { table: 'all', ...change } as Parameters<typeof changeTable>[1]
  for (const text of changeTable({ ...table, source: source! }, whole, apache))
    await define(text)
}

/**
 * Waits until indexes are built. A new index is listed before it is built, and reads that need it
 * fail until then.
 */
async function indexesBuilt(): Promise<void> {
  const text = `SELECT is_queryable, is_building FROM system_views.sai_column_indexes WHERE keyspace_name = '${keyspace}'`
  for (;;) {
    const { rows } = await client.execute(text)
    if (
      rows.every(
        (row) => row.get('is_queryable') === true && row.get('is_building') === false,
      )
    )
      return
    await setTimeout(100)
  }
}

async function defineAll(): Promise<Table> {
  await define(`DROP KEYSPACE IF EXISTS ${keyspace}`)
  await define(
    `CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
  )
  const fields = primitives.map((type) => ({ name: `f ${type}`, type }))
  await define(createType(keyspace, { name: 'Place', fields: fields.slice(2) }))
  for (const text of alterType(keyspace, 'Place', {
    renamed: [['f blob', 'renamed']],
    added: fields.slice(0, 2),
  }))
    await define(text)
  const target = { keyspace, name: 'all' }
  await define(createTable(target, { columns: columns.slice(0, -1), ...key }, apache))
  await changeAll({
    kind: 'addColumns',
    columns: [columns.at(-1)!, { name: 'gone', type: { type: 'int' } }],
  })
  await changeAll({ kind: 'createIndex', index: regular('gone') })
  await changeAll({ kind: 'dropIndex', name: 'by_gone_value' })
  await changeAll({ kind: 'dropColumns', names: ['gone'] })
  const service = { provider: 'p', modelName: 'it’s' }
  await changeAll({
    kind: 'putServices',
    services: new Map([['vector', service]]),
  })
  for (const index of indexes) await changeAll({ kind: 'createIndex', index })
  const table = await readBack()
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  assert.deepEqual(table.definition.indexes.toSorted(byName), indexes.toSorted(byName))
  assert.deepEqual(
    table.definition.columns.toSorted(byName),
    columns
      .map((column) =>
        column.name === 'vector'
          ? { ...column, type: { ...column.type, service } }
          : column,
      )
      .toSorted(byName),
  )
  assert.deepEqual(table.definition.partitionSort, key.partitionSort)
  assert.equal(table.definition.unsupported, undefined)
  return table
}

type Values = Map<string, ColumnValue>

/** The expected value of a column after a write. */
function kept(column: Column, given: Value, table: Table): ColumnValue | undefined {
  if (given === null) return undefined
  if (column.type.type === 'vector') return Float32Array.from(given as number[])
  const value = readValue(column.type, given, table.types)
  assert(!(value instanceof BadValue), `${column.name} ${printJson(given)}`)
  return value
}

/** Replaces 0 by -0. CQL distinguishes 0 from -0, so the test writes both. */
const signed = (value: ColumnValue | undefined) => (value === 0 ? -0 : value)

function randomRow(table: Table, small: boolean): fc.Arbitrary<Values> {
  const ofKey = new Map<string, fc.Arbitrary<Value>>(
    Object.entries({
      p: fc.constantFrom(1, 2),
      q: fc.constantFrom<Value>(0, 1.5, 'NaN'),
      c: fc.constantFrom('', 'a', 'b', 'ä', '￿', '🦉'),
      d: fc.constantFrom('1970-01-01T00:00:00Z', '+292278994-08-17T07:12:55.807Z'),
    }),
  )
  const parts = table.definition.columns.map((column) => {
    const given = ofKey.get(column.name) ?? givenOf(column, table, small)
    return given.map((value) => [column.name, kept(column, value, table)] as const)
  })
  return fc.tuple(...parts).map((pairs) => {
    const values: Values = new Map()
    for (const [name, value] of pairs) if (value !== undefined) values.set(name, value)
    return values
  })
}

/**
 * Random values for a column. With `small`, they come from a small set, so that filters match
 * some of them.
 */
function givenOf(column: Column, table: Table, small: boolean): fc.Arbitrary<Value> {
  const any = givenValues(column.type, table.types)
  const nonZero =
    column.type.type === 'vector' ? fc.constant([1, 0.5, -0.25] as Value) : any
  if (!small) return column.type.type === 'vector' ? nonZero : fc.option(any)
  const few = fc.sample(nonZero, { seed: seed + column.name.length, numRuns: 3 })
  const zero = ['double', 'float'].includes(column.type.type) ? [0 as Value] : []
  const texts = column.name === 'folded' ? ['Straße', 'STRASSE', 'straße', 'É', 'é'] : []
  return fc.option(fc.constantFrom<Value>(...few, ...zero, ...texts))
}

function idOf(table: Table, values: Values): string {
  const of = keyNames(table.definition).map((name) => {
    const column = table.definition.columns.find((one) => one.name === name)!
    return comparableScalar(column, table.types)(values.get(name)!)
  })
  return printJson(of)
}

function mergeOf(table: Table, values: Values, kind: RowMerge['kind']): RowMerge {
  return {
    kind,
    values: new Map(
      table.definition.columns.map((column) => {
        const isKey = keyNames(table.definition).includes(column.name)
        const value = values.get(column.name)
        return [column, isKey ? value : signed(value)]
      }),
    ),
  }
}

async function readAll(table: Table): Promise<Map<string, Values>> {
  const all = selectedColumns(table, table.definition.columns)
  const branch = { terms: [], allowFiltering: false }
  const rows = await run(selectRows(table, { columns: all, branch, withToken: true }))
  return new Map(
    rows.map((row) => {
      const { values } = atOnce(readRow(table, all, row))!
      return [idOf(table, values as Values), values as Values]
    }),
  )
}

const sorted = (rows: ReadonlyMap<string, Values>) =>
  [...rows]
    .map(
      ([id, values]) => [id, [...values].toSorted(([a], [b]) => (a < b ? -1 : 1))] as const,
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

async function fill(table: Table, small: boolean): Promise<Map<string, Values>> {
  await define(`TRUNCATE TABLE ${quoteTarget(table)}`)
  const model = new Map<string, Values>()
  for (const values of fc.sample(randomRow(table, small), {
    seed,
    numRuns: small ? 60 : 150,
  })) {
    for (const write of atOnce(mergeRow(table, mergeOf(table, values, 'insert'))))
      await run(write)
    model.set(idOf(table, values), values)
  }
  assert.deepEqual(sorted(await readAll(table)), sorted(model))
  return model
}

async function checkFilter(
  table: Table,
  model: ReadonlyMap<string, Values>,
  filter: RowFilter,
): Promise<void> {
  const rules = {
    types: table.types,
    folding: (column: Column, part: string) => {
      const index = table.definition.indexes.find(
        (one) => one.kind === 'regular' && one.column === column.name && one.part === part,
      )
      return index?.kind === 'regular' ? index.folding : undefined
    },
    terms: () => [],
  }
  const matching = (of: RowFilter, values: Values) =>
    matchesRow(of, (column) => values.get(column.name), rules)
  const expected = [...model]
    .filter(([, values]) => matching(filter, values))
    .map(([id]) => id)
  const { branches, areDisjoint } = rowConditions(table, filter, apache)
  if (expected.length > 0) tally.matching++
  if (branches.length > 1) tally.split++
  if (branches.every(({ isServed }) => isServed)) tally.served++
  if (branches.every(({ rest }) => conditionsOf(rest).length === 0)) tally.exact++
  const found: string[] = []
  for (const branch of branches) {
    const needed = conditionsOf(branch.rest).map(({ column }) => column)
    const selected = selectedColumns(table, needed)
    const rows = await run(selectRows(table, { columns: selected, branch, limit: 1_000 }))
    for (const row of rows) {
      const { values } = atOnce(readRow(table, selected, row))!
      if (matching(branch.rest, values as Values)) found.push(idOf(table, values as Values))
    }
  }
  const ids = areDisjoint ? found : [...new Set(found)]
  const shown = branches
    .map(({ terms }) => terms.map(({ text }) => text).join(' AND '))
    .join(' || ')
  assert.deepEqual(ids.toSorted(), expected.toSorted(), `${printFilter(filter)}\n${shown}`)
  const search = rowConditions(table, filter, apache, 'search')
  for (const branch of search.branches.slice(0, 2)) {
    const column = columns.find(({ name }) => name === 'vector')!
    const numbers = Float32Array.of(1, 0, 0)
    const selected = selectedColumns(table, [column])
    const rows = await run(
      selectNearest(table, { columns: selected, branch, column, numbers, limit: 100 }),
    )
    for (const row of rows)
      assert(atOnce(readRow(table, selected, row))!.values.has('vector'))
  }
}

function printFilter(filter: RowFilter): string {
  return JSON.stringify(filter, (name, value: unknown) =>
    value instanceof Map
      ? [...(value as Map<string, unknown>)]
      : name === 'column'
        ? (value as Column).name
        : value,
  )
}

async function changeElements(table: Table, model: Map<string, Values>): Promise<void> {
  const collections = table.definition.columns.filter(({ type }) => isCollection(type))
  let turn = 0
  for (const [id, values] of model) {
    const column = collections[turn++ % collections.length]!
    const type = column.type as Parameters<typeof withAdded>[0]
    const stored = values.get(column.name) as Value | undefined
    const other = [...model.values()][(turn * 7) % model.size]!.get(column.name) as
      Value | undefined
    const change = turn % 2 === 0 ? ('add' as const) : ('remove' as const)
    const held = change === 'add' ? other : turn % 3 === 0 ? other : stored
    if (held === undefined) continue
    const entries = held instanceof Map ? [...held] : (held as Value[])
    const elements =
      type.type === 'map' && change === 'remove'
        ? entries.map((entry) => (entry as Value[])[0]!)
        : entries
    const keyValues = table.definition.columns
      .filter(({ name }) => keyNames(table.definition).includes(name))
      .map((one) => [one, values.get(one.name)] as const)
    const merge: RowMerge = {
      kind: 'update',
      values: new Map(keyValues),
      elements: new Map([[column, { kind: change, elements: elements.slice(0, 2) }]]),
    }
    for (const write of atOnce(mergeRow(table, merge))) await run(write)
    const changing = change === 'add' ? withAdded : withoutAll
    const changed = atOnce(changing(type, stored, elements.slice(0, 2), table.types))
    const after = new Map(values)
    if (changed === undefined) after.delete(column.name)
    else after.set(column.name, changed)
    model.set(id, after)
  }
  assert.deepEqual(sorted(await readAll(table)), sorted(model))
}

async function checkOrderAndDeletes(
  table: Table,
  model: Map<string, Values>,
): Promise<void> {
  const byName = new Map(table.definition.columns.map((column) => [column.name, column]))
  const one = (name: string, ...operands: Value[]) =>
    ({ kind: 'eq', column: byName.get(name)!, part: 'value', operands }) as const
  const filter: RowFilter = { kind: 'and', of: [one('p', 1), one('q', 1.5)] }
  const selected = selectedColumns(table, [])
  const read = async (direction: 1 | -1) => {
    const { branches } = rowConditions(
      table,
      filter,
      apache,
      direction === 1 ? 'read' : 'readBackwards',
    )
    const rows = await run(
      selectRows(table, { columns: selected, branch: branches[0]!, direction }),
    )
    return rows.map((row) =>
      idOf(
        table,
        atOnce(readRow(table, selected, row as unknown as Record<string, unknown>))!
          .values as Values,
      ),
    )
  }
  assert.deepEqual((await read(-1)).toReversed(), await read(1))
  const statementsOf = deleteRows(
    table,
    new Map([
      ['p', { eq: [1] }],
      ['q', { eq: [0, 1.5] }],
      [
        'c',
        { low: { value: 'a', inclusive: true }, high: { value: 'b', inclusive: false } },
      ],
    ]),
  )!
  for (const statement of statementsOf) await run(statement)
  for (const [id, values] of model) {
    const c = values.get('c') as string
    const isGone = values.get('p') === 1 && values.get('q') !== 'NaN' && c >= 'a' && c < 'b'
    if (isGone) model.delete(id)
  }
  assert.deepEqual(sorted(await readAll(table)), sorted(model))
}

await client.connect()
try {
  const before = await defineAll()
  console.log(`defined with ${statements} statements`)
  const written = await fill(before, false)
  const later = { renamed: [], added: [{ name: 'later', type: 'text' }] } as const
  for (const text of alterType(keyspace, 'Place', later)) await define(text)
  const table = await readBack()
  await changeElements(table, written)
  console.log(`rows of all types are as they were, after ${statements} statements`)
  const model = await fill(table, true)
  const rows = [...model.values()]
  const any = rowFilters(table, rows)
  const keyColumns = table.definition.columns.filter(({ name }) => 'pqcd'.includes(name))
  const onKey = rowFilters(
    { ...table, definition: { ...table.definition, columns: keyColumns } },
    rows,
  )
  const both = fc
    .array(onKey, { minLength: 2, maxLength: 5 })
    .chain((of) => any.map((other): RowFilter => ({ kind: 'and', of: [...of, other] })))
  const filters = fc.sample(fc.oneof(any, onKey, both), { seed, numRuns: Number(runs) })
  for (const filter of filters) await checkFilter(table, model, filter)
  // Creates these indexes after the rows exist. Cassandra then flushes all rows and builds the
  // indexes from files.
  for (const index of [regular('p'), regular('d')])
    await changeAll({ kind: 'createIndex', index })
  await indexesBuilt()
  const indexed = await readBack()
  for (const filter of filters) await checkFilter(indexed, model, filter)
  await checkOrderAndDeletes(indexed, model)
  console.log(`${filters.length} filters, ${statements} statements`, tally)
} finally {
  await client.shutdown()
}
