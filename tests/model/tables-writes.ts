/** Random writes to a table, applied to its model as well. */
import assert from 'node:assert/strict'
import type { JsonObject, Value } from '../../src/json/value.ts'
import type { Random } from './random.ts'
import { Answers, memberOf } from './tables-answers.ts'
import type { RandomFilters } from './tables-filters.ts'
import {
  elementsIn,
  entriesIn,
  hasVectorKey,
  pulled,
  pushed,
  type Cells,
  type Column,
  type Given,
  type Row,
  type TableOracle,
} from './tables-oracle.ts'
import type { Session, World } from './tables-session.ts'
import {
  hasObjectForm,
  isStruct,
  object,
  randomCell,
  randomElement,
  spellCell,
  spellElement,
  type Atom,
  type Cell,
  type ColumnType,
  type Element,
  type ElementType,
  type Entry,
  type Json,
} from './tables-values.ts'

export class Writes {
  readonly #session: Session
  readonly #random: Random
  readonly #table: TableOracle
  readonly #filters: RandomFilters
  readonly #spread: number
  readonly #answers: Answers

  constructor(world: World) {
    this.#session = world.session
    this.#random = world.random
    this.#table = world.table
    this.#filters = world.filters
    this.#spread = world.spread
    this.#answers = new Answers(world)
  }

  async insert(rowsMax = 6): Promise<void> {
    const random = this.#random
    const table = this.#table
    const rows = random.list(1, rowsMax, () => this.#newRow())
    const documents = rows.map((given) => this.#spellRow(given))
    const bad = random.chance(0.1) ? random.integer(0, rows.length - 1) : undefined
    if (bad !== undefined) documents[bad]!.set('no such column', true)
    const ordered = random.chance(0.5)
    const shown = random.chance(0.3)
    const isOne = rows.length === 1 && random.chance(0.5)
    const written = rows.filter(
      (_, i) => bad === undefined || (ordered && !isOne ? i < bad : i !== bad),
    )
    const answer = await this.#session.send(
      this.#session.name,
      isOne
        ? object({ insertOne: object({ document: documents[0]! }) })
        : object({
            insertMany: object({
              documents,
              options: object({ ordered, returnDocumentResponses: shown }),
            }),
          }),
    )
    for (const given of written) table.insert(given)
    assert.deepEqual(answer.codes, bad === undefined ? [] : ['UNKNOWN_TABLE_COLUMNS'])
    const status = memberOf(answer.exact, 'status')
    const ids =
      shown && !isOne
        ? ((memberOf(status, 'documentResponses') ?? []) as JsonObject[])
            .filter((response) => response.get('status') === 'OK')
            .map((response) => response.get('_id') as Value[])
        : ((memberOf(status, 'insertedIds') ?? []) as Value[][])
    assert.deepEqual(
      ids.map((id) => this.#answers.readId(id)),
      written.map((given) => table.keyOf(given as Cells)),
    )
  }

  async update(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const key = this.#keyCells(random.chance(0.7) ? this.#someRow() : undefined)
    const others = table.columns.filter((column) => !table.isKey(column))
    if (others.length === 0) return
    const chosen = new Set(random.list(1, 3, () => random.pick(others)))
    const operators = new Map<string, Map<string, Json>>()
    const changes = new Map<Column, (before: Cell | undefined) => Cell | undefined>()
    for (const column of chosen) {
      const { operator, argument, change } = this.#change(column)
      const columns = operators.get(operator) ?? new Map<string, Json>()
      operators.set(operator, columns.set(column.name, argument))
      changes.set(column, change)
    }
    const answer = await this.#session.send(
      this.#session.name,
      object({ updateOne: object({ filter: this.#exactly(key), update: operators }) }),
    )
    assert.equal(answer.text, '{"status":{"matchedCount":1,"modifiedCount":1}}')
    table.update(key, (before) => {
      return new Map(
        [...changes].map(([column, change]) => [column, change(before.get(column))]),
      )
    })
  }

  /** Sets one column of an existing row, or unsets it. */
  async setOrUnset(column: Column): Promise<void> {
    const random = this.#random
    const row = this.#someRow()
    if (row === undefined) return
    const key = new Map(this.#table.key.map((own) => [own, row.cells.get(own)!]))
    const cell = random.chance(0.3)
      ? undefined
      : randomCell(column.type, random, this.#spread)
    const columns = new Map([[column.name, this.#spellCell(cell, column.type)]])
    const update = object({ $set: columns })
    const answer = await this.#session.send(
      this.#session.name,
      object({ updateOne: object({ filter: this.#exactly(key), update }) }),
    )
    assert.equal(answer.text, '{"status":{"matchedCount":1,"modifiedCount":1}}')
    this.#table.update(key, () => new Map([[column, cell]]))
  }

  #change(column: Column): Change {
    const random = this.#random
    const { type } = column
    const kind = random.integer(0, 9)
    if (kind === 0)
      return { operator: '$unset', argument: random.pick(['', null]), change: none }
    const isCollection = type.kind === 'list' || type.kind === 'set' || type.kind === 'map'
    if (isCollection && kind <= 4) return this.#pushChange(column, type)
    if (isCollection && kind <= 6) return this.#pullChange(column, type)
    const cell = randomCell(type, random, this.#spread)
    return { operator: '$set', argument: this.#spellCell(cell, type), change: () => cell }
  }

  #pushChange(column: Column, type: CollectionType): Change {
    const random = this.#random
    if (type.kind !== 'map') {
      const added = random.list(0, 3, () => this.#newElement(type.of))
      const written = added.map((element) => spellElement(element, random))
      const isOne = written.length === 1 && random.chance(0.6)
      return {
        operator: '$push',
        argument: isOne ? written[0]! : object({ $each: written }),
        change: (before) => pushed(before, column.type, added),
      }
    }
    const added: Entry[] = []
    const written: Json[] = []
    for (const element of random.list(0, 3, () => this.#newElement(type.of))) {
      const key = this.#newElement(type.key) as Atom
      const spelled = spellEntry(key, element, type.key, random)
      if (spelled === undefined) continue
      added.push([key, element])
      written.push(spelled)
    }
    const isOne = written.length === 1 && random.chance(0.6)
    return {
      operator: '$push',
      argument: isOne ? written[0]! : object({ $each: written }),
      change: (before) => pushed(before, column.type, added),
    }
  }

  #pullChange(column: Column, type: CollectionType): Change {
    const random = this.#random
    const cells = this.#table.rows.map(({ cells }) => cells.get(column))
    const known = cells.flatMap((cell) =>
      type.kind === 'map' ? entriesIn(cell).map(([key]) => key) : elementsIn(cell),
    )
    const of = type.kind === 'map' ? type.key : type.of
    const removed = random.list(0, 3, () =>
      known.length > 0 && random.chance(0.8) ? random.pick(known) : this.#newElement(of),
    )
    return {
      operator: '$pullAll',
      argument: removed.map((element) => spellElement(element, random)),
      change: (before) => pulled(before, column.type, removed),
    }
  }

  async deleteOne(): Promise<void> {
    const key = this.#keyCells(this.#random.chance(0.8) ? this.#someRow() : undefined)
    await this.deleteKey(key)
  }

  async deleteKey(key: Cells): Promise<void> {
    await this.#deleted('deleteOne', this.#exactly(key))
    const text = this.#table.keyOf(key)
    this.#table.delete((row) => this.#table.keyOf(row.cells) === text)
  }

  async deleteMany(): Promise<void> {
    if (hasVectorKey(this.#table)) return
    const random = this.#random
    const { holds, filter } = this.#filters.key(
      random.integer(0, this.#table.partitionSort.length),
      { isOne: random.chance(0.6), range: random.chance(0.7) },
    )
    await this.#deleted('deleteMany', filter)
    this.#table.delete(holds)
  }

  async truncate(): Promise<void> {
    await this.#deleted('deleteMany', this.#random.pick([new Map(), null]))
    this.#table.delete(() => true)
  }

  async #deleted(command: string, filter: Json): Promise<void> {
    const answer = await this.#session.send(
      this.#session.name,
      object({ [command]: object({ filter }) }),
    )
    assert.equal(answer.text, '{"status":{"deletedCount":-1}}')
  }

  #newRow(): Given {
    const random = this.#random
    const table = this.#table
    const key = this.#keyCells(random.chance(0.2) ? this.#someRow() : undefined)
    const given = new Map<Column, Cell | undefined>(key)
    for (const column of table.columns)
      if (!given.has(column) && random.chance(0.75))
        given.set(column, randomCell(column.type, random, this.#spread))
    return given
  }

  /** The key of a row, or a new key if no row is given. */
  #keyCells(row: Row | undefined): Cells {
    const table = this.#table
    const isLone = ({ type }: Column) =>
      table.partitionBy.length === 1 &&
      type.kind === 'one' &&
      (type.of === 'text' || type.of === 'ascii' || type.of === 'blob')
    return new Map(
      table.key.map((column, i) => {
        const spread = i < table.partitionBy.length ? Math.min(this.#spread, 6) : 40
        for (;;) {
          const cell =
            row?.cells.get(column) ??
            randomCell(
              column.type,
              this.#random,
              table.partitionSort.length > 0 ? spread : 40,
            )
          const isEmpty =
            cell === undefined || (isLone(column) && i === 0 && isEmptyAtom(cell))
          if (!isEmpty) return [column, cell]
        }
      }),
    )
  }

  #newElement(type: ElementType): Element {
    return randomElement(type, this.#random, this.#spread)
  }

  #spellRow(given: Given): Map<string, Json> {
    return new Map(
      [...given].map(([{ name, type }, cell]) => [name, this.#spellCell(cell, type)]),
    )
  }

  /**
   * A JSON notation of a cell in a request. An undefined cell is written as null, or as an empty
   * value with the same effect.
   */
  #spellCell(cell: Cell | undefined, type: ColumnType): Json {
    const random = this.#random
    if (cell !== undefined) return spellCell(cell, type, random)
    if (random.chance(0.5)) return null
    switch (type.kind) {
      case 'list':
      case 'set':
        return []
      case 'map':
        return new Map()
      case 'one':
        return typeof type.of === 'string'
          ? null
          : new Map(type.of.fields.map(({ name }) => [name, null]))
      case 'vector':
        return null
    }
  }

  #exactly(key: Cells): Json {
    return this.#filters.exactly({ cells: key }).filter
  }

  #someRow(): Row | undefined {
    const { rows } = this.#table
    return rows.length === 0 ? undefined : this.#random.pick(rows)
  }
}

interface Change {
  readonly operator: '$set' | '$unset' | '$push' | '$pullAll'
  readonly argument: Json
  readonly change: (before: Cell | undefined) => Cell | undefined
}

type CollectionType = Extract<ColumnType, { readonly kind: 'list' | 'set' | 'map' }>

function none(): undefined {
  return undefined
}

/**
 * The JSON notation of a map entry in $push. Undefined if the service accepts none for this entry.
 */
function spellEntry(key: Atom, value: Element, type: ElementType, random: Random) {
  const name = spellElement(key, random)
  const written = spellElement(value, random)
  const isScalar = (json: Json) => !(json instanceof Map)
  const asObject = typeof name === 'string' && hasObjectForm(type as Atom['type'])
  if (asObject && random.chance(0.5)) return new Map([[name, written]])
  if (isScalar(name) && isScalar(written) && !isStruct(value)) return [name, written]
  return asObject ? new Map([[name, written]]) : undefined
}

function isEmptyAtom(cell: Cell): boolean {
  const { value } = (cell as Cell & { kind: 'one' }).value as Atom
  return (value as string | Buffer).length === 0
}
