/**
 * Measures how long requests of the maximum size block the event loop of a server on Cassandra, in
 * processor time. Sends only requests whose work depends on the engine, because the rest of a
 * server is the same for every engine.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { killLeftovers } from '../faults/server-process.ts'
import { goodToken, HostileServer } from '../hostile/hostile-server.ts'
import { testNode } from './test-node.ts'

const keyspace = '/default_keyspace'
const list = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n))

/** Milliseconds of processor time: a slice is 5 ms, and garbage collection adds to it. */
const turnMsMax = 100

/**
 * Milliseconds of processor time for reading the row. The driver decodes a page in one turn.
 * Decoding takes about 80 ms, and twice as long while other processes use the same cores.
 */
const decodingMsMax = 300

describe('event-loop turns of a server on Cassandra are short while a client', () => {
  let server: HostileServer

  before(async () => {
    server = await HostileServer.start({ cluster: await testNode() })
    for (const name of ['documents', 'rows']) await create(name)
  })
  after(async () => {
    // Other files that share the node expect an empty keyspace.
    await server.command(keyspace, { deleteCollection: { name: 'documents' } })
    await server.command(keyspace, { dropTable: { name: 'rows' } })
    await server.stop()
    await killLeftovers()
  })

  async function create(name: string): Promise<void> {
    const definition = {
      columns: {
        id: 'int',
        l: { type: 'list', valueType: 'int' },
        m: { type: 'map', keyType: 'text', valueType: 'int' },
      },
      primaryKey: 'id',
    }
    await server.command(
      keyspace,
      name === 'rows'
        ? { createTable: { name, definition } }
        : { createCollection: { name } },
    )
  }

  async function longestTurn(path: string, command: object): Promise<number> {
    await server.takeTurns()
    const body = Buffer.from(JSON.stringify(command))
    const { status } = await server.ask(goodToken, `${keyspace}/${path}`, body)
    assert.equal(status, 200)
    return (await server.takeTurns()).longestMs
  }

  for (const [what, path, command, max] of [
    [
      'inserts a document of 250 indexed arrays of 1 000 numbers',
      'documents',
      { insertOne: { document: { _id: 1, a: list(250, () => list(1_000, (n) => n)) } } },
      turnMsMax,
    ],
    [
      'inserts a row with a list of 150 000 numbers and a map of 50 000 entries',
      'rows',
      {
        insertOne: {
          document: {
            id: 1,
            l: list(150_000, (n) => n),
            m: Object.fromEntries(list(50_000, (n) => [`key ${n}`, n])),
          },
        },
      },
      turnMsMax,
    ],
    [
      'reads the row with the long list and the large map',
      'rows',
      { find: { filter: { id: 1 } } },
      decodingMsMax,
    ],
  ] as const)
    test(what, async (context) => {
      const longestMs = await longestTurn(path, command)
      context.diagnostic(`longest turn: ${longestMs.toFixed(0)} ms`)
      assert(longestMs < max, `a turn took ${longestMs.toFixed(0)} ms`)
    })
})
