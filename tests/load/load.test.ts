/** A small version of `npm run load`, without any results that depend on the machine. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { killLeftovers } from '../faults/server-process.ts'
import { loadFully } from './full-load.ts'
import { findGrowth, slopeOf, type Sample } from './growth.ts'
import { holdConnections } from './held-connections.ts'
import { LoadedServer } from './loaded-server.ts'

describe('load', () => {
  let server: LoadedServer
  before(async () => {
    server = await LoadedServer.start()
  })
  after(async () => {
    await server.stop()
    await killLeftovers()
  })
  afterEach(() => assert.equal(server.complaints, ''))

  test('gets only correct replies on hundreds of idle connections', async () => {
    const held = await holdConnections(server, 300, 1)
    assert.deepEqual(held.problems, [])
    assert.equal(held.stayed, 300)
    assert(held.answered >= 300)
    assert(held.during.connections >= 300)
    assert(held.after.connections < 10)
  })

  test('gets only correct replies when clients send commands concurrently', async () => {
    const loaded = await loadFully(server, 3)
    assert.deepEqual(loaded.problems, [])
    assert(loaded.requests > 0)
    assert(loaded.samples.length > 0)
    for (const { memory, heap, handles } of loaded.samples)
      assert(memory > 0 && heap > 0 && handles > 0)
  })
})

describe('growth of memory', () => {
  const samples = (memoryAt: (at: number) => number): Sample[] =>
    Array.from({ length: 100 }, (_, n) => ({
      at: n * 36,
      requests: n,
      memory: memoryAt(n) * 2 ** 20,
      heap: (100 + (n % 10)) * 2 ** 20,
      handles: 1,
      files: 1,
      connections: 1,
      logs: 1,
      folder: 1,
    }))

  test('is reported only if it continues after the warm-up and exceeds the fluctuation', () => {
    assert.deepEqual(
      findGrowth(samples((n) => (n < 20 ? 100 + n * 10 : 300 + (n % 7)))),
      [],
    )
    assert.deepEqual(findGrowth(samples((n) => 200 + n)), [
      'memory grew from 229.5 MB to 289.5 MB',
    ])
  })

  test('is reported in megabytes per hour', () => {
    assert.equal(Math.round(slopeOf(samples((n) => 200 + n))), 100)
    assert.equal(Math.round(slopeOf(samples(() => 200))), 0)
  })
})
