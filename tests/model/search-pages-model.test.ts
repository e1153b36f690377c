/**
 * Sorts by terms, page by page over HTTP, while random writes change the texts and thereby the
 * statistics of scores. All pages together must return each unchanged document or row once, in the
 * order of scores before the first page. These scores come from a plain implementation of the
 * formula.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, type Envelope, type TestServer } from '../harness.ts'
import { lexicalOperators } from '../../src/language/sorts/sort.ts'
import { Random, seed, times } from './random.ts'
import { byTerms } from './search-oracle.ts'

/** The page size is small, so that a few matches fill many pages. */
const pageSize = 6
const rounds = 3 * times
const findsPerRound = 6
const words = ['ant', 'bee', 'cat', 'dog', 'elk']

/** A document of a collection, or a row of a table. */
interface Item {
  readonly id: number
  readonly n: number
  readonly text: string
}

/** The commands for one kind of target: collection or table. */
interface Shape {
  readonly create: (name: string) => readonly (readonly [path: string, body: object])[]
  readonly write: (item: Item) => object
  readonly sort: (terms: string) => object
  readonly key: string
}

const shapes: Readonly<Record<string, Shape>> = {
  collection: {
    create: (name) => [['', { createCollection: { name } }]],
    write: ({ id, n, text }) => ({ _id: id, n, $lexical: text }),
    sort: ($lexical) => ({ $lexical }),
    key: '_id',
  },
  table: {
    create: (name) => [
      [
        '',
        {
          createTable: {
            name,
            definition: {
              columns: { id: 'int', n: 'int', body: 'text' },
              primaryKey: 'id',
            },
          },
        },
      ],
      [
        `/${name}`,
        { createTextIndex: { name: `${name}_body`, definition: { column: 'body' } } },
      ],
    ],
    write: ({ id, n, text }) => ({ id, n, body: text }),
    sort: (body) => ({ body }),
    key: 'id',
  },
}

describe(`pages of searches by terms, seed ${seed}`, () => {
  const config = { durable: false, limits: { ...defaultLimits, pageSize } }
  let server: TestServer
  before(async () => {
    server = await startServer(config)
  })
  after(() => server.close())

  const restart = async () => {
    const { dataDir } = server
    await server.stop()
    server = await startServer({ ...config, dataDir })
  }

  for (const [kind, shape] of Object.entries(shapes))
    test(`return unchanged records of a ${kind} once and in order, despite writes between pages: ${rounds} times ${findsPerRound} finds`, async (t) => {
      let pages = 0
      for (let round = 0; round < rounds; round++) {
        const random = new Random(seed + round)
        const model = new Model(() => server, restart, random, shape, `${kind}${round}`)
        await model.create()
        for (let i = 0; i < findsPerRound; i++) await model.find()
        pages += model.pages
      }
      t.diagnostic(`${pages} pages`)
      assert(pages > 2 * rounds * findsPerRound, `only ${pages} pages`)
    })
})

class Model {
  pages = 0
  readonly #server: () => TestServer
  readonly #restart: () => Promise<void>
  readonly #random: Random
  readonly #shape: Shape
  readonly #name: string
  readonly #items = new Map<number, Item>()

  constructor(
    server: () => TestServer,
    restart: () => Promise<void>,
    random: Random,
    shape: Shape,
    name: string,
  ) {
    this.#server = server
    this.#restart = restart
    this.#random = random
    this.#shape = shape
    this.#name = name
  }

  async create(): Promise<void> {
    for (const [path, body] of this.#shape.create(this.#name)) await this.#send(path, body)
    await this.#insert(this.#random.list(60, 140, () => this.#item()))
  }

  async find(): Promise<void> {
    const random = this.#random
    const terms = [...new Set(random.list(1, 3, () => random.pick(words)))].join(' ')
    const lexicalOperator = random.pick(lexicalOperators)
    const least = random.pick([0, 0, 2, 5])
    const limit = random.chance(0.4) ? random.integer(1, 90) : undefined
    const before = new Map(this.#items)
    const filter = least === 0 ? {} : { n: { $gte: least } }
    const clauses = { filter, sort: this.#shape.sort(terms) }
    const found: number[] = []
    let pageState: string | null | undefined
    do {
      const find = { ...clauses, options: { limit, pageState, lexicalOperator } }
      const { data } = await this.#send(`/${this.#name}`, { find })
      this.pages++
      const ids = data!.documents!.map((shown) => shown[this.#shape.key] as number)
      found.push(...ids)
      pageState = data!.nextPageState ?? null
      assert(ids.length <= pageSize)
      if (pageState === null) continue
      assert.equal(ids.length, pageSize)
      await this.#write()
      if (random.chance(0.01)) await this.#restart()
    } while (pageState !== null)

    const best = byTerms(
      [...before.values()].map(({ id, text }) => ({ _id: id, $lexical: text })),
      terms,
      lexicalOperator,
    ).filter(({ document }) => before.get(document._id)!.n >= least)
    const scores = new Map(best.map(({ document, score }) => [document._id, score]))
    const isSame = (id: number) => before.has(id) && this.#items.get(id) === before.get(id)
    const kept = found.filter(isSame)
    assert.equal(new Set(kept).size, kept.length, `${terms}: found twice`)
    if (limit === undefined) {
      const expected = best.map(({ document }) => document._id).filter(isSame)
      assert.deepEqual(new Set(kept), new Set(expected), `${terms}: not the same`)
    } else assert(found.length <= limit, `${found.length} of at most ${limit}`)
    for (const [i, id] of kept.entries()) {
      assert(scores.has(id), `${terms}: ${id} does not match`)
      if (i === 0) continue
      const before = kept[i - 1]!
      // The service may add the scores of terms in another order, so equal scores can differ in the
      // last digits.
      const difference = scores.get(before)! - scores.get(id)!
      assert(difference > -1e-9, `${terms}: ${before} before ${id}`)
    }
    // Every unchanged match with a higher score than the last found record must have been found.
    const last = kept.at(-1)
    for (const { document, score } of best)
      if (last !== undefined && isSame(document._id) && score > scores.get(last)! + 1e-9)
        assert(kept.includes(document._id), `${terms}: ${document._id} is missing`)
  }

  /**
   * Writes items. This changes the statistics: the number of texts, their lengths, and the
   * number of texts with a term.
   */
  async #write(): Promise<void> {
    const random = this.#random
    await this.#insert(random.list(0, 4, () => this.#item()))
    for (const id of random.list(0, 3, () => random.pick([...this.#items.keys()]))) {
      if (!this.#items.delete(id)) continue
      await this.#send(`/${this.#name}`, {
        deleteOne: { filter: { [this.#shape.key]: id } },
      })
      // Half of the deleted items are inserted again with another text.
      if (random.chance(0.5)) await this.#insert([{ ...this.#item(), id }])
    }
  }

  async #insert(items: readonly Item[]): Promise<void> {
    const fresh = items.filter(({ id }) => !this.#items.has(id))
    const distinct = [...new Map(fresh.map((item) => [item.id, item])).values()]
    for (const item of distinct) this.#items.set(item.id, item)
    for (let at = 0; at < distinct.length; at += 100) {
      const documents = distinct.slice(at, at + 100).map((item) => this.#shape.write(item))
      await this.#send(`/${this.#name}`, { insertMany: { documents } })
    }
  }

  #item(): Item {
    const random = this.#random
    return {
      id: random.integer(0, 400),
      n: random.integer(0, 9),
      text: random.list(1, random.pick([2, 8]), () => random.pick(words)).join(' '),
    }
  }

  async #send(path: string, body: object): Promise<Envelope> {
    const answer = await this.#server().command(`/default_keyspace${path}`, body)
    assert.deepEqual(answer.codes, [], answer.text)
    return answer.body
  }
}
