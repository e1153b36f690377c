/** A table that one client creates, alters and drops while it fills and reads it. */
import type { Random } from '../faults/random.ts'
import { expectText } from './document-writes.ts'
import type { Line } from './line.ts'
import { readRows } from './row-reads.ts'
import { RowBook, rowState, type RowState } from './row-book.ts'
import { writeRows } from './row-writes.ts'
import { changeSchema, listed, listings } from './schema-change.ts'
import {
  columnKinds,
  definitionOf,
  keyColumns,
  regularIndex,
  textIndex,
  vectorIndex,
  type IndexShape,
  type KindName,
  type TableShape,
} from './table-shape.ts'

const keyspace = '/default_keyspace'

/** Columns that are added and dropped. A column always gets the same type again. */
const extraColumns: readonly (readonly [string, KindName])[] = [
  ['extra_int', 'int'],
  ['extra_set', 'set'],
  ['extra_text', 'text'],
]

export class OwnTable {
  /** The rows of the table; undefined while it does not exist. */
  book: RowBook | undefined
  readonly name: string
  readonly #line: Line
  readonly #random: Random
  readonly #owner: number
  #isVectorized = false

  constructor(line: Line, random: Random, owner: number) {
    this.#line = line
    this.#random = random
    this.#owner = owner
    this.name = `table_${owner}`
  }

  async step(): Promise<void> {
    const { book } = this
    const random = this.#random
    if (book === undefined) return this.#create()
    if (random.oneIn(50)) return this.#drop()
    if (random.oneIn(40)) return this.#truncate(book)
    if (random.oneIn(6))
      return random.pick([
        () => this.#toggleIndex(book),
        () => this.#toggleIndex(book),
        () => this.#toggleColumn(book),
        () => this.#toggleVectorize(book),
      ])()
    return random.oneIn(2) ? writeRows(book) : readRows(book)
  }

  /** The expected result of `read`. */
  get #state(): string {
    const { book } = this
    return book === undefined ? 'absent' : stateText(book.shape, this.#isVectorized)
  }

  async #create(): Promise<void> {
    const shape = randomTable(this.#random, this.name)
    const created = await this.#change(
      { createTable: { name: this.name, definition: definitionOf(shape) } },
      stateText(shape, false),
    )
    if (!created) return
    this.book = new RowBook(this.#line, this.#random, this.#owner, shape)
    this.#isVectorized = false
  }

  async #drop(): Promise<void> {
    const options = { ifExists: this.#random.oneIn(2) }
    if (await this.#change({ dropTable: { name: this.name, options } }, 'absent'))
      this.book = undefined
  }

  async #truncate(book: RowBook): Promise<void> {
    const command = { deleteMany: { filter: {} } }
    await book.change({
      command,
      touched: new Map(book.ledger.keys.map((key) => [key, undefined])),
      check: (answer) => expectText(answer, '{"status":{"deletedCount":-1}}', command),
    })
  }

  async #toggleIndex(book: RowBook): Promise<void> {
    const random = this.#random
    const { indexes } = book.shape
    const index = random.pick(possibleIndexes(this.name))
    const { name } = index
    const isThere = indexes.has(name)
    const next = new Map(indexes)
    if (!next.delete(name)) next.set(name, index)
    const command = isThere ? { dropIndex: { name } } : index.create
    const changed = await this.#change(
      command,
      stateText({ ...book.shape, indexes: next }, this.#isVectorized),
      isThere && random.oneIn(2) ? keyspace : book.path,
    )
    if (!changed) return
    if (isThere) indexes.delete(name)
    else indexes.set(name, index)
  }

  async #toggleColumn(book: RowBook): Promise<void> {
    const { columns } = book.shape
    const [name, kind] = this.#random.pick(extraColumns)
    const isThere = columns.has(name)
    // If only updates created a row, the row may or may not survive the loss of its last value. So
    // a column that contains such a value is not dropped.
    const isLast = ({ cells, wasInserted }: RowState) =>
      !wasInserted && cells.has(name) && cells.size === keyColumns(book.shape).length + 1
    if (isThere && book.ledger.states.some(isLast)) return
    const operation = isThere
      ? { drop: { columns: [name] } }
      : { add: { columns: { [name]: columnKinds[kind].type } } }
    const next = new Map(columns)
    if (!next.delete(name)) next.set(name, kind)
    const changed = await this.#change(
      { alterTable: { operation } },
      stateText({ ...book.shape, columns: next }, this.#isVectorized),
      book.path,
    )
    if (!changed) return
    if (!isThere) {
      columns.set(name, kind)
      return
    }
    columns.delete(name)
    // A dropped column loses its values. They must not return when the column is added again.
    for (const [key, { cells, wasInserted }] of [...book.ledger.entries]) {
      const left = new Map([...cells].filter(([column]) => column !== name))
      book.ledger.apply(new Map([[key, rowState(left, wasInserted)]]))
    }
  }

  async #toggleVectorize(book: RowBook): Promise<void> {
    const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
    const operation = this.#isVectorized
      ? { dropVectorize: { columns: ['pair'] } }
      : { addVectorize: { columns: { pair: service } } }
    const changed = await this.#change(
      { alterTable: { operation } },
      stateText(book.shape, !this.#isVectorized),
      book.path,
    )
    if (changed) this.#isVectorized = !this.#isVectorized
  }

  #change(command: object, after: string, path = keyspace): Promise<boolean> {
    const before = this.#state
    return changeSchema(this.#line, {
      path,
      command,
      before,
      after,
      read: () => this.read(),
    })
  }

  /** Columns and indexes that the server lists. */
  async read(): Promise<string> {
    const tables = await listed(this.#line, keyspace, listings.tables)
    const table = tables.get(this.name) as { definition: Definition } | undefined
    if (table === undefined) return 'absent'
    const path = `${keyspace}/${this.name}`
    const indexes = await listed(this.#line, path, listings.indexes)
    const { columns } = table.definition
    const isVectorized = columns['pair']?.service !== undefined
    return textOf(Object.keys(columns), [...indexes.keys()], isVectorized)
  }

  /** The expected result of `read`. */
  get expected(): string {
    return this.#state
  }
}

interface Definition {
  readonly columns: Readonly<Record<string, { readonly service?: unknown }>>
}

function stateText(shape: TableShape, isVectorized: boolean): string {
  return textOf([...shape.columns.keys()], [...shape.indexes.keys()], isVectorized)
}

function textOf(
  columns: readonly string[],
  indexes: readonly string[],
  isVectorized: boolean,
): string {
  const service = isVectorized ? ' and a service' : ''
  return `columns ${columns.toSorted().join()} indexes ${indexes.toSorted().join()}${service}`
}

function randomTable(random: Random, name: string): TableShape {
  const key = random.pick([
    { partitionBy: ['id'], partitionSort: {} },
    { partitionBy: ['k'], partitionSort: { n: -1 } },
    { partitionBy: ['id', 'k'], partitionSort: {} },
    { partitionBy: ['k'], partitionSort: { at: 1, n: -1 } },
  ] as const)
  const shape = { name, ...key, indexes: new Map<string, IndexShape>() }
  const kinds: Record<string, KindName> = {
    id: 'text',
    k: 'text',
    at: 'timestamp',
    n: 'int',
  }
  return {
    ...shape,
    columns: new Map<string, KindName>([
      ...keyColumns({ ...shape, columns: new Map() }).map((column): [string, KindName] => [
        column,
        kinds[column]!,
      ]),
      ['kind', 'text'],
      ['size', 'double'],
      ['tags', 'set'],
      ['limits', 'map'],
      ['body', 'body'],
      ['v', 'vector'],
      ['pair', 'pair'],
    ]),
  }
}

function possibleIndexes(table: string): readonly IndexShape[] {
  return [
    regularIndex(table, 'kind'),
    regularIndex(table, 'size'),
    regularIndex(table, 'tags'),
    regularIndex(table, 'limits'),
    textIndex(table, 'body'),
    vectorIndex(table, 'v'),
  ]
}
