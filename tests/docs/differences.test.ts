/** One test for each point of docs/differences.md, by its number. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { Collections, numbered } from '../commands/collections.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

const numbers: number[] = []

function difference(number: number, behaviour: string, run: () => Promise<void>): void {
  numbers.push(number)
  test(`${number}. ${behaviour}`, run)
}

const uuid = '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f'
const objectId = '66f2c46a1b7c3d8e4f5a6b7c'

describe('differences in paging and sorting', () => {
  const collections = new Collections()

  difference(1, 'a page has 20 documents', async () => {
    const target = await collections.create(numbered(45))
    const pages = await target.pages()
    assert.deepEqual(
      pages.map((page) => page.length),
      [20, 20, 5],
    )
    const { status } = await target.run({ updateMany: { update: { $inc: { n: 1 } } } })
    assert.equal(status!['matchedCount'], 20)
  })

  difference(2, 'a sort by values has pages', async () => {
    const target = await collections.create(numbered(45))
    const pages = await target.pages({ sort: { n: -1 } })
    assert.equal(pages.length, 3)
    assert.deepEqual(
      pages.flat().map((document) => document['n']),
      numbered(45).map((_, i) => 44 - i),
    )
  })

  difference(3, 'a sort takes any number of documents', async () => {
    const count = 10_001
    const target = await collections.create(numbered(count))
    const { data } = await target.run({ find: { sort: { even: 1, n: -1 } } })
    assert.deepEqual(data!.documents![0], { _id: 9999, n: 9999, even: false })
    assert.equal(typeof data!.nextPageState, 'string')
  })

  difference(4, 'a full last page is known to be the last', async () => {
    const target = await collections.create(numbered(40))
    for (const clauses of [{}, { sort: { n: 1 } }, { filter: { n: { $gte: 0 } } }])
      assert.deepEqual(
        (await target.pages(clauses)).map((page) => page.length),
        [20, 20],
      )
  })

  difference(5, 'a page state belongs to its query', async () => {
    const target = await collections.create(numbered(45))
    const { data } = await target.run({ find: { filter: { n: { $gte: 0 } } } })
    const pageState = data!.nextPageState
    for (const find of [
      { options: { pageState: 'nonsense' } },
      { filter: { n: { $gte: 1 } }, options: { pageState } },
      { filter: { n: { $gte: 0 } }, sort: { n: 1 }, options: { pageState } },
    ])
      await target.refuse({ find }, 'COMMAND_FIELD_VALUE_INVALID')
  })

  difference(6, 'objects tie in a sort, arrays too, and _id decides', async () => {
    const target = await collections.create([
      { _id: 'd', v: [1] },
      { _id: 'b', v: { z: 1 } },
      { _id: 'c', v: [2, 3] },
      { _id: 'a', v: { y: 2 } },
    ])
    const found = await target.all({ sort: { v: 1 } })
    assert.deepEqual(
      found.map((document) => document['_id']),
      ['a', 'b', 'c', 'd'],
    )
  })
})

describe('differences in filters', () => {
  const collections = new Collections()
  const idsOf = (documents: readonly Record<string, unknown>[]) =>
    documents.map((document) => document['_id']).toSorted()

  difference(7, 'conditions within an element of $or must all hold', async () => {
    const target = await collections.create([
      { _id: 1, a: 1, b: 2 },
      { _id: 2, a: 1, b: 3 },
      { _id: 3, a: 2, b: 2 },
    ])
    assert.deepEqual(idsOf(await target.all({ filter: { $or: [{ a: 1, b: 2 }] } })), [1])
  })

  difference(8, '$not over $size matches documents without the path', async () => {
    const target = await collections.create([
      { _id: 1, x: [1] },
      { _id: 2, x: [1, 2] },
      { _id: 3 },
    ])
    assert.deepEqual(
      idsOf(await target.all({ filter: { $not: { x: { $size: 2 } } } })),
      [1, 3],
    )
  })

  difference(9, 'a range over strings matches strings only', async () => {
    const target = await collections.create([
      { _id: 1, x: 'b' },
      { _id: 2, x: ['b'] },
      { _id: 3, x: { b: 'b' } },
    ])
    assert.deepEqual(idsOf(await target.all({ filter: { x: { $gte: '' } } })), [1])
  })

  difference(10, 'any id can be compared in any way', async () => {
    const target = await collections.create([
      { _id: { $uuid: uuid } },
      { _id: { $objectId: objectId } },
      { _id: { $date: 5 } },
      { _id: true },
    ])
    const count = async (condition: object) =>
      (await target.run({ countDocuments: { filter: { _id: condition } } })).status![
        'count'
      ]
    assert.equal(await count({ $ne: { $uuid: uuid } }), 3)
    assert.equal(await count({ $nin: [{ $objectId: objectId }, true] }), 2)
    assert.equal(await count({ $gt: { $uuid: uuid } }), 1)
    assert.equal(await count({ $lte: { $objectId: objectId } }), 2)
    assert.equal(await count({ $gt: { $date: 4 } }), 1)
  })

  difference(11, 'typed elements of arrays are found', async () => {
    const target = await collections.create([
      { _id: 1, x: [{ $uuid: uuid }] },
      { _id: 2, x: [{ $objectId: objectId }] },
    ])
    assert.deepEqual(idsOf(await target.all({ filter: { x: { $uuid: uuid } } })), [1])
    assert.deepEqual(
      idsOf(await target.all({ filter: { x: { $objectId: objectId } } })),
      [2],
    )
  })

  difference(12, 'countDocuments counts a list of ids in full', async () => {
    const target = await collections.create(numbered(5))
    for (const [ids, count] of [
      [[0, 2, 4, 9], 3],
      [[], 0],
    ] as const) {
      const { status } = await target.run({
        countDocuments: { filter: { _id: { $in: ids } } },
      })
      assert.equal(status!['count'], count)
    }
  })

  difference(13, 'a misused search field is refused', async () => {
    const target = await collections.create([], { vector: { dimension: 2 } })
    for (const filter of [
      { $vector: [1, 2] },
      { $vector: { $eq: [1, 2] } },
      { $vectorize: { $in: ['text'] } },
    ])
      await target.refuse({ find: { filter } }, 'FILTER_INVALID_EXPRESSION')
  })
})

describe('differences in documents', () => {
  const collections = new Collections()

  difference(14, 'a field cannot be called *', async () => {
    const target = await collections.create()
    for (const document of [{ '*': 1 }, { a: [{ '*': 1 }] }])
      await target.refuse({ insertOne: { document } }, 'SHRED_BAD_FIELD_NAME')
  })

  difference(15, 'equal numbers are equal ids', async () => {
    const target = await collections.create([{ _id: 100 }])
    await target.refuse(
      '{"insertOne": {"document": {"_id": 1e2}}}',
      'DOCUMENT_ALREADY_EXISTS',
    )
  })

  difference(16, 'every number has one spelling, and all its digits', async () => {
    const target = await collections.create()
    const sent =
      '{"_id": "n", "a": 1.0, "b": 1E2, "c": 0.1234567890123456789, "d": 9007199254740993}'
    await target.send(`{"insertOne": {"document": ${sent}}}`)
    const { text } = await target.send({ findOne: {} })
    assert.equal(
      text,
      '{"data":{"document":{"_id":"n","a":1,"b":100,"c":0.1234567890123456789,' +
        '"d":9007199254740993}}}',
    )
  })

  difference(17, '$vector cannot be set where there are no vectors', async () => {
    const target = await collections.create([{ _id: 1 }])
    const update = { $set: { $vector: [1, 2] } }
    await target.refuse({ updateOne: { update } }, 'VECTOR_SEARCH_NOT_SUPPORTED')
  })
})

describe('differences in updates', () => {
  const collections = new Collections()

  difference(18, 'all overlaps are found', async () => {
    const target = await collections.create([{ _id: 1 }])
    const update = { $set: { a: 1, 'b.c': 1, 'b.c.d': 1 } }
    await target.refuse({ updateOne: { update } }, 'UNSUPPORTED_UPDATE_OPERATION_PARAM')
  })

  difference(19, '$vector and $vectorize exclude each other in an update', async () => {
    const target = await collections.create([{ _id: 1 }], { vector: { dimension: 2 } })
    const update = { $set: { $vector: [1, 2] }, $unset: { $vectorize: '' } }
    await target.refuse({ updateOne: { update } }, 'INVALID_USAGE_OF_VECTORIZE')
  })

  difference(20, 'an upsert takes over equalities only', async () => {
    const target = await collections.create()
    await target.run({
      updateOne: {
        filter: { _id: { $in: ['a', 'b'] }, x: { $ne: null }, y: { $ne: { z: 1 } } },
        update: { $set: { n: 1 } },
        options: { upsert: true },
      },
    })
    const [document] = await target.all()
    assert.deepEqual(Object.keys(document!), ['_id', 'n'])
    assert.match(String(document!['_id']), /^[0-9a-f-]{36}$/)
  })

  difference(21, 'updates of one document queue', async () => {
    const target = await collections.create([{ _id: 'counter', n: 0 }])
    const increment = () => target.run({ updateOne: { update: { $inc: { n: 1 } } } })
    await Promise.all(Array.from({ length: 50 }, increment))
    assert.deepEqual(await target.all(), [{ _id: 'counter', n: 50 }])
  })
})

describe('differences in keyspaces, collections and counts', () => {
  const collections = new Collections()

  difference(22, 'there can be more than ten collections', async () => {
    for (let i = 0; i < 12; i++) await collections.create()
    const { body } = await collections.server.command('/default_keyspace', {
      findCollections: {},
    })
    assert((body.status!['collections'] as unknown[]).length >= 12)
  })

  difference(23, 'reranking is on unless it is switched off', async () => {
    const { server } = collections
    const create = (name: string, headers = {}) =>
      server.command('/default_keyspace', { createCollection: { name } }, headers)
    await create('reranked')
    await create('plain', { 'Feature-Flag-reranking': 'false' })
    const { body } = await server.command('/default_keyspace', {
      findCollections: { options: { explain: true } },
    })
    const found = body.status!['collections'] as {
      name: string
      options: { rerank: { enabled: boolean } }
    }[]
    const enabled = (name: string) =>
      found.find((collection) => collection.name === name)!.options.rerank.enabled
    assert.equal(enabled('reranked'), true)
    assert.equal(enabled('plain'), false)
  })

  difference(24, 'estimatedDocumentCount is exact', async () => {
    const target = await collections.create(numbered(250))
    await target.run({ deleteOne: { filter: { _id: 7 } } })
    const { status } = await target.run({ estimatedDocumentCount: {} })
    assert.deepEqual(status, { count: 249 })
  })

  difference(25, 'findKeyspaces shows no system keyspaces', async () => {
    const { body } = await collections.server.command('', { findKeyspaces: {} })
    assert.deepEqual(body.status, { keyspaces: ['default_keyspace'] })
  })

  difference(26, 'replication is checked and has no effect', async () => {
    const create = (replication: object) =>
      collections.server.command('', {
        createKeyspace: { name: 'copies', options: { replication } },
      })
    const refused = await create({ class: 'Nonsense' })
    assert.deepEqual(refused.codes, ['COMMAND_FIELD_VALUE_INVALID'])
    const created = await create({ class: 'NetworkTopologyStrategy', elsewhere: 3 })
    assert.equal(created.text, '{"status":{"ok":1}}')
  })
})

describe('differences in HTTP', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  const findKeyspaces = (headers: Record<string, string>, path = '/v1') =>
    server.send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: '{"findKeyspaces": {}}',
    })

  difference(27, 'both /v1 and /api/json/v1 are served', async () => {
    const short = await findKeyspaces({ Token: testToken })
    const long = await findKeyspaces({ Token: testToken }, '/api/json/v1')
    assert.equal(short.http, 200)
    assert.equal(long.text, short.text)
  })

  difference(28, 'other methods are answered with 405 on all levels', async () => {
    for (const path of ['/v1', '/v1/default_keyspace', '/v1/default_keyspace/books']) {
      const { http } = await server.send(path, { headers: { Token: testToken } })
      assert.equal(http, 405, path)
    }
  })

  difference(29, 'an empty token is not a valid token', async () => {
    const answer = await findKeyspaces({ Token: '' })
    assert.equal(answer.http, 401)
    assert.deepEqual(answer.codes, ['UNAUTHENTICATED_REQUEST'])
  })

  difference(30, 'Authorization: Bearer is read as well', async () => {
    const answer = await findKeyspaces({ Authorization: `Bearer ${testToken}` })
    assert.equal(answer.http, 200)
  })
})

describe('differences in finding and changing', () => {
  const collections = new Collections()

  difference(31, 'a command for one document looks on', async () => {
    const jobs = await collections.create(
      Array.from({ length: 20 }, (_, i) => ({ _id: i, state: 'waiting' })),
    )
    const taken = await Promise.all(
      Array.from({ length: 25 }, async () => {
        const { data } = await jobs.run({
          findOneAndUpdate: {
            filter: { state: 'waiting' },
            sort: { _id: 1 },
            update: { $set: { state: 'taken' } },
          },
        })
        return data!.document?.['_id'] as number | undefined
      }),
    )
    const found = taken.filter((id) => id !== undefined)
    assert.deepEqual(
      found.toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => i),
    )
  })

  difference(32, 'includeSortVector does not end a find', async () => {
    const target = await collections.create(numbered(45))
    const pages = await target.pages({}, { includeSortVector: true })
    assert.equal(pages.flat().length, 45)
  })
})

describe('differences in what is too much', () => {
  const collections = new Collections()

  difference(33, 'clauses have a size', async () => {
    const target = await collections.create([{ _id: 1 }])
    const filter = { $or: Array.from({ length: 10_001 }, () => ({})) }
    await target.refuse({ find: { filter } }, 'COMMAND_FIELD_VALUE_INVALID')
    const { data } = await target.run({ find: { filter: { $or: filter.$or.slice(2) } } })
    assert.equal(data!.documents!.length, 1)
  })
})

test('every numbered difference has its test, and the other way round', async () => {
  const file = new URL('../../docs/differences.md', import.meta.url)
  const listed = [...(await readFile(file, 'utf8')).matchAll(/^(\d+)\. /gm)]
  assert.deepEqual(
    numbers,
    listed.map(([, number]) => Number(number)),
  )
})
