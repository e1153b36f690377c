/** A collection that one client creates, fills and drops repeatedly. */
import type { Random } from '../faults/random.ts'
import { optionsOf, randomShape } from './collection-shape.ts'
import { DocumentBook } from './document-book.ts'
import { readDocuments } from './document-reads.ts'
import { writeDocuments } from './document-writes.ts'
import type { Line } from './line.ts'
import { changeSchema, listed, listings } from './schema-change.ts'

export class OwnCollection {
  /** The documents of the collection; undefined while it does not exist. */
  book: DocumentBook | undefined
  readonly name: string
  readonly #line: Line
  readonly #random: Random
  readonly #owner: number

  constructor(line: Line, random: Random, owner: number) {
    this.#line = line
    this.#random = random
    this.#owner = owner
    this.name = `own_${owner}`
  }

  async step(): Promise<void> {
    const { book } = this
    if (book === undefined) return this.#create()
    if (this.#random.oneIn(25)) return this.#delete()
    if (this.#random.oneIn(30)) return this.#createAgain(book)
    return this.#random.oneIn(2) ? writeDocuments(book) : readDocuments(book)
  }

  async #create(): Promise<void> {
    const shape = randomShape(this.#random, this.name)
    const created = await changeSchema(this.#line, {
      path,
      command: { createCollection: { name: this.name, options: optionsOf(shape) } },
      before: 'absent',
      after: 'there',
      read: () => this.#read(),
    })
    // The new collection reuses ids of the dropped one, and must contain none of its documents.
    if (created)
      this.book = new DocumentBook(this.#line, this.#random, this.#owner, shape, true)
  }

  /** Creates the collection again with the same options. This must change nothing. */
  async #createAgain({ shape }: DocumentBook): Promise<void> {
    await changeSchema(this.#line, {
      path,
      command: { createCollection: { name: this.name, options: optionsOf(shape) } },
      before: 'there',
      after: 'there',
      read: () => this.#read(),
    })
  }

  async #delete(): Promise<void> {
    const deleted = await changeSchema(this.#line, {
      path,
      command: { deleteCollection: { name: this.name } },
      before: 'there',
      after: 'absent',
      read: () => this.#read(),
    })
    if (deleted) this.book = undefined
  }

  async #read(): Promise<string> {
    const collections = await listed(this.#line, path, listings.collections)
    return collections.has(this.name) ? 'there' : 'absent'
  }
}

const path = '/default_keyspace'
