/**
 * Random writes over HTTP to a collection with vectors and texts. Each is followed by searches that
 * are compared with a brute-force search of a plain Map. The collection is small, so searches by
 * vector must be exact.
 */
import { lexicalOperators, type LexicalOperator } from '../../src/language/sorts/sort.ts'
import assert from 'node:assert/strict'
import { shortestFloat } from '../../src/json/floats.ts'
import { after, before, describe, test } from 'node:test'
import type { Metric } from '../../src/search/vector/similarity.ts'
import { startServer, type TestServer } from '../harness.ts'
import { Random, seed, times } from './random.ts'
import {
  binaryOf,
  byDiversity,
  bySimilarity,
  byTerms,
  hasTerms,
  type Scored,
  type WireVector,
} from './search-oracle.ts'

const writesPerRun = 70 * times
const dimension = 4

describe(`searches compared with a plain Map, seed ${seed}`, () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ durable: false })
  })
  after(() => server.close())

  for (const [round, metric] of (['cosine', 'dot_product', 'euclidean'] as const).entries())
    test(`return equal results after each of ${writesPerRun} writes, with the metric ${metric}`, async (t) => {
      const model = new Model(server, new Random(seed + round), metric)
      await model.create()
      for (let i = 0; i < writesPerRun; i++) {
        await model.write()
        await model.search()
      }
      await model.compareAll()
      t.diagnostic(`${model.commands} commands, ${model.hits} documents found`)
    })
})

/** A document. Its fields are in the order in which the service returns them. */
interface Book {
  readonly _id: number
  readonly n?: number
  readonly tag?: string
  readonly $vector?: WireVector | null
  readonly $lexical?: string | null
}

type SearchFields = Pick<Book, '$vector' | '$lexical'>

/** A filter as requests contain it, and its meaning. */
interface Condition {
  readonly filter: object
  readonly holds: (book: Book) => boolean
}

class Model {
  commands = 0
  hits = 0
  readonly #server: TestServer
  readonly #random: Random
  readonly #metric: Metric
  readonly #books = new Map<number, Book>()
  #label = ''

  constructor(server: TestServer, random: Random, metric: Metric) {
    this.#server = server
    this.#random = random
    this.#metric = metric
  }

  async create(): Promise<void> {
    const options = { vector: { dimension, metric: this.#metric } }
    const { text } = await this.#server.command('/default_keyspace', {
      createCollection: { name: this.#metric, options },
    })
    assert.equal(text, '{"status":{"ok":1}}')
  }

  write(): Promise<void> {
    const random = this.#random
    // These probabilities keep the collection small enough for brute force, and leave some ids
    // unused.
    const { size } = this.#books
    if (size < 150 && random.chance(size < 80 ? 0.6 : 0.1)) return this.#insert()
    return random.pick([
      () => this.#update(),
      () => this.#update(),
      () => this.#updateMany(),
      () => this.#replace(),
      () => this.#delete(),
      () => this.#delete(),
      () => (random.chance(0.2) ? this.#deleteMany() : this.#update()),
    ])()
  }

  async search(): Promise<void> {
    await this.#searchByVector()
    if (this.#random.chance(0.2)) await this.#searchDiverse()
    await this.#searchByTerms()
    await this.#match()
    await this.#count()
  }

  async compareAll(): Promise<void> {
    const found = await this.#allPages({
      sort: { _id: 1 },
      projection: { '*': 1 },
    })
    const expected = [...this.#books.values()].sort((a, b) => a._id - b._id)
    assert.equal(JSON.stringify(found), JSON.stringify(expected), this.#label)
  }

  async #searchByVector(): Promise<void> {
    const query = this.#numbers()
    const condition = this.#condition()
    const limit = this.#random.pick([1, 3, 10, 1000])
    const $vector = this.#random.chance(0.2) ? binaryOf(query) : query
    const nearest = this.#nearest(query, condition)
    const minSimilarity = this.#minSimilarity(nearest)
    const { data } = await this.#send({
      find: {
        filter: condition.filter,
        sort: { $vector },
        projection: idOnly,
        options: { limit, includeSimilarity: true, minSimilarity },
      },
    })
    const expected = nearest.filter(
      ({ score }) => shortestFloat(score) >= (minSimilarity ?? -Infinity),
    )
    const found = data!.documents!.map(({ _id, $similarity }) => ({
      _id: _id as number,
      score: Math.fround($similarity as number),
    }))
    this.#assertBest(found, expected, limit)
    this.hits += found.length
  }

  /** Searches with diversity. The limit is so high that all documents with a vector are candidates. */
  async #searchDiverse(): Promise<void> {
    const query = this.#numbers()
    const condition = this.#condition()
    const diversity = this.#random.pick([0.1, 0.5, 0.9, 1])
    const limit = this.#random.pick([50, 1000, undefined])
    const nearest = this.#nearest(query, condition)
    const minSimilarity = this.#minSimilarity(nearest)
    const { data } = await this.#send({
      find: {
        filter: condition.filter,
        sort: { $vector: query },
        projection: idOnly,
        options: { limit, minSimilarity, diversity },
      },
    })
    const candidates = nearest.filter(
      ({ score }) => shortestFloat(score) >= (minSimilarity ?? -Infinity),
    )
    const count = limit ?? Infinity
    const expected = byDiversity(candidates, { metric: this.#metric, diversity, count })
    assert.deepEqual(
      data!.documents,
      expected.map(({ document }) => ({ _id: document._id })),
      this.#label,
    )
    this.hits += expected.length
  }

  /** None, any number, or exactly the similarity of one of the documents. */
  #minSimilarity(nearest: readonly Scored<Book>[]): number | undefined {
    const random = this.#random
    if (random.chance(0.4)) return undefined
    const shown = nearest.map(({ score }) => shortestFloat(score))
    const possible = shown.filter((score) => score >= 0 && score <= 1)
    if (possible.length === 0 || random.chance(0.3)) return random.integer(0, 100) / 100
    return random.pick(possible)
  }

  /**
   * Asserts that the best results were found, in order. If documents that were not returned have
   * the score of the last results, the service may return any of these documents.
   */
  #assertBest(
    found: readonly { readonly _id: number; readonly score: number }[],
    expected: readonly Scored<Book>[],
    limit: number,
  ): void {
    const best = expected.slice(0, limit)
    assert.deepEqual(
      found.map(({ score }) => score),
      best.map(({ score }) => score),
      this.#label,
    )
    const last = expected.length > limit ? best.at(-1)!.score : -Infinity
    assert.deepEqual(
      found.filter(({ score }) => score > last).map(({ _id }) => _id),
      best.filter(({ score }) => score > last).map(({ document }) => document._id),
      this.#label,
    )
    const tying = new Set(
      expected.filter(({ score }) => score === last).map(({ document }) => document._id),
    )
    for (const { _id, score } of found)
      assert(score > last || tying.delete(_id), this.#label)
  }

  /**
   * Searches by terms. The service may add the scores of terms in another order, so scores can
   * differ in their last digits.
   */
  async #searchByTerms(): Promise<void> {
    const text = this.#words(1, 3)
    const condition = this.#condition()
    const limit = this.#random.pick([3, 30, undefined])
    const operator = this.#random.pick(lexicalOperators)
    const clauses = { filter: condition.filter, sort: { $lexical: text } }
    const documents = await this.#allPages(clauses, limit, operator)
    const wanted = byTerms(this.#books.values(), text, operator).filter(({ document }) =>
      condition.holds(document),
    )
    const scores = new Map(wanted.map(({ document, score }) => [document._id, score]))
    const found = documents.map(({ _id }) => scores.get(_id as number))
    const expected = wanted.slice(0, limit).map(({ score }) => score)
    assert.equal(found.length, expected.length, this.#label)
    for (const [i, score] of expected.entries())
      assert(Math.abs(found[i]! - score) < 1e-9, this.#label)
    const ids = documents.map(({ _id }) => _id)
    assert.equal(new Set(ids).size, ids.length, this.#label)
    this.hits += found.length
  }

  async #match(): Promise<void> {
    const condition = this.#matching()
    const documents = await this.#allPages({
      filter: condition.filter,
      projection: idOnly,
    })
    const found = documents.map(({ _id }) => _id as number).sort((a, b) => a - b)
    assert.deepEqual(found, this.#ids(condition), this.#label)
    this.hits += found.length
  }

  async #count(): Promise<void> {
    const condition = this.#random.chance(0.5) ? this.#matching() : this.#condition()
    const { status } = await this.#send({ countDocuments: { filter: condition.filter } })
    assert.deepEqual(status, { count: this.#ids(condition).length }, this.#label)
  }

  async #insert(): Promise<void> {
    const documents = this.#random.list(1, 8, () => {
      const book = this.#newBook()
      this.#books.set(book._id, book)
      return book
    })
    const { status } = await this.#send({ insertMany: { documents } })
    assert.deepEqual(status, { insertedIds: documents.map(({ _id }) => _id) }, this.#label)
  }

  /** Updates one book, chosen by _id or by vector. */
  async #update(): Promise<void> {
    const { clauses, chosen } = this.#choose()
    const change = this.#change()
    const { data } = await this.#send({
      findOneAndUpdate: {
        ...clauses,
        update: change.update,
        projection: { '*': 1 },
        options: { returnDocument: 'after' },
      },
    })
    const book = this.#assertChosen(data!.document, chosen)
    const after = book && changed(book, change)
    assert.equal(JSON.stringify(data!.document), JSON.stringify(after ?? null), this.#label)
    if (after !== undefined) this.#books.set(after._id, after)
  }

  async #updateMany(): Promise<void> {
    const condition = this.#random.chance(0.5) ? this.#matching() : this.#condition()
    const change = this.#change()
    const ids = this.#ids(condition)
    let matched = 0
    let pageState: unknown
    do {
      const { status } = await this.#send({
        updateMany: {
          filter: condition.filter,
          update: change.update,
          options: { pageState },
        },
      })
      matched += status!['matchedCount'] as number
      pageState = status!['nextPageState']
    } while (pageState !== undefined)
    // An updated book may stop matching before the next page is read. No other book starts to
    // match.
    assert.equal(matched, ids.length, this.#label)
    for (const id of ids) this.#books.set(id, changed(this.#books.get(id)!, change))
  }

  async #replace(): Promise<void> {
    const { clauses, chosen } = this.#choose()
    const replacement = this.#newFields()
    const { data } = await this.#send({ findOneAndReplace: { ...clauses, replacement } })
    const book = this.#assertChosen(data!.document, chosen)
    if (book !== undefined) this.#books.set(book._id, { _id: book._id, ...replacement })
  }

  async #delete(): Promise<void> {
    const { clauses, chosen } = this.#choose()
    const { data } = await this.#send({ findOneAndDelete: clauses })
    const book = this.#assertChosen(data!.document, chosen)
    if (book !== undefined) this.#books.delete(book._id)
  }

  async #deleteMany(): Promise<void> {
    const condition = this.#matching()
    const ids = this.#ids(condition)
    let deleted = 0
    for (let more: unknown = true; more === true;) {
      const { status } = await this.#send({ deleteMany: { filter: condition.filter } })
      deleted += status!['deletedCount'] as number
      more = status!['moreData']
    }
    assert.equal(deleted, ids.length, this.#label)
    for (const id of ids) this.#books.delete(id)
  }

  /**
   * Clauses of an update or delete that choose one book, and all books that these clauses may
   * choose.
   */
  #choose(): { readonly clauses: object; readonly chosen: readonly Book[] } {
    const condition = this.#condition()
    const { filter } = condition
    if (this.#random.chance(0.4)) {
      const $vector = this.#numbers()
      const nearest = this.#nearest($vector, condition)
      const chosen = nearest
        .filter(({ score }) => score === nearest[0]!.score)
        .map(({ document }) => document)
      return { clauses: { filter, sort: { $vector } }, chosen }
    }
    const [first] = this.#ids(condition)
    const chosen = first === undefined ? [] : [this.#books.get(first)!]
    return { clauses: { filter, sort: { _id: 1 } }, chosen }
  }

  #assertChosen(
    found: Readonly<Record<string, unknown>> | null | undefined,
    chosen: readonly Book[],
  ): Book | undefined {
    const book = chosen.find(({ _id }) => _id === found?.['_id'])
    assert.equal(book !== undefined, chosen.length > 0, this.#label)
    assert.equal(found === null, chosen.length === 0, this.#label)
    return book
  }

  #nearest(query: readonly number[], { holds }: Condition): Scored<Book>[] {
    return bySimilarity(this.#books.values(), this.#metric, query).filter(({ document }) =>
      holds(document),
    )
  }

  #ids({ holds }: Condition): number[] {
    const matching = [...this.#books.values()].filter(holds)
    return matching.map(({ _id }) => _id).sort((a, b) => a - b)
  }

  #condition(): Condition {
    const random = this.#random
    const least = random.integer(0, 9)
    const tag = random.pick(tags)
    return random.pick<Condition>([
      { filter: {}, holds: () => true },
      { filter: { tag }, holds: (book) => book.tag === tag },
      { filter: { n: { $gte: least } }, holds: ({ n = -1 }) => n >= least },
      {
        filter: { n: { $gte: least }, tag: { $ne: tag } },
        holds: (book) => (book.n ?? -1) >= least && book.tag !== tag,
      },
      {
        filter: { $vector: { $exists: true }, n: { $lt: least } },
        holds: ({ n = 99, $vector }) => $vector !== undefined && n < least,
      },
      { filter: { _id: { $in: [1, 2, 3, least] } }, holds: isOneOf(1, 2, 3, least) },
      this.#matching(),
    ])
  }

  #matching(): Condition {
    const random = this.#random
    const text = this.#words(1, 2)
    const other = this.#words(1, 1)
    const tag = random.pick(tags)
    const match = (words: string) => ({ $lexical: { $match: words } })
    return random.pick<Condition>([
      { filter: match(text), holds: (book) => hasTerms(book, text) },
      {
        filter: { ...match(text), tag },
        holds: (book) => hasTerms(book, text) && book.tag === tag,
      },
      {
        filter: { $or: [match(text), match(other)] },
        holds: (book) => hasTerms(book, text) || hasTerms(book, other),
      },
      {
        filter: { $and: [match(text), { $or: [{ tag }, match(other)] }] },
        holds: (book) =>
          hasTerms(book, text) && (book.tag === tag || hasTerms(book, other)),
      },
    ])
  }

  #newBook(): Book {
    return { _id: this.#freeId(), ...this.#newFields() }
  }

  #newFields(): Omit<Book, '_id'> {
    const random = this.#random
    return {
      ...(random.chance(0.9) && { n: random.integer(0, 9) }),
      ...(random.chance(0.9) && { tag: random.pick(tags) }),
      ...(random.chance(0.85) && { $vector: this.#vector() }),
      ...(random.chance(0.85) && { $lexical: this.#text() }),
    }
  }

  /** An unused id, often that of a deleted book. */
  #freeId(): number {
    for (;;) {
      const id = this.#random.integer(1, 200)
      if (!this.#books.has(id)) return id
    }
  }

  #change(): Change {
    const random = this.#random
    const none = { set: {}, unset: [] }
    const { set, unset } = random.pick<() => Omit<Change, 'update'>>([
      () => ({ ...none, set: { $vector: this.#vector() } }),
      () => ({ ...none, set: { $lexical: this.#text() } }),
      () => ({ ...none, set: { $vector: this.#vector(), $lexical: this.#text() } }),
      () => ({ ...none, set: { n: random.integer(0, 9) } }),
      () => ({ ...none, unset: ['$vector'] }),
      () => ({ ...none, unset: ['$lexical'] }),
      () => ({ set: { tag: random.pick(tags) }, unset: ['$vector', '$lexical'] }),
    ])()
    const $unset = Object.fromEntries(unset.map((name) => [name, '']))
    return { set, unset, update: { $set: set, $unset } }
  }

  #vector(): WireVector | null {
    if (this.#random.chance(0.05)) return null
    const numbers = this.#numbers()
    return this.#random.chance(0.2) ? binaryOf(numbers) : numbers
  }

  /**
   * Random numbers of a vector. There are few different numbers, so that similarities are often
   * equal. 32-bit floats represent these integers exactly.
   */
  #numbers(): number[] {
    const numbers = this.#random.list(dimension, dimension, () =>
      this.#random.integer(-2, 2),
    )
    return numbers.some((number) => number !== 0) ? numbers : [1, 0, 0, 0]
  }

  #text(): string | null {
    if (this.#random.chance(0.05)) return this.#random.pick([null, '', ' ?! '])
    return this.#words(1, 8)
  }

  #words(min: number, max: number): string {
    return this.#random.list(min, max, () => this.#random.pick(vocabulary)).join(' ')
  }

  async #allPages(
    clauses: object,
    limit?: number,
    lexicalOperator?: LexicalOperator,
  ): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = []
    for (let pageState: string | null | undefined; pageState !== null;) {
      const find = { ...clauses, options: { limit, pageState, lexicalOperator } }
      const { data } = await this.#send({ find })
      found.push(...data!.documents!)
      pageState = data!.nextPageState!
    }
    return found
  }

  async #send(command: object) {
    this.commands++
    this.#label = `seed ${seed}: ${JSON.stringify(command)}`
    const path = `/default_keyspace/${this.#metric}`
    const answer = await this.#server.command(path, command)
    assert.deepEqual(answer.codes, [], this.#label)
    return answer.body
  }
}

/** A projection of a path that no book has, so that replies contain only the _id. */
const idOnly = { none: 1 }

const tags = ['novel', 'poem', 'play']

const vocabulary = ['ant', 'Bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen', 'ibis', 'jay']

interface Change {
  readonly set: Partial<Book>
  readonly unset: readonly string[]
  readonly update: object
}

/** The book after an update. Existing fields keep their positions. */
function changed(book: Book, { set, unset }: Change): Book {
  const { $vector, $lexical, ...fields } = { ...book, ...set }
  const kept = (name: keyof SearchFields, value: unknown) =>
    value === undefined || unset.includes(name) ? {} : { [name]: value }
  return { ...fields, ...kept('$vector', $vector), ...kept('$lexical', $lexical) }
}

function isOneOf(...ids: readonly number[]): (book: Book) => boolean {
  return ({ _id }) => ids.includes(_id)
}
