/** A test server with helpers for schema commands. */
import assert from 'node:assert/strict'
import type { Config } from '../../src/settings/config.ts'
import type { Limits } from '../../src/limits.ts'
import { RunningServer } from './running-server.ts'

const keyspace = '/default_keyspace'

export class Schemas extends RunningServer {
  #count = 0

  constructor(limits: Partial<Limits> = {}, config: Partial<Config> = {}) {
    super(limits, { durable: false, ...config })
  }

  /** Sends a command to the keyspace, or to a target in it: `send('books', {…})`. */
  send(target: string, body: object) {
    return this.server.command(pathOf(target), body)
  }

  /** Sends a command and asserts that the reply is only `ok`. */
  async ok(target: string, body: object): Promise<void> {
    const answer = await this.send(target, body)
    assert.equal(answer.text, '{"status":{"ok":1}}', JSON.stringify(body))
  }

  /** Sends a command and asserts that it is rejected as invalid: the reply has no status. */
  async refuse(target: string, body: object, code: string, ...named: string[]) {
    const answer = await this.send(target, body)
    const told = `${JSON.stringify(body)}: ${answer.text}`
    assert.deepEqual(answer.codes, [code], told)
    assert.deepEqual(Object.keys(answer.body), ['errors'], told)
    return tells(answer.body.errors![0]!, named)
  }

  /** Sends a command and asserts that it conflicts with the schema: the reply has `ok` 0. */
  async fail(target: string, body: object, code: string, ...named: string[]) {
    const answer = await this.send(target, body)
    const told = `${JSON.stringify(body)}: ${answer.text}`
    assert.deepEqual(answer.codes, [code], told)
    assert.deepEqual(answer.body.status, { ok: 0 }, told)
    return tells(answer.body.errors![0]!, named)
  }

  async status(target: string, body: object, member: string): Promise<unknown> {
    const answer = await this.send(target, body)
    assert.deepEqual(answer.codes, [], answer.text)
    return answer.body.status![member]
  }

  /** Creates a table, with the key `id` by default, and returns its name. */
  async table(columns: object = {}, primaryKey: unknown = 'id'): Promise<string> {
    const name = `t${++this.#count}`
    const definition = { columns: { id: 'int', ...columns }, primaryKey }
    await this.ok('', { createTable: { name, definition } })
    return name
  }

  /** The definition of a table, from listTables with `explain`. */
  async explain(name: string): Promise<Explained> {
    const tables = await this.status(
      '',
      { listTables: { options: { explain: true } } },
      'tables',
    )
    const found = (tables as { name: string; definition: Explained }[]).find(
      (table) => table.name === name,
    )
    return found?.definition ?? assert.fail(`${name} is not listed`)
  }
}

export interface Explained {
  readonly columns: Readonly<Record<string, Record<string, unknown>>>
  readonly primaryKey: unknown
}

function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  return target === '' ? keyspace : `${keyspace}/${target}`
}

function tells(error: { message: string; family: string; scope: string }, named: string[]) {
  for (const part of named)
    assert.ok(error.message.includes(part), `"${error.message}" names ${part}`)
  return error
}

export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
