/** `stela export | stela import`, from a folder to a cluster and back. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { runStela } from '../cli/run-stela.ts'
import { startServer, type TestServer } from '../harness.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const keyspace = '/default_keyspace'

const collection = {
  vector: { dimension: 3, metric: 'cosine' },
  lexical: { enabled: true, analyzer: 'english' },
}

const fields = { street: { type: 'text' }, number: { type: 'int' } }

const columns = {
  town: 'text',
  at: 'timestamp',
  n: 'bigint',
  big: 'varint',
  exact: 'decimal',
  far: 'double',
  near: 'float',
  bytes: 'blob',
  day: 'date',
  time: 'time',
  span: 'duration',
  host: 'inet',
  who: 'uuid',
  open: 'boolean',
  tags: { type: 'set', valueType: 'text' },
  steps: { type: 'list', valueType: 'decimal' },
  counts: { type: 'map', keyType: 'int', valueType: 'text' },
  home: { type: 'userDefined', udtName: 'address' },
  place: { type: 'vector', dimension: 2 },
}

const definition = {
  columns,
  primaryKey: { partitionBy: ['town'], partitionSort: { at: -1 } },
}

/** Documents with every type of _id, as JSON text, which preserves every digit of numbers. */
const documents = [
  '{"_id":"text","n":1.5,"$vector":[1.0,0.0,0.0],"$lexical":"running owls"}',
  '{"_id":7,"precise":0.1000000000000000000000000001,"$vector":[0.0,1.0,0.0]}',
  '{"_id":1200,"big":123456789012345678901234567890,"tiny":1e-7}',
  '{"_id":true,"odd":"\\u0000 \u{1f600} é \\"\\\\","empty":{},"list":[1,[2,[]],null]}',
  '{"_id":{"$date":1700000000000},"when":{"$date":-1}}',
  '{"_id":{"$uuid":"123e4567-e89b-42d3-a456-426614174000"},"a.b":{"10":1,"2":2}}',
  '{"_id":{"$objectId":"5f1e2d3c4b5a697887960504"},"$lexical":"an owl runs home"}',
]

const rows = [
  '{"town":"Oslo","at":"2026-01-01T00:00:00.001Z","n":9007199254740993,' +
    '"big":123456789012345678901234567890,"exact":0.12345678901234567890123,"far":"NaN",' +
    '"near":0.1,"bytes":{"$binary":"AP8="},"day":"-0044-03-15","time":"23:59:59.999999999",' +
    '"span":"P1Y2M3DT4H5M6.789S","host":"10.0.0.1","who":"123e4567-e89b-42d3-a456-426614174000",' +
    '"open":false,"tags":["a","b"],"steps":[1.50,2],"counts":[[1,"one"],[2,"two"]],' +
    '"home":{"street":"Way","number":7},"place":[1.0,0.5]}',
  '{"town":"Oslo","at":"1999-12-31T23:59:59Z","far":1.5,"near":"-Infinity"}',
  '{"town":"Rome","at":"2026-01-01T00:00:00Z","home":{"street":"Via"}}',
]

describe('stela export and import', () => {
  let folder: TestServer
  let cluster: TestServer
  let engine: Engine
  let keyspaces: TestKeyspaces

  const send = async (server: TestServer, path: string, body: object | string) => {
    const { codes, text, body: answered } = await server.command(path, body)
    assert.deepEqual(codes, [], text)
    return answered
  }

  before(async () => {
    folder = await startServer({ durable: false })
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    cluster = await startServer({ checked: false }, engine)
    for (const server of [folder, cluster]) {
      for (const name of ['given', 'copy'])
        await send(server, keyspace, { createCollection: { name, options: collection } })
      await send(server, keyspace, {
        createType: { name: 'address', definition: { fields } },
      })
      for (const name of ['rows', 'rows_copy'])
        await send(server, keyspace, { createTable: { name, definition } })
      const insertion = (lines: readonly string[]) =>
        `{"insertMany":{"documents":[${lines.join()}]}}`
      await send(server, `${keyspace}/given`, insertion(documents))
      await send(server, `${keyspace}/rows`, insertion(rows))
    }
  })
  after(async () => {
    await folder.close()
    await cluster.close()
    await engine.close()
    await keyspaces.remove()
  })

  const exported = async (server: TestServer, target: readonly string[]) => {
    const { code, out, err } = await runStela(['export', ...target, '--url', server.url])
    assert.equal(code, 0, err)
    return out
  }
  const imported = async (server: TestServer, target: readonly string[], input: Buffer) => {
    const args = ['import', '-', '--format', 'jsonl', ...target, '--url', server.url]
    const { code, err } = await runStela(args, { input })
    assert.equal(code, 0, err)
    return err
  }
  const sorted = (lines: Buffer) => String(lines).split('\n').toSorted()

  for (const [says, source, target] of [
    ['a folder to a cluster', () => folder, () => cluster],
    ['a cluster to a folder', () => cluster, () => folder],
  ] as const) {
    test(`copy documents from ${says}, and searches of the copy find them`, async () => {
      const lines = await exported(source(), ['--collection', 'given'])
      const err = await imported(target(), ['--collection', 'copy'], lines)
      assert.match(err, new RegExp(`imported ${documents.length} documents`))
      assert.deepEqual(sorted(lines).slice(1), documents.toSorted())
      const again = await exported(target(), ['--collection', 'copy'])
      assert.deepEqual(sorted(again), sorted(lines))

      const find = async (clauses: object) => {
        const projection = { _id: 1 }
        const body = { find: { ...clauses, projection } }
        const { data } = await send(target(), `${keyspace}/copy`, body)
        return data!.documents!.map(({ _id }) => _id)
      }
      assert.deepEqual(await find({ sort: { $vector: [0.1, 1, 0] } }), [7, 'text'])
      assert.deepEqual(await find({ sort: { $lexical: 'owl run' } }), [
        'text',
        { $objectId: '5f1e2d3c4b5a697887960504' },
      ])
      assert.deepEqual(await find({ filter: { 'list.0': 1 } }), [true])
    })

    test(`copy rows with all their values from ${says}`, async () => {
      const lines = await exported(source(), ['--table', 'rows'])
      const err = await imported(target(), ['--table', 'rows_copy'], lines)
      assert.match(err, new RegExp(`imported ${rows.length} rows`))
      const again = await exported(target(), ['--table', 'rows_copy'])
      assert.deepEqual(sorted(again), sorted(lines))
      const valuesOf = (line: string) =>
        Object.entries(JSON.parse(line) as object).toSorted(([a], [b]) => (a < b ? -1 : 1))
      const told = sorted(lines).slice(1)
      assert.deepEqual(told.map(valuesOf), rows.toSorted().map(valuesOf))
      assert.match(told.join(), /"big":123456789012345678901234567890\b/)
      assert.match(told.join(), /"exact":0\.12345678901234567890123\b/)
    })
  }
})
