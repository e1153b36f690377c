/** A table of an engine, wrapped for tests: rows in JSON, and ready-made indexes. */
import type { TermStatistics } from '../../src/search/lexical/bm25.ts'
import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import type {
  ElementChange,
  Engine,
  MergeOptions,
  MergeOutcome,
  Row as StoredRow,
  RowMerge,
  SearchPlace,
} from '../../src/engine/contract.ts'
import type { Column, Table, TableIndex } from '../../src/engine/schema.ts'
import type { TableChange } from '../../src/engine/schema-change.ts'
import { fromPlain } from '../../src/json/plain.ts'
import type { Value } from '../../src/json/value.ts'
import type { ColumnValue } from '../../src/language/columns/column.ts'
import type {
  ComparisonKind,
  RowFilter,
  RowSortKey,
} from '../../src/language/columns/row-filter.ts'
import { anyOrder, count, read, type PagePosition } from '../../src/paging/read.ts'
import { showOne } from '../../src/paging/show-all.ts'
import { search, searchUpToSize } from '../../src/paging/search.ts'
import { rowSource, type RowSource } from '../../src/tables/read/row-source.ts'
import { showRow } from '../../src/tables/read/show-row.ts'
import { rowStoreOf } from '../../src/tables/row-store.ts'
import { testServices } from './test-models.ts'

const tester = ownCaller()

/** Columns of the table: `p` is its partition key, `c` its sort column in descending order. */
export const columns = [
  { name: 'p', type: { type: 'text' } },
  { name: 'c', type: { type: 'int' } },
  { name: 'word', type: { type: 'text' } },
  { name: 'tags', type: { type: 'list', valueType: 'text' } },
  { name: 'numbers', type: { type: 'set', valueType: 'int' } },
  { name: 'notes', type: { type: 'map', keyType: 'text', valueType: 'text' } },
  { name: 'text', type: { type: 'text' } },
  { name: 'v', type: { type: 'vector', dimension: 2 } },
] satisfies readonly Column[]

export const onWord = {
  kind: 'regular',
  name: 'on_word',
  column: 'word',
  part: 'value',
} as const

export const onTags: TableIndex = { ...onWord, name: 'on_tags', column: 'tags' }
export const onText: TableIndex = {
  kind: 'text',
  name: 'on_text',
  column: 'text',
  analyzer: 'standard',
}

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
  readonly word?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly numbers?: readonly number[] | undefined
  readonly notes?: Readonly<Record<string, string>> | undefined
  readonly text?: string | undefined
  readonly v?: readonly number[] | undefined
}

const words = ['ant', 'bee', 'cat', 'dog']

export function manyRows(count: number): Row[] {
  return Array.from({ length: count }, (_, i) => ({
    p: `p${i % 5}`,
    c: Math.floor(i / 5),
    word: words[i % 4]!,
    tags: [words[i % 4]!, words[i % 3]!],
    text: `${words[i % 4]!} and ${words[i % 3]!}`,
    v: [i % 10, Math.floor(i / 10) % 10],
  }))
}

export const anyRow: RowFilter = { kind: 'and', of: [] }

export class TableStore {
  readonly engine: Engine
  readonly #name: string
  readonly #keyspace: string

  constructor(engine: Engine, name: string, keyspace = 'default_keyspace') {
    this.engine = engine
    this.#name = name
    this.#keyspace = keyspace
  }

  static async create(
    engine: Engine,
    name = 'rows',
    keyspace = 'default_keyspace',
  ): Promise<TableStore> {
    await engine.changeSchema(keyspace, () => ({
      kind: 'createTable',
      name,
      columns: columns.map((column) => ({ name: column.name, type: column.type })),
      partitionBy: ['p'],
      partitionSort: [{ column: 'c', direction: -1 }],
    }))
    return new TableStore(engine, name, keyspace)
  }

  async table(): Promise<Table> {
    const target = await this.engine.findTarget(this.#keyspace, this.#name)
    assert(target?.kind === 'table')
    return target
  }

  async source(): Promise<RowSource> {
    const services = { engine: this.engine, ...testServices }
    return rowSource(rowStoreOf(services, await this.table(), {}))
  }

  async change(change: TableChange): Promise<void> {
    assert(await this.engine.changeSchema(this.#keyspace, () => change))
  }

  addIndex(index: TableIndex): Promise<void> {
    return this.change({ kind: 'createIndex', table: this.#name, index })
  }

  dropIndex(name: string): Promise<void> {
    return this.change({ kind: 'dropIndex', table: this.#name, name })
  }

  /** Replaces whole rows: columns without a value in `rows` are cleared. */
  async put(rows: readonly Row[]): Promise<readonly MergeOutcome[]> {
    const table = await this.table()
    const merges = rows.map((row) => {
      return { kind: 'insert', values: valuesOf(table, row) } as const
    })
    return this.engine.mergeRows(table, merges, { sizeMax: 1_000_000 })
  }

  /** Writes the given columns of a row, and no others. */
  async merge(
    kind: RowMerge['kind'],
    row: Row,
    elements: Readonly<Record<string, ElementChange>> = {},
    options: Partial<MergeOptions> = {},
  ): Promise<MergeOutcome> {
    const merge = await this.mergeOf(kind, row, elements)
    const limits = { sizeMax: 1_000_000, ...options }
    const [outcome] = await this.engine.mergeRows(await this.table(), [merge], limits)
    return outcome!
  }

  async mergeOf(
    kind: RowMerge['kind'],
    row: Row,
    elements: Readonly<Record<string, ElementChange>> = {},
  ): Promise<RowMerge> {
    const all = valuesOf(await this.table(), row)
    const values = new Map([...all].filter(([{ name }]) => name in row))
    const changes = Object.entries(elements).map(
      ([name, change]) => [column(name), change] as const,
    )
    return { kind, values, elements: new Map(changes) }
  }

  /** All rows with all their values. */
  async rows(): Promise<unknown[]> {
    const table = await this.table()
    const shown = table.definition.columns
    const wanted = { ...anyOrder, filter: anyRow, limit: 1_000, columns: shown }
    const { records } = await read(await this.source(), wanted, tester)
    return Promise.all(
      records.map(
        async (row) =>
          JSON.parse(await showOne(showRow(row, shown, { table }), tester)) as unknown,
      ),
    )
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

  /** The rows that match the filter, from all pages, each as "p c". */
  async find(
    filter: RowFilter = anyRow,
    { sort = [] as readonly RowSortKey[], pageSize = 7, textsOnly = false, skip = 0 } = {},
  ): Promise<string[]> {
    const source = await this.source()
    const { definition } = await this.table()
    const shown = definition.columns.filter(({ name }) => !textsOnly || name !== 'v')
    const found: string[] = []
    let after: PagePosition | undefined
    do {
      const query = { filter, sort, skip, after, limit: pageSize, columns: shown }
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

  async count(filter: RowFilter, stopAt = 1_000_000): Promise<number> {
    return count(await this.source(), filter, stopAt, { columns }, tester)
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

  /** The rows that a search by terms finds, over all pages. */
  async searchTextPages(words: string, filter: RowFilter, pageSize: number) {
    const source = await this.source()
    const by = {
      kind: 'lexical',
      column: column('text'),
      terms: [words],
      text: words,
      having: 'all',
    } as const
    const found: string[] = []
    let statistics: TermStatistics | undefined
    for (let after: SearchPlace | undefined; ;) {
      const wanted = { by, filter, limit: pageSize, columns, after, statistics }
      const { hits, ...result } = await searchUpToSize(source, wanted, tester)
      found.push(...hits.map(({ record }) => nameOf(record)))
      const last = hits.at(-1)
      if (last === undefined) return found
      const id = source.idOf(last.record)
      statistics = result.statistics
      after = { score: last.score, id }
    }
  }

  async searchText(words: string, filter = anyRow, limit = 10) {
    const terms = words.split(' ')
    const by = {
      ...({ kind: 'lexical', column: column('text'), terms, text: words } as const),
      having: 'all',
    } as const
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
