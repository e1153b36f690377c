/**
 * Floating-point numbers are printed with a fraction (1.0, not 1), because clients use the fraction
 * to distinguish them from integers. Replies are compared as text, since JavaScript does not
 * distinguish 1.0 from 1.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { editCatalog } from '../engine/embedded/catalog/edit-catalog.ts'
import { startServer } from '../harness.ts'
import { isEmbedded } from '../test-engine.ts'
import { Collections } from './collections.ts'
import { WrittenTables } from './written-tables.ts'

/** The part of a reply between `from` and `to`. */
function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from)
  assert(start >= 0, `${from} is not in ${text}`)
  return text.slice(start + from.length, text.indexOf(to, start + from.length))
}

describe('commands on tables', () => {
  const tables = new WrittenTables()

  const every = {
    columns: {
      id: 'int',
      b: 'bigint',
      d: 'double',
      f: 'float',
      l: { type: 'list', valueType: 'double' },
      mk: { type: 'map', keyType: 'float', valueType: 'int' },
      mv: { type: 'map', keyType: 'text', valueType: 'float' },
      n: 'decimal',
      s: { type: 'set', valueType: 'float' },
      u: { type: 'userDefined', udtName: 'point' },
      ul: { type: 'list', valueType: { type: 'userDefined', udtName: 'point' } },
      vi: 'varint',
    },
    primaryKey: 'id',
  }
  const row =
    '{"id":1,"b":2,"d":3,"f":4,"l":[1,2.5,-3],"mk":[[2,7]],"mv":{"a":1},"n":5,' +
    '"s":[2,1],"u":{"x":1,"n":1},"ul":[{"x":2}],"vi":1e3}'
  const shown =
    '{"id":1,"b":2,"d":3.0,"f":4.0,"l":[1.0,2.5,-3.0],"mk":[[2.0,7]],"mv":{"a":1.0},' +
    '"n":5,"s":[1.0,2.0],"u":{"x":1.0,"n":1},"ul":[{"x":2.0}],"vi":1000}'

  async function createPoint(): Promise<void> {
    const createType = {
      name: 'point',
      definition: { fields: { x: 'double', n: 'int' } },
      options: { ifNotExists: true },
    }
    await tables.keyspace({ createType })
  }

  test('return floats and doubles, but no other numbers, in floating-point form at every nesting level', async () => {
    await createPoint()
    const table = await tables.create(every)
    await table.send(`{"insertOne":{"document":${row}}}`)
    for (const find of ['find', 'findOne']) {
      const { text } = await table.send(`{"${find}":{"filter":{"id":1}}}`)
      assert(text.includes(shown), text)
    }
    const { text } = await table.send({ find: { projection: { d: 1, f: 1 } } })
    assert(text.includes('[{"d":3.0,"f":4.0}]'), text)
    await tables.restart()
    const later = await table.send({ find: {} })
    assert(later.text.includes(shown), later.text)
  })

  test('return updated rows with floats in floating-point form', async () => {
    const table = await tables.create({
      columns: {
        id: 'int',
        d: 'double',
        l: { type: 'list', valueType: 'float' },
        t: 'text',
      },
      primaryKey: 'id',
    })
    await table.send('{"insertOne":{"document":{"id":1,"d":3,"l":[1]}}}')
    const update = { $set: { t: 'x' }, $push: { l: 2 } }
    await table.run({ updateOne: { filter: { id: 1 }, update } })
    const made = { $set: { d: 7 } }
    await table.run({ updateOne: { filter: { id: 2 }, update: made } })
    const { text } = await table.send({ find: {} })
    assert(text.includes('{"id":1,"d":3.0,"l":[1.0,2.0],"t":"x"},{"id":2,"d":7.0}'), text)
  })

  test('return floats of any magnitude as valid JSON in floating-point form', async () => {
    const table = await tables.create({
      columns: { id: 'int', d: 'double', f: 'float' },
      primaryKey: 'id',
    })
    for (const [id, [sent, double, float]] of [
      ['0', '0.0', '0.0'],
      ['-0.0', '0.0', '0.0'],
      ['-7', '-7.0', '-7.0'],
      ['1e20', '100000000000000000000.0', '100000000000000000000.0'],
      ['1e21', '1e+21', '1e+21'],
      ['123456789012345678', '123456789012345680.0', '123456790000000000.0'],
      ['1e-7', '1e-7', '1e-7'],
      ['3.4e38', '3.4e+38', '3.4e+38'],
      ['16777217', '16777217.0', '16777216.0'],
      ['1e39', '1e+39', '"Infinity"'],
      ['-1e400', '"-Infinity"', '"-Infinity"'],
      ['5e-324', '5e-324', '0.0'],
      ['"NaN"', '"NaN"', '"NaN"'],
      ['"-Infinity"', '"-Infinity"', '"-Infinity"'],
    ].entries()) {
      const document = `{"id":${id},"d":${sent!},"f":${sent!}}`
      await table.send(`{"insertOne":{"document":${document}}}`)
      const { text, body } = await table.send({ find: { filter: { id } } })
      assert.equal(between(text, '"d":', ','), double, sent)
      assert.equal(between(text, '"f":', '}'), float, sent)
      const again = await table.run({
        find: { filter: { d: body.data!.documents![0]!['d'] } },
      })
      assert(
        again.data!.documents!.some((found) => found['id'] === id),
        sent,
      )
    }
  })

  test('return keys of inserted rows in floating-point form, and find rows by these keys', async () => {
    const table = await tables.create({
      columns: { d: 'double', f: 'float', v: { type: 'vector', dimension: 2 }, t: 'text' },
      primaryKey: { partitionBy: ['d'], partitionSort: { f: -1, v: 1 } },
    })
    const documents = [1, 2, 3].map((f) => ({ d: 1, f, v: [0, f], t: 'x' }))
    const inserted = await table.send({ insertMany: { documents } })
    const ids = '[[1.0,1.0,[0.0,1.0]],[1.0,2.0,[0.0,2.0]],[1.0,3.0,[0.0,3.0]]]'
    assert(inserted.text.includes(`"insertedIds":${ids}`), inserted.text)
    const options = { returnDocumentResponses: true }
    const each = await table.send({ insertMany: { documents, options } })
    assert(each.text.includes('"_id":[1.0,3.0,[0.0,3.0]],"status":"OK"'), each.text)

    const all = await table.send({ find: { filter: { d: 1 } } })
    assert(all.text.includes('{"d":1.0,"f":3.0,"v":[0.0,3.0],"t":"x"}'), all.text)
    assert.equal(all.body.data!.documents!.length, 3)
    const filter = { d: 1, f: 2, v: [0, 2] }
    await table.run({ updateOne: { filter, update: { $set: { t: 'y' } } } })
    assert.deepEqual((await table.run({ findOne: { filter: { d: 1, f: 2 } } })).data, {
      document: { ...filter, t: 'y' },
    })
    await table.run({ deleteOne: { filter } })
    assert.equal((await table.all()).length, 2)
  })

  test('treat a negative zero in a key vector as zero', async () => {
    const table = await tables.create({
      columns: { v: { type: 'vector', dimension: 2 }, t: 'text' },
      primaryKey: 'v',
    })
    const bytes = Buffer.alloc(8)
    bytes.writeFloatBE(-0, 0)
    bytes.writeFloatBE(1, 4)
    const v = { $binary: bytes.toString('base64') }
    await table.run({ insertOne: { document: { v, t: 'x' } } })
    await table.run({ insertOne: { document: { v: [0, 1], t: 'y' } } })
    assert.deepEqual(await table.all(), [{ v: [0, 1], t: 'y' }])
    await table.run({ deleteOne: { filter: { v } } })
    assert.deepEqual(await table.all(), [])
  })

  test('return vectors, similarities and the sort vector in floating-point form', async () => {
    const table = await tables.create({
      columns: { id: 'int', v: { type: 'vector', dimension: 2 } },
      primaryKey: 'id',
    })
    await table.run({ createVectorIndex: { name: 'by_v', definition: { column: 'v' } } })
    await table.insert({ id: 1, v: [1, 0] }, { id: 2, v: [-2, 0] })
    const options = { includeSimilarity: true, includeSortVector: true }
    for (const command of ['find', 'findOne']) {
      const { text } = await table.send({ [command]: { sort: { v: [1, 0] }, options } })
      assert(text.includes('{"id":1,"v":[1.0,0.0],"$similarity":1.0}'), text)
      assert(text.includes('"sortVector":[1.0,0.0]'), text)
    }
    const { text } = await table.send({ find: { sort: { v: [1, 0] }, options } })
    assert(text.includes('{"id":2,"v":[-2.0,0.0],"$similarity":0.0}'), text)
  })

  test('order and filter rows by doubles that were sent as integers', async () => {
    const table = await tables.create({
      columns: { id: 'int', d: 'double' },
      primaryKey: { partitionBy: ['id'], partitionSort: { d: 1 } },
    })
    await table.insert(...Array.from({ length: 50 }, (_, d) => ({ id: 1, d: 25 - d })))
    const pages = await table.pages({ filter: { id: 1 } })
    assert.deepEqual(
      pages.flat().map(({ d }) => d),
      Array.from({ length: 50 }, (_, d) => d - 24),
    )
    for (const [filter, count] of [
      [{ d: 3 }, 1],
      [{ d: { $in: [1, 2, 99] } }, 2],
      [{ d: { $gt: 23 } }, 2],
      [{ d: { $ne: 3 } }, 49],
    ] as const)
      assert.equal((await table.all({ filter })).length, count)
  })

  test('return renamed and added fields of a type in floating-point form', async () => {
    await createPoint()
    const u = { type: 'userDefined', udtName: 'point' }
    const table = await tables.create({ columns: { id: 'int', u }, primaryKey: 'id' })
    await table.insert({ id: 1, u: { x: 1, n: 2 } })
    const rename = { fields: { x: 'east' } }
    const add = { fields: { x: 'int', up: 'float' } }
    await tables.keyspace({ alterType: { name: 'point', rename, add } })
    await table.insert({ id: 2, u: { east: 3, x: 4, up: 5 } })
    const { text } = await table.send({ find: {} })
    assert(text.includes('"u":{"east":1.0,"n":2}'), text)
    assert(text.includes('"u":{"east":3.0,"x":4,"up":5.0}'), text)
  })
})

/**
 * Converts a data folder to the format of version 0.1. In it, the definition of a table does not
 * state whether rows store floating-point numbers with a fraction, and rows contain 1 instead of
 * 1.0.
 */
function becomeVersion01(dataDir: string): void {
  editCatalog(dataDir, (catalog) => {
    const targets = catalog.prepare("SELECT * FROM target WHERE kind = 'table'").all()
    for (const { uid, options, folder } of targets) {
      const marked = String(options)
      assert(marked.includes(',"floatsTyped":true'), marked)
      const unmarked = marked.replaceAll(',"floatsTyped":true', '')
      catalog.prepare('UPDATE target SET options = ? WHERE uid = ?').run(unmarked, uid!)
      const file = join(dataDir, 'default_keyspace', String(folder), 'store.db')
      const store = new DatabaseSync(file)
      for (const { seq, text } of store.prepare('SELECT seq, text FROM doc').all()) {
        const old = String(text).replaceAll(/(?<=\d)\.0(?=[,\]}])/g, '')
        assert.notEqual(old, text)
        store
          .prepare('UPDATE doc SET text = ?, checksum = NULL WHERE seq = ?')
          .run(old, seq!)
      }
      store.close()
    }
  })
}

if (isEmbedded)
  test('return floats of a data folder of version 0.1 in floating-point form', async (t) => {
    const path = '/default_keyspace/readings'
    let server = await startServer()
    t.after(() => server.close())
    const definition = {
      columns: {
        id: 'int',
        d: 'double',
        l: { type: 'list', valueType: 'float' },
        t: 'text',
      },
      primaryKey: { partitionBy: ['id'], partitionSort: { d: 1 } },
    }
    const command = (body: object) => server.command(path, body)
    await server.command('/default_keyspace', {
      createTable: { name: 'readings', definition },
    })
    await command({ createIndex: { name: 'by_l', definition: { column: 'l' } } })
    const documents = [1, 2, 3].map((d) => ({ id: 1, d, l: [d, 0.5], t: 'x' }))
    await command({ insertMany: { documents } })
    const page = await command({ find: { filter: { id: 1 } } })

    const { dataDir } = server
    await server.stop()
    becomeVersion01(dataDir)
    server = await startServer({ dataDir })
    const opened = await command({ find: { filter: { id: 1 } } })
    assert.equal(opened.text, page.text)
    assert(opened.text.includes('{"id":1,"d":2.0,"l":[2.0,0.5],"t":"x"}'), opened.text)

    // Filters and keys with integers still match rows of the old format.
    const filter = { id: 1, d: 2 }
    await command({ updateOne: { filter, update: { $push: { l: 7 } } } })
    await command({ insertOne: { document: { id: 1, d: 3, t: 'y' } } })
    await command({ deleteOne: { filter: { id: 1, d: 1 } } })
    const found = await command({ find: { filter: { l: { $in: [7, 3] } } } })
    assert(
      found.text.includes(
        '[{"id":1,"d":2.0,"l":[2.0,0.5,7.0],"t":"x"},{"id":1,"d":3.0,"l":[3.0,0.5],"t":"y"}]',
      ),
      found.text,
    )

    // A column that is added now is printed in the same form as the older columns.
    await command({ alterTable: { operation: { add: { columns: { f: 'float' } } } } })
    await command({ updateOne: { filter, update: { $set: { f: 1 } } } })
    const { text } = await command({ findOne: { filter } })
    assert(text.includes('{"id":1,"d":2.0,"f":1.0,"l":[2.0,0.5,7.0],"t":"x"}'), text)
  })

describe('commands on collections', () => {
  const collections = new Collections()
  const vector = { dimension: 2, metric: 'cosine' }

  test('return similarities, sort vectors and $vector in floating-point form, and other numbers as sent', async () => {
    const documents = [
      { _id: 1, n: 1, $vector: [1, 0] },
      { _id: 2, n: 1e3, $vector: [-1, 0] },
    ]
    const collection = await collections.create(documents, { vector })
    const options = { includeSimilarity: true, includeSortVector: true }
    const sort = { $vector: [1, 0] }
    for (const command of ['find', 'findOne']) {
      const { text } = await collection.send({ [command]: { sort, options } })
      assert(text.includes('{"_id":1,"n":1,"$similarity":1.0}'), text)
      assert(text.includes('"sortVector":[1.0,0.0]'), text)
    }
    const projection = { $vector: 1 }
    const found = await collection.send({ find: { sort, projection, options } })
    assert(
      found.text.includes('"_id":1,"n":1,"$vector":[1.0,0.0],"$similarity":1.0'),
      found.text,
    )
    assert(
      found.text.includes('"_id":2,"n":1000,"$vector":[-1.0,0.0],"$similarity":0.0'),
      found.text,
    )

    const filter = { _id: 1 }
    const update = { $set: { n: 2 } }
    const changed = await collection.send({
      findOneAndUpdate: {
        filter,
        update,
        projection,
        options: { returnDocument: 'after' },
      },
    })
    assert(changed.text.includes('"n":2,"$vector":[1.0,0.0]'), changed.text)
    const again = { $set: { $vector: [1, 0] } }
    const same = await collection.run({ updateOne: { filter, update: again } })
    assert.deepEqual(same.status, { matchedCount: 1, modifiedCount: 0 })
  })

  test('return every digit of a $vector, and $binary unchanged', async () => {
    const bytes = Buffer.alloc(8)
    bytes.writeFloatBE(1, 0)
    const $binary = bytes.toString('base64')
    const collection = await collections.create(
      [
        { _id: 1, $vector: [0.1, 16777217] },
        { _id: 2, $vector: { $binary } },
      ],
      { vector },
    )
    const { text } = await collection.send({ find: { projection: { $vector: 1 } } })
    assert(text.includes('"$vector":[0.1,16777217.0]'), text)
    assert(text.includes(`"$vector":{"$binary":"${$binary}"}`), text)
  })
})
