/** A table of an engine as tests speak to it: rows in JSON, indexes by what they are of. */
import { ownCaller } from '../../src/caller.ts'
import assert from 'node:assert/strict'
import type { Engine, MergeOutcome, Row as StoredRow } from '../../src/engine/contract.ts'
import type { Column, Table } from '../../src/engine/schema.ts'
import type { NewIndex, TableChange } from '../../src/engine/schema-change.ts'
import { fromPlain } from '../../src/json/plain.ts'
import type { Value } from '../../src/json/value.ts'
import type { ColumnValue } from '../../src/language/columns/column.ts'
import type {
  ComparisonKind,
  RowFilter,
  RowSortKey,
} from '../../src/language/columns/row-filter.ts'
import { defaultLimits } from '../../src/limits.ts'
import { anyOrder, count, read, type PagePosition } from '../../src/paging/read.ts'
import { search } from '../../src/paging/search.ts'
import { rowSource, type RowSource } from '../../src/tables/read/row-source.ts'
import { rowStoreOf } from '../../src/tables/row-store.ts'
import { testModels } from './test-models.ts'

const tester = ownCaller()

/** p text, c int (descending), word text, tags list of text, text text, v vector of 2. */
export const columns = [
  { name: 'p', type: { type: 'text' } },
  { name: 'c', type: { type: 'int' } },
  { name: 'word', type: { type: 'text' } },
  { name: 'tags', type: { type: 'list', valueType: 'text' } },
  { name: 'text', type: { type: 'text' } },
  { name: 'v', type: { type: 'vector', dimension: 2 } },
] satisfies readonly Column[]

export const onWord = {
  kind: 'regular',
  name: 'on_word',
  column: 'word',
  part: 'value',
} as const

export const onVector = {
  kind: 'vector',
  name: 'on_v',
  column: 'v',
  metric: 'euclidean',
  sourceModel: 'other',
} as const

export interface Row {
  readonly p: string
  readonly c: number
  readonly word?: string
  readonly tags?: readonly string[]
  readonly text?: string
  readonly v?: readonly number[]
}

export const anyRow: RowFilter = { kind: 'and', of: [] }

export class TableStore {
  readonly engine: Engine
  readonly #name: string

  constructor(engine: Engine, name: string) {
    this.engine = engine
    this.#name = name
  }

  static async create(engine: Engine, name = 'rows'): Promise<TableStore> {
    await engine.changeSchema('default_keyspace', () => ({
      kind: 'createTable',
      name,
      columns: columns.map((column) => ({ name: column.name, type: column.type })),
      partitionBy: ['p'],
      partitionSort: [{ column: 'c', direction: -1 }],
    }))
    return new TableStore(engine, name)
  }

  async table(): Promise<Table> {
    const target = await this.engine.findTarget('default_keyspace', this.#name)
    assert(target?.kind === 'table')
    return target
  }

  async source(): Promise<RowSource> {
    const services = { engine: this.engine, limits: defaultLimits, models: testModels }
    return rowSource(rowStoreOf(services, await this.table(), {}))
  }

  async change(change: TableChange): Promise<void> {
    assert(await this.engine.changeSchema('default_keyspace', () => change))
  }

  addIndex(index: NewIndex): Promise<void> {
    return this.change({ kind: 'createIndex', table: this.#name, index })
  }

  dropIndex(name: string): Promise<void> {
    return this.change({ kind: 'dropIndex', table: this.#name, name })
  }

  /** Makes rows these, and nothing else: columns that are not given are cleared. */
  async put(rows: readonly Row[]): Promise<readonly MergeOutcome[]> {
    const table = await this.table()
    const merges = rows.map((row) => {
      return { kind: 'insert', values: valuesOf(table, row) } as const
    })
    return this.engine.mergeRows(table, merges, { sizeMax: 1_000_000 })
  }

  async remove(rows: readonly Pick<Row, 'p' | 'c'>[]): Promise<void> {
    const table = await this.table()
    for (const { p, c } of rows) {
      const conditions = new Map([
        ['p', { eq: [p] }],
        ['c', { eq: [c] }],
      ])
      await this.engine.deleteRows(table, conditions, tester)
    }
  }

  /** What is found, as "p c", page by page. */
  async find(
    filter: RowFilter = anyRow,
    { sort = [] as readonly RowSortKey[], pageSize = 7, textsOnly = false } = {},
  ): Promise<string[]> {
    const source = await this.source()
    const { definition } = await this.table()
    const shown = definition.columns.filter(({ name }) => !textsOnly || name !== 'v')
    const found: string[] = []
    let after: PagePosition | undefined
    do {
      const query = { filter, sort, after, limit: pageSize, columns: shown }
      const wanted = { ...anyOrder, ...query, lookAhead: true, textsOnly }
      const page = await read(source, wanted, tester)
      found.push(
        ...(page.joined === undefined
          ? page.records.map(nameOf)
          : (JSON.parse(`[${page.joined.text}]`) as Row[]).map(({ p, c }) => `${p} ${c}`)),
      )
      after = page.next
    } while (after !== undefined)
    return found
  }

  async count(filter: RowFilter): Promise<number> {
    return count(await this.source(), filter, 1_000_000, { columns }, tester)
  }

  async searchVector(numbers: readonly number[], filter = anyRow, limit = 10) {
    const by = {
      kind: 'vector',
      column: column('v'),
      numbers: Float32Array.from(numbers),
    } as const
    const hits = await search(await this.source(), { by, filter, limit, columns }, tester)
    return hits.map(({ record }) => nameOf(record))
  }

  async searchText(words: string, filter = anyRow, limit = 10) {
    const terms = words.split(' ')
    const by = { kind: 'lexical', column: column('text'), terms, text: words } as const
    const hits = await search(await this.source(), { by, filter, limit, columns }, tester)
    return hits.map(({ record }) => nameOf(record))
  }
}

export function column(name: string): Column {
  return columns.find((other) => other.name === name)!
}

export function is(name: string, value: string | number): RowFilter {
  return compare('eq', name, value)
}

export function compare(
  kind: ComparisonKind,
  name: string,
  ...operands: readonly (string | number)[]
): RowFilter {
  return { kind, column: column(name), part: 'value', operands }
}

export function both(...of: readonly RowFilter[]): RowFilter {
  return { kind: 'and', of }
}

export function nameOf(row: StoredRow): string {
  return `${row.get(column('p')) as string} ${row.get(column('c')) as number}`
}

function valuesOf(table: Table, row: Row): Map<Column, ColumnValue | undefined> {
  const { v, ...plain } = row
  const given = fromPlain(plain) as Map<string, Value>
  return new Map<Column, ColumnValue | undefined>(
    table.definition.columns.map((one) => [
      one,
      one.name === 'v' ? v && Float32Array.from(v) : given.get(one.name),
    ]),
  )
}
