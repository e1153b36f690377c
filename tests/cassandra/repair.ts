/** `stela repair` restores missing entries of the index of terms and removes leftover entries. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from 'cassandra-driver'
import { sessionOf } from '../../src/engine/cassandra/cluster/open-cluster.ts'
import { defaultConsistency } from '../../src/engine/cassandra/cluster/consistency.ts'
import { WriteClock } from '../../src/engine/cassandra/cluster/write-clock.ts'
import {
  ClusterPostings,
  type TextPlace,
} from '../../src/engine/cassandra/lexical/postings.ts'
import { staleAfterMicros } from '../../src/engine/cassandra/lexical/search-terms.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { startStela } from '../cli/run-stela.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clientOf, flagsOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

describe('stela repair', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer
  let client: Client
  let postings: ClusterPostings

  const send = async (target: string, body: object) => {
    const path = `/default_keyspace${target}`
    const { codes, text, body: answered } = await server.command(path, body)
    assert.deepEqual(codes, [], text)
    return answered
  }
  const found = async (target: string, field: string, term: string) => {
    const find = { sort: { [field]: term }, projection: { _id: 1, id: 1 } }
    const { data } = await send(`/${target}`, { find })
    const rows = data!.documents as readonly { _id?: number; id?: number }[]
    return rows.map((row) => row._id ?? row.id).toSorted()
  }
  const run = async (...more: string[]) => {
    const system = ['--system-keyspace', keyspaces.nameOf('stela')]
    const args = ['repair', ...flagsOf(await testNode()), ...system, ...more]
    const { code, out, err } = await startStela(args).ended
    return { code, err, lines: String(out).split('\n') }
  }
  const placeOf = async (name: string): Promise<TextPlace> => {
    const target = await engine.findTarget('default_keyspace', name)
    return { target: target!.uid, path: '$lexical' }
  }
  const system = () => `"${keyspaces.nameOf('stela')}"`
  const count = async (table: string, target: string) => {
    const text = `SELECT count(*) FROM ${system()}.${table} WHERE target = ? ALLOW FILTERING`
    const { rows } = await client.execute(text, [target], { prepare: true })
    return Number(rows[0]!['count'])
  }

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    client = clientOf(await testNode(), {
      encoding: { map: Map, set: Set, useBigIntAsLong: true },
    })
    const session = sessionOf(client, { consistency: defaultConsistency })
    postings = ClusterPostings.open(session, keyspaces.nameOf('stela'), new WriteClock())
    const options = { indexing: { deny: ['*'] } }
    for (const name of ['notes', 'dropped'])
      await send('', { createCollection: { name, options } })
    const documents = [
      { _id: 1, $lexical: 'ant bee' },
      { _id: 2, $lexical: 'bee cat' },
      { _id: 3 },
    ]
    await send('/notes', { insertMany: { documents } })
    const definition = { columns: { id: 'int', said: 'text' }, primaryKey: 'id' }
    await send('', { createTable: { name: 'words', definition } })
    await send('/words', { insertOne: { document: { id: 1, said: 'ant' } } })
    const said = { column: 'said' }
    await send('/words', { createTextIndex: { name: 'words_said', definition: said } })
  })

  after(async () => {
    await client.shutdown()
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  test('restores entries that the index has lost', async () => {
    for (const table of ['postings', 'texts'])
      await client.execute(`TRUNCATE ${system()}.${table}`)
    assert.deepEqual(await found('notes', '$lexical', 'bee'), [])
    const { code, err, lines } = await run()
    assert.deepEqual([code, err], [0, ''])
    const keyspace = keyspaces.nameOf('default_keyspace')
    const own = lines.filter((line) => line.startsWith(`${keyspace}.`))
    assert.equal(own.length, 3)
    assert.match(own.toSorted()[1]!, /\.notes: 3 documents read in [\d.]+ s, \d+ documents/)
    assert.match(own.toSorted()[2]!, /\.words, index words_said: 1 rows read in /)
    assert.equal(lines.at(-2), 'The term index is complete.')
    assert.deepEqual(await found('notes', '$lexical', 'bee'), [1, 2])
    assert.deepEqual(await found('words', 'said', 'ant'), [1])
  })

  test('adds entries of rows that other clients wrote', async () => {
    const table = `"${keyspaces.nameOf('default_keyspace')}".words`
    await client.execute(`INSERT INTO ${table} (id, said) VALUES (2, 'ant dog')`)
    assert.deepEqual(await found('words', 'said', 'ant'), [1])
    assert.equal((await run()).code, 0)
    assert.deepEqual(await found('words', 'said', 'ant'), [1, 2])
    assert.deepEqual(await found('words', 'said', 'dog'), [2])
  })

  test('removes old entries of documents that do not exist, but keeps recent ones', async () => {
    const notes = await placeOf('notes')
    const dropped = await placeOf('dropped')
    const bee = { text: 'bee', terms: ['bee'] }
    const longAgo = postings.nextTimestamp() - staleAfterMicros
    for (const place of [notes, dropped])
      await postings.put(place, { key: '2:7', ...bee }, longAgo)
    await postings.put(notes, { key: '2:8', ...bee }, postings.nextTimestamp())
    await send('', { deleteCollection: { name: 'dropped' } })
    const before = await count('texts', notes.target)
    assert.equal((await run()).code, 0)
    assert.equal(await count('texts', notes.target), before - 1)
    for (const table of ['texts', 'postings'])
      assert.equal(await count(table, dropped.target), 0)
    assert.deepEqual(await found('notes', '$lexical', 'bee'), [1, 2])
  })

  test('completes an index whose server died while it filled the index', async () => {
    const text = `SELECT path FROM ${system()}.texts WHERE target = ? ALLOW FILTERING`
    const { target } = await placeOf('words')
    const { rows } = await client.execute(text, [target], { prepare: true })
    await postings.beginFilling({ target, path: rows[0]!['path'] as string })
    for (const find of [
      { sort: { said: 'ant' } },
      { filter: { said: { $match: 'ant' } } },
    ]) {
      const refused = await server.command('/default_keyspace/words', { find })
      assert.deepEqual(refused.codes, ['UNAVAILABLE_DATABASE'], refused.text)
      assert.match(refused.text, /being built.*stela repair/)
    }
    assert.equal((await run()).code, 0)
    assert.deepEqual(await found('words', 'said', 'ant'), [1, 2])
  })

  test('names a collection whose texts it cannot read', async () => {
    const replication = { class: 'NetworkTopologyStrategy', datacenter1: 5 }
    const create = { createKeyspace: { name: 'thin', options: { replication } } }
    assert.deepEqual((await server.command('', create)).codes, [])
    const made = await server.command('/thin', { createCollection: { name: 'notes' } })
    assert.deepEqual(made.codes, [], made.text)
    const { code, err } = await run()
    assert.equal(code, 1)
    assert(err.startsWith(`stela: ${keyspaces.nameOf('thin')}.notes: `), err)
    await server.command('', { dropKeyspace: { name: 'thin' } })
  })

  test('rejects a system keyspace that no server has used', async () => {
    const { code, err } = await run('--system-keyspace', 'nobody')
    assert.equal(code, 1)
    assert.match(err, /^stela: no server has used the system keyspace nobody yet\./)
  })
})
