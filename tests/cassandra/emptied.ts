/**
 * Deletion of documents and rows one by one, which replaces TRUNCATE when a node rejects
 * it. Nodes reject TRUNCATE while one of them is down. tests/cluster covers that rejection;
 * this file covers the deletion.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from 'cassandra-driver'
import { ownCaller } from '../../src/caller/caller.ts'
import { defaultConsistency } from '../../src/engine/cassandra/cluster/consistency.ts'
import { openClient, sessionOf } from '../../src/engine/cassandra/cluster/open-cluster.ts'
import { WriteClock } from '../../src/engine/cassandra/cluster/write-clock.ts'
import { deleteDocuments } from '../../src/engine/cassandra/documents/delete-documents.ts'
import { filterCapabilitiesOf } from '../../src/engine/cassandra/documents/filter-capabilities.ts'
import { ClusterPostings } from '../../src/engine/cassandra/lexical/postings.ts'
import { deleteAllRows } from '../../src/engine/cassandra/rows/write-rows.ts'
import type { Collection, Engine, Table } from '../../src/engine/contract.ts'
import { apache } from '../engine/cassandra/capabilities.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clusterOf, testLimits } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

describe('repeated deletion of one document or row', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer
  let client: Client
  const clock = new WriteClock()

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    const cluster = clusterOf(await testNode())
    client = await openClient(cluster, cluster.account, { retried: () => undefined, clock })
  })

  after(async () => {
    await client.shutdown()
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  const send = async (path: string, body: object) => {
    const answer = await server.command(`/default_keyspace${path}`, body)
    assert.deepEqual(answer.codes, [], answer.text)
    return answer.body
  }
  const accessFor = (lexical: boolean) => {
    const session = sessionOf(client, { consistency: defaultConsistency })
    const postings = ClusterPostings.open(session, keyspaces.nameOf('stela'), clock)
    // `scannedMax` is less than the 250 documents below. The maximum applies to each page of at
    // most 100 documents, so the deletion must succeed.
    const limits = { ...testLimits, scannedMax: 120 }
    return {
      session,
      can: apache,
      limits,
      postings,
      more: filterCapabilitiesOf(apache, lexical),
    }
  }

  test('removes all documents of a collection, and their terms', async () => {
    await send('', {
      createCollection: { name: 'notes', options: { indexing: { deny: ['*'] } } },
    })
    const documents = Array.from({ length: 250 }, (_, n) => ({
      _id: n % 2 === 0 ? n : `${n}`,
      $lexical: 'a quick fox',
    }))
    for (let from = 0; from < 250; from += 50)
      await send('/notes', { insertMany: { documents: documents.slice(from, from + 50) } })
    const notes = (await engine.findTarget('default_keyspace', 'notes')) as Collection
    await deleteDocuments(accessFor(true), notes, ownCaller())
    assert.deepEqual((await send('/notes', { countDocuments: {} })).status, { count: 0 })
    const left = await client.execute(
      `SELECT count(*) AS left FROM "${keyspaces.nameOf('stela')}".postings ` +
        'WHERE target = ? ALLOW FILTERING',
      [notes.uid],
      { prepare: true },
    )
    assert.equal(left.rows[0]!['left'], 0n)
    await send('/notes', {
      insertOne: { document: { _id: 'new', $lexical: 'a fox again' } },
    })
    const found = await send('/notes', { find: { sort: { $lexical: 'fox' } } })
    assert.deepEqual(
      found.data!.documents!.map(({ _id }) => _id),
      ['new'],
    )
  })

  test('removes all rows of a table', async () => {
    const definition = {
      columns: { p: 'int', c: 'timestamp', a: 'text' },
      primaryKey: { partitionBy: ['p'], partitionSort: { c: -1 } },
    }
    await send('', { createTable: { name: 'rows', definition } })
    const documents = Array.from({ length: 90 }, (_, n) => ({
      p: n % 7,
      c: new Date(n * 1_000).toISOString(),
      a: 'x',
    }))
    await send('/rows', { insertMany: { documents } })
    const rows = (await engine.findTarget('default_keyspace', 'rows')) as Table
    await deleteAllRows(accessFor(false), rows, ownCaller())
    assert.deepEqual((await send('/rows', { find: {} })).data!.documents, [])
  })
})
