/** One test for each point of docs/differences.md, by its number. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { around } from '../../src/engine/around.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { defaultConfig } from '../../src/settings/config.ts'
import { defaultLimits } from '../../src/limits.ts'
import { defaultProviderSettings } from '../../src/providers/provider-settings.ts'
import { AdminServer } from '../admin/admin-server.ts'
import { Collections, numbered, type Target } from '../commands/collections.ts'
import { LetterModels, lettersCollection } from '../commands/letter-models.ts'
import { people, WrittenTables } from '../commands/written-tables.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { encodePageState } from '../../src/paging/page-state.ts'
import { openMemoryEngine } from '../engine/memory/memory-engine.ts'
import { MemoryStore } from '../engine/memory/memory-store.ts'
import { headOf, openConnection, readUntil, requestOf } from '../http/raw-connection.ts'
import { FakeProvider } from '../providers/fake-provider.ts'

const numbers: number[] = []

function difference(number: number, behaviour: string, run: () => Promise<void>): void {
  numbers.push(number)
  test(`${number}. ${behaviour}`, run)
}

const models = await LetterModels.start()
after(() => models.close())

const uuid = '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f'
const objectId = '66f2c46a1b7c3d8e4f5a6b7c'

describe('differences in paging and sorting', () => {
  const collections = new Collections()
  const tables = new WrittenTables()
  const numberedRows = (count: number) =>
    tables.create(
      { columns: { id: 'int', n: 'int' }, primaryKey: 'id' },
      Array.from({ length: count }, (_, i) => ({ id: i, n: i })),
    )

  difference(1, 'a page has 20 documents, not 50', async () => {
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
    for (const sorted of [target, await numberedRows(45)]) {
      const pages = await sorted.pages({ sort: { n: -1 } })
      assert.equal(pages.length, 3)
      assert.deepEqual(
        pages.flat().map(({ n }) => n),
        numbered(45).map((_, i) => 44 - i),
      )
    }
  })

  difference(3, 'a sort accepts any number of documents or rows', async () => {
    const count = 10_001
    const target = await collections.create(numbered(count))
    const { data } = await target.run({ find: { sort: { even: 1, n: -1 } } })
    assert.deepEqual(data!.documents![0], { _id: 9999, n: 9999, even: false })
    assert.equal(typeof data!.nextPageState, 'string')
    const rows = await (await numberedRows(count)).run({ find: { sort: { n: -1 } } })
    assert.deepEqual(rows.data!.documents![0], { id: 10_000, n: 10_000 })
    assert.equal(rows.status!['sortedRowCount'], count)
  })

  difference(4, 'the last page is never empty', async () => {
    const target = await collections.create(numbered(40))
    for (const clauses of [{}, { sort: { n: 1 } }, { filter: { n: { $gte: 0 } } }])
      assert.deepEqual(
        (await target.pages(clauses)).map((page) => page.length),
        [20, 20],
      )
  })

  difference(5, 'a page state is valid only for its query', async () => {
    const target = await collections.create(numbered(45))
    const { data } = await target.run({ find: { filter: { n: { $gte: 0 } } } })
    const pageState = data!.nextPageState
    for (const find of [
      { options: { pageState: 'nonsense' } },
      { filter: { n: { $gte: 1 } }, options: { pageState } },
      { filter: { n: { $gte: 0 } }, sort: { n: 1 }, options: { pageState } },
    ])
      await target.refuse({ find }, 'COMMAND_FIELD_VALUE_INVALID')
    const long = {
      count: 20,
      place: { kind: 'engine', position: 'p'.repeat(999) },
    } as const
    const limits = { ...defaultLimits, bodySizeMax: 999 }
    assert.throws(
      () => encodePageState(long, 'query', { noun: 'document', sort: ['n'], limits }),
      { code: 'UNSUPPORTED_PAGINATION_WITH_LONG_VALUES' },
    )
  })

  difference(6, 'all objects are equal in a sort, and so are all arrays', async () => {
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

  difference(7, 'all conditions in an element of $or must hold', async () => {
    const target = await collections.create([
      { _id: 1, a: 1, b: 2 },
      { _id: 2, a: 1, b: 3 },
      { _id: 3, a: 2, b: 2 },
    ])
    assert.deepEqual(idsOf(await target.all({ filter: { $or: [{ a: 1, b: 2 }] } })), [1])
  })

  difference(8, '$not with $size matches documents without the path', async () => {
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

  difference(9, 'a range of strings matches only strings', async () => {
    const target = await collections.create([
      { _id: 1, x: 'b' },
      { _id: 2, x: ['b'] },
      { _id: 3, x: { b: 'b' } },
    ])
    assert.deepEqual(idsOf(await target.all({ filter: { x: { $gte: '' } } })), [1])
  })

  difference(10, 'all operators accept all types of _id', async () => {
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

  difference(11, 'filters find $uuid and $objectId elements of an array', async () => {
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

  difference(12, 'countDocuments counts all documents of a list of ids', async () => {
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

  difference(13, 'filters on $vector and $vectorize accept only $exists', async () => {
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

  difference(14, 'a field cannot be named *', async () => {
    const target = await collections.create()
    for (const document of [{ '*': 1 }, { a: [{ '*': 1 }] }])
      await target.refuse({ insertOne: { document } }, 'SHRED_BAD_FIELD_NAME')
    for (const filter of [{ '*': 1 }, { 'a.*': 1 }, { a: { '*': 1 } }])
      await target.refuse({ find: { filter } }, 'FILTER_INVALID_EXPRESSION')
    for (const sort of [{ '*': 1 }, { 'a.*': -1 }])
      await target.refuse({ find: { sort } }, 'SORT_CLAUSE_PATH_INVALID')
    for (const update of [
      { $unset: { '*': '' } },
      { $unset: { 'a.*.b': '' } },
      { $set: { '*': 1 } },
      { $rename: { a: '*' } },
    ])
      await target.refuse({ updateOne: { update } }, 'SHRED_BAD_FIELD_NAME')
  })

  difference(15, 'equal numbers are equal ids', async () => {
    const target = await collections.create([{ _id: 100 }])
    await target.refuse(
      '{"insertOne": {"document": {"_id": 1e2}}}',
      'DOCUMENT_ALREADY_EXISTS',
    )
  })

  difference(16, 'every number is returned in one spelling', async () => {
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

  difference(17, '$vector cannot be set in a collection without vectors', async () => {
    const target = await collections.create([{ _id: 1 }])
    const update = { $set: { $vector: [1, 2] } }
    await target.refuse({ updateOne: { update } }, 'VECTOR_SEARCH_NOT_SUPPORTED')
  })
})

describe('differences in updates', () => {
  const collections = new Collections()

  difference(18, 'an update with overlapping paths is always rejected', async () => {
    const target = await collections.create([{ _id: 1 }])
    const update = { $set: { a: 1, 'b.c': 1, 'b.c.d': 1 } }
    await target.refuse({ updateOne: { update } }, 'UNSUPPORTED_UPDATE_OPERATION_PARAM')
  })

  difference(19, 'an update can contain $vector or $vectorize, not both', async () => {
    const target = await collections.create([{ _id: 1 }], { vector: { dimension: 2 } })
    const update = { $set: { $vector: [1, 2] }, $unset: { $vectorize: '' } }
    await target.refuse({ updateOne: { update } }, 'INVALID_USAGE_OF_VECTORIZE')
  })

  difference(20, 'an upsert copies only equalities of the filter', async () => {
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

  difference(21, 'concurrent updates of one document wait for each other', async () => {
    const target = await collections.create([{ _id: 'counter', n: 0 }])
    const increment = () => target.run({ updateOne: { update: { $inc: { n: 1 } } } })
    await Promise.all(Array.from({ length: 50 }, increment))
    assert.deepEqual(await target.all(), [{ _id: 'counter', n: 50 }])
  })
})

describe('differences in keyspaces, collections and counts', () => {
  const collections = new Collections()

  difference(22, 'a server can have more than ten collections', async () => {
    for (let i = 0; i < 12; i++) await collections.create()
    const { body } = await collections.server.command('/default_keyspace', {
      findCollections: {},
    })
    assert((body.status!['collections'] as unknown[]).length >= 12)
  })

  difference(23, 'reranking is on by default', async () => {
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

  difference(25, 'findKeyspaces returns only keyspaces that clients can use', async () => {
    const { body } = await collections.server.command('', { findKeyspaces: {} })
    assert.deepEqual(body.status, { keyspaces: ['default_keyspace'] })
  })

  difference(26, 'replication is validated and has no effect', async () => {
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

  difference(28, 'unsupported HTTP methods get 405 on all paths', async () => {
    for (const path of ['/v1', '/v1/default_keyspace', '/v1/default_keyspace/books']) {
      const { http } = await server.send(path, { headers: { Token: testToken } })
      assert.equal(http, 405, path)
    }
  })

  difference(29, 'an empty token gets 401 and UNAUTHENTICATED_REQUEST', async () => {
    const answer = await findKeyspaces({ Token: '' })
    assert.equal(answer.http, 401)
    assert.deepEqual(answer.codes, ['UNAUTHENTICATED_REQUEST'])
  })

  difference(30, 'Authorization: Bearer is accepted', async () => {
    const answer = await findKeyspaces({ Authorization: `Bearer ${testToken}` })
    assert.equal(answer.http, 200)
  })
})

describe('differences in finding and changing', () => {
  const collections = new Collections()

  difference(
    31,
    'a command for one document continues with the next match after a concurrent change',
    async () => {
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
    },
  )

  difference(32, 'a find with includeSortVector returns all pages', async () => {
    const target = await collections.create(numbered(45))
    const pages = await target.pages({}, { includeSortVector: true })
    assert.equal(pages.flat().length, 45)
  })
})

describe('differences in limits', () => {
  const collections = new Collections()

  difference(33, 'clauses have a maximum size', async () => {
    const target = await collections.create([{ _id: 1 }])
    const filter = { $or: Array.from({ length: 10_001 }, () => ({})) }
    await target.refuse({ find: { filter } }, 'COMMAND_FIELD_VALUE_INVALID')
    const { data } = await target.run({ find: { filter: { $or: filter.$or.slice(2) } } })
    assert.equal(data!.documents!.length, 1)
  })
})

describe('differences in hybrid search', () => {
  const collections = new Collections({}, { providers: models.settings })
  const lenient = new Collections(
    {},
    {
      providers: models.settings,
      features: { ...defaultConfig.features, hybridEligibility: 'vector' },
    },
  )
  const found = async (target: Target, clauses: object = {}) => {
    const { data, status } = await target.run({
      findAndRerank: {
        sort: { $hybrid: 'ant' },
        options: { includeScores: true },
        ...clauses,
      },
    })
    const responses = status!['documentResponses'] as { scores: unknown }[]
    return {
      ids: data!.documents!.map((document) => document['_id']),
      scores: responses.map(({ scores }) => scores as Record<string, number | null>),
    }
  }

  difference(34, 'each search of findAndRerank returns up to limit documents', async () => {
    const ants = Array.from({ length: 60 }, (_, i) => ({ _id: i, $hybrid: 'ant' }))
    const target = await collections.create(ants, lettersCollection)
    models.forget()
    await target.run({ findAndRerank: { sort: { $hybrid: 'ant' } } })
    assert.equal(models.rerankings.flatMap(({ passages }) => passages).length, 10)
    const find = (options: object) => ({
      findAndRerank: { sort: { $hybrid: 'ant' }, options },
    })
    assert.equal((await target.run(find({ limit: 1000 }))).data!.documents!.length, 60)
    await target.refuse(find({ limit: 1001 }), 'COMMAND_FIELD_VALUE_INVALID')
    await target.refuse(find({ hybridLimits: 101 }), 'COMMAND_FIELD_VALUE_INVALID')
  })

  difference(35, 'findAndRerank reranks documents by $lexical', async () => {
    const documents = [
      { _id: 1, $vectorize: 'a', $lexical: 'text' },
      { _id: 2, $vectorize: 'b' },
    ]
    const target = await collections.create(documents, lettersCollection)
    models.forget()
    await found(target, { sort: { $hybrid: 'a' } })
    assert.deepEqual(models.rerankings[0]!.passages, ['text'])
  })

  difference(36, 'findAndRerank requires both $lexical and $vector', async () => {
    const documents = [
      { _id: 1, $vectorize: 'ant' },
      { _id: 2, $lexical: 'ant' },
      { _id: 3, $vectorize: 'ant', $lexical: 'ant' },
    ]
    const target = await collections.create(documents, lettersCollection)
    const options = { includeScores: true }
    const command = { findAndRerank: { sort: { $hybrid: 'ant' }, options } }
    const { data, status } = await target.run(command)
    assert.deepEqual(data!.documents, [{ _id: 3 }])
    assert.equal(status!.warnings![0]!.errorCode, 'HYBRID_SEARCH_MISSING_LEXICAL')
    const among = await lenient.create(documents, lettersCollection)
    assert.deepEqual((await found(among)).ids, [3, 1])
  })

  difference(37, 'the scores of every document include its similarity', async () => {
    const documents = [
      { _id: 1, $vector: [2, 1], $lexical: 'bee' },
      { _id: 2, $vector: [-2, -1], $lexical: 'ant' },
    ]
    const target = await collections.create(documents, lettersCollection)
    const { ids, scores } = await found(target, {
      options: { includeScores: true, hybridLimits: 1 },
    })
    assert.deepEqual(ids, [2, 1])
    assert.deepEqual(
      scores.map(({ $vector, $vectorRank }) => [$vector, $vectorRank]),
      [
        [0, null],
        [1, 1],
      ],
    )
  })

  difference(38, 'findAndRerank returns documents with any type of _id', async () => {
    const ids = [{ $uuid: uuid }, { $objectId: objectId }, { $date: 5 }, true, null, 7]
    const documents = ids.map((_id, i) => ({ _id, $hybrid: 'ant '.repeat(ids.length - i) }))
    const target = await collections.create(documents, lettersCollection)
    assert.deepEqual((await found(target)).ids, ids)
  })

  difference(39, 'requests that findAndRerank cannot execute are rejected', async () => {
    const document = { _id: 1, list: ['ant'], $hybrid: 'ant' }
    const target = await collections.create([document], lettersCollection)
    const rerankQuery = 'ant'
    for (const findAndRerank of [
      { sort: { $hybrid: { $lexical: 'ant' } }, options: { rerankQuery } },
      { sort: { $hybrid: { $vector: [1, 1], $lexical: 'ant' } }, options: { rerankQuery } },
      { sort: { $hybrid: 'ant' }, options: { rerankOn: 'list' } },
    ])
      await target.refuse({ findAndRerank }, 'COMMAND_FIELD_VALUE_INVALID')
  })
})

describe('differences in searches', () => {
  const collections = new Collections({}, { providers: models.settings })
  const sort = { $vectorize: 'ant' }

  difference(
    40,
    'a search by $vectorize rejects skip and a limit above 1 000',
    async () => {
      const target = await collections.create([], lettersCollection)
      for (const options of [{ skip: 0 }, { skip: 1 }, { limit: 1001 }])
        await target.refuse({ find: { sort, options } }, 'COMMAND_FIELD_VALUE_INVALID')
    },
  )

  difference(41, 'an invalid command does not call a provider', async () => {
    const target = await collections.create([], lettersCollection)
    const asked = models.texts.length
    const filter = { a: { $regex: 'x' } }
    await target.refuse({ find: { sort, filter } }, 'FILTER_UNSUPPORTED_OPERATOR')
    const projection = { $x: 1 }
    await target.refuse({ find: { sort, projection } }, 'UNSUPPORTED_PROJECTION_PARAM')
    assert.equal(models.texts.length, asked)
  })

  difference(42, 'a search among listed ids returns the best documents first', async () => {
    const vectors = [
      [0, 1],
      [1, 0],
      [1, 1],
      [1, 0.1],
    ]
    const documents = vectors.map(($vector, _id) => ({ _id, $vector }))
    const target = await collections.create(documents, lettersCollection)
    const { data } = await target.run({
      find: { sort: { $vector: [1, 0] }, filter: { _id: { $in: [0, 2, 1] } } },
    })
    assert.deepEqual(
      data!.documents!.map(({ _id }) => _id),
      [1, 2, 0],
    )
  })
})

describe('differences in providers', () => {
  const collections = new Collections()

  /** Asserts that the provider list and an existing collection accept the built-in model. */
  async function assertListed(): Promise<void> {
    const send = (body: object) => collections.server.command('/default_keyspace', body)
    const nvidia = { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' }
    const name = 'reranking'
    const create = (service: object) =>
      send({ createCollection: { name, options: { rerank: { enabled: true, service } } } })
    await create(nvidia)
    const { body } = await send({ findCollections: { options: { explain: true } } })
    const shown = body.status!['collections'] as {
      name: string
      options: { rerank: { service: { provider: string; modelName: string } } }
    }[]
    const { service } = shown.find((one) => one.name === name)!.options.rerank
    assert.equal(service.provider, 'local')
    for (const asked of [nvidia, service])
      assert.equal((await create(asked)).text, '{"status":{"ok":1}}')
    const other = { provider: 'cohere', modelName: 'rerank-v3.5' }
    assert.deepEqual((await create(other)).codes, [
      'EXISTING_COLLECTION_DIFFERENT_SETTINGS',
    ])
  }

  difference(43, 'the built-in model replaces the reranker nvidia', async () => {
    const target = await collections.create(
      [
        { _id: 1, $lexical: 'stocks and bonds', $vector: [1, 0] },
        { _id: 2, $lexical: 'a cat on a sofa', $vector: [1, 0] },
      ],
      { vector: { dimension: 2 } },
    )
    const findAndRerank = {
      sort: { $hybrid: { $vector: [1, 0], $lexical: 'cat' } },
      options: { rerankOn: '$lexical', rerankQuery: 'a pet' },
    }
    const listed = await collections.server.command('', { findRerankingProviders: {} })
    if (listed.text.includes('"local"')) {
      const { data } = await target.run({ findAndRerank })
      assert.equal(data!.documents![0]!['_id'], 2)
      await assertListed()
    } else await target.refuse({ findAndRerank }, 'RERANKING_SERVICE_TYPE_UNAVAILABLE')
  })

  difference(44, 'Stela sends the token of a request to no provider', async () => {
    const nvidia = await FakeProvider.start()
    nvidia.answers({ body: { data: [{ index: 0, embedding: Array(1024).fill(1) }] } })
    const embeddingUrls = new Map([['nvidia', nvidia.url]])
    const server = await startServer({
      providers: { ...defaultProviderSettings, embeddingUrls },
    })
    const service = { provider: 'nvidia', modelName: 'NV-Embed-QA' }
    await server.command('/default_keyspace', {
      createCollection: { name: 'c', options: { vector: { service } } },
    })
    const answer = await server.command('/default_keyspace/c', {
      insertOne: { document: { $vectorize: 'text' } },
    })
    assert.deepEqual(answer.codes, [])
    assert.equal(nvidia.asked.length, 1)
    assert(!JSON.stringify(nvidia.asked).includes(testToken))
    await server.close()
  })

  difference(45, 'collections cannot make the server call its own network', async () => {
    for (const [provider, parameters] of [
      ['openaiCompatible', { baseUrl: 'http://169.254.169.254/latest' }],
      ['bedrock', { region: 'x.example.com/' }],
    ] as const) {
      const modelName = 'amazon.titan-embed-text-v1'
      const vector = { dimension: 1536, service: { provider, modelName, parameters } }
      const answer = await collections.server.command('/default_keyspace', {
        createCollection: { name: 'away', options: { vector } },
      })
      assert.deepEqual(answer.codes, ['INVALID_CREATE_COLLECTION_OPTIONS'])
    }
  })

  difference(46, 'Stela supports more providers than the reference', async () => {
    const { body } = await collections.server.command('', { findEmbeddingProviders: {} })
    const listed = Object.keys(body.status!['embeddingProviders'] as object)
    for (const name of ['cohere', 'vertexai', 'google', 'ollama', 'openaiCompatible'])
      assert(listed.includes(name), name)
    const reranking = await collections.server.command('', { findRerankingProviders: {} })
    const rerankers = Object.keys(reranking.body.status!['rerankingProviders'] as object)
    for (const name of ['nvidia', 'cohere', 'jinaAI', 'voyageAI'])
      assert(rerankers.includes(name), name)
  })
})

describe('differences in analyzers', () => {
  const collections = new Collections()

  difference(47, 'an invalid analyzer is an error of the options', async () => {
    for (const analyzer of [
      { tokenizer: { name: 'gram' } },
      { filters: [{ name: 'length', args: { min: '1' } }] },
      { filters: [{ name: 'patternReplace', args: { pattern: '(' } }] },
    ]) {
      const answer = await collections.server.command('/default_keyspace', {
        createCollection: {
          name: 'mistaken',
          options: { lexical: { enabled: true, analyzer } },
        },
      })
      assert.deepEqual(answer.codes, ['INVALID_CREATE_COLLECTION_OPTIONS'])
    }
  })

  difference(48, 'the work of an analyzer is limited', async () => {
    const analyzer = { tokenizer: { name: 'pattern', args: { pattern: '(?=(a+)+b)a' } } }
    const target = await collections.create([], { lexical: { enabled: true, analyzer } })
    const document = { $lexical: 'a'.repeat(5000) }
    await target.refuse({ insertOne: { document } }, 'LEXICAL_CONTENT_TOO_LONG')
    const find = { sort: { $lexical: 'b'.repeat(8_193) } }
    await target.refuse({ find }, 'LEXICAL_CONTENT_TOO_LONG')
  })
})

describe('differences in tables', () => {
  const tables = new WrittenTables({}, { providers: models.settings })
  const place = { place: 'text', day: 'int', hour: 'int' } as const
  const byPlace = { partitionBy: ['place'], partitionSort: { day: 1, hour: -1 } }

  difference(
    49,
    'dropTable drops only tables, and deleteCollection only collections',
    async () => {
      await tables.keyspace({ createTable: { name: 'people', definition: people } })
      await tables.keyspace({ createCollection: { name: 'kept' } })
      const { codes } = await tables.send({ dropTable: { name: 'kept' } })
      assert.deepEqual(codes, ['CANNOT_DROP_UNKNOWN_TABLE'])
      const { body } = await tables.send({ findCollections: {} })
      assert.deepEqual(body.status!['collections'], ['kept'])
      await tables.keyspace({ deleteCollection: { name: 'people' } })
      const { body: listed } = await tables.send({ listTables: {} })
      assert.deepEqual(listed.status!['tables'], ['people'])
    },
  )

  difference(50, 'alterType is atomic', async () => {
    const fields = { city: 'text', zip: 'text' }
    await tables.keyspace({ createType: { name: 'address', definition: { fields } } })
    const { codes } = await tables.send({
      alterType: {
        name: 'address',
        rename: { fields: { city: 'town' } },
        add: { fields: { zip: 'int' } },
      },
    })
    assert.deepEqual(codes, ['CANNOT_ADD_EXISTING_FIELD'])
    const { text } = await tables.send({ listTypes: { options: { explain: true } } })
    assert.match(text, /"city"/)
  })

  difference(51, 'dropIndex works on the paths of tables and of keyspaces', async () => {
    const [one, other] = [await tables.create(people), await tables.create(people)]
    const definition = { column: 'age' }
    await one.run({ createIndex: { name: 'one_age', definition } })
    await other.run({ createIndex: { name: 'other_age', definition } })
    await one.refuse({ dropIndex: { name: 'other_age' } }, 'CANNOT_DROP_UNKNOWN_INDEX')
    await one.run({ dropIndex: { name: 'one_age' } })
    await tables.keyspace({ dropIndex: { name: 'other_age' } })
  })

  difference(52, 'ascii columns can have a text index', async () => {
    const columns = { id: 'int', words: 'ascii' }
    const table = await tables.create({ columns, primaryKey: 'id' }, [
      { id: 1, words: 'one word' },
    ])
    await table.run({ createTextIndex: { name: 'words', definition: { column: 'words' } } })
    const { data } = await table.run({ find: { filter: { words: { $match: 'word' } } } })
    assert.equal(data!.documents!.length, 1)
  })

  difference(53, 'an indexed column not in snake case causes a warning', async () => {
    const columns = { id: 'int', lastName: 'text' }
    const table = await tables.create({ columns, primaryKey: 'id' })
    const createIndex = { name: 'last_name', definition: { column: 'lastName' } }
    const { status } = await table.run({ createIndex })
    assert.equal(status!.warnings?.length, 1)
    const strict = await startServer({
      features: { ...defaultConfig.features, snakeCaseIndexes: true },
    })
    try {
      const definition = { columns, primaryKey: 'id' }
      await strict.command('/default_keyspace', { createTable: { name: 't', definition } })
      const answer = await strict.command('/default_keyspace/t', { createIndex })
      assert.deepEqual(answer.codes, ['UNSUPPORTED_SCHEMA_NAME'])
    } finally {
      await strict.close()
    }
  })

  difference(54, 'a column with any index cannot be dropped', async () => {
    const table = await tables.create(people)
    await table.run({ createIndex: { name: 'tags', definition: { column: 'tags' } } })
    await table.refuse(
      { alterTable: { operation: { drop: { columns: ['tags'] } } } },
      'CANNOT_DROP_INDEXED_COLUMNS',
    )
  })

  difference(55, 'invalid filters are errors of the request', async () => {
    const columns = { id: 'int', bytes: 'blob', at: 'timestamp' }
    const bytes = { $binary: 'AQI=' }
    const at = '1970-01-01T00:00:01Z'
    const table = await tables.create({ columns, primaryKey: 'id' }, [{ id: 1, bytes, at }])
    await table.refuse({ find: { filter: { id: null } } }, 'FILTER_UNSUPPORTED_DATA_TYPE')
    for (const operator of [{ $exists: true }, { $size: 1 }, { $all: [1] }])
      await table.refuse(
        { find: { filter: { id: operator } } },
        'FILTER_UNSUPPORTED_OPERATOR',
      )
    for (const filter of [{ bytes: { $eq: bytes } }, { at: { $eq: { $date: 1000 } } }]) {
      const { data } = await table.run({ find: { filter } })
      assert.deepEqual(data!.documents, [{ id: 1, at, bytes }])
    }
  })

  difference(56, 'a sort by key columns may mix directions', async () => {
    const rows = [1, 2].flatMap((day) => [1, 2].map((hour) => ({ place: 'a', day, hour })))
    const table = await tables.create({ columns: place, primaryKey: byPlace }, rows)
    const { data, status } = await table.run({
      find: { filter: { place: 'a' }, sort: { day: -1, hour: -1 } },
    })
    assert.deepEqual(data!.documents, rows.toReversed())
    assert.deepEqual(
      status!.warnings!.map(({ errorCode }) => errorCode),
      ['IN_MEMORY_SORTING_DUE_TO_OUT_OF_ORDER_PARTITION_SORTING'],
    )
  })

  difference(57, 'a sort by a column type without an order is rejected', async () => {
    const columns = { id: 'int', lasts: 'duration', ip: 'inet' }
    const table = await tables.create({ columns, primaryKey: 'id' }, [
      { id: 1, ip: '10.0.0.2' },
      { id: 2, ip: '9.0.0.1' },
    ])
    await table.refuse({ find: { sort: { lasts: 1 } } }, 'INVALID_REGULAR_SORT_EXPRESSION')
    const { data } = await table.run({ find: { sort: { ip: 1 }, projection: { id: 1 } } })
    assert.deepEqual(data!.documents, [{ id: 2 }, { id: 1 }])
  })

  difference(58, 'a search by text can return similarities and the vector', async () => {
    const { service, dimension } = lettersCollection.vector
    const columns = { id: 'int', v: { type: 'vector', dimension, service } }
    const table = await tables.create({ columns, primaryKey: 'id' }, [{ id: 1, v: 'a' }])
    await table.run({ createVectorIndex: { name: 'v', definition: { column: 'v' } } })
    const options = { includeSimilarity: true, includeSortVector: true }
    const { data, status } = await table.run({ find: { sort: { v: 'a' }, options } })
    assert.equal(data!.documents![0]!['$similarity'], 1)
    assert.equal((status!['sortVector'] as unknown[]).length, dimension)
  })

  difference(59, 'partitions are returned in the order of their keys', async () => {
    const rows = ['b', 'a', 'c'].map((name) => ({ place: name, day: 1, hour: 1 }))
    const table = await tables.create({ columns: place, primaryKey: byPlace }, rows)
    const names = async (filter: object) =>
      (await table.run({ find: { filter } })).data!.documents!.map((row) => row['place'])
    assert.deepEqual(await names({}), ['a', 'b', 'c'])
    assert.deepEqual(await names({ place: { $in: ['c', 'a'] } }), ['a', 'c'])
    assert.deepEqual(await names({ $or: [{ place: 'c' }, { place: 'b' }] }), ['b', 'c'])
  })

  difference(60, 'strings are ordered by their UTF-16 code units', async () => {
    const rows = ['\uffff', '😀'].map((name) => ({ place: 'a', name }))
    const columns = { place: 'text', name: 'text' }
    const primaryKey = { partitionBy: ['place'], partitionSort: { name: 1 } }
    const table = await tables.create({ columns, primaryKey }, rows)
    assert.deepEqual(await table.all(), rows.toReversed())
  })

  difference(61, 'durations in ISO form may have fractions of a second', async () => {
    const columns = { id: 'int', lasts: 'duration' }
    const row = { id: 1, lasts: 'PT1.5S' }
    const table = await tables.create({ columns, primaryKey: 'id' }, [row])
    assert.deepEqual(await table.all(), [row])
  })

  difference(62, 'missing parts of a command are errors of the request', async () => {
    const code = 'COMMAND_FIELD_VALUE_INVALID'
    for (const definition of [{ columns: { id: 'int' } }, { primaryKey: 'id' }])
      assert.deepEqual(
        (await tables.send({ createTable: { name: 'missing', definition } })).codes,
        [code],
      )
    const table = await tables.create(people)
    await table.refuse({ alterTable: {} }, code)
    await table.refuse({ find: { options: { pageState: 'damaged' } } }, code)
  })

  difference(63, 'a sort by terms needs a text index', async () => {
    const table = await tables.create(people)
    await table.run({
      createIndex: { name: 'people_name', definition: { column: 'name' } },
    })
    await table.refuse(
      { find: { sort: { name: 'eva' } } },
      'CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS',
    )
  })
})

describe('differences in tokens and databases', () => {
  const admin = new AdminServer()

  difference(64, 'the endpoint of a database is a path', async () => {
    const { id, dataEndpointUrl } = await admin.createDatabase()
    assert.equal(dataEndpointUrl, `${admin.server.url}/databases/${id}`)
    const { http } = await admin.commandTo(id, '', { findKeyspaces: {} })
    assert.equal(http, 200)
  })

  difference(65, 'the home database cannot be terminated', async () => {
    const [home] = await admin.ask<{ id: string }[]>('GET', '/databases')
    await admin.refuse(409, 'POST', `/databases/${home!.id}/terminate`)
  })

  difference(66, 'a token lists only the objects to which it has access', async () => {
    await admin.command('', { createKeyspace: { name: 'hidden' } })
    for (const name of ['shown', 'unseen'])
      await admin.command('/default_keyspace', { createCollection: { name } })
    const { token } = await admin.tokenFor(
      [':db:*:keyspace:default_keyspace:table:shown'],
      ['db-table-describe'],
    )
    const keyspaces = await admin.command('', { findKeyspaces: {} }, token)
    assert.deepEqual(keyspaces.body.status, { keyspaces: ['default_keyspace'] })
    const found = await admin.command('/default_keyspace', { findCollections: {} }, token)
    assert.deepEqual(found.body.status, { collections: ['shown'] })
    const tables = await admin.command('/default_keyspace', { listTables: {} }, token)
    assert.deepEqual(tables.body.status, { tables: [] })
  })

  difference(67, 'the server limits attempts to guess tokens', async () => {
    const server = await startServer({ badCredentialsMax: 20 })
    // Guessed tokens in the format of generated secrets extend the lockout while it lasts.
    for (let i = 0; i < 30; i++)
      await server.command(
        '',
        { findKeyspaces: {} },
        {
          Token: `Stela:guess:${String(i).padStart(64, '0')}`,
        },
      )
    const { http, codes } = await server.command('', { findKeyspaces: {} }, { Token: 'x' })
    assert.deepEqual([http, codes], [429, ['CREDENTIALS_LOCKED']])
    await server.close()
  })

  difference(68, 'regions and clouds have no effect', async () => {
    const { info } = await admin.createDatabase({
      cloudProvider: 'azure',
      region: 'the-moon',
    })
    assert.deepEqual([info.cloudProvider, info.region], ['AZURE', 'the-moon'])
    assert.deepEqual(await admin.ask('POST', '/pcus/actions/get'), [])
  })

  difference(69, 'management requests are complete when the server replies', async () => {
    const { id, status } = await admin.createDatabase()
    assert.equal(status, 'ACTIVE')
    await admin.ask('POST', `/databases/${id}/terminate`)
    const after = await admin.ask<{ status: string }>('GET', `/databases/${id}`)
    assert.equal(after.status, 'TERMINATED')
  })
})

describe('differences in the results of hybrid search', () => {
  const collections = new Collections({}, { providers: models.settings })

  difference(
    70,
    'a hybrid search without $lexical reranks the search by vector',
    async () => {
      const documents = [{ _id: 1, $vectorize: 'ant' }]
      const target = await collections.create(documents, lettersCollection)
      const options = { ...lettersCollection, lexical: { enabled: false } }
      const mute = await collections.create(documents, options)
      for (const [searched, $hybrid] of [
        [target, { $vectorize: 'ant' }],
        [target, { $vectorize: 'ant', $lexical: ' ' }],
        [mute, { $vectorize: 'ant' }],
        [mute, 'ant'],
      ] as const) {
        const { data } = await searched.run({ findAndRerank: { sort: { $hybrid } } })
        assert.deepEqual(data!.documents, [{ _id: 1 }])
      }
      const $hybrid = { $vectorize: 'ant', $lexical: 'ant' }
      await mute.refuse(
        { findAndRerank: { sort: { $hybrid } } },
        'LEXICAL_NOT_ENABLED_FOR_COLLECTION',
      )
    },
  )

  const ids = async (target: Target, options: object) => {
    const sort = { $hybrid: 'ant in a house' }
    const { data } = await target.run({ findAndRerank: { sort, options } })
    return data!.documents!.map(({ _id }) => _id)
  }

  difference(
    71,
    'ineligible documents do not count towards the limit of a hybrid search',
    async () => {
      const documents = [
        { _id: 1, $vectorize: 'ant in a house' },
        { _id: 2, $lexical: 'ant in a house' },
        { _id: 3, $hybrid: 'bee' },
        { _id: 4, $hybrid: 'bee', about: 'bee' },
      ]
      const target = await collections.create(documents, lettersCollection)
      assert.deepEqual(await ids(target, { limit: 1 }), [3])
      assert.deepEqual(await ids(target, { limit: 1, rerankOn: 'about' }), [4])
    },
  )

  difference(
    72,
    'searches by terms also find documents with only some of the terms',
    async () => {
      const documents = [
        { _id: 1, $vectorize: 'bbbb', $lexical: 'a house' },
        { _id: 2, $vectorize: 'ant in a house', $lexical: 'stone' },
      ]
      const target = await collections.create(documents, lettersCollection)
      assert.deepEqual((await ids(target, { hybridLimits: 1 })).toSorted(), [1, 2])
      const sort = { $lexical: 'ant in a house' }
      const { data } = await target.run({ find: { sort } })
      assert.deepEqual(data!.documents, [{ _id: 1 }])
      const options = { lexicalOperator: 'all' }
      const none = await target.run({ find: { sort, options } })
      assert.deepEqual(none.data!.documents, [])
    },
  )

  difference(73, 'a limit above hybridLimits causes a warning', async () => {
    const target = await collections.create([], lettersCollection)
    const options = { limit: 9, hybridLimits: 4, includeScores: true }
    const { status } = await target.run({
      findAndRerank: { sort: { $hybrid: 'ant' }, options },
    })
    assert.equal(status!.warnings![0]!.errorCode, 'HYBRID_LIMITS_BELOW_LIMIT')
  })
})

describe('differences in schemas of tables', () => {
  const tables = new WrittenTables()

  difference(81, 'a dropped column can be added again with any type', async () => {
    const columns = { id: 'int', a: 'text' }
    const table = await tables.create({ columns, primaryKey: 'id' }, [{ id: 1, a: 'old' }])
    await table.run({ alterTable: { operation: { drop: { columns: ['a'] } } } })
    await table.run({ alterTable: { operation: { add: { columns: { a: 'int' } } } } })
    assert.deepEqual(await table.all(), [{ id: 1 }])
  })

  difference(78, 'errors in a request to a table have the family REQUEST', async () => {
    const table = await tables.create({
      columns: { id: 'text', b: 'blob', t: 'text', v: { type: 'vector', dimension: 2 } },
      primaryKey: 'id',
    })
    const index = (name: string, column: string) => ({ name, definition: { column } })
    await table.run({ createTextIndex: index('by_t', 't') })
    await table.run({ createVectorIndex: index('by_v', 'v') })
    const definition = { columns: { d: 'duration' }, primaryKey: 'd' }
    const rename = { fields: { a: 'b' } }
    const set = { $set: { t: 'x' } }
    for (const [answer, code, scope] of [
      [
        await tables.send({ createTable: { name: 'by_duration', definition } }),
        'PRIMARY_KEY_DEFINITION_INCORRECT',
        'SCHEMA',
      ],
      [
        await tables.send({ alterType: { name: 'none', rename } }),
        'UNKNOWN_USER_DEFINED_TYPE',
        'SCHEMA',
      ],
      [
        await table.send({ createIndex: index('by_b', 'b') }),
        'UNSUPPORTED_INDEXING_FOR_DATA_TYPES',
        'SCHEMA',
      ],
      [
        await table.send({ createTextIndex: index('again', 't') }),
        'INVALID_INDEX_DEFINITION',
        'SCHEMA',
      ],
      [
        await table.send({ insertOne: { document: { id: '' } } }),
        'INVALID_COLUMN_VALUES',
        'DOCUMENT',
      ],
      [
        await table.send({ updateOne: { filter: { id: '' }, update: set } }),
        'INVALID_FILTER_COLUMN_VALUES',
        'FILTER',
      ],
      [
        await table.send({ insertOne: { document: { id: 'a', v: [0, 0] } } }),
        'INVALID_COLUMN_VALUES',
        'DOCUMENT',
      ],
      [
        await table.send({ find: { filter: { t: { $match: '?!' } } } }),
        'FILTER_INVALID_EXPRESSION',
        'FILTER',
      ],
      [
        await table.send({ find: { sort: { t: '?!' } } }),
        'SORT_CLAUSE_VALUE_INVALID',
        'SORT',
      ],
    ] as const) {
      const [error] = answer.body.errors!
      assert.deepEqual([error!.errorCode, error!.scope], [code, scope], answer.text)
      assert.equal(error!.family, 'REQUEST', answer.text)
    }
  })
})

describe('differences in upserts', () => {
  const collections = new Collections()

  difference(77, 'concurrent upserts insert one document', async () => {
    const target = await collections.create()
    const filter = { name: 'counter' }
    const upsert = () =>
      target.run({
        updateOne: { filter, update: { $inc: { n: 1 } }, options: { upsert: true } },
      })
    await Promise.all(Array.from({ length: 30 }, upsert))
    const documents = await target.all()
    assert.deepEqual(
      documents.map(({ name, n }) => [name, n]),
      [['counter', 30]],
    )
  })
})

describe('differences in the results of searches', () => {
  const collections = new Collections({ vectorLimitMax: 30 })
  const tables = new WrittenTables({ vectorLimitMax: 30 })
  const columns = { id: 'int', note: 'text', v: { type: 'vector', dimension: 2 } }
  const many = Array.from({ length: 45 }, (_, id) => ({ id, note: 'word', v: [1, id] }))
  let collection: Target
  let table: Target
  before(async () => {
    const documents = many.map(({ id, note, v }) => ({
      _id: id,
      $lexical: note,
      $vector: v,
    }))
    const vector = { dimension: 2, metric: 'euclidean' }
    collection = await collections.create(documents, { vector })
    table = await tables.create({ columns, primaryKey: 'id' }, many)
    await table.run({ createTextIndex: { name: 'notes', definition: { column: 'note' } } })
    const byDistance = { column: 'v', options: { metric: 'euclidean' } }
    await table.run({ createVectorIndex: { name: 'vs', definition: byDistance } })
  })

  difference(74, 'a search by terms has pages', async () => {
    for (const [target, sort] of [
      [collection, { $lexical: 'word' }],
      [table, { note: 'word' }],
    ] as const) {
      const sizes = (await target.pages({ sort })).map(({ length }) => length)
      assert.deepEqual(sizes, [20, 20, 5])
    }
    const skipping = { sort: { $lexical: 'word' }, options: { skip: 1 } }
    await collection.refuse({ find: skipping }, 'COMMAND_FIELD_VALUE_INVALID')
  })

  difference(75, 'a vector search reports that more documents match', async () => {
    for (const [target, sort] of [
      [collection, { $vector: [1, 0] }],
      [table, { v: [1, 0] }],
    ] as const) {
      const codes = async (options: object) => {
        const { data, status } = await target.run({ find: { sort, options } })
        assert.equal(data!.documents!.length, 30)
        return (status?.warnings ?? []).map(({ errorCode }) => errorCode)
      }
      const code = 'VECTOR_SEARCH_RESULTS_TRUNCATED'
      assert((await codes({})).includes(code))
      assert(!(await codes({ limit: 30 })).includes(code))
    }
  })
})

describe('differences in the language', () => {
  const collections = new Collections()

  difference(76, '$pull and $pullAll work on documents', async () => {
    const target = await collections.create([{ _id: 1, a: [1, 2, 3, 4] }])
    const update = { $pull: { a: { $lt: 2 } } }
    await target.run({ updateOne: { update } })
    await target.run({ updateOne: { update: { $pullAll: { a: [4] } } } })
    assert.deepEqual(await target.all(), [{ _id: 1, a: [2, 3] }])
  })

  difference(79, 'an invalid vector or text is an error of the request', async () => {
    const target = await collections.create([], { vector: { dimension: 2 } })
    const bad = 'SHRED_BAD_VECTOR_VALUE'
    const families = [
      await target.refuse({ insertOne: { document: { $vector: [0, 0] } } }, bad),
      await target.refuse({ find: { sort: { $vector: [0, 0] } } }, bad),
      await target.refuse({ find: { sort: { $vector: [1, 1e30] } } }, bad),
      await target.refuse(
        { find: { filter: { $lexical: { $match: '?!' } } } },
        'FILTER_INVALID_EXPRESSION',
      ),
      await target.refuse(
        { find: { sort: { $lexical: '?!' } } },
        'SORT_CLAUSE_VALUE_INVALID',
      ),
    ].map(({ family }) => family)
    assert.deepEqual([...new Set(families)], ['REQUEST'])
  })

  difference(80, 'the whole body is parsed before the command is executed', async () => {
    const target = await collections.create([{ _id: 1 }])
    for (const body of [
      '{"deleteMany": {}} and more',
      '{"deleteMany": {}}{}',
      '{"deleteMany": {}}]',
      '{"unknownCommand": {}} {"x"',
      '{"find": {"unknownField": 1}, }',
      '[1, 2',
      '{"find": {}, "find": {}}',
    ])
      await target.refuse(body, 'REQUEST_NOT_JSON')
    assert.deepEqual(await target.all(), [{ _id: 1 }])
  })
})

describe('differences in authentication and requests', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  difference(82, 'an invalid token is rejected before the body is read', async () => {
    const socket = await openConnection(server.url)
    socket.write(headOf(1_000_000, '/v1', { Token: 'wrong' }))
    await readUntil(socket, 'UNAUTHENTICATED_REQUEST')
    socket.destroy()
  })

  difference(83, 'every rejected request gets a body with an error code', async () => {
    const headers = { Token: testToken, 'Content-Type': 'application/json' }
    const large = ' '.repeat(defaultLimits.bodySizeMax + 1)
    for (const [path, request, http, code] of [
      ['/v1/a/b/c', { method: 'POST', headers }, 404, 'UNKNOWN_PATH'],
      ['/v1', { method: 'PUT', headers }, 405, 'UNSUPPORTED_METHOD'],
      ['/v1', { method: 'POST', headers, body: large }, 413, 'BODY_TOO_LARGE'],
    ] as const) {
      const answer = await server.send(path, request)
      assert.deepEqual([answer.http, answer.codes], [http, [code]])
    }
  })

  difference(84, 'a request with two hosts is rejected', async () => {
    const command = { findKeyspaces: {} }
    for (const request of [
      requestOf(command).replace('Host: test', 'Host: test\r\nHost: other'),
      requestOf(command, 'http://other/v1'),
    ]) {
      const socket = await openConnection(server.url)
      socket.write(request)
      assert.match(await readUntil(socket, 'MALFORMED_REQUEST'), /^HTTP\/1\.1 400 /)
      socket.destroy()
    }
  })
})

describe('differences in large requests', () => {
  difference(85, 'a body may contain at most 1 000 000 values', async () => {
    const server = await startServer()
    const of = (values: number) => `[${'0,'.repeat(values - 2)}0]`
    const least = await server.command('', of(1_000_000))
    assert.deepEqual(least.codes, ['REQUEST_STRUCTURE_MISMATCH'])
    const more = await server.command('', of(1_000_001))
    assert.deepEqual(more.codes, ['TOO_MANY_VALUES_IN_BODY'])
    await server.close()
  })
})

describe('differences in several databases', () => {
  difference(86, 'some names of keyspaces are reserved', async () => {
    const server = await startServer()
    const create = async (name: string) =>
      (await server.command('', { createKeyspace: { name } })).codes
    assert.deepEqual(await create('s_0123456789ab__x'), ['UNSUPPORTED_SCHEMA_NAME'])
    assert.deepEqual(await create('s_0123456789_x'), [])
    await server.close()
  })
})

describe('differences in changes', () => {
  difference(87, 'a change of a document is attempted at most ten times', async () => {
    const store = openMemoryEngine(new MemoryStore())
    let lostRaces = 0
    const contested: Engine = around(store, {
      as: () => contested,
      write: (proceed, collection, writes, options) =>
        lostRaces-- > 0
          ? Promise.resolve(writes.map(() => 'conflict' as const))
          : proceed(collection, writes, options),
    })
    const server = await startServer({}, contested)
    const send = (path: string, body: object) =>
      server.command(`/default_keyspace${path}`, body)
    await send('', { createCollection: { name: 'counters' } })
    await send('/counters', { insertOne: { document: { _id: 1 } } })
    const codesAfter = async (lost: number) => {
      lostRaces = lost
      const updateOne = { filter: { _id: 1 }, update: { $inc: { n: 1 } } }
      return (await send('/counters', { updateOne })).codes
    }
    assert.deepEqual(await codesAfter(9), [])
    assert.deepEqual(await codesAfter(10), ['FAILED_CONCURRENT_OPERATIONS'])
    await server.close()
  })
})

describe('differences in projections', () => {
  difference(90, 'a projection with only _id returns only _id', async () => {
    const server = await startServer()
    const send = (path: string, body: object) =>
      server.command(`/default_keyspace${path}`, body)
    await send('', { createCollection: { name: 'books' } })
    await send('/books', { insertOne: { document: { _id: 1, title: 'Dune', pages: 412 } } })
    const shown = async (projection: object) =>
      (await send('/books', { findOne: { projection } })).body.data!.document
    assert.deepEqual(await shown({ _id: true }), { _id: 1 })
    assert.deepEqual(await shown({ _id: 1, pages: 0 }), { _id: 1, title: 'Dune' })
    await server.close()
  })
})

describe('differences in assistants', () => {
  const call = (server: TestServer) =>
    server.command('/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'findKeyspaces' },
    })

  difference(88, 'tools for assistants (MCP) are on by default', async () => {
    const server = await startServer()
    const { text } = await call(server)
    assert.match(text, /"isError":false/)
    await server.close()
  })

  difference(89, 'results of tools also have a text form', async () => {
    const server = await startServer()
    const { result } = JSON.parse((await call(server)).text) as {
      result: { content: { text: string }[]; _meta: { status: unknown } }
    }
    assert.deepEqual(
      result.content.map(({ text }) => JSON.parse(text) as unknown),
      [{ status: result._meta.status }],
    )
    await server.close()
  })
})

describe('differences in the options of searches', () => {
  const collections = new Collections()

  difference(
    91,
    'vector searches have the options minSimilarity and diversity',
    async () => {
      const documents = [
        { _id: 1, $vector: [1, 0] },
        { _id: 2, $vector: [1, 0.1] },
        { _id: 3, $vector: [0, 1] },
      ]
      const target = await collections.create(documents, { vector: { dimension: 2 } })
      const sort = { $vector: [1, 0] }
      const ids = async (options: object) => {
        const { data } = await target.run({ find: { sort, options } })
        return data!.documents!.map(({ _id }) => _id)
      }
      assert.deepEqual(await ids({ minSimilarity: 0.6 }), [1, 2])
      assert.deepEqual(await ids({ diversity: 0.8, limit: 2 }), [1, 3])
    },
  )
})

describe('differences in the options of collections', () => {
  const collections = new Collections()

  difference(92, 'collections choose the memory of their vector index', async () => {
    const vector = { dimension: 2, memory: 'low' }
    const target = await collections.create([{ _id: 1, $vector: [1, 0] }], { vector })
    const { data } = await target.run({ find: { sort: { $vector: [1, 0] } } })
    assert.deepEqual(
      data!.documents!.map(({ _id }) => _id),
      [1],
    )
  })
})

test('every numbered difference has a test, and every test a numbered difference', async () => {
  const file = new URL('../../docs/differences.md', import.meta.url)
  const listed = [...(await readFile(file, 'utf8')).matchAll(/^(\d+)\. /gm)]
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    listed.map(([, number]) => Number(number)),
  )
})
