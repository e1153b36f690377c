/**
 * User-defined types of one client. One type is created and dropped. Another one is used by a small
 * table: a field of this type is renamed back and forth, and the rows must show the new name.
 */
import type { Random } from '../faults/random.ts'
import type { Line } from './line.ts'
import { canonical } from './row-book.ts'
import { changeSchema, listed, listings } from './schema-change.ts'
import { assertSame, Unexplained } from './unexplained.ts'

const keyspace = '/default_keyspace'
const homesCount = 5

export class OwnTypes {
  readonly colorName: string
  readonly placeName: string
  readonly homesName: string
  readonly #line: Line
  readonly #random: Random
  /** Fields of the type that is created and dropped; undefined while the type does not exist. */
  #colorFields: readonly string[] | undefined
  #town: 'town' | 'city' = 'town'

  constructor(line: Line, random: Random, owner: number) {
    this.#line = line
    this.#random = random
    this.colorName = `color_${owner}`
    this.placeName = `place_${owner}`
    this.homesName = `homes_${owner}`
  }

  /** Names of the types that the server must list. */
  get types(): readonly string[] {
    return [this.placeName, ...(this.#colorFields === undefined ? [] : [this.colorName])]
  }

  async prepare(): Promise<void> {
    const place = { type: 'userDefined', udtName: this.placeName }
    for (const [path, command] of [
      [
        keyspace,
        {
          createType: {
            name: this.placeName,
            definition: { fields: { town: 'text', zip: 'int' } },
          },
        },
      ],
      [
        keyspace,
        {
          createTable: {
            name: this.homesName,
            definition: { columns: { id: 'int', place }, primaryKey: 'id' },
          },
        },
      ],
      [`${keyspace}/${this.homesName}`, { insertMany: { documents: this.#homes('town') } }],
    ] as const) {
      const told = await this.#line.send(path, command)
      if (told.kind !== 'answered' || told.answer.codes.length > 0)
        throw new Unexplained('no types to begin with', { command, answer: told })
    }
  }

  async step(): Promise<void> {
    if (this.#random.oneIn(3)) return this.verify()
    return this.#random.oneIn(2) ? this.#renameTown() : this.#changeColor()
  }

  async verify(): Promise<void> {
    const command = { find: { filter: {} } }
    const answer = await this.#line.ask(`${keyspace}/${this.homesName}`, command)
    const rows = (answer.body.data?.documents ?? []).map(canonical)
    const expected = this.#homes(this.#town).map(canonical)
    assertSame(rows.toSorted(), expected.toSorted(), this.homesName, command)
  }

  async #renameTown(): Promise<void> {
    const other = this.#town === 'town' ? 'city' : 'town'
    const rename = { fields: { [this.#town]: other } }
    const renamed = await changeSchema(this.#line, {
      path: keyspace,
      command: { alterType: { name: this.placeName, rename } },
      before: [this.#town, 'zip'].toSorted().join(),
      after: [other, 'zip'].toSorted().join(),
      read: () => this.#fieldsOf(this.placeName),
    })
    if (renamed) this.#town = other
  }

  async #changeColor(): Promise<void> {
    const fields = this.#colorFields
    const name = this.colorName
    const next =
      fields === undefined
        ? ['hue']
        : fields.length < 4
          ? [...fields, `f${fields.length}`]
          : undefined
    const add = { fields: { [next?.at(-1) ?? '']: 'int' } }
    const command =
      fields === undefined
        ? { createType: { name, definition: { fields: { hue: 'int' } } } }
        : next === undefined
          ? { dropType: { name } }
          : { alterType: { name, add } }
    const changed = await changeSchema(this.#line, {
      path: keyspace,
      command,
      before: fields?.toSorted().join() ?? 'absent',
      after: next?.toSorted().join() ?? 'absent',
      read: () => this.#fieldsOf(name),
    })
    if (changed) this.#colorFields = next
  }

  async #fieldsOf(name: string): Promise<string> {
    const types = await listed(this.#line, keyspace, listings.types)
    const type = types.get(name) as { definition: { fields: object } } | undefined
    if (type === undefined) return 'absent'
    return Object.keys(type.definition.fields).toSorted().join()
  }

  #homes(town: string): object[] {
    return Array.from({ length: homesCount }, (_, id) => ({
      id,
      place: { [town]: `Ur ${id}`, zip: id },
    }))
  }
}
