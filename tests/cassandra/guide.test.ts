/**
 * Follows docs/guides/move-to-a-cluster.md on a node of its own because it moves default_keyspace.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runStela } from '../cli/run-stela.ts'
import { followGuide } from '../docs/guide.ts'
import { startServer, temporaryFolder } from '../harness.ts'
import { startNode } from './node.ts'

test('the commands of the guide "Move to a cluster" have the documented output', async () => {
  const page = new URL('../../docs/guides/move-to-a-cluster.md', import.meta.url)
  const folder = await temporaryFolder()
  const dataDir = join(folder, 'stela-data')
  const server = await startServer({ dataDir })
  try {
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    const documents = [{ _id: 'dune' }, { _id: 'emma' }, { _id: 'ubik' }]
    const inserted = await server.command('/default_keyspace/books', {
      insertMany: { documents },
    })
    assert.deepEqual(inserted.codes, [])
  } finally {
    await server.stop()
  }
  // A migration also moves tokens. The server above stored none, because it used the configured
  // token of the tests.
  const role = 'Organization Administrator'
  const made = await runStela(['token', 'create', '--data', dataDir, '--role', role])
  assert.equal(made.code, 0, made.err)
  const node = await startNode({ durable: false })
  try {
    await followGuide(readFileSync(page, 'utf8'), folder, {
      STELA_CASSANDRA_PORT: String(node.connect.port),
    })
  } finally {
    await node.remove()
    await rm(folder, { recursive: true })
  }
})
