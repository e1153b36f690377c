/**
 * Collections that another server of the Data API created and filled. Stela reads them, finds
 * documents by their values, changes them, and writes rows in the form of that server.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { types, type Client } from 'cassandra-driver'
import type { Engine } from '../../src/engine/contract.ts'
import { storedByOthers, type StoredRow } from '../engine/cassandra/stored-by-others.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clientOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

const columns = [
  ...['key frozen<tuple<tinyint, text>> PRIMARY KEY', 'tx_id timeuuid', 'doc_json text'],
  ...['exist_keys set<text>', 'array_size map<text, int>', 'array_contains set<text>'],
  ...['query_bool_values map<text, tinyint>', 'query_dbl_values map<text, decimal>'],
  ...['query_text_values map<text, text>', 'query_null_values set<text>'],
  'query_timestamp_values map<text, timestamp>',
]
const indexes = [
  ['exists_keys', 'values(exist_keys)'],
  ['array_size', 'entries(array_size)'],
  ['array_contains', 'values(array_contains)'],
  ['query_bool_values', 'entries(query_bool_values)'],
  ['query_dbl_values', 'entries(query_dbl_values)'],
  ['query_text_values', 'entries(query_text_values)'],
  ['query_timestamp_values', 'entries(query_timestamp_values)'],
  ['query_null_values', 'values(query_null_values)'],
] as const

const uuid = '123e4567-e89b-12d3-a456-426614174000'
const objectId = '5f1e2d3c4b5a697887960504'

describe('a collection of another server', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer
  let client: Client

  const send = async (path: string, body: object | string) => {
    const answer = await server.command(`/default_keyspace${path}`, body)
    assert.deepEqual(answer.codes, [], answer.text)
    return answer.body
  }
  const keysOf = (documents: readonly Record<string, unknown>[]) =>
    documents.map(({ _id }) => JSON.stringify(_id)).toSorted()

  /** A row as the cluster returns it. */
  const stored = async (table: string, key: StoredRow['key']) => {
    const text = `SELECT JSON * FROM ${table} WHERE key = ?`
    const { rows } = await client.execute(text, [types.Tuple.fromArray([...key])], {
      prepare: true,
    })
    const row = JSON.parse(rows[0]!['[json]'] as string) as Record<string, unknown>
    // Removes columns without a value, which may be null or empty, so that rows can be compared.
    for (const [name, value] of Object.entries(row))
      if (
        value === null ||
        JSON.stringify(value) === '{}' ||
        JSON.stringify(value) === '[]'
      )
        Reflect.deleteProperty(row, name)
    const { tx_id, doc_json, ...others } = row
    return { tx_id, document: JSON.parse(doc_json as string) as object, others }
  }

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    client = clientOf(await testNode(), { keyspace: keyspaces.nameOf('default_keyspace') })
    for (const { table, comment, row } of storedByOthers) {
      if (comment !== undefined) await create(table, comment)
      if (row !== undefined) await load(table, row)
    }
  })

  async function create(table: string, comment: string) {
    const vector = table === 'vec' ? ['query_vector_value vector<float, 3>'] : []
    await client.execute(
      `CREATE TABLE ${table} (${[...columns, ...vector].join(', ')}) ` +
        `WITH comment = '${comment}'`,
    )
    const options = "{'similarity_function': 'cosine'}"
    const all = [
      ...indexes.map(([suffix, of]) => [suffix, of, ''] as const),
      ...vector.map(() => {
        const name = 'query_vector_value'
        return [name, name, ` WITH OPTIONS = ${options}`] as const
      }),
    ]
    for (const [suffix, of, more] of all)
      await client.execute(
        `CREATE CUSTOM INDEX ${table}_${suffix} ON ${table} (${of}) ` +
          `USING 'StorageAttachedIndex'${more}`,
      )
  }

  async function load(table: string, row: StoredRow) {
    const times = Object.entries(row.query_timestamp_values ?? {}).map(([path, text]) => [
      path,
      new Date(text).toISOString(),
    ])
    const written = {
      ...row,
      tx_id: String(types.TimeUuid.now()),
      query_timestamp_values: Object.fromEntries(times) as object,
    }
    await client.execute(`INSERT INTO ${table} JSON ?`, [JSON.stringify(written)], {
      prepare: true,
    })
  }

  after(async () => {
    await client.shutdown()
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  test('is listed with its options', async () => {
    const { status } = await send('', { findCollections: { options: { explain: true } } })
    const listed = status!['collections'] as { name: string; options: object }[]
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['plain', 'sel', 'vec'],
    )
    const none = { lexical: { enabled: false }, rerank: { enabled: false } }
    const [plain, sel, vec] = listed.map(({ options }) => options)
    assert.deepEqual(plain, none)
    const indexing = { deny: ['secret', 'a.b'] }
    assert.deepEqual(sel, { defaultId: { type: 'uuidv7' }, indexing, ...none })
    const vector = { dimension: 3, metric: 'cosine', sourceModel: 'other' }
    assert.deepEqual(vec, { vector, ...none })
  })

  test('returns all its documents', async () => {
    for (const table of ['plain', 'sel', 'vec']) {
      const own = storedByOthers.flatMap(({ table: of, row }) =>
        of === table && row !== undefined ? [JSON.parse(row.doc_json) as object] : [],
      )
      const projection = { '*': 1 }
      const { data } = await send(`/${table}`, { find: { projection } })
      const shown = new Map(
        data!.documents!.map((document) => [JSON.stringify(document['_id']), document]),
      )
      assert.equal(shown.size, own.length)
      for (const document of own as { _id: unknown }[])
        assert.deepEqual(shown.get(JSON.stringify(document._id)), document)
    }
  })

  for (const [filter, id] of [
    ['{"b": {"$eq": [1, "1", true, null, [1], {"x": 1}]}}', 'arr'],
    ['{"b": {"$all": [null, [1], {"x": 1}]}}', 'arr'],
    ['{"c.0": {"$eq": [1, 2]}}', 'arr'],
    ['{"a": {"$size": 0}}', 'arr'],
    ['{"a.2": "1700000000000"}', 'date-arr'],
    ['{"t": true}', true],
    ['{"c": "ümläut €"}', 's1'],
    ['{"v": "abcdefghijklmnopqrstu"}', 'long'],
    [`{"o": {"$objectId": "${objectId}"}}`, { $objectId: '5F1E2d3c4b5a697887960504' }],
    [`{"_id": {"$objectId": "${objectId}"}}`, { $objectId: '5F1E2d3c4b5a697887960504' }],
    ['{"_id": {"$date": 1700000000123}}', { $date: 1700000000123 }],
    ['{"d": {"$lt": {"$date": 0}}}', { $date: 1700000000123 }],
    ['{"n": {"$gt": 1, "$lt": 2}}', 1.5],
    ['{"m": 100}', 1.5],
    ['{"p": 12345678901234567890123}', 1.5],
    ['{"n": null}', null],
    ['{"p.q.r.s": 1}', 'obj'],
    ['{"w.a.1": {"b": 2}}', 'obj'],
    ['{"o": {"$eq": {}}}', 'obj'],
    [`{"u": {"$uuid": "${uuid}"}}`, { $uuid: uuid.replace('e', 'E') }],
    ['{"a&.b": 1, "e.f&.g.h&&i": 3}', 'names2'],
    ['{"z": {"$lte": 0}}', 1],
    ['{"m": {"z": 1, "a": 2}}', 'order'],
  ] as const)
    test(`returns the document that matches ${filter}`, async () => {
      const { data } = await send('/plain', `{"find": {"filter": ${filter}}}`)
      assert.deepEqual(keysOf(data!.documents!), [JSON.stringify(id)])
    })

  test('supports vector search, and rejects a filter on an unindexed path', async () => {
    const sort = { $vector: [0.1, 0.2, 0.3] }
    const { data } = await send('/vec', { find: { sort } })
    assert.deepEqual(keysOf(data!.documents!), ['"v1"', '"v2"'])
    const found = await send('/sel', { find: { filter: { 'a.c': 2 } } })
    assert.deepEqual(keysOf(found.data!.documents!), ['"x1"'])
    const body = { find: { filter: { secret: 's' } } }
    const refused = await server.command('/default_keyspace/sel', body)
    assert.deepEqual(refused.codes, ['FILTER_PATH_UNINDEXED'])
  })

  for (const { table, row } of storedByOthers)
    if (row !== undefined)
      test(`stores ${table} ${row.key.join(' ')} unchanged after two updates that cancel each other`, async () => {
        const before = await stored(table, row.key)
        const { _id } = JSON.parse(row.doc_json) as { _id: unknown }
        for (const update of [{ $set: { zz: 1 } }, { $unset: { zz: '' } }]) {
          const { status } = await send(`/${table}`, {
            updateOne: { filter: { _id }, update },
          })
          assert.equal(status!['modifiedCount'], 1)
        }
        const written = await stored(table, row.key)
        assert.notEqual(written.tx_id, before.tx_id)
        assert.deepEqual(written.document, before.document)
        assert.deepEqual(ownFields(written.document), ownFields(before.document))
        // The other server stores a memory address for a binary value, which cannot be compared.
        if (row.key[1] !== 'bin') assert.deepEqual(written.others, before.others)
      })
})

/**
 * Field names in order. Search fields are excluded, because they come last in rewritten
 * documents.
 */
function ownFields(document: object): readonly string[] {
  return Object.keys(document).filter((name) => !name.startsWith('$'))
}
