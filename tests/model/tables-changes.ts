/** Random changes of a table's schema, applied to its model as well. */
import assert from 'node:assert/strict'
import type { CommandAnswer } from '../harness.ts'
import type { Random } from './random.ts'
import type { Column, Index, TableOracle } from './tables-oracle.ts'
import {
  createIndex,
  describeTable,
  describeType,
  freeFieldName,
  isOfUserType,
  randomColumn,
  randomIndex,
  randomType,
  type Vocabulary,
} from './tables-schema.ts'
import type { Session, World } from './tables-session.ts'
import { object, primitiveNames, type Json, type UserType } from './tables-values.ts'
import type { Writes } from './tables-writes.ts'

export class SchemaChanges {
  readonly #session: Session
  readonly #random: Random
  readonly #table: TableOracle
  readonly #types: readonly UserType[]
  readonly #vocabulary: Vocabulary
  readonly #writes: Writes
  #indexes = 0

  constructor(world: World, writes: Writes) {
    this.#session = world.session
    this.#random = world.random
    this.#table = world.table
    this.#types = world.types
    this.#vocabulary = world.vocabulary
    this.#writes = writes
  }

  async create(): Promise<void> {
    for (const { name, fields } of this.#types) {
      const described = new Map(fields.map((field) => [field.name, field.type]))
      const definition = object({ fields: described })
      await this.#session.ok('', object({ createType: object({ name, definition }) }))
    }
    const dropTable = object({
      name: this.#session.name,
      options: object({ ifExists: true }),
    })
    await this.#session.ok('', object({ dropTable }))
    const definition = describeTable(this.#table, this.#random)
    await this.#session.ok(
      '',
      object({ createTable: object({ name: this.#session.name, definition }) }),
    )
  }

  async createIndex({ isPlain, isAlone }: IndexChange = {}): Promise<void> {
    const index = randomIndex(
      this.#random,
      this.#table,
      `${this.#session.name}_i${this.#indexes++}`,
      this.#vocabulary,
    )
    if (index === undefined || (isPlain && !isPlainIndex(index))) return
    const answer = await this.#whileWriting(isAlone, () =>
      this.#session.send(this.#session.name, createIndex(index)),
    )
    // Index names in other cases than snake case cause a warning, so only `ok` is compared.
    assert.equal(answer.body.status?.['ok'], 1)
    this.#table.indexes.push(index)
  }

  /** Makes a change. In half of the calls, inserts rows meanwhile, unless `isAlone` is set. */
  async #whileWriting<T>(
    isAlone: boolean | undefined,
    change: () => Promise<T>,
  ): Promise<T> {
    const changed = change()
    if (!isAlone && this.#random.chance(0.5)) await this.#writes.insert()
    return changed
  }

  async dropIndex({ isPlain, isAlone }: IndexChange = {}): Promise<void> {
    const { indexes } = this.#table
    if (indexes.length === 0) return
    const place = this.#random.integer(0, indexes.length - 1)
    const index = indexes[place]!
    if (isPlain && !isPlainIndex(index)) return
    const { name } = index
    const path = this.#random.chance(0.5) ? '' : this.#session.name
    await this.#whileWriting(isAlone, () =>
      this.#session.ok(path, object({ dropIndex: object({ name }) })),
    )
    indexes.splice(place, 1)
  }

  async addColumn(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const again = table.dropped.filter(
      ({ name }) => !table.columns.some((one) => one.name === name),
    )
    if (again.length > 0 && random.chance(0.6)) {
      const { name, type: before } = random.pick(again)
      const isSame = !this.#vocabulary.dropsAnyColumn || random.chance(0.5)
      const type = isSame ? before : randomType(random, this.#types, this.#vocabulary)
      const column = { name, type }
      const answer = await this.#whileWriting(false, () =>
        this.#alter('add', describeColumns([column], random)),
      )
      assert.deepEqual(answer.codes, [])
      table.addColumn(column)
      return
    }
    const column = randomColumn(random, table, this.#types, this.#vocabulary)
    if (column === undefined || table.columns.length > 20) return
    const answer = await this.#whileWriting(false, () =>
      this.#alter('add', describeColumns([column], random)),
    )
    assert.deepEqual(answer.codes, [])
    table.addColumn(column)
  }

  async dropColumn(): Promise<void> {
    const table = this.#table
    const { dropsAnyColumn } = this.#vocabulary
    const others = table.columns.filter(
      (column) => !table.isKey(column) && (dropsAnyColumn || !isOfUserType(column)),
    )
    if (others.length < 3) return
    const column = this.#random.pick(others)
    const isIndexed = table.indexes.some((index) => index.column === column)
    // If only updates created a row, the row may or may not survive the loss of its last value. So
    // a column that contains such a value is not dropped.
    if (!isIndexed)
      for (const row of table.rows)
        if (
          !row.wasInserted &&
          row.cells.has(column) &&
          row.cells.size === table.key.length + 1
        ) {
          await this.#writes.deleteKey(row.cells)
        }
    const answer = await this.#alter('drop', [column.name])
    assert.deepEqual(answer.codes, isIndexed ? ['CANNOT_DROP_INDEXED_COLUMNS'] : [])
    if (!isIndexed) table.dropColumn(column)
  }

  #alter(operation: string, columns: Json): Promise<CommandAnswer> {
    const altered = object({ [operation]: object({ columns }) })
    return this.#session.send(
      this.#session.name,
      object({ alterTable: object({ operation: altered }) }),
    )
  }

  async alterType(): Promise<void> {
    const random = this.#random
    if (this.#types.length === 0) return
    const type = random.pick(this.#types)
    const { name, fields } = type
    if (random.chance(0.5) || fields.length > 6) {
      const field = random.pick(fields)
      const renamed = freeFieldName(random, type, this.#vocabulary)
      const rename = object({ fields: new Map([[field.name, renamed]]) })
      await this.#session.ok('', object({ alterType: object({ name, rename }) }))
      field.name = renamed
      return
    }
    const field = {
      name: freeFieldName(random, type, this.#vocabulary),
      type: random.pick(primitiveNames),
    }
    const add = object({ fields: new Map([[field.name, field.type]]) })
    await this.#session.ok('', object({ alterType: object({ name, add }) }))
    fields.push(field)
  }
}

export interface IndexChange {
  /** Whether to use only indexes that do not change the meaning of filters. */
  readonly isPlain?: boolean
  /** Whether no rows are written during the change. */
  readonly isAlone?: boolean
}

/** Whether filters have the same meaning with and without the index. */
function isPlainIndex(index: Index): boolean {
  return (
    index.kind === 'vector' || (index.kind === 'regular' && index.folding === undefined)
  )
}

function describeColumns(columns: readonly Column[], random: Random): Json {
  return new Map(columns.map(({ name, type }) => [name, describeType(type, random)]))
}
