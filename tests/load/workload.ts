/**
 * Commands of the full load: reads, writes, searches and deletes on a collection and a table of
 * constant size. Each worker has its own documents and rows, so it knows every expected reply.
 */
import assert from 'node:assert/strict'
import { Random } from '../faults/random.ts'
import { Connection } from './connection.ts'

const keyspace = '/default_keyspace'
const collection = `${keyspace}/loaded`
const table = `${keyspace}/loaded_rows`

/** Number of documents per worker, and of rows per worker. */
const recordsPerWorker = 150
const dimension = 32
const vocabulary = 'stone river letter night harbor winter copper garden silver road'.split(
  ' ',
)

export async function prepareWorkload(port: number): Promise<void> {
  const connection = await Connection.open(port)
  await connection.command(keyspace, {
    createCollection: { name: 'loaded', options: { vector: { dimension } } },
  })
  await connection.command(keyspace, {
    createTable: {
      name: 'loaded_rows',
      definition: {
        columns: {
          owner: 'int',
          n: 'int',
          version: 'bigint',
          label: 'text',
          v: { type: 'vector', dimension },
        },
        primaryKey: { partitionBy: ['owner'], partitionSort: { n: 1 } },
      },
    },
  })
  await connection.command(table, {
    createIndex: { name: 'by_label', definition: { column: 'label' } },
  })
  await connection.command(table, {
    createVectorIndex: { name: 'by_v', definition: { column: 'v' } },
  })
  connection.close()
}

export class Worker {
  requests = 0
  readonly #connection: Connection
  readonly #number: number
  readonly #random: Random
  /** Number of writes of each document, by its position. */
  readonly #documents = new Array<number>(recordsPerWorker).fill(0)
  readonly #rows = new Array<number>(recordsPerWorker).fill(0)

  private constructor(connection: Connection, number: number) {
    this.#connection = connection
    this.#number = number
    this.#random = new Random(number)
  }

  /** Opens a connection and inserts the worker's documents and rows. */
  static async start(port: number, number: number): Promise<Worker> {
    const worker = new Worker(await Connection.open(port), number)
    for (let from = 0; from < recordsPerWorker; from += 50) {
      const positions = Array.from({ length: 50 }, (_, n) => from + n)
      await worker.#ask(collection, {
        insertMany: { documents: positions.map((n) => worker.#document(n)) },
      })
      await worker.#ask(table, {
        insertMany: { documents: positions.map((n) => worker.#row(n)) },
      })
    }
    return worker
  }

  /** Sends one command. Rejects if the reply is wrong. */
  async step(): Promise<void> {
    const n = this.#random.below(recordsPerWorker)
    if (this.#random.oneIn(2_000)) return this.#changeSchema()
    return this.#random.oneIn(3) ? this.#stepOnRow(n) : this.#stepOnDocument(n)
  }

  close(): void {
    this.#connection.close()
  }

  async #stepOnDocument(n: number): Promise<void> {
    const filter = { _id: this.#id(n) }
    switch (this.#random.below(9)) {
      case 0:
      case 1: {
        const projection = { version: 1 }
        const { data } = await this.#ask(collection, { findOne: { filter, projection } })
        assert.deepEqual(data?.document, { ...filter, version: this.#documents[n] })
        return
      }
      case 2: {
        this.#documents[n]!++
        const update = { $inc: { version: 1 }, $set: { group: this.#random.below(20) } }
        const { status } = await this.#ask(collection, { updateOne: { filter, update } })
        assert.equal(status!['modifiedCount'], 1)
        return
      }
      case 3: {
        const { status } = await this.#ask(collection, { deleteOne: { filter } })
        assert.equal(status!['deletedCount'], 1)
        await this.#ask(collection, { insertOne: { document: this.#document(n) } })
        return
      }
      case 4: {
        this.#documents[n]!++
        const replacement = this.#document(n)
        await this.#ask(collection, { findOneAndReplace: { filter, replacement } })
        return
      }
      case 5: {
        const group = { group: this.#random.below(20) }
        await this.#ask(collection, { find: { filter: group, sort: { version: -1 } } })
        return
      }
      case 6: {
        const { data } = await this.#ask(collection, {
          find: { sort: { $vector: this.#vector() }, options: { limit: 10 } },
        })
        assert.equal(data!.documents!.length, 10)
        return
      }
      case 7: {
        const sort = { $lexical: this.#random.pick(vocabulary) }
        await this.#ask(collection, { find: { sort, options: { limit: 10 } } })
        return
      }
      default: {
        const mine = { owner: this.#number }
        const { status } = await this.#ask(collection, { countDocuments: { filter: mine } })
        assert.equal(status!['count'], recordsPerWorker)
      }
    }
  }

  async #stepOnRow(n: number): Promise<void> {
    const filter = { owner: this.#number, n }
    switch (this.#random.below(6)) {
      case 0: {
        const projection = { version: 1 }
        const { data } = await this.#ask(table, { findOne: { filter, projection } })
        assert.deepEqual(data?.document, { version: this.#rows[n] })
        return
      }
      case 1: {
        const update = { $set: { version: ++this.#rows[n]! } }
        await this.#ask(table, { updateOne: { filter, update } })
        return
      }
      case 2:
        await this.#ask(table, { deleteOne: { filter } })
        await this.#ask(table, { insertOne: { document: this.#row(n) } })
        return
      case 3: {
        const label = this.#random.pick(vocabulary)
        await this.#ask(table, { find: { filter: { label }, options: { limit: 20 } } })
        return
      }
      case 4: {
        const { data } = await this.#ask(table, {
          find: { sort: { v: this.#vector() }, options: { limit: 10 } },
        })
        assert.equal(data!.documents!.length, 10)
        return
      }
      default: {
        const mine = { owner: this.#number }
        const { data } = await this.#ask(table, {
          find: { filter: mine, sort: { n: -1 }, options: { limit: 5 } },
        })
        assert.equal(data!.documents![0]!['n'], recordsPerWorker - 1)
      }
    }
  }

  async #changeSchema(): Promise<void> {
    const name = `passing_${this.#number}`
    await this.#ask(keyspace, { createCollection: { name } })
    await this.#ask(`${keyspace}/${name}`, { insertOne: { document: { n: 1 } } })
    await this.#ask(keyspace, { deleteCollection: { name } })
  }

  async #ask(path: string, command: object) {
    this.requests++
    return this.#connection.command(path, command)
  }

  #id(n: number): string {
    return `${this.#number}-${n}`
  }

  #document(n: number): object {
    return {
      _id: this.#id(n),
      owner: this.#number,
      version: this.#documents[n],
      group: this.#random.below(20),
      notes: [this.#random.below(100), { kind: this.#random.pick(vocabulary) }],
      $vector: this.#vector(),
      $lexical: `${this.#random.pick(vocabulary)} ${this.#random.pick(vocabulary)}`,
    }
  }

  #row(n: number): object {
    const label = this.#random.pick(vocabulary)
    return { owner: this.#number, n, version: this.#rows[n], label, v: this.#vector() }
  }

  #vector(): number[] {
    return Array.from({ length: dimension }, () => this.#random.below(2_000) / 1_000 - 1)
  }
}
