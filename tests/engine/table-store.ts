/** A table of an engine as tests speak to it: rows in JSON, indexes by what they are of. */
import { ownCaller } from '../../src/caller.ts'
import assert from 'node:assert/strict'
import { columnPath } from '../../src/language/columns/column-path.ts'
import type { Engine, Outcome, StoredRecord, Write } from '../../src/engine/contract.ts'
import { viewOf } from '../../src/engine/record-view.ts'
import type { RowView } from '../../src/engine/row-view.ts'
import type { Column, Table } from '../../src/engine/schema.ts'
import type { NewIndex, TableChange } from '../../src/engine/schema-change.ts'
import { fromPlain } from '../../src/json/plain.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import {
  everything,
  type Comparison,
  type Filter,
} from '../../src/language/filters/filter.ts'
import type { SortKey } from '../../src/language/sorts/sort.ts'
import { idPath } from '../../src/paging/record-id.ts'
import { anyOrder, count, read, type Place, type Source } from '../../src/paging/read.ts'
import { search } from '../../src/paging/search.ts'
import { analyzerFor } from '../../src/search/lexical/analyzer.ts'

const tester = ownCaller()

/** p text, c int (descending), word text, tags list of text, text text, v vector of 2. */
export const columns: readonly Column[] = [
  { name: 'p', type: { type: 'text' } },
  { name: 'c', type: { type: 'int' } },
  { name: 'word', type: { type: 'text' } },
  { name: 'tags', type: { type: 'list', valueType: 'text' } },
  { name: 'text', type: { type: 'text' } },
  { name: 'v', type: { type: 'vector', dimension: 2 } },
].map((column, i) => ({ ...column, id: i + 1, key: column.name }) as Column)

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

export const byId: readonly SortKey[] = [{ path: idPath, direction: 1 }]

export interface Row {
  readonly p: string
  readonly c: number
  readonly word?: string
  readonly tags?: readonly string[]
  readonly text?: string
  readonly v?: readonly number[]
}

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

  async source(): Promise<Source> {
    const owner = await this.table()
    return { engine: this.engine, owner, view: viewOf(owner), limits: defaultLimits }
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

  /** Inserts or replaces; given up and tried again where the schema changed meanwhile. */
  async put(rows: readonly Row[]): Promise<readonly Outcome[]> {
    const source = await this.source()
    const view = source.view as RowView
    const records = rows.map((row) => newRecord(row, view))
    const before = await Promise.all(records.map(({ id }) => this.#one(source, id)))
    const writes = records.map((record, i): Write => {
      const stored = before[i]
      return stored === undefined
        ? { kind: 'insert', record }
        : {
            kind: 'replace',
            before: stored,
            beforeDocument: view.indexed(stored.text),
            after: record,
          }
    })
    return this.engine.write(source.owner, writes)
  }

  async remove(rows: readonly Pick<Row, 'p' | 'c'>[]): Promise<void> {
    const source = await this.source()
    const view = source.view as RowView
    for (const row of rows) {
      const id = view.idOfRow(fromPlain(row) as JsonObject)
      const stored = await this.#one(source, id)
      if (stored !== undefined)
        await this.engine.write(source.owner, [{ kind: 'delete', before: stored }])
    }
  }

  async #one(source: Source, id: string): Promise<StoredRecord | undefined> {
    const filter: Filter = { kind: 'eq', path: idPath, value: id }
    const wanted = { ...anyOrder, filter, limit: 1, withSearchFields: true }
    return (await read(source, wanted, tester)).records[0]
  }

  /** What is found, as "p c", page by page. */
  async find(
    filter: Filter = everything,
    { sort = byId, pageSize = 7, textsOnly = false } = {},
  ): Promise<string[]> {
    const source = await this.source()
    const found: string[] = []
    let after: Place | undefined
    do {
      const page = await read(
        source,
        {
          ...anyOrder,
          filter,
          sort,
          after,
          limit: pageSize,
          lookAhead: true,
          textsOnly,
        },
        tester,
      )
      const texts =
        page.joined === undefined
          ? page.records.map(({ text }) => text)
          : (JSON.parse(`[${page.joined.text}]`) as Row[]).map((row) => JSON.stringify(row))
      found.push(...texts.map(nameOf))
      after = page.next
    } while (after !== undefined)
    return found
  }

  async count(filter: Filter): Promise<number> {
    return count(await this.source(), filter, 1_000_000, tester)
  }

  async searchVector(numbers: readonly number[], filter = everything, limit = 10) {
    const by = {
      kind: 'vector',
      path: pathOf('v').text,
      numbers: Float32Array.from(numbers),
    } as const
    const wanted = { by, filter, limit, withSearchFields: true }
    const hits = await search(await this.source(), wanted, tester)
    return hits.map(({ record }) => nameOf(record.text))
  }

  async searchText(words: string, filter = everything, limit = 10) {
    const by = {
      kind: 'lexical',
      path: pathOf('text').text,
      terms: words.split(' '),
    } as const
    const wanted = { by, filter, limit, withSearchFields: false }
    const hits = await search(await this.source(), wanted, tester)
    return hits.map(({ record }) => nameOf(record.text))
  }
}

export function pathOf(name: string) {
  return columnPath(columns.find((column) => column.name === name)!.id)
}

export function is(name: string, value: string | number): Comparison {
  return { kind: 'eq', path: pathOf(name), value }
}

/** The rows of one partition. */
export function inPartition(view: RowView, p: string): Filter {
  const edge = (c: number) => view.idOfRow(fromPlain({ p, c }) as JsonObject)
  // Descending, so the greatest comes first.
  return {
    kind: 'and',
    of: [
      { kind: 'gte', path: idPath, value: edge(2 ** 31 - 1) },
      { kind: 'lte', path: idPath, value: edge(-(2 ** 31)) },
    ],
  }
}

export function nameOf(text: string): string {
  const { p, c } = JSON.parse(text) as Row
  return `${p} ${c}`
}

function newRecord({ v, ...row }: Row, view: RowView) {
  const stored = fromPlain(row) as JsonObject
  return {
    id: view.idOfRow(stored),
    text: printJson(stored),
    document: view.indexedRow(stored),
    search: { vectors: new Map(v && [[pathOf('v').text, Float32Array.from(v)]]) },
    terms: (path: string) =>
      analyzerFor(view.texts.get(path)!.analyzer).terms(row.text ?? ''),
  }
}
