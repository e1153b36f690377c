/** Two servers on one engine: both serve what it holds, and it outlives both. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openEmbedded } from '../engine/embedded-store.ts'
import { startServer } from '../harness.ts'

test('servers on a given engine serve the same data, and leave it open', async (context) => {
  const { engine } = await openEmbedded(context)
  const [one, two] = [await startServer({}, engine), await startServer({}, engine)]
  const books = '/default_keyspace/books'
  await one.command('/default_keyspace', { createCollection: { name: 'books' } })
  await one.command(books, { insertOne: { document: { _id: 'alien' } } })
  const found = await two.command(books, { findOne: {} })
  assert.deepEqual(found.body.data!.document, { _id: 'alien' })

  await one.close()
  const more = await two.command(books, { insertOne: { document: { _id: 'moon' } } })
  assert.deepEqual(more.body.status, { insertedIds: ['moon'] })
  await two.close()
  const target = await engine.findTarget('default_keyspace', 'books')
  assert.equal(await engine.estimateCount(target!), 2)
})
