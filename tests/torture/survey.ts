/**
 * Reads everything in the model from a server with damaged data, and lists the differences. If a
 * whole collection or table cannot be read, its documents or rows are read one by one. The server
 * must return each of them correctly, or reject the read.
 */
import { toPlain } from '../../src/json/plain.ts'
import { isObject } from '../../src/json/value.ts'
import type { Random } from '../faults/random.ts'
import { sharedCollections } from './collection-shape.ts'
import {
  exactOf,
  memberOf,
  stateOf,
  type DocumentBook,
  type DocumentState,
} from './document-book.ts'
import { readDocuments as readSomeDocuments } from './document-reads.ts'
import type { Host } from './host.ts'
import { canonical, type RowBook, type RowState } from './row-book.ts'
import { readRows as readSomeRows } from './row-reads.ts'
import { sharedTables } from './table-shape.ts'
import { Unexplained } from './unexplained.ts'
import {
  documentBooks,
  readDocuments,
  rowBooks,
  schemaLists,
  verifyDocuments,
  verifyRows,
  type SchemaList,
  type World,
} from './verify.ts'

/** A deviation from the model. */
export interface Difference {
  /** "keyspace.target", or the name of a type or keyspace. */
  readonly place: string
  readonly what: string
  /** The error that the server returned instead of a result. */
  readonly error?: { readonly code: string; readonly message: string }
}

/** Number of reads per book: of single records by primary key, and by random queries. */
const keyReads = 4
const queries = 3
/** Largest number of documents or rows of a book that are read one by one. */
const singleReadsMax = 250

export class Survey {
  readonly differences: Difference[] = []
  /** Number of reads that were compared with the model. */
  reads = 0
  readonly #world: World
  readonly #host: Host
  readonly #random: Random

  /** All clients of `world` must be connected to `host`. */
  constructor(world: World, host: Host, random: Random) {
    this.#world = world
    this.#host = host
    this.#random = random
  }

  async run(): Promise<void> {
    const world = this.#world
    for (const list of schemaLists(world)) await this.#compareList(list)
    for (const position of sharedCollections.keys()) {
      const books = documentBooks(world, position)
      await this.#compareDocuments(books, (found) =>
        verifyDocuments(world, position, found),
      )
    }
    for (const position of sharedTables.keys())
      await this.#compareRows(rowBooks(world, position))
    for (const { collection, table, types, keyspace } of world.clients) {
      const { book } = collection
      if (book !== undefined)
        await this.#compareDocuments([book], (found) =>
          book.ledger.verify(found, book.path, { find: {} }),
        )
      if (table.book !== undefined) await this.#compareRows([table.book])
      await this.#attempt(`default_keyspace.${types.homesName}`, () => types.verify())
      await this.#attempt(`${keyspace.name}.c`, () => keyspace.verify())
    }
    const line = world.clients[0]!.line
    await this.#attempt('default_keyspace.plain', () => world.contest.readCounter(line))
  }

  async #compareList({ what, placeOf, read, expected }: SchemaList): Promise<void> {
    let found: readonly string[] = []
    const isRead = await this.#attempt(placeOf(''), async () => void (found = await read()))
    if (!isRead) return
    const [now, before] = [new Set(found), new Set(expected)]
    for (const name of before.difference(now))
      this.differences.push({ place: placeOf(name), what: `${what}: ${name} is missing` })
    for (const name of now.difference(before))
      this.differences.push({ place: placeOf(name), what: `${what}: nobody made ${name}` })
  }

  async #compareDocuments(
    books: readonly DocumentBook[],
    verify: (found: Awaited<ReturnType<typeof readDocuments>>) => void,
  ): Promise<void> {
    const place = placeOf(books[0]!)
    const isRead = await this.#attempt(place, async () => {
      const found = await readDocuments(books[0]!)
      this.reads += found.size
      verify(found)
    })
    for (const book of books) {
      const count = isRead ? keyReads : singleReadsMax
      for (const state of this.#some(book.ledger.states, count))
        await this.#attempt(place, () => compareDocument(book, state))
      // Queries are designed for the few records of a client. Books of clients have an owner of at
      // least 0.
      for (let i = 0; i < queries && book.owner >= 0; i++)
        await this.#attempt(place, () => readSomeDocuments(book))
    }
  }

  async #compareRows(books: readonly RowBook[]): Promise<void> {
    const place = placeOf(books[0]!)
    const isRead = await this.#attempt(place, async () => {
      const rows = await books[0]!.readPages({ filter: {} })
      this.reads += rows.length
      verifyRows(books, rows)
    })
    for (const book of books) {
      const count = isRead ? keyReads : singleReadsMax
      for (const state of this.#some(book.ledger.states, count))
        await this.#attempt(place, () => compareRow(book, state))
      for (let i = 0; i < queries && book.owner >= 0; i++)
        await this.#attempt(place, () => readSomeRows(book))
    }
  }

  #some<T>(all: readonly T[], count: number): readonly T[] {
    if (all.length <= count) return all
    return Array.from({ length: count }, () => this.#random.pick(all))
  }

  /**
   * Makes one read. If its result differs from the model, records the difference and returns false.
   * Sends nothing to a server that has died.
   */
  async #attempt(place: string, read: () => Promise<void>): Promise<boolean> {
    if (this.#host.failure !== undefined) return false
    this.reads++
    try {
      await read()
      return true
    } catch (error) {
      if (this.#host.failure === undefined) this.differences.push(describe(place, error))
      return false
    }
  }
}

async function compareDocument(
  { line, path }: DocumentBook,
  { document, text: expected }: DocumentState,
): Promise<void> {
  const filter = { _id: toPlain(document.get('_id')!) }
  const command = { findOne: { filter, projection: { '*': 1 } } }
  const answer = await line.ask(path, command)
  const whole = memberOf(exactOf(answer), 'data', 'document')
  const found = isObject(whole) ? stateOf(whole).text : answer.text
  if (found !== expected)
    throw new Unexplained(`${path}: another document`, { command, answer: found, expected })
}

async function compareRow(
  book: RowBook,
  { cells, text: expected }: RowState,
): Promise<void> {
  const command = { findOne: { filter: book.exactly(cells) } }
  const answer = await book.line.ask(book.path, command)
  const row = answer.body.data?.document
  const found = row ? canonical(row) : answer.text
  if (found !== expected)
    throw new Unexplained(`${book.path}: another row`, { command, answer: found, expected })
}

/** Maximum number of characters of a message in a difference. */
const whatMax = 1_200

function describe(place: string, error: unknown): Difference {
  if (!(error instanceof Unexplained))
    // Any other error means that the answer lacks members that every answer of its kind has.
    return { place, what: `an answer that cannot be read: ${(error as Error).stack}` }
  const what = error.message.slice(0, whatMax)
  const refused = error.refusal?.body.errors?.[0]
  if (refused === undefined) return { place, what }
  const { errorCode: code, message } = refused
  return { place, what, error: { code: String(code), message: String(message) } }
}

function placeOf({ path }: { readonly path: string }): string {
  return path.slice(1).replace('/', '.')
}
