/** A node that does not answer, or whose connection is lost during a statement. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accountToken } from '../../src/auth/tokens.ts'
import { ownCaller } from '../../src/caller/caller.ts'
import {
  engineErrorOf,
  isOutcomeUnknown,
} from '../../src/engine/cassandra/cluster/failures.ts'
import type { Collection, Engine } from '../../src/engine/contract.ts'
import { fixedLimits } from '../../src/limits.ts'
import { startServer } from '../harness.ts'
import { clientOf } from './connect.ts'
import { Line } from './line.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

const { nodeStatementsMax } = fixedLimits

describe('a node', () => {
  let keyspaces: TestKeyspaces
  let line: Line
  let engine: Engine

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    const { contactPoints, port } = await testNode()
    line = await Line.to(contactPoints[0]!, port)
    engine = await keyspaces.open({ port: line.port })
  })
  after(async () => {
    line.cut()
    await engine.close()
    await keyspaces.remove()
  })

  test('that falls behind does not make one principal wait for all statements of another principal', async () => {
    const options = { indexing: { deny: ['*'] }, lexical: { enabled: false } } as const
    await engine.changeSchema('default_keyspace', () => ({
      kind: 'createCollection',
      name: 'books',
      options: { ...options, rerank: { enabled: false } },
    }))
    const books = (await engine.findTarget('default_keyspace', 'books')) as Collection
    const query = { filter: everything, sort: [], skip: 0, limit: 1 }
    const readAs = async (principalName: string) =>
      engine.read(
        books,
        { ...query, after: undefined, stable: false, withSearchFields: false },
        { ...ownCaller(), principalName },
      )
    await readAs('many')
    line.hold()
    let answered = 0
    const reads = Array.from({ length: 2 * nodeStatementsMax }, async () => {
      await readAs('many')
      answered++
    })
    // No statement is rejected, and the second principal does not wait for all statements of the
    // first.
    const other = readAs('other')
    line.resume()
    await other
    assert(answered < nodeStatementsMax, `${answered} were answered first`)
    await Promise.all(reads)
  })

  test('that is unreachable makes commands fail with FAILED_TO_CONNECT_TO_DATABASE', async () => {
    const { contactPoints, port } = await testNode()
    const own = await Line.to(contactPoints[0]!, port)
    const lost = await keyspaces.open({ port: own.port })
    const server = await startServer({ checked: false }, lost)
    const list = { findCollections: {} }
    const ask = () => server.command('/default_keyspace', list)
    assert.deepEqual((await ask()).codes, [])
    own.cut()
    let answer = await ask()
    // Commands time out at first: until the pending statements have ended and the cached
    // schema has expired.
    while (answer.codes.length === 0 || answer.codes[0] === 'TIMEOUT_READING_DATA')
      answer = await ask()
    assert.deepEqual(answer.codes, ['FAILED_TO_CONNECT_TO_DATABASE'], answer.text)
    // Without a node, users of the cluster cannot be authenticated.
    const Token = accountToken({ name: 'nobody', password: 'secret' })
    const asked = await server.command('/default_keyspace', list, { Token })
    assert.deepEqual(asked.codes, ['FAILED_TO_CONNECT_TO_DATABASE'], asked.text)
    await server.close()
    await lost.close()
  })

  test('that loses its connection during a write leaves the result unknown', async () => {
    const { contactPoints, port } = await testNode()
    const own = await Line.to(contactPoints[0]!, port)
    const client = clientOf({ ...(await testNode()), port: own.port })
    await client.connect()
    own.hold()
    const write = client.execute('TRUNCATE system_traces.events', [], {
      isIdempotent: false,
    })
    setTimeout(() => own.cut(), 100)
    const error = await write.then(
      () => assert.fail('nobody can have answered'),
      (failure: unknown) => failure,
    )
    assert(isOutcomeUnknown(error), String(error))
    const { kind, message } = engineErrorOf(error)
    assert.deepEqual([kind, message], ['timeout', 'the connection to a node was lost'])
    await client.shutdown()
  })
})

const everything = { kind: 'and', of: [] } as const
