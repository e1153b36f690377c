/** Tables of a test server, with helpers that write rows. */
import assert from 'node:assert/strict'
import type { Answer } from '../harness.ts'
import { Target } from './collections.ts'
import { RunningServer } from './running-server.ts'

export interface Definition {
  readonly columns: Record<string, unknown>
  readonly primaryKey: string | object
}

export class WrittenTables extends RunningServer {
  #count = 0

  /** Creates a table with these rows. */
  async create(definition: Definition, rows: readonly object[] = []): Promise<Target> {
    const name = `t${++this.#count}`
    await this.keyspace({ createTable: { name, definition } })
    const table = new Target(() => this.server, `/default_keyspace/${name}`)
    for (let at = 0; at < rows.length; at += 100)
      await table.insert(...rows.slice(at, at + 100))
    return table
  }

  /** Sends a command to the keyspace and asserts that it succeeds. */
  async keyspace(body: object): Promise<void> {
    assert.equal((await this.send(body)).text, '{"status":{"ok":1}}')
  }

  /** Sends any command to the keyspace. */
  send(body: object): Promise<Answer> {
    return this.server.command('/default_keyspace', body)
  }
}

/** Asserts that all commands that find rows reject these clauses. */
export async function refuseFinds(
  table: Target,
  clauses: object,
  { code, scope, message }: Refusal,
): Promise<void> {
  for (const command of ['find', 'findOne']) {
    const told = await table.refuse({ [command]: clauses }, code)
    assert.match(told.message, message)
    assert.equal(told.scope, scope)
  }
}

export interface Refusal {
  readonly code: string
  readonly scope: string
  readonly message: RegExp
}

/** Rows identified by one column, and by a partition column and two clustering columns. */
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
