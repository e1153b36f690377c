/**
 * Random inserts, updates and deletes of rows over HTTP, compared with a plain Map: values,
 * existence and order of rows.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'
import { Random, seed, times } from './random.ts'

// With a small memtable, there are many runs on several levels.
process.env['STELA_TEST_MEMTABLE'] = '64'

const stepCount = 330 * times

/** The expected state of a row. Columns without a value are absent. */
interface Row {
  readonly key: Key
  readonly wasInserted: boolean
  readonly values: Values
}

interface Key {
  readonly p: string
  readonly a: number
  readonly b: string
}

type Values = Record<string, unknown>

const definition = {
  columns: {
    p: 'text',
    a: 'int',
    b: 'text',
    text: 'text',
    number: 'double',
    list: { type: 'list', valueType: 'int' },
    set: { type: 'set', valueType: 'text' },
    map: { type: 'map', keyType: 'int', valueType: 'text' },
    vector: { type: 'vector', dimension: 2 },
  },
  primaryKey: { partitionBy: ['p'], partitionSort: { a: -1, b: 1 } },
}

describe(`rows compared with a plain Map, seed ${seed}`, () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ durable: false })
  })
  after(() => server.close())

  for (const indexed of [false, true])
    test(`are equal after ${stepCount} commands, ${indexed ? 'with' : 'without'} indexes`, async () => {
      const model = new Model(server, new Random(seed), indexed ? 'indexed' : 'plain')
      await model.create(indexed)
      for (let i = 0; i < stepCount; i++) {
        await model.step()
        if (i % 50 === 0) await model.compare()
      }
      await model.compare()
    })
})

class Model {
  readonly #server: TestServer
  readonly #random: Random
  readonly #name: string
  readonly #rows = new Map<string, Row>()

  constructor(server: TestServer, random: Random, name: string) {
    this.#server = server
    this.#random = random
    this.#name = name
  }

  async create(indexed: boolean): Promise<void> {
    await this.#run('', { createTable: { name: this.#name, definition } })
    if (!indexed) return
    for (const column of ['text', 'list', 'map'])
      await this.#send({ createIndex: { name: `${column}_index`, definition: { column } } })
    await this.#send({
      createVectorIndex: {
        name: 'vector_index',
        definition: { column: 'vector', options: { metric: 'euclidean' } },
      },
    })
    await this.#send({
      createTextIndex: { name: 'terms_index', definition: { column: 'text' } },
    })
  }

  async step(): Promise<void> {
    const chance = this.#random.next()
    if (chance < 0.4) await this.#insert()
    else if (chance < 0.9) await this.#update()
    else if (chance < 0.96) await this.#deleteOne()
    else if (chance < 0.999) await this.#deleteMany()
    else await this.#deleteAll()
  }

  /** Compares all rows, and the rows that are found by an index. */
  async compare(): Promise<void> {
    await this.#compare({}, () => true)
    const text = this.#random.pick(['', 'one', 'ünï'])
    await this.#compare({ text }, (values) => values['text'] === text)
    const number = this.#random.integer(0, 3)
    await this.#compare({ list: { $in: [number] } }, ({ list }) =>
      ((list as unknown[] | undefined) ?? []).includes(number),
    )
    await this.#compare({ map: { $in: [[number, 'v']] } }, ({ map }) =>
      ((map as unknown[][] | undefined) ?? []).some(([k, v]) => k === number && v === 'v'),
    )
  }

  async #compare(filter: object, isFound: (values: Values) => boolean): Promise<void> {
    const found: unknown[] = []
    for (let pageState: string | null | undefined; pageState !== null;) {
      const { data } = await this.#send({ find: { filter, options: { pageState } } })
      found.push(...data!.documents!)
      pageState = data!.nextPageState!
    }
    const expected = [...this.#rows.values()]
      .filter(({ values }) => isFound(values))
      .map(({ key, values }) => ({ ...key, ...values }))
      .sort((x, y) => compare(x.p, y.p) || y.a - x.a || compare(x.b, y.b))
    assert.deepEqual(found, expected)
  }

  async #insert(): Promise<void> {
    const documents = this.#random.list(1, 4, () => ({
      ...this.#key(),
      ...Object.fromEntries(
        this.#random
          .list(0, 3, () => this.#column())
          .map((name) => [name, this.#value(name)]),
      ),
    }))
    const ordered = this.#random.chance(0.5)
    const { status } = await this.#send({ insertMany: { documents, options: { ordered } } })
    assert.deepEqual(
      status!['insertedIds'],
      documents.map(({ p, a, b }) => [p, a, b]),
    )
    for (const { p, a, b, ...given } of documents) {
      const before = this.#rows.get(nameOf({ p, a, b }))
      this.#put({ p, a, b }, { ...before?.values, ...given }, true)
    }
  }

  async #update(): Promise<void> {
    const key = this.#key()
    const before = this.#rows.get(nameOf(key))
    const values: Values = { ...before?.values }
    const update: Record<string, Values> = {}
    const act = (operator: string, name: string, argument: unknown) => {
      ;(update[operator] ??= {})[name] = argument
    }
    for (const name of new Set(this.#random.list(1, 3, () => this.#column())))
      switch (
        name === 'list' || name === 'set' || name === 'map' ? this.#random.integer(0, 3) : 0
      ) {
        case 1:
          this.#push(name, values, act)
          break
        case 2:
          this.#pull(name, values, act)
          break
        default:
          if (this.#random.chance(0.4)) {
            act('$unset', name, '')
            values[name] = null
          } else act('$set', name, (values[name] = this.#value(name)))
      }
    await this.#send({ updateOne: { filter: key, update } })
    this.#put(key, values, before?.wasInserted ?? false)
  }

  #push(name: string, values: Values, act: Act): void {
    const added = this.#random.list(0, 3, () => this.#element(name))
    const single = added.length === 1 && this.#random.chance(0.5)
    act('$push', name, single ? added[0] : { $each: added })
    values[name] = [...((values[name] as unknown[] | undefined) ?? []), ...added]
  }

  #pull(name: string, values: Values, act: Act): void {
    const gone = this.#random
      .list(0, 3, () => this.#element(name))
      .map((element) => (name === 'map' ? (element as unknown[])[0] : element))
    act('$pullAll', name, gone)
    values[name] = ((values[name] as unknown[] | undefined) ?? []).filter(
      (element) => !gone.includes(name === 'map' ? (element as unknown[])[0] : element),
    )
  }

  async #deleteOne(): Promise<void> {
    const filter = this.#key()
    await this.#send({ deleteOne: { filter } })
    this.#rows.delete(nameOf(filter))
  }

  async #deleteMany(): Promise<void> {
    const { p, a, b } = this.#key()
    const bound = this.#random.pick(['$lt', '$lte', '$gt', '$gte'])
    const [filter, isGone] = this.#random.pick<[object, (key: Key) => boolean]>([
      [{ p }, (key) => key.p === p],
      [{ p, a: { [bound]: a } }, (key) => key.p === p && isWithin(key.a, bound, a)],
      [
        { p: { $in: [p, 'x'] }, a, b: { [bound]: b } },
        (key) => (key.p === p || key.p === 'x') && key.a === a && isWithin(key.b, bound, b),
      ],
    ])
    await this.#send({ deleteMany: { filter } })
    for (const [name, { key }] of this.#rows) if (isGone(key)) this.#rows.delete(name)
  }

  async #deleteAll(): Promise<void> {
    await this.#send({ deleteMany: {} })
    this.#rows.clear()
  }

  #put(key: Key, given: Values, wasInserted: boolean): void {
    const values = Object.fromEntries(
      Object.entries(given)
        .map(([name, value]) => [name, normal(name, value)] as const)
        .filter(([, value]) => value !== undefined),
    )
    if (wasInserted || Object.keys(values).length > 0)
      this.#rows.set(nameOf(key), { key, wasInserted, values })
    else this.#rows.delete(nameOf(key))
  }

  #key(): Key {
    const random = this.#random
    return {
      p: random.pick(['x', 'y', 'y\0z', 'é']),
      a: random.integer(-1, 1),
      b: random.pick(['', 'a', 'a\0', 'b']),
    }
  }

  #column(): string {
    return this.#random.pick(['text', 'number', 'list', 'set', 'map', 'vector'])
  }

  #value(name: string): unknown {
    const random = this.#random
    if (random.chance(0.15)) return null
    switch (name) {
      case 'text':
        return random.pick(['', 'one', 'two words', 'ünï'])
      case 'number':
        return random.pick([0, -1.5, 1e300, 'NaN', 'Infinity'])
      case 'vector':
        return random.pick([
          [1, 2],
          [0.5, -3],
        ])
      case 'map':
        return random.chance(0.2) ? {} : [this.#element(name)]
      default:
        return random.list(0, 4, () => this.#element(name))
    }
  }

  #element(name: string): unknown {
    const random = this.#random
    switch (name) {
      case 'list':
        return random.integer(0, 3)
      case 'set':
        return random.pick(['a', 'b', 'c', 'd'])
      default:
        return [random.integer(0, 3), random.pick(['v', 'w'])]
    }
  }

  #send(body: object) {
    return this.#run(`/${this.#name}`, body)
  }

  async #run(path: string, body: object) {
    const answer = await this.#server.command(`/default_keyspace${path}`, body)
    assert.deepEqual(answer.codes, [], `${JSON.stringify(body)}\n${answer.text}`)
    return answer.body
  }
}

type Act = (operator: string, name: string, argument: unknown) => void

/**
 * The stored form of a value. Sets and maps are sorted and have no duplicates. An empty set or map
 * is undefined.
 */
function normal(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  const elements = Array.isArray(value) ? (value as unknown[]) : []
  switch (name) {
    case 'list':
      return elements.length === 0 ? undefined : elements
    case 'set':
      return elements.length === 0 ? undefined : [...new Set(elements)].sort()
    case 'map': {
      const last = new Map(elements as [number, string][])
      return last.size === 0 ? undefined : [...last].sort(([x], [y]) => x - y)
    }
    default:
      return value
  }
}

function nameOf({ p, a, b }: Key): string {
  return JSON.stringify([p, a, b])
}

function compare(x: string, y: string): number {
  return x < y ? -1 : x > y ? 1 : 0
}

function isWithin<T extends string | number>(value: T, bound: string, limit: T): boolean {
  if (value === limit) return bound.endsWith('e')
  return bound.startsWith('$l') ? value < limit : value > limit
}
