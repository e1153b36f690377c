/** One client: its records and schemas, and the random choice of its next command. */
import type { Random } from '../faults/random.ts'
import { sharedCollections } from './collection-shape.ts'
import type { Contest } from './contest.ts'
import { DocumentBook } from './document-book.ts'
import { readDocuments } from './document-reads.ts'
import { writeDocuments } from './document-writes.ts'
import type { Host } from './host.ts'
import { Line } from './line.ts'
import { OwnCollection } from './own-collection.ts'
import { OwnKeyspace } from './own-keyspace.ts'
import { OwnTable } from './own-table.ts'
import { OwnTypes } from './own-types.ts'
import { RowBook } from './row-book.ts'
import { readRows } from './row-reads.ts'
import { writeRows } from './row-writes.ts'
import { changeSchema, listed, listings } from './schema-change.ts'
import { regularIndex, sharedTables, type IndexShape } from './table-shape.ts'
import { Unexplained } from './unexplained.ts'

export class Client {
  readonly number: number
  readonly line: Line
  readonly documents: readonly DocumentBook[]
  readonly rows: readonly RowBook[]
  readonly collection: OwnCollection
  readonly table: OwnTable
  readonly types: OwnTypes
  readonly keyspace: OwnKeyspace
  readonly #random: Random
  readonly #hangUps: Random | undefined
  readonly #contest: Contest
  /** Indexes of the shared table `events` that this client creates and drops. */
  readonly #sharedIndexes: readonly IndexShape[]
  readonly #madeIndexes = new Set<string>()

  constructor(
    host: Host,
    random: Random,
    number: number,
    contest: Contest,
    hangsUp: boolean,
  ) {
    this.number = number
    this.#random = random
    this.#contest = contest
    const line = new Line(host)
    this.#hangUps = hangsUp ? random.fork() : undefined
    this.line = line
    this.documents = sharedCollections.map(
      (shape) => new DocumentBook(line, random, number, shape),
    )
    this.rows = sharedTables.map((shape) => new RowBook(line, random, number, shape))
    this.collection = new OwnCollection(line, random, number)
    this.table = new OwnTable(line, random, number)
    this.types = new OwnTypes(line, random, number)
    this.keyspace = new OwnKeyspace(line, random, number)
    const column = ['kind', 'tags', 'size'][number]
    this.#sharedIndexes = column === undefined ? [] : [regularIndex('events', column)]
  }

  prepare(): Promise<void> {
    return this.types.prepare()
  }

  /** Sends random commands until `isOver` returns true. */
  async run(isOver: () => boolean, { hangsUp = true } = {}): Promise<void> {
    this.line.hangUps = hangsUp ? this.#hangUps : undefined
    try {
      while (!isOver()) await this.#step()
      this.line.hangUps = undefined
    } catch (error) {
      // When one client fails, the others stop with the same error. The error keeps the trace of
      // the client that failed.
      if (error instanceof Unexplained) error.trace ??= this.line.trace
      throw error
    }
  }

  #step(): Promise<void> {
    const random = this.#random
    const chance = random.below(100)
    if (chance < 24) return writeDocuments(random.pick(this.documents))
    if (chance < 40) return readDocuments(random.pick(this.documents))
    if (chance < 56) return writeRows(random.pick(this.rows))
    if (chance < 68) return readRows(random.pick(this.rows))
    if (chance < 77) return this.collection.step()
    if (chance < 86) return this.table.step()
    if (chance < 88) return this.types.step()
    if (chance < 90) return this.keyspace.step()
    if (chance < 94) return this.#contest.increment(this.line)
    if (chance < 95) return this.#contest.readCounter(this.line)
    if (chance < 96) return this.#contest.tryPrize(this.line, this.number)
    if (chance < 98) return this.#toggleSharedIndex()
    return this.#readProviders()
  }

  /**
   * Creates or drops an index of `events`. The index may change how finds of other clients are
   * executed, but not what they return.
   */
  async #toggleSharedIndex(): Promise<void> {
    if (this.#sharedIndexes.length === 0) return
    const { name, create } = this.#random.pick(this.#sharedIndexes)
    const isThere = this.#madeIndexes.has(name)
    const changed = await changeSchema(this.line, {
      path: '/default_keyspace/events',
      command: isThere ? { dropIndex: { name } } : create,
      before: isThere ? 'there' : 'absent',
      after: isThere ? 'absent' : 'there',
      read: async () => {
        const path = '/default_keyspace/events'
        const indexes = await listed(this.line, path, listings.indexes)
        return indexes.has(name) ? 'there' : 'absent'
      },
    })
    if (!changed) return
    if (isThere) this.#madeIndexes.delete(name)
    else this.#madeIndexes.add(name)
  }

  /** Indexes of `events` that must exist, because this client created them. */
  get madeIndexes(): ReadonlySet<string> {
    return this.#madeIndexes
  }

  async #readProviders(): Promise<void> {
    const [name, member] = this.#random.pick([
      ['findEmbeddingProviders', 'embeddingProviders'],
      ['findRerankingProviders', 'rerankingProviders'],
      ['findKeyspaces', 'keyspaces'],
      ['findNamespaces', 'namespaces'],
    ] as const)
    const command = { [name]: {} }
    const answer = await this.line.ask('', command)
    const list = answer.body.status?.[member]
    const isMissing =
      Array.isArray(list) && this.keyspace.isThere && !list.includes(this.keyspace.name)
    if (typeof list !== 'object' || list === null || isMissing)
      throw new Unexplained('an incomplete list', { command, answer: answer.text })
  }
}
