/**
 * Data that exists before clients start. It contains enough vectors for their indexes to be saved.
 */
import type { Random } from '../faults/random.ts'
import { fromPlain } from '../../src/json/plain.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { optionsOf, sharedCollections } from './collection-shape.ts'
import { DocumentBook, stateOf, touching } from './document-book.ts'
import type { Host } from './host.ts'
import { Line } from './line.ts'
import { randomText, randomVector, times, words } from './random-documents.ts'
import { RowBook, rowState } from './row-book.ts'
import { columnKinds, definitionOf, sharedTables, type Cell } from './table-shape.ts'
import { Unexplained } from './unexplained.ts'

/** The owner of records that belong to no client. */
const owner = -1

/** Number of vectors. A server that stops saves an index of at least 1 000 vectors. */
const vectorsCount = 1_050

export class Ground {
  readonly documents: DocumentBook
  readonly rows: RowBook
  readonly #line: Line
  readonly #random: Random

  constructor(host: Host, random: Random) {
    this.#line = new Line(host)
    this.#random = random
    const vectors = sharedCollections.find(({ name }) => name === 'vectors')!
    const notes = sharedTables.find(({ name }) => name === 'notes')!
    this.documents = new DocumentBook(this.#line, random, owner, vectors)
    this.rows = new RowBook(this.#line, random, owner, notes)
  }

  async prepare(): Promise<void> {
    for (const shape of sharedCollections)
      await this.#do(`/${shape.keyspace}`, {
        createCollection: { name: shape.name, options: optionsOf(shape) },
      })
    for (const shape of sharedTables) {
      const { name } = shape
      const definition = definitionOf(shape)
      await this.#do('/default_keyspace', { createTable: { name, definition } })
      for (const { create } of shape.indexes.values())
        await this.#do(`/default_keyspace/${name}`, create)
    }
    await this.#fillDocuments()
    await this.#fillRows()
  }

  async #fillDocuments(): Promise<void> {
    const { shape, path, ledger } = this.documents
    const documents = times(vectorsCount, (n) => ({
      _id: `ground-${n}`,
      owner,
      $vector: randomVector(this.#random, shape),
      $lexical: randomText(this.#random),
    }))
    for (let at = 0; at < documents.length; at += 100)
      await this.#do(path, { insertMany: { documents: documents.slice(at, at + 100) } })
    const states = documents.map((document) => stateOf(fromPlain(document) as JsonObject))
    ledger.apply(touching(...states))
  }

  async #fillRows(): Promise<void> {
    const { path, ledger } = this.rows
    const rows = times(vectorsCount, (n) => ({
      owner,
      n,
      v: columnKinds.vector.random(this.#random),
      kind: this.#random.pick(words),
    }))
    for (let at = 0; at < rows.length; at += 100)
      await this.#do(path, { insertMany: { documents: rows.slice(at, at + 100) } })
    for (const row of rows) {
      const cells = new Map<string, Cell>(Object.entries(row) as [string, Cell][])
      ledger.apply(new Map([[this.rows.keyOf(cells), rowState(cells)]]))
    }
  }

  async #do(path: string, command: object): Promise<void> {
    const told = await this.#line.send(path, command)
    if (told.kind !== 'answered' || told.answer.codes.length > 0)
      throw new Unexplained(`${path}: nothing to begin with`, { command, answer: told })
  }
}
