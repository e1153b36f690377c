/** Tables after a restart on the same data. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { date, Table, UUID, vector, type InferTableSchema } from '@datastax/astra-db-ts'
import { Service } from './client.ts'
import { everyRow } from './tables.ts'

const service = await Service.start()

const goods = Table.schema({
  columns: {
    shop: 'text',
    n: 'int',
    name: 'text',
    price: 'decimal',
    since: 'date',
    key: 'uuid',
    tags: { type: 'set', valueType: 'text' },
    made: { type: 'userDefined', udtName: 'origin' },
    v: { type: 'vector', dimension: 2 },
    gone: 'text',
  },
  primaryKey: { partitionBy: ['shop'], partitionSort: { n: -1 } },
})

type Good = InferTableSchema<typeof goods>

test('schemas, rows and searches survive a restart', async () => {
  const db = service.connect()
  await db.admin({ environment: 'hcd' }).createKeyspace('shop')
  db.useKeyspace('shop')
  const fields = { land: 'text', year: 'int' }
  await db.createType('origin', { definition: { fields } })
  const table = await db.createTable('goods', { definition: goods })
  await table.createIndex('goods_name', 'name')
  await table.createIndex('goods_tags', 'tags')
  await table.createVectorIndex('goods_v', 'v', { options: { metric: 'euclidean' } })
  await table.createTextIndex('goods_words', 'name', { options: { analyzer: 'english' } })
  const rows = Array.from({ length: 60 }, (_, n): Good => {
    return {
      shop: n < 40 ? 'a' : 'b',
      n,
      name: n % 2 === 0 ? `Red chairs ${n}` : `Blue table ${n}`,
      since: date('2020-01-01'),
      key: UUID.v7(),
      tags: new Set(['all', `t${n % 3}`]),
      made: { land: 'here', year: 1900 + n },
      v: vector([n, 1]),
      gone: 'soon',
    }
  })
  await table.insertMany(rows)
  await table.deleteMany({ shop: 'a', n: { $lt: 5 } })
  await table.updateOne({ shop: 'a', n: 5 }, { $set: { name: 'Green chair' } })
  await table.updateOne({ shop: 'c', n: 1 }, { $push: { tags: 'pushed' } })
  await table.alter({ operation: { drop: { columns: ['gone'] } } })
  await table.alter({ operation: { add: { columns: { more: 'int' } } } })
  await db.alterType('origin', { operation: { rename: { fields: { land: 'country' } } } })
  await db.createTable('dropped', { definition: goods })
  await db.dropTable('dropped')

  const look = async () => {
    const again = service.connect()
    again.useKeyspace('shop')
    const kept = again.table<Good>('goods')
    const indexes = await kept.listIndexes()
    const search = (sort: Record<string, number[] | string>) =>
      kept.find({}, { sort, limit: 8, projection: { n: 1 } }).toArray()
    const tagged: object = { tags: { $in: ['t1', 'pushed'] } }
    return {
      tables: await again.listTables(),
      types: await again.listTypes(),
      indexes: indexes.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      rows: await everyRow(kept, 'n'),
      named: await kept.find({ name: 'Green chair' }).toArray(),
      tagged: (await kept.find(tagged).toArray()).length,
      near: await search({ v: [20.2, 1] }),
      words: (await search({ name: 'chair' })).length,
    }
  }
  const before = await look()
  const { nextPageState } = await table.find({ shop: 'a' }).fetchNextPage()
  assert.deepEqual(
    before.near.map(({ n }) => n),
    [20, 21, 19, 22, 18, 23, 17, 24],
  )
  assert.equal(before.rows.length, 56)
  assert.equal(before.tagged, 19)
  assert.equal(before.words, 8)

  await service.restart()

  assert.deepEqual(await look(), before)
  const again = service.connect()
  again.useKeyspace('shop')
  const kept = again.table<Good>('goods')
  const rest = kept.find({ shop: 'a' }).initialPageState(nextPageState!)
  const all = await kept.find({ shop: 'a' }).toArray()
  assert.deepEqual(await rest.toArray(), all.slice(20))
  await kept.updateOne({ shop: 'c', n: 1 }, { $unset: { tags: '' } })
  assert.equal(await kept.findOne({ shop: 'c', n: 1 }), null)
  await kept.insertOne({ shop: 'c', n: 2, name: 'a chair', v: vector([500, 1]) })
  const far = await kept.findOne({}, { sort: { v: vector([500, 1]) } })
  assert.equal(far!.n, 2)
  const words = await kept.find({ shop: 'c' }, { sort: { name: 'chairs' } }).toArray()
  assert.equal(words.length, 1)
})
