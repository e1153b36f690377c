/** Differences between a cluster and the embedded engine, as listed in docs/differences.md. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { defaultLimits } from '../../src/limits.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

describe('on a cluster', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  before(async () => {
    keyspaces = await TestKeyspaces.makePlain()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
  })

  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  const send = (target: string, body: object) =>
    server.command(`/default_keyspace${target}`, body)

  const create = async (name: string, columns: object) => {
    const definition = { columns: { id: 'text', ...columns }, primaryKey: 'id' }
    const { codes, text } = await send('', { createTable: { name, definition } })
    assert.deepEqual(codes, [], text)
    return `/${name}`
  }

  const refused = (target: string, body: object, ...says: string[]) =>
    refusedWith('UNSUPPORTED_DATABASE_QUERY', target, body, ...says)

  const refusedWith = async (
    code: string,
    target: string,
    body: object,
    ...says: string[]
  ) => {
    const { codes, text } = await send(target, body)
    assert.deepEqual(codes, [code], text)
    for (const said of says) assert(text.includes(said), text)
  }

  /** Fails unless the value is rejected with an error of the family REQUEST. */
  const refusedValue = async (target: string, body: object, says: string) => {
    const { body: answered, text } = await send(target, body)
    const [error] = answered.errors ?? []
    const { family, errorCode, message } = error!
    assert.deepEqual([family, errorCode], ['REQUEST', 'INVALID_COLUMN_VALUES'], text)
    assert(message.includes(says), text)
  }

  const alter = (operation: object) => ({ alterTable: { operation } })

  test('internal keyspaces and system keyspaces are hidden', async () => {
    for (const name of ['system_auth', 'stela']) {
      const roles = await server.command(`/${name}/roles`, { find: {} })
      assert.deepEqual(roles.codes, ['UNKNOWN_KEYSPACE'], roles.text)
      const tables = await server.command(`/${name}`, { listTables: {} })
      assert.deepEqual(tables.codes, ['UNKNOWN_KEYSPACE'], tables.text)
      const made = await server.command('', { createKeyspace: { name } })
      assert.deepEqual(made.codes, ['UNSUPPORTED_DATABASE_QUERY'], made.text)
    }
  })

  test('a dropped column can be added again only with its old type, and is then empty', async () => {
    const table = await create('retyped', { a: 'text' })
    await send(table, { insertOne: { document: { id: '1', a: 'old' } } })
    await send(table, alter({ drop: { columns: ['a'] } }))
    const add = alter({ add: { columns: { a: 'int' } } })
    await refusedWith('CANNOT_ADD_PREVIOUSLY_DROPPED_COLUMN', table, add, "'a'", 'text')
    await send(table, alter({ add: { columns: { a: 'text' } } }))
    const { body } = await send(table, { find: {} })
    assert.deepEqual(body.data!.documents, [{ id: '1' }])
  })

  test('a column of a user-defined type cannot be dropped', async () => {
    const fields = { x: 'int' }
    await send('', { createType: { name: 'point', definition: { fields } } })
    const table = await create('typed', { at: { type: 'userDefined', udtName: 'point' } })
    const drop = alter({ drop: { columns: ['at'] } })
    await refusedWith('CANNOT_DROP_USER_DEFINED_COLUMNS', table, drop, 'at')
  })

  test('a key has at most 65 535 bytes', async () => {
    const columns = { id: 'text', a: 'text', b: 'text' }
    const primaryKey = { partitionBy: ['id'], partitionSort: { a: 1, b: 1 } }
    await send('', { createTable: { name: 'keyed', definition: { columns, primaryKey } } })
    const insert = (a: string, b: string) => ({
      insertOne: { document: { id: '1', a, b } },
    })
    const long = 'x'.repeat(40_000)
    assert.deepEqual((await send('/keyed', insert(long, 'x'))).codes, [])
    await refusedValue('/keyed', insert(long, long), '65535')
  })

  test('a field of a type cannot be called __proto__', async () => {
    const fields = JSON.parse('{ "x": "int", "__proto__": "int" }') as object
    await refused('', { createType: { name: 'lost', definition: { fields } } }, '__proto__')
    await send('', { createType: { name: 'kept', definition: { fields: { x: 'int' } } } })
    const rename = JSON.parse('{ "fields": { "x": "__proto__" } }') as object
    await refused('', { alterType: { name: 'kept', rename } }, '__proto__')
  })

  test('one-dimensional vectors cannot have an index with the metric cosine', async () => {
    const table = await create('short', { v: { type: 'vector', dimension: 1 } })
    const definition = { column: 'v', options: { metric: 'cosine' } }
    await refused(table, { createVectorIndex: { name: 'by_v', definition } }, 'osine')
  })

  test('collections reject the memory of a vector index', async () => {
    const options = { vector: { dimension: 2, memory: 'low' } }
    await refused('', { createCollection: { name: 'compact', options } }, 'vector.memory')
  })

  test('tables reject texts with an unpaired surrogate, and collections treat ids that differ only in one as equal', async () => {
    const table = await create('halved', { a: 'text' })
    for (const document of [{ id: '1', a: '\ud83e' }, { id: '\ud83e' }])
      await refusedValue(table, { insertOne: { document } }, 'unpaired surrogate')
    for (const [id, a] of [
      ['1', '\ud83e'],
      ['\ud83e', 'a'],
    ]) {
      const updateOne = { filter: { id }, update: { $set: { a } } }
      await refusedValue(table, { updateOne }, 'unpaired surrogate')
    }
    const options = { lexical: { enabled: false } }
    await send('', { createCollection: { name: 'halves', options } })
    const path = '/halves'
    const documents = [
      { _id: '\ud83e', a: '\ud83e' },
      { _id: 2, a: '\udd89' },
    ]
    assert.deepEqual((await send(path, { insertMany: { documents } })).codes, [])
    for (const document of documents)
      for (const filter of [{ a: document.a }, { _id: document._id }]) {
        const { body } = await send(path, { find: { filter } })
        assert.deepEqual(body.data!.documents, [document])
      }
    const other = await send(path, { insertOne: { document: { _id: '\udd89' } } })
    assert.deepEqual(other.codes, ['DOCUMENT_ALREADY_EXISTS'], other.text)
  })

  test('a document that the cluster rejects does not prevent the insertion of other documents', async () => {
    // Allows longer strings than keys of a cluster may be, so that the cluster rejects the
    // document.
    const limits = { ...defaultLimits, stringSizeMax: 100_000 }
    const generous = await startServer({ checked: false, limits }, engine)
    const path = '/default_keyspace/mixed_documents'
    await send('', { createCollection: { name: 'mixed_documents' } })
    const long = 'x'.repeat(70_000)
    const insert = (ids: string[], options: object) => {
      const documents = ids.map((_id) => ({ _id }))
      return generous.command(path, { insertMany: { documents, options } })
    }
    const some = await insert(['a', long, 'b'], {})
    assert.deepEqual(some.codes, ['INVALID_COLUMN_VALUES'])
    assert.deepEqual(some.body.errors![0]!['documentIds'], [long])
    assert.deepEqual(some.body.status!['insertedIds'], ['a', 'b'])
    const options = { ordered: true, returnDocumentResponses: true }
    const each = await insert(['c', long, 'd'], options)
    const responses = each.body.status!['documentResponses'] as { status: string }[]
    const outcomes = responses.map(({ status }) => status)
    assert.deepEqual(outcomes, ['OK', 'ERROR', 'SKIPPED'])
    const none = await insert([long], {})
    assert.deepEqual(none.codes, ['INVALID_COLUMN_VALUES'])
    assert.equal(none.body.status, undefined)
    await generous.close()
  })

  test('a row that the cluster rejects does not prevent the insertion of other rows', async () => {
    const table = await create('mixed', { a: 'text' })
    const documents = [{ id: '1' }, { id: '2', a: '\ud83e' }, { id: '3' }]
    const insert = (options: object) => send(table, { insertMany: { documents, options } })
    const { body, codes, text } = await insert({})
    assert.deepEqual(codes, ['INVALID_COLUMN_VALUES'], text)
    assert.deepEqual(body.status!['insertedIds'], [['1'], ['3']])
    const ordered = await insert({ ordered: true })
    assert.deepEqual(ordered.codes, ['INVALID_COLUMN_VALUES'], ordered.text)
    assert.deepEqual(ordered.body.status!['insertedIds'], [['1']])
    const each = await insert({ ordered: true, returnDocumentResponses: true })
    assert.deepEqual(each.body.status!['documentResponses'], [
      { _id: ['1'], status: 'OK' },
      { _id: ['2'], status: 'ERROR', errorsIdx: 0 },
      { _id: ['3'], status: 'SKIPPED' },
    ])
  })

  test('timestamps in lists, sets, maps and types cannot be later than the year 275760', async () => {
    const times = { type: 'list', valueType: 'timestamp' }
    const table = await create('ages', { at: 'timestamp', times })
    const late = '+292278994-08-17T07:12:55.807Z'
    const document = { id: '1', at: late }
    assert.deepEqual((await send(table, { insertOne: { document } })).codes, [])
    const listed = { id: '2', times: [late] }
    await refusedValue(table, { insertOne: { document: listed } }, '275760')
  })

  test('sets cannot contain durations', async () => {
    const columns = { id: 'int', spans: { type: 'set', valueType: 'duration' } }
    const definition = { columns, primaryKey: 'id' }
    const create = { createTable: { name: 'spans', definition } }
    await refusedWith('UNSUPPORTED_SET_DEFINITION', '', create, 'duration')
  })

  test('names of indexed columns must consist of letters, digits and underscores', async () => {
    const table = await create('named', { 'last-name': 'text' })
    const definition = { column: 'last-name' }
    await refused(table, { createIndex: { name: 'by_name', definition } }, 'last-name')
  })

  test('replication must name existing data centers', async () => {
    const replication = { class: 'NetworkTopologyStrategy', nowhere: 3 }
    const options = { replication }
    const { codes, text } = await server.command('', {
      createKeyspace: { name: 'far', options },
    })
    assert.deepEqual(codes, ['UNSUPPORTED_DATABASE_QUERY'], text)
    assert(text.includes('nowhere'))
  })

  test('rows can be larger than the maximum size of a document', async () => {
    const table = await create('large', { a: 'text', b: 'text' })
    const half = 'x'.repeat(2_500_000)
    for (const document of [
      { id: '1', a: half },
      { id: '1', b: half },
    ])
      assert.deepEqual((await send(table, { insertOne: { document } })).codes, [])
  })
})
