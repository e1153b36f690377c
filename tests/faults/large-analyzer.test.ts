/**
 * A collection with a large analyzer, which an earlier version accepted and the present one
 * rejects.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { editCatalog } from '../engine/embedded/catalog/edit-catalog.ts'
import { startServer } from '../harness.ts'

const path = '/default_keyspace'

function entries(count: number): string {
  return Array.from({ length: count }, (_, n) => `w${n}`).join(',')
}

function stop(words: string) {
  const filters = [{ name: 'lowercase' }, { name: 'stop', args: { words } }]
  return { tokenizer: { name: 'whitespace' }, filters }
}

test('only commands that analyze a text fail when the analyzer is too large to load', async () => {
  let server = await startServer()
  try {
    await server.command(path, { createCollection: { name: 'large' } })
    await server.command(`${path}/large`, {
      insertOne: { document: { _id: 1, $lexical: 'kept' } },
    })
    const words = entries(defaultLimits.analyzerMemoryMax / 200)
    const lexical = { enabled: true, analyzer: stop(words) }
    await server.stop()
    editCatalog(server.dataDir, (catalog) => {
      catalog
        .prepare("UPDATE target SET options = ? WHERE name = 'large'")
        .run(JSON.stringify({ lexical, rerank: { enabled: false } }))
    })
    server = await startServer({ dataDir: server.dataDir })
    for (const command of [
      { insertOne: { document: { _id: 2, $lexical: 'text' } } },
      { find: { filter: { $lexical: { $match: 'kept' } } } },
      { find: { sort: { $lexical: 'kept' } } },
    ]) {
      const answer = await server.command(`${path}/large`, command)
      assert.deepEqual(answer.codes, ['ANALYZER_TOO_LARGE'], answer.text)
      assert.match(answer.text, /default_keyspace\.large/)
    }
    const found = await server.command(`${path}/large`, { findOne: {} })
    assert.deepEqual(found.body.data?.document, { _id: 1 })
    const inserted = await server.command(`${path}/large`, {
      insertOne: { document: { _id: 3 } },
    })
    assert.deepEqual(inserted.codes, [])
    const listed = await server.command(path, {
      findCollections: { options: { explain: true } },
    })
    assert.ok(listed.text.includes(words))
    const dropped = await server.command(path, { deleteCollection: { name: 'large' } })
    assert.deepEqual(dropped.codes, [])
  } finally {
    await server.close()
  }
})
