/** Documents that were written by plain CQL and therefore have no version. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { types, type Client } from 'cassandra-driver'
import type { Engine } from '../../src/engine/contract.ts'
import { Store } from '../engine/store.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clientOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

describe('a document written by CQL', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer
  let client: Client

  const send = async (body: object) => {
    const { codes, text, body: answered } = await server.command(path, body)
    assert.deepEqual(codes, [], text)
    return answered
  }
  const path = '/default_keyspace/notes'

  const write = async (type: number, key: string, document: object) => {
    const text = 'INSERT INTO notes (key, doc_json, exist_keys) VALUES (?, ?, ?)'
    const paths = Object.keys(document)
    const values = [new types.Tuple(type, key), JSON.stringify(document), paths]
    await client.execute(text, values, { prepare: true })
  }
  const writeText = (id: string, fields: object = {}) =>
    write(1, id, { _id: id, ...fields })

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    client = clientOf(await testNode(), { keyspace: keyspaces.nameOf('default_keyspace') })
    const { codes } = await server.command('/default_keyspace', {
      createCollection: { name: 'notes' },
    })
    assert.deepEqual(codes, [])
    const options = { vector: { dimension: 2, metric: 'dot_product' } }
    const { codes: more } = await server.command('/default_keyspace', {
      createCollection: { name: 'places', options },
    })
    assert.deepEqual(more, [])
  })

  after(async () => {
    await client.shutdown()
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  test('gets a version with its first update', async () => {
    await writeText('plain', { n: 1, $lexical: 'old words' })
    const filter = { _id: 'plain' }
    for (let times = 0; times < 2; times++) {
      const { status } = await send({ updateOne: { filter, update: { $inc: { n: 1 } } } })
      assert.deepEqual(status, { matchedCount: 1, modifiedCount: 1 })
    }
    const update = { $set: { $lexical: 'new words' } }
    await send({ updateOne: { filter, update } })
    const found = await send({ find: { filter: { $lexical: { $match: 'new' } } } })
    assert.deepEqual(found.data!.documents, [{ _id: 'plain', n: 3 }])
  })

  test('is replaced and deleted, with any type of _id', async () => {
    await write(2, '1E+2', { _id: 100, n: 1 })
    const replacement = { n: 2 }
    await send({ findOneAndReplace: { filter: { _id: 100 }, replacement } })
    const found = await send({ findOne: { filter: { _id: 100 } } })
    assert.deepEqual(found.data!.document, { _id: 100, n: 2 })
    await write(2, '2E+2', { _id: 200, n: 1 })
    const deleted = await send({ deleteOne: { filter: { _id: 200 } } })
    assert.deepEqual(deleted.status, { deletedCount: 1 })
    await writeText('one', { old: true })
    await writeText('two', { old: true })
    const some = await send({ deleteMany: { filter: { old: { $exists: true } } } })
    assert.deepEqual(some.status, { deletedCount: 2 })
    const none = await send({ findOne: { filter: { _id: { $in: [200, 'one', 'two'] } } } })
    assert.equal(none.data!.document, null)
  })

  test('keeps all changes of concurrent updates', async () => {
    await writeText('counted', { n: 0 })
    const filter = { _id: 'counted' }
    const inc = () => send({ updateOne: { filter, update: { $inc: { n: 1 } } } })
    await Promise.all([inc(), inc(), inc()])
    const { data } = await send({ findOne: { filter } })
    assert.equal(data!.document!['n'], 3)
  })

  test('can be changed only together with its vector when the index rejects that vector', async () => {
    const text = 'INSERT INTO places (key, doc_json) VALUES (?, ?)'
    const values = [new types.Tuple(1, 'far'), '{"_id":"far","$vector":[1e20,1]}']
    await client.execute(text, values, { prepare: true })
    const change = (fields: object) =>
      server.command('/default_keyspace/places', {
        updateOne: { filter: { _id: 'far' }, update: { $set: fields } },
      })
    const refused = await change({ n: 1 })
    assert.deepEqual(refused.codes, ['UNSUPPORTED_DATABASE_QUERY'], refused.text)
    assert.match(refused.text, /\$vector cannot be indexed: element 0/)
    const { codes, text: answer } = await change({ n: 1, $vector: [1, 1] })
    assert.deepEqual(codes, [], answer)
  })

  test('is reported as unparseable when its text is not a valid document', async () => {
    const filter = { _id: 'none' }
    const update = { $set: { n: 1 } }
    for (const stored of [
      '{"_id":',
      '[1]',
      '{"_id":"none","n":NaN}',
      '{"_id":"none","n":1,"n":2}',
    ]) {
      const text = 'INSERT INTO notes (key, doc_json) VALUES (?, ?)'
      await client.execute(text, [new types.Tuple(1, 'none'), stored], { prepare: true })
      const { codes, text: answer } = await server.command(path, {
        updateOne: { filter, update },
      })
      assert.deepEqual(codes, ['DOCUMENT_FROM_DB_UNPARSEABLE'], answer)
    }
    const text = 'DELETE FROM notes WHERE key = ?'
    await client.execute(text, [new types.Tuple(1, 'none')], { prepare: true })
  })

  test('stays deleted when it is deleted during an update', async () => {
    await writeText('gone')
    const store = await Store.find(engine, 'notes')
    const seen = await store.one('gone')
    assert.equal(await store.delete(seen), 'done')
    assert.equal(await store.replace(seen, { _id: 'gone', n: 1 }), 'conflict')
    assert.equal(await store.delete(seen), 'conflict')
    const { data } = await send({ findOne: { filter: { _id: 'gone' } } })
    assert.equal(data!.document, null)
  })
})
