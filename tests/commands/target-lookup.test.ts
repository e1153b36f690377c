/** Lookup of the target of a command, in an engine whose lookups are asynchronous. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { around } from '../../src/engine/around.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { MemoryStore } from '../engine/memory/memory-store.ts'
import { openMemoryEngine } from '../engine/memory/memory-engine.ts'
import { startServer, type TestServer } from '../harness.ts'

let server: TestServer
let lookups = 0
let isDown = false

before(async () => {
  const remote: Engine = around(openMemoryEngine(new MemoryStore()), {
    as: () => remote,
    async findTarget(proceed, keyspace, name) {
      lookups++
      await nextTurn()
      if (isDown) throw new EngineError('unavailable', 'too few nodes are up')
      return proceed(keyspace, name)
    },
  })
  server = await startServer({}, remote)
  const { codes } = await server.command('/default_keyspace', {
    createCollection: { name: 'books' },
  })
  assert.deepEqual(codes, [])
})
after(() => server.close())

const findOne = () => server.command('/default_keyspace/books', { findOne: {} })

test('a command looks up its collection once', async () => {
  const before = lookups
  assert.deepEqual((await findOne()).codes, [])
  assert.equal(lookups, before + 1)
})

test('a command reports a failed lookup of its collection, and the next command succeeds', async (t) => {
  const unheard = t.mock.fn()
  process.on('unhandledRejection', unheard)
  t.after(() => process.off('unhandledRejection', unheard))
  isDown = true
  assert.deepEqual((await findOne()).codes, ['UNAVAILABLE_DATABASE'])
  isDown = false
  await nextTurn()
  assert.equal(
    unheard.mock.callCount(),
    0,
    'nothing else failed, which would end the server',
  )
  assert.deepEqual((await findOne()).codes, [])
})
