/** The log of a server with the plans of reads. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServerProcess } from '../faults/server-process.ts'
import { temporaryFolder } from '../harness.ts'

describe('the log of a server', () => {
  test('has the plan of each read at the level debug, and no stored or compared values', async () => {
    const server = await ServerProcess.start(
      await temporaryFolder(),
      '--log-level',
      'debug',
    )
    const collection = '/default_keyspace/books'
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    const documents = [{ author: 'private', year: 1966 }]
    await server.command(collection, { insertMany: { documents } })
    const filter = { author: 'private', year: { $gt: 1960 } }
    await server.command(collection, { find: { filter, sort: { year: 1 } } })
    await server.stop()
    const lines = server.err.split('\n').filter((line) => line.includes('"msg":"Read"'))
    assert.equal(lines.length, 1, server.err)
    const {
      command,
      plan,
      expected,
      entries,
      documents: read,
      elapsedMs,
    } = JSON.parse(lines[0]!) as Record<string, unknown>
    assert.equal(command, 'find')
    assert.equal(
      plan,
      '1 value in the index of author, sorted in memory by year; the index checks year (a list of 1)',
    )
    assert.deepEqual([expected, entries, read], [1, 2, 2])
    assert.equal(typeof elapsedMs, 'number')
    assert(!server.err.includes('private'))
  })
})
