/** Monitoring of a cluster: `stela check`, health and metrics. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { placeOfIndex, textIndexesOf } from '../../src/engine/cassandra/rows/row-texts.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Table } from '../../src/engine/schema.ts'
import { startServer, type TestServer } from '../harness.ts'
import { startStela } from '../cli/run-stela.ts'
import { clientOf, flagsOf } from './connect.ts'
import { Line } from './line.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

describe('monitoring of a cluster', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  const cql = async (...statements: string[]) => {
    const client = clientOf(await testNode())
    try {
      for (const statement of statements) await client.execute(statement)
    } finally {
      await client.shutdown()
    }
  }

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    for (const name of ['whole', 'lacking']) {
      const { codes, text } = await create(name)
      assert.deepEqual(codes, [], text)
    }
  })

  const create = (name: string) => {
    const options = { vector: { dimension: 2 }, indexing: { deny: ['*'] } }
    return server.command('/default_keyspace', { createCollection: { name, options } })
  }

  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  const check = async (...more: string[]) => {
    const where = flagsOf(await testNode())
    const system = ['--system-keyspace', keyspaces.nameOf('stela')]
    const args = ['check', '--engine', 'cassandra', ...where, ...system, ...more]
    const { code, out, err } = await startStela(args).ended
    return { code, err, lines: String(out).split('\n') }
  }
  /** Selects the lines about the keyspaces of this test, because other tests share the node. */
  const ours = (lines: readonly string[]) => {
    const start = `${keyspaces.nameOf('default_keyspace')}.`
    const own = lines.filter((line) => line.startsWith(start))
    return own.map((line) => line.slice(start.length))
  }

  test('stela check reports capabilities, live nodes and intact collections', async () => {
    const { err, lines } = await check()
    assert.equal(err, '')
    assert.match(lines[0]!, /^release 5\.0/)
    assert(lines.includes('  yes  vector search'))
    assert(lines.includes('data center datacenter1 (local)'))
    assert(lines.some((line) => /^ {2}127\.0\.0\.1:\d+ up, 5\.0/.test(line)))
    assert(lines.includes('schema: all nodes agree'))
    assert.deepEqual(ours(lines), [])
  })

  test('createCollection creates the missing parts of an existing collection', async () => {
    const keyspace = keyspaces.nameOf('default_keyspace')
    await cql(`DROP INDEX "${keyspace}"."whole_query_vector_value"`)
    const found =
      'whole: the index whole_query_vector_value on query_vector_value is missing'
    assert.deepEqual(ours((await check()).lines), [found])
    const find = { find: { sort: { $vector: [1, 0] } } }
    const lacking = await server.command('/default_keyspace/whole', find)
    assert.deepEqual(lacking.codes, ['CORRUPTED_COLLECTION_SCHEMA'], lacking.text)
    assert.match(lacking.text, /whole lacks an index/)
    const { codes, text } = await create('whole')
    assert.deepEqual(codes, [], text)
    assert.deepEqual(ours((await check()).lines), [])
    const searched = await server.command('/default_keyspace/whole', find)
    assert.deepEqual(searched.codes, [], searched.text)
  })

  test('createCollection fails when another table has an index of the same name', async () => {
    const send = (path: string, body: object) => server.command(path, body)
    const definition = { columns: { p: 'int', n: 'int' }, primaryKey: 'p' }
    const name = 'taken_query_vector_value'
    for (const [path, body] of [
      ['', { createTable: { name: 'other', definition } }],
      ['/other', { createIndex: { name, definition: { column: 'n' } } }],
    ] as const) {
      const { codes, text } = await send(`/default_keyspace${path}`, body)
      assert.deepEqual(codes, [], text)
    }
    const refused = await create('taken')
    assert.deepEqual(refused.codes, ['EXISTING_INDEX_FOR_COLLECTION'], refused.text)
    assert.match(refused.text, /taken_query_vector_value.* other\b/)
    const listed = await send('/default_keyspace', { findCollections: {} })
    assert(!(listed.body.status!['collections'] as string[]).includes('taken'))
    await send('/default_keyspace', { dropIndex: { name } })
    assert.deepEqual((await create('taken')).codes, [])
  })

  test('stela check lists collections with missing parts', async () => {
    const keyspace = keyspaces.nameOf('default_keyspace')
    await cql(
      `DROP INDEX "${keyspace}"."lacking_query_vector_value"`,
      `ALTER TABLE "${keyspace}".lacking DROP query_vector_value`,
      `ALTER TABLE "${keyspace}".whole WITH comment = '{"collection": nonsense'`,
    )
    const { code, lines } = await check()
    assert.equal(code, 1)
    assert.deepEqual(ours(lines), [
      'lacking: the column query_vector_value is missing',
      'lacking: the index lacking_query_vector_value on query_vector_value is missing',
      'whole: the table comment of whole does not contain its options',
    ])
    assert.match(lines.at(-2)!, /^[3-9]\d* problems in \d+ collections? and \d+ tables?\.$/)
  })

  test('commands that need a missing part of a collection fail and name the part', async () => {
    const path = '/default_keyspace/lacking'
    for (const body of [
      { insertOne: { document: { n: 1 } } },
      { insertMany: { documents: [{ n: 1 }, { n: 2 }] } },
      { find: { sort: { $vector: [1, 0] } } },
    ]) {
      const { codes, text } = await server.command(path, body)
      assert.deepEqual(new Set(codes), new Set(['CORRUPTED_COLLECTION_SCHEMA']), text)
      assert.match(text, /lacking lacks the column query_vector_value/)
    }
    const { codes, text } = await server.command(path, { find: {} })
    assert.deepEqual(codes, [], text)
  })

  test('a collection with unreadable options stays unchanged, and other collections are served', async () => {
    const keyspace = keyspaces.nameOf('default_keyspace')
    const send = (path: string, body: object) =>
      server.command(`/default_keyspace${path}`, body)
    for (const name of ['later', 'served']) assert.deepEqual((await create(name)).codes, [])
    const version = '{"collection":{"name":"later","schema_version":3,"options":{}}}'
    const shape =
      '{"collection":{"schema_version":2,"options":{"vector":{"dimension":2,"metric":7}}}}'
    for (const [comment, code] of [
      [version, 'COLLECTION_SCHEMA_VERSION_INVALID'],
      [shape, 'CORRUPTED_COLLECTION_SCHEMA'],
      ['what people write', 'CORRUPTED_COLLECTION_SCHEMA'],
    ] as const) {
      await cql(`ALTER TABLE "${keyspace}".later WITH comment = '${comment}'`)
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      const refused = await send('/later', { find: {} })
      assert.deepEqual(refused.codes, [code], refused.text)
      assert.deepEqual((await create('later')).codes, [code])
      const found = await send('/served', { find: {} })
      assert.deepEqual(found.codes, [], found.text)
    }
    const listed = await send('', { findCollections: {} })
    const names = listed.body.status!['collections'] as string[]
    assert.deepEqual([names.includes('later'), names.includes('served')], [false, true])
    assert.deepEqual((await send('', { deleteCollection: { name: 'later' } })).codes, [])
    assert.deepEqual((await create('later')).codes, [])
    assert.deepEqual((await send('/later', { find: {} })).codes, [])
  })

  test('stela check fails when no node answers', async () => {
    const { code, err, lines } = await check('--cassandra-port', '1')
    assert.deepEqual([code, lines], [2, ['']])
    assert.match(err, /^stela: no node of the cluster can be reached: 127\.0\.0\.1:1 /)
  })

  test('stela check names the wrong setting when the connection fails', async () => {
    for (const [given, said] of [
      ['--local-datacenter elsewhere', /no data center elsewhere.* one of: datacenter1/],
      ['--contact-points nowhere.invalid', /resolved: nowhere\.invalid\. Check --contact/],
      ['--cassandra-tls on', /does not use TLS\. Set --cassandra-tls to off/],
    ] as const) {
      const { code, err } = await check(...given.split(' '))
      assert.equal(code, 2)
      assert.match(err, said)
    }
  })

  test('a server that cannot store its settings does not start, and creates no keyspace', async () => {
    const keyspace = keyspaces.nameOf('unmade')
    const serve = async (replication: string) => {
      const flags = ['--system-keyspace', keyspace, '--replication', replication]
      const args = ['serve', '--engine', 'cassandra', '--port', '0', '--admin-port', 'off']
      const { code, err } = await startStela([
        ...[...args, ...flagsOf(await testNode()), ...flags],
      ]).ended
      assert.equal(code, 1)
      return err
    }
    assert.match(await serve('elsewhere=1'), /no data center elsewhere.* datacenter1/)
    assert.match(await serve('datacenter1=5'), /--replication has 5 replicas/)
    assert(!(await engine.listKeyspaces()).includes('unmade'))
  })

  test('stela check lists text indexes that are incomplete', async () => {
    const send = async (target: string, body: object) => {
      const { codes, text } = await server.command(`/default_keyspace${target}`, body)
      assert.deepEqual(codes, [], text)
    }
    const definition = { columns: { id: 'text', said: 'text' }, primaryKey: 'id' }
    await send('', { createTable: { name: 'words', definition } })
    const index = { name: 'words_said', definition: { column: 'said' } }
    await send('/words', { createTextIndex: index })
    const findings = async () =>
      ours((await check()).lines).filter((line) => line.startsWith('words: '))
    assert.deepEqual(await findings(), [])
    const table = (await engine.findTarget('default_keyspace', 'words')) as Table
    const { target, path } = placeOfIndex(table, textIndexesOf(table)[0]!)
    await cql(
      `UPDATE "${keyspaces.nameOf('stela')}".text_indexes
         SET filling = filling + {'${path}'} WHERE target = '${target}'`,
    )
    const [said, ...others] = await findings()
    assert.match(said!, /the text index words_said is incomplete.* stela repair/)
    assert.deepEqual(others, [])
  })

  test('health fails while too few nodes answer for a quorum read of the settings', async () => {
    const system = keyspaces.nameOf('stela')
    const copies = (count: number) =>
      cql(
        `ALTER KEYSPACE "${system}" WITH replication =
           {'class': 'SimpleStrategy', 'replication_factor': ${count}}`,
      )
    const health = async () => server.send('/stargate/health/live', { method: 'GET' })
    assert.equal((await health()).http, 200)
    await copies(3)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const down = await health()
    assert.equal(down.http, 503)
    assert.match(down.text, /too few nodes of the local data center answer/)
    await copies(1)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.equal((await health()).http, 200)
  })

  test('health fails when no node answers', async () => {
    const { contactPoints, port } = await testNode()
    const line = await Line.to(contactPoints[0]!, port)
    const cut = await keyspaces.open({ port: line.port })
    try {
      assert.equal(await cut.health!(), undefined)
      line.cut()
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      assert.match((await cut.health!())!, /^no node of the cluster answers/)
    } finally {
      await cut.close()
      line.cut()
    }
  })

  test('metrics count statements and are documented', async () => {
    const text = (await server.send('/metrics', { method: 'GET' })).text
    const value = (sample: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${sample} `))
          ?.split(' ')[1],
      )
    assert(value('stela_cql_statements_total{purpose="schema",outcome="ok"}') > 0)
    assert(value('stela_cql_statement_seconds_total{purpose="schema",outcome="ok"}') > 0)
    assert(value('stela_cql_statements_total{purpose="settle",outcome="unavailable"}') > 0)
    assert(value('stela_cql_connections{datacenter="datacenter1"}') > 0)
    assert.equal(value('stela_cql_nodes{datacenter="datacenter1",state="up"}'), 1)
    assert.equal(value('stela_cql_nodes{datacenter="datacenter1",state="down"}'), 0)
    assert(value('stela_cql_retries_total') >= 1)
    const page = await readFile(
      new URL('../../docs/reference/http.md', import.meta.url),
      'utf8',
    )
    const names = new Set(text.match(/\bstela_cql_\w+/g))
    assert(names.size >= 6)
    for (const name of names) assert(page.includes(`| \`${name}\``), name)
  })
})
