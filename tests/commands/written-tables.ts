/** Tables of a test server, to write rows to. */
import assert from 'node:assert/strict'
import type { Config } from '../../src/config.ts'
import type { Limits } from '../../src/limits.ts'
import type { Answer } from '../harness.ts'
import { Collections, Target } from './collections.ts'

export interface Definition {
  readonly columns: Record<string, unknown>
  readonly primaryKey: string | object
}

/** A server for the tests of a file, or of the describe that this is called in. */
export class WrittenTables {
  readonly #collections: Collections
  #count = 0

  constructor(limits: Partial<Limits> = {}, config: Partial<Config> = {}) {
    this.#collections = new Collections(limits, config)
  }

  /** A new table with these rows. */
  async create(definition: Definition, rows: readonly object[] = []): Promise<Target> {
    const name = `t${++this.#count}`
    await this.keyspace({ createTable: { name, definition } })
    const table = new Target(() => this.#collections.server, `/default_keyspace/${name}`)
    for (let at = 0; at < rows.length; at += 100)
      await table.insert(...rows.slice(at, at + 100))
    return table
  }

  /** Sends a command to the keyspace that is to succeed. */
  async keyspace(body: object): Promise<void> {
    assert.equal((await this.send(body)).text, '{"status":{"ok":1}}')
  }

  /** Sends any command to the keyspace. */
  send(body: object): Promise<Answer> {
    return this.#collections.server.command('/default_keyspace', body)
  }

  restart(): Promise<void> {
    return this.#collections.restart()
  }
}

/** Rows known by one column, and by a partition and two columns within it. */
export const people: Definition = {
  columns: {
    id: 'text',
    name: 'text',
    age: 'int',
    tags: { type: 'set', valueType: 'text' },
  },
  primaryKey: 'id',
}

export const readings: Definition = {
  columns: { place: 'text', day: 'int', hour: 'int', value: 'double' },
  primaryKey: { partitionBy: ['place'], partitionSort: { day: 1, hour: -1 } },
}
