/** Plans of reads on a cluster: the statements, and what the server checks itself. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const keyspace = '/default_keyspace'

describe('the plan of a read on a cluster', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  const planOf = async (target: string, command: object) => {
    const full = { 'Feature-Flag-request-tracing-full': 'true' }
    const { body, text } = await server.command(`${keyspace}${target}`, command, full)
    const trace = body.status!['trace'] as { events: { message: string; data?: object }[] }
    const event = trace.events.find(({ message }) => message.startsWith('Followed'))
    assert(event, text)
    return event.data as Record<string, unknown>
  }

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    const columns = { p: 'text', c: 'int', n: 'int' }
    const definition = {
      columns,
      primaryKey: { partitionBy: ['p'], partitionSort: { c: 1 } },
    }
    await server.command(keyspace, { createTable: { name: 'loans', definition } })
    await server.command(keyspace, { createCollection: { name: 'books' } })
    const documents = [1, 2, 3].map((c) => ({ p: 'private', c, n: c }))
    await server.command(`${keyspace}/loans`, { insertMany: { documents } })
    await server.command(`${keyspace}/books`, { insertMany: { documents } })
  })
  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  test('contains the statement for rows, and the conditions that the server checks', async () => {
    const filter = { p: 'private', n: { $ne: 1 } }
    const { plan, entries, elapsedMs } = await planOf('/loans', { find: { filter } })
    assert.match(
      plan as string,
      /^SELECT .* FROM "[^"]+"\."loans" WHERE "p" = \?.*; the server checks n ne$/,
    )
    assert.equal(entries, 3)
    assert.equal(typeof elapsedMs, 'number')
  })

  test('contains the statement for documents, and no values of the filter', async () => {
    const filter = { p: 'private', c: { $gt: 1 } }
    const { plan, entries } = await planOf('/books', { find: { filter } })
    assert.match(
      plan as string,
      /^SELECT .* FROM "[^"]+"\."books" WHERE .*; the server checks p eq, c gt$/,
    )
    assert(!(plan as string).includes('private'))
    assert.equal(entries, 3)
    const byId = await planOf('/books', { findOne: { filter: { _id: 'none' } } })
    assert.doesNotMatch(byId['plan'] as string, /the server checks/)
  })
})
