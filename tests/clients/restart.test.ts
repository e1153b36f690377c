import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UUID, vector, type CreateCollectionOptions } from '@datastax/astra-db-ts'
import { everything, numbered, Service, type Document } from './client.ts'

const service = await Service.start()

test('all data survives a restart', async () => {
  const db = service.connect()
  const admin = db.admin({ environment: 'hcd' })
  await admin.createKeyspace('shop')
  await admin.createKeyspace('dropped')
  await admin.dropKeyspace('dropped')
  const options: CreateCollectionOptions<Document> = {
    keyspace: 'shop',
    defaultId: { type: 'uuidv7' },
    indexing: { deny: ['notes'] },
    vector: { dimension: 2 },
  }
  const goods = await db.createCollection<Document>('goods', options)
  await db.createCollection('gone')
  await db.dropCollection('gone')
  await goods.insertMany([
    ...numbered(57),
    { _id: UUID.v7(), at: new Date(5), $vector: vector([1, 2]), $lexical: 'some words' },
  ])
  await goods.updateMany({ even: true }, { $inc: { n: 100 } })
  await goods.deleteMany({ n: { $gt: 140 } })
  const before = await everything(goods)
  const definition = await goods.options()
  const { nextPageState } = await goods.find({}, { sort: { n: 1 } }).fetchNextPage()

  await service.restart()

  const again = service.connect()
  const names = await again.admin({ environment: 'hcd' }).listKeyspaces()
  assert.deepEqual(names, ['default_keyspace', 'shop'])
  assert.deepEqual(await again.listCollections({ nameOnly: true }), [])
  const kept = again.collection<Document>('goods', { keyspace: 'shop' })
  assert.deepEqual(await kept.options(), definition)
  assert.deepEqual(await everything(kept), before)
  const rest = kept.find({}, { sort: { n: 1 }, initialPageState: nextPageState! })
  const all = await kept.find({}, { sort: { n: 1 } }).toArray()
  assert.deepEqual(await rest.toArray(), all.slice(20))
  const { insertedId } = await kept.insertOne({ n: -1 })
  assert(insertedId instanceof UUID)
  await again.createCollection<Document>('goods', options)
})
