/**
 * Concurrent clients that change a schema and remember acknowledged changes. The schema consists of
 * parts that exist or not. Each part belongs to one client, which changes one part at a time. So
 * every part is known, unless its last change was not acknowledged.
 */
import assert from 'node:assert/strict'
import type { Random } from './random.ts'
import {
  attempt,
  keyOf,
  knownIndexes,
  readRows,
  send,
  tableColumns,
  tableKey,
  tablePath,
  without,
  type Commanded,
} from './table-load.ts'

const keyspace = '/default_keyspace'

interface Part {
  readonly name: string
  readonly path: string
  readonly make: object
  readonly remove: object
  /** Whether the part can be created or removed while the parts in `there` exist. */
  readonly isFree?: (there: ReadonlySet<string>) => boolean
}

const indexParts: readonly Part[] = Object.entries(knownIndexes).map(
  ([name, { create }]) => {
    return { name, path: tablePath, make: create, remove: { dropIndex: { name } } }
  },
)

const otherParts: readonly Part[] = [
  ...Object.entries({
    extra: { type: 'int' },
    extra_v: { type: 'vector', dimension: 3 },
  }).map(([name, type]) => ({
    name,
    path: tablePath,
    make: { alterTable: { operation: { add: { columns: { [name]: type } } } } },
    remove: { alterTable: { operation: { drop: { columns: [name] } } } },
    isFree: (there: ReadonlySet<string>) => name !== 'extra' || !there.has('by_extra'),
  })),
  {
    name: 'by_extra',
    path: tablePath,
    make: { createIndex: { name: 'by_extra', definition: { column: 'extra' } } },
    remove: { dropIndex: { name: 'by_extra' } },
    isFree: (there) => there.has('extra'),
  },
  {
    name: 'color',
    path: '',
    make: { createType: { name: 'color', definition: { fields: { hue: 'int' } } } },
    remove: { dropType: { name: 'color' } },
  },
  {
    // The table has a column of this type, so renaming the field changes its rows.
    name: 'renamed',
    path: '',
    make: { alterType: { name: 'place', rename: { fields: { town: 'city' } } } },
    remove: { alterType: { name: 'place', rename: { fields: { city: 'town' } } } },
  },
  {
    name: 'passing',
    path: '',
    make: {
      createTable: {
        name: 'passing',
        definition: {
          columns: { id: 'int', v: { type: 'vector', dimension: 3 } },
          primaryKey: 'id',
        },
      },
    },
    remove: { dropTable: { name: 'passing' } },
  },
]

const allParts = [...indexParts, ...otherParts]

/**
 * Keys of the "guests": rows with values in the columns that this load adds and drops. Only this
 * load changes them.
 */
const guests = Array.from({ length: 10 }, (_, n) => ({ w: -1, n }))

/** The values of a guest in the columns that are added and dropped. */
interface GuestValues {
  readonly extra?: number
  readonly extra_v?: readonly number[]
}

export class SchemaLoad {
  answered = 0
  /** Numbers of changes without a reply: `made` took effect, `unmade` did not. */
  readonly cut = { made: 0, unmade: 0 }
  readonly #random: Random
  readonly #there = new Map<string, readonly boolean[]>(
    allParts.map(({ name }) => [name, [false]]),
  )
  #guests: readonly GuestValues[] = [{}]
  /** Minimum and maximum number of rows that the table "passing" may have. */
  #passingRows: readonly [number, number] = [0, 0]

  constructor(random: Random) {
    this.#random = random
  }

  /** Creates the permanent table, with a type that one of its columns uses. */
  async prepare(server: Commanded): Promise<void> {
    const fields = { town: 'text', zip: 'int' }
    await send(server, keyspace, { createType: { name: 'place', definition: { fields } } })
    const columns = { ...tableColumns, place: { type: 'userDefined', udtName: 'place' } }
    const definition = { columns, primaryKey: tableKey }
    await send(server, keyspace, { createTable: { name: 'items', definition } })
    const documents = guests.map((row) => ({ ...row, place: { town: 'Ur', zip: row.n } }))
    await send(server, tablePath, { insertMany: { documents } })
  }

  /** Changes the schema until the server is killed or `isOver` returns true. */
  async run(server: Commanded, isOver: () => boolean = () => false): Promise<void> {
    await Promise.all(
      [indexParts, otherParts].map(async (parts) => {
        const random = this.#random.fork()
        while (!isOver() && (await this.#step(server, parts, random)));
      }),
    )
  }

  /** The names of indexes that must exist. */
  get indexes(): ReadonlySet<string> {
    return new Set([...this.#certain()].filter((name) => name.startsWith('by_')))
  }

  /** Creates every missing index. */
  async completeIndexes(server: Commanded): Promise<void> {
    for (const part of indexParts)
      if (!this.#certain().has(part.name)) await this.#change(server, part)
  }

  /** Compares the schema with the acknowledged changes, and adopts it as the known state. */
  async verify(server: Commanded): Promise<void> {
    const seen = await readSchema(server)
    const there = new Set<string>()
    for (const [name, states] of this.#there) {
      const isThere = isIn(seen, name)
      if (isThere) there.add(name)
      assert(states.includes(isThere), `${name} ${isThere ? 'is there' : 'is gone'}`)
      if (states.length > 1) this.cut[isThere === states[0] ? 'unmade' : 'made']++
      this.#there.set(name, [isThere])
    }
    assert.deepEqual(seen, expectedSchema(there))
    await this.#verifyGuests(server, there)
    if (!there.has('passing')) return
    const { data } = (await send(server, `${keyspace}/passing`, { find: {} })).body
    const [least, most] = this.#passingRows
    const count = data!.documents!.length
    assert(
      count >= least && count <= most,
      `passing has ${count} rows, not ${least} to ${most}`,
    )
    this.#passingRows = [count, count]
  }

  async #verifyGuests(server: Commanded, there: ReadonlySet<string>): Promise<void> {
    if (!there.has('extra')) this.#forget('extra')
    if (!there.has('extra_v')) this.#forget('extra_v')
    const town = there.has('renamed') ? 'city' : 'town'
    const find = { filter: { w: -1 } }
    const stored = await readRows(server, find)
    const candidates = this.#guests.map((values) =>
      guests.map((row) => {
        const [w, n, place] = [row.w, row.n, { [town]: 'Ur', zip: row.n }]
        const whole = { ...values, n, place, w }
        return [keyOf(row), JSON.stringify(sortKeys(whole))] as const
      }),
    )
    const found = [...stored].toSorted(byNumber)
    const match = candidates.findIndex(
      (candidate) => JSON.stringify(candidate) === JSON.stringify(found),
    )
    if (match < 0) assert.deepEqual(found, candidates.at(-1))
    this.#guests = [this.#guests[match]!]
    const { extra } = this.#guests[0]!
    if (!there.has('extra') || extra === undefined) return
    const byExtra = await readRows(server, { filter: { extra } }, (codes) =>
      assert.deepEqual(codes, there.has('by_extra') ? [] : ['MISSING_INDEX']),
    )
    assert.deepEqual([...byExtra].toSorted(byNumber), found)
  }

  /** Makes one change; returns false if the server did not reply. */
  async #step(server: Commanded, parts: readonly Part[], random: Random): Promise<boolean> {
    const there = this.#certain()
    if (
      parts === otherParts &&
      random.oneIn(3) &&
      (there.has('extra') || there.has('extra_v'))
    )
      return this.#fillGuests(server, there, random)
    const free = parts.filter(({ isFree }) => isFree === undefined || isFree(there))
    return this.#change(server, random.pick(free))
  }

  async #change(server: Commanded, part: Part): Promise<boolean> {
    const { name, path, make, remove } = part
    const isThere = this.#certain().has(name)
    const level = 'dropIndex' in remove && isThere ? '' : path
    const answer = await attempt(server, level || keyspace, isThere ? remove : make)
    this.#there.set(name, answer === undefined ? [isThere, !isThere] : [!isThere])
    if (name === 'passing' && (!isThere || answer !== undefined)) this.#passingRows = [0, 0]
    if (answer === undefined) return false
    this.answered++
    if (name === 'passing' && !isThere) return this.#fillPassing(server)
    if (isThere && (name === 'extra' || name === 'extra_v')) this.#forget(name)
    return true
  }

  async #fillPassing(server: Commanded): Promise<boolean> {
    const documents = Array.from({ length: 100 }, (_, id) => ({ id, v: [id, 1, 2] }))
    this.#passingRows = [0, documents.length]
    const command = { insertMany: { documents } }
    const answer = await attempt(server, `${keyspace}/passing`, command)
    if (answer !== undefined) this.#passingRows = [documents.length, documents.length]
    return answer !== undefined
  }

  /**
   * Sets the columns that exist in all guests, with one write that takes effect as a whole or not
   * at all.
   */
  async #fillGuests(
    server: Commanded,
    there: ReadonlySet<string>,
    random: Random,
  ): Promise<boolean> {
    const given: GuestValues = {
      ...(there.has('extra') && { extra: random.below(1_000) }),
      ...(there.has('extra_v') && { extra_v: [random.below(9), 1, 2] }),
    }
    const documents = guests.map((row) => ({ ...row, ...given }))
    const answer = await attempt(server, tablePath, { insertMany: { documents } })
    const [before] = this.#guests
    const after = { ...before, ...given }
    this.#guests = answer === undefined ? [before!, after] : [after]
    return answer !== undefined
  }

  /**
   * Removes the values of a dropped column from the expected state. The values must not return when
   * the column is added again.
   */
  #forget(column: keyof GuestValues): void {
    this.#guests = this.#guests.map((values) => without(values, column))
  }

  #certain(): Set<string> {
    const there = [...this.#there].filter(([, [isThere]]) => isThere)
    return new Set(there.map(([name]) => name))
  }
}

function byNumber([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return Number(a.split('/')[1]) - Number(b.split('/')[1])
}

interface Seen {
  readonly tables: Readonly<Record<string, object>>
  readonly indexes: Readonly<Record<string, object>>
  readonly types: Readonly<Record<string, object>>
}

/** The schema of the keyspace, by name: listTables, listIndexes and listTypes with `explain`. */
async function readSchema(server: Commanded): Promise<Seen> {
  const explain = { options: { explain: true } }
  const list = async (path: string, command: string, member: string, name: string) => {
    const { status } = (await send(server, path, { [command]: explain })).body
    const entries = status![member] as Record<string, unknown>[]
    return Object.fromEntries(entries.map((entry) => [String(entry[name]), entry]))
  }
  return {
    tables: await list(keyspace, 'listTables', 'tables', 'name'),
    indexes: await list(tablePath, 'listIndexes', 'indexes', 'name'),
    types: await list(keyspace, 'listTypes', 'types', 'udtName'),
  }
}

function isIn({ tables, indexes, types }: Seen, part: string): boolean {
  switch (part) {
    case 'extra':
    case 'extra_v': {
      const { definition } = tables['items'] as { definition: { columns: object } }
      return Object.hasOwn(definition.columns, part)
    }
    case 'renamed': {
      const { definition } = types['place'] as { definition: { fields: object } }
      return Object.hasOwn(definition.fields, 'city')
    }
    case 'color':
      return Object.hasOwn(types, part)
    case 'passing':
      return Object.hasOwn(tables, part)
    default:
      return Object.hasOwn(indexes, part)
  }
}

/** The expected schema when exactly these parts exist. */
function expectedSchema(there: ReadonlySet<string>): Seen {
  const support = (cqlDefinition: string) => ({
    createTable: true,
    insert: true,
    read: true,
    filter: false,
    cqlDefinition,
  })
  const vector = (dimension: number) => {
    const apiSupport = support(`vector<float, ${dimension}>`)
    return { type: 'vector', dimension, apiSupport }
  }
  const columns = {
    ...tableColumns,
    v: vector(tableColumns.v.dimension),
    place: {
      type: 'userDefined',
      udtName: 'place',
      apiSupport: support('default_keyspace.place'),
    },
    ...(there.has('extra') && { extra: { type: 'int' } }),
    ...(there.has('extra_v') && { extra_v: vector(3) }),
  }
  const type = (udtName: string, fields: Readonly<Record<string, string>>) => ({
    type: 'userDefined',
    udtName,
    definition: {
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, own]) => [name, { type: own }]),
      ),
    },
    apiSupport: support(`default_keyspace.${udtName}`),
  })
  const extraIndex = {
    name: 'by_extra',
    definition: { column: 'extra', options: {} },
    indexType: 'regular',
  }
  return {
    tables: {
      items: { name: 'items', definition: { columns, primaryKey: tableKey } },
      ...(there.has('passing') && {
        passing: {
          name: 'passing',
          definition: {
            columns: { id: { type: 'int' }, v: vector(3) },
            primaryKey: { partitionBy: ['id'], partitionSort: {} },
          },
        },
      }),
    },
    indexes: Object.fromEntries(
      [
        ...Object.entries(knownIndexes).map(([name, { explained }]) => [name, explained]),
        ['by_extra', extraIndex],
      ].filter(([name]) => there.has(name as string)) as [string, object][],
    ),
    types: {
      place: type('place', {
        [there.has('renamed') ? 'city' : 'town']: 'text',
        zip: 'int',
      }),
      ...(there.has('color') && { color: type('color', { hue: 'int' }) }),
    },
  }
}

function sortKeys(row: object): object {
  return Object.fromEntries(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
