/**
 * A full disk. Writes are rejected with an error that says what to do, and leave nothing behind.
 * Reads continue. Writes resume without a restart once there is free space again.
 */
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import type { Config } from '../../src/settings/config.ts'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { startServer, type Answer, type TestServer } from '../harness.ts'
import { becomes, healthOf } from './health.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'
import { noDisks, SmallDisk, unmountLeftovers } from './small-disk.ts'

if (noDisks !== undefined) console.log(`Left out: ${noDisks}`)
const options = { skip: noDisks ?? false }

const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
  await killLeftovers()
  unmountLeftovers()
})
after(unmountLeftovers)

async function start(dataDir: string, config: Partial<Config> = {}): Promise<TestServer> {
  const server = await startServer({ dataDir, ...config })
  servers.push(server)
  return server
}

async function stop(server: TestServer): Promise<void> {
  servers.splice(servers.indexOf(server), 1)
  await server.stop()
}

const keyspace = '/default_keyspace'
const books = `${keyspace}/books`

/** A document that is large enough to need pages of its own. */
const bodyOf = (n: number) => ({ _id: n, n, body: `${n}`.padEnd(7_000, 'x') })

function assertRefusedAsFull(answer: Answer): void {
  assert.deepEqual(answer.codes, ['FAILED_WRITE_REQUEST'], answer.text)
  const { message } = answer.body.errors![0]!
  assert.match(
    message,
    /disk .* is full\. Free some space.*Nothing of this batch of writes was stored/,
  )
  assert(!message.includes('/tmp'), 'the names of files are nobody’s business')
}

async function succeed(server: TestServer, path: string, command: object): Promise<Answer> {
  const answer = await server.command(path, command)
  assert.deepEqual(answer.codes, [], answer.text)
  return answer
}

async function idsOf(server: TestServer, path: string): Promise<unknown[]> {
  const ids: unknown[] = []
  for (let pageState: unknown; ids.length < 100_000;) {
    const find = { projection: { _id: 1 }, options: pageState ? { pageState } : {} }
    const { data } = (await succeed(server, path, { find })).body
    ids.push(...data!.documents!.map((document) => document['_id']))
    pageState = data!.nextPageState
    if (pageState === null) break
  }
  return ids.sort((a, b) => Number(a) - Number(b))
}

describe('on a full disk', options, () => {
  test('acknowledged writes are kept, rejected ones are not, and writing resumes', async () => {
    const disk = await SmallDisk.mount(8)
    const server = await start(disk.data)
    await succeed(server, keyspace, { createCollection: { name: 'books' } })
    const kept: number[] = []
    let next = 0
    const insertUntilRefused = async () => {
      for (let refused = 0; refused < 3 && next < 5_000;) {
        const n = next++
        const answer = await server.command(books, { insertOne: { document: bodyOf(n) } })
        if (answer.codes.length === 0) kept.push(n)
        else {
          assertRefusedAsFull(answer)
          refused++
        }
      }
    }
    await Promise.all([1, 2, 3, 4].map(insertUntilRefused))
    assert(kept.length > 100 && kept.length < 5_000, `${kept.length} fitted in`)
    kept.sort((a, b) => a - b)
    assert.deepEqual(await idsOf(server, books), kept)
    assert.match((await becomes(server, 'DOWN'))!, /disk .* is full/)
    for (const path of ['', '/ready'] as const)
      assert.equal((await healthOf(server, path)).http, 503)

    // The disk grows while the server runs, as the disk of a virtual machine may.
    disk.resize(16)
    await becomes(server, 'UP')
    for (let n = 10_000; n < 10_050; n++) {
      await succeed(server, books, { insertOne: { document: bodyOf(n) } })
      kept.push(n)
    }
    assert.deepEqual(await idsOf(server, books), kept)
    await stop(server)
    assert.deepEqual(checkDataFolder(disk.data), [])
    assert.deepEqual(await idsOf(await start(disk.data), books), kept)
  })

  test('every kind of change is rejected, and succeeds under the same name once there is space', async () => {
    const disk = await SmallDisk.mount(8)
    const server = await start(disk.data)
    await succeed(server, keyspace, { createCollection: { name: 'books' } })
    const definition = {
      columns: { id: 'int', title: 'text', meaning: { type: 'vector', dimension: 4 } },
      primaryKey: 'id',
    }
    await succeed(server, keyspace, { createTable: { name: 'rows', definition } })
    const documents = Array.from({ length: 50 }, (_, n) => bodyOf(n))
    await succeed(server, books, { insertMany: { documents } })
    const rows = Array.from({ length: 50 }, (_, id) => ({ id, title: 'x'.repeat(2_000) }))
    await succeed(server, `${keyspace}/rows`, { insertMany: { documents: rows } })
    // The log may contain reusable space, so some inserts still succeed. Repeats inserts until one
    // is rejected.
    let taken = 50
    for (;;) {
      disk.fill()
      const insertOne = { document: bodyOf(1_000 + taken) }
      if ((await server.command(books, { insertOne })).codes.length > 0) break
      taken++
    }

    const index = { name: 'by_title', definition: { column: 'title' } }
    const changes: readonly (readonly [string, object])[] = [
      [books, { insertOne: { document: bodyOf(100) } }],
      [books, { insertMany: { documents: [bodyOf(101), bodyOf(102)] } }],
      [
        books,
        { updateMany: { filter: {}, update: { $set: { more: 'y'.repeat(5_000) } } } },
      ],
      [
        books,
        {
          findOneAndUpdate: {
            filter: { _id: 'new' },
            update: { $set: { more: 'z'.repeat(7_900) } },
            options: { upsert: true },
          },
        },
      ],
      [keyspace, { createCollection: { name: 'more' } }],
      [keyspace, { createTable: { name: 'more_rows', definition } }],
      [`${keyspace}/rows`, { createIndex: index }],
    ]
    for (const [path, change] of changes)
      assertRefusedAsFull(await server.command(path, change))
    assert.equal((await server.command(books, { countDocuments: {} })).text, count(taken))
    const found = await server.command(keyspace, { findCollections: {} })
    assert.deepEqual(found.body.status, { collections: ['books'] })

    disk.empty()
    for (const [path, change] of changes) await succeed(server, path, change)
    assert.equal(
      (await server.command(books, { countDocuments: {} })).text,
      count(taken + 4),
    )
    await becomes(server, 'UP')
    await stop(server)
    const folders = readdirSync(join(disk.data, 'default_keyspace')).sort()
    assert.deepEqual(folders, ['books', 'more', 'more_rows', 'rows'])
    assert.deepEqual(checkDataFolder(disk.data), [])
  })

  test('dropping a collection frees space', async () => {
    const disk = await SmallDisk.mount(8)
    const server = await start(disk.data)
    for (const name of ['books', 'others'])
      await succeed(server, keyspace, { createCollection: { name } })
    const documents = Array.from({ length: 50 }, (_, n) => bodyOf(n))
    await succeed(server, `${keyspace}/others`, { insertMany: { documents } })
    disk.fill()
    assertRefusedAsFull(await server.command(books, { insertMany: { documents } }))
    await succeed(server, keyspace, { deleteCollection: { name: 'others' } })
    await succeed(server, books, { insertMany: { documents } })
  })

  test('reads continue even if they have to close and open stores', async () => {
    const disk = await SmallDisk.mount(8)
    const server = await start(disk.data, { openStoresMax: 1 })
    const paths = ['a', 'b', 'c'].map((name) => `${keyspace}/${name}`)
    for (const name of ['a', 'b', 'c'])
      await succeed(server, keyspace, { createCollection: { name } })
    const insertAll = (n: number) =>
      Promise.all(
        paths.map((path) => server.command(path, { insertOne: { document: bodyOf(n) } })),
      )
    await insertAll(1)
    disk.fill()
    const kept = paths.map(() => [1])
    // Closing a collection frees its log, so a write may still succeed. Repeats the inserts until
    // one is rejected.
    for (let n = 2; kept.every((ids) => ids.includes(n - 1)); n++)
      for (const [i, answer] of (await insertAll(n)).entries())
        if (answer.codes.length === 0) kept[i]!.push(n)
        else assertRefusedAsFull(answer)
    for (let round = 0; round < 3; round++)
      for (const [i, path] of paths.entries())
        assert.deepEqual(await idsOf(server, path), kept[i])
    disk.empty()
    for (const answer of await insertAll(1_000)) assert.deepEqual(answer.codes, [])
    for (const [i, path] of paths.entries())
      assert.deepEqual(await idsOf(server, path), [...kept[i]!, 1_000])
    await stop(server)
    assert.deepEqual(checkDataFolder(disk.data), [])
  })

  test('a server starts, reads documents, and reports the status DOWN', async () => {
    const disk = await SmallDisk.mount(4)
    const first = await start(disk.data)
    await succeed(first, keyspace, { createCollection: { name: 'books' } })
    await succeed(first, books, { insertOne: { document: bodyOf(1) } })
    await stop(first)
    disk.fill()
    const server = await start(disk.data)
    assert.deepEqual(await idsOf(server, books), [1])
    assert.match((await becomes(server, 'DOWN'))!, /disk .* is full/)
    assertRefusedAsFull(await server.command(books, { insertOne: { document: bodyOf(2) } }))
    assert.deepEqual(await idsOf(server, books), [1])
    disk.empty()
    await succeed(server, books, { insertOne: { document: bodyOf(2) } })
    assert.deepEqual(await idsOf(server, books), [1, 2])
    await becomes(server, 'UP')
    await stop(server)
    assert.deepEqual(checkDataFolder(disk.data), [])
  })

  test('a first start fails with one line, and leaves nothing that prevents the next start', async () => {
    const disk = await SmallDisk.mount(1)
    disk.fill()
    const refused = new ServerProcess(disk.data)
    assert.equal(await refused.exit, 1)
    assert.match(
      refused.err,
      /^stela: [^\n]+ cannot be opened: the disk .* is full\. Free [^\n]+\n$/,
    )
    disk.empty()
    await start(disk.data)
  })

  test('a vector index that cannot be saved can be searched', async () => {
    const disk = await SmallDisk.mount(16)
    const server = await start(disk.data)
    const vector = { dimension: 4, metric: 'cosine' }
    await succeed(server, keyspace, {
      createCollection: { name: 'books', options: { vector } },
    })
    // A file in place of the snapshot folder makes every save of a snapshot fail, even with free
    // space.
    writeFileSync(join(disk.data, 'default_keyspace', 'books', 'vectors'), '')
    for (let part = 0; part < 12; part++) {
      const documents = Array.from({ length: 100 }, (_, i) => {
        const _id = part * 100 + i
        return { _id, $vector: [Math.cos(_id), Math.sin(_id), 1, _id / 1_000] }
      })
      await succeed(server, books, { insertMany: { documents } })
    }
    const search = {
      find: {
        sort: { $vector: [1, 0, 1, 0] },
        options: { limit: 1 },
        projection: { _id: 1 },
      },
    }
    const nearest = (await succeed(server, books, search)).text
    assert.match(nearest, /"_id":0\}/)
    disk.fill()
    assert.equal((await succeed(server, books, search)).text, nearest)
    await stop(server)
    assert.deepEqual(checkDataFolder(disk.data), [])
    disk.empty()
    assert.equal((await succeed(await start(disk.data), books, search)).text, nearest)
  })
})

describe('on a read-only disk', options, () => {
  test('a start fails with one line, changes nothing, and works once the disk is writable', async () => {
    const disk = await SmallDisk.mount(4)
    const first = await start(disk.data)
    await succeed(first, keyspace, { createCollection: { name: 'books' } })
    await succeed(first, books, { insertOne: { document: bodyOf(1) } })
    await stop(first)
    disk.remount('ro')
    const refused = new ServerProcess(disk.data)
    assert.equal(await refused.exit, 1)
    assert.match(
      refused.err,
      /^stela: [^\n]+ cannot be opened: .* is read-only\. Make [^\n]+ then start again\n$/,
    )
    await assert.rejects(
      startServer({ dataDir: join(disk.path, 'some', 'where') }),
      (error: Error) => /where cannot be opened: .* is read-only/.test(error.message),
    )
    disk.remount('rw')
    assert.deepEqual(checkDataFolder(disk.data), [])
    assert.deepEqual(await idsOf(await start(disk.data), books), [1])
  })

  test('writes are rejected, reads continue, and writing resumes once the disk is writable', async () => {
    const disk = await SmallDisk.mount(4)
    const first = await start(disk.data)
    await succeed(first, keyspace, { createCollection: { name: 'books' } })
    await succeed(first, books, { insertOne: { document: bodyOf(1) } })
    await stop(first)
    const server = await start(disk.data)
    disk.cover()
    for (const [path, change] of [
      [books, { insertOne: { document: bodyOf(2) } }],
      [keyspace, { createCollection: { name: 'more' } }],
    ] as const) {
      const answer = await server.command(path, change)
      assert.deepEqual(answer.codes, ['FAILED_WRITE_REQUEST'], answer.text)
      assert.match(answer.text, /is read-only\. Make its disk writable/)
    }
    assert.deepEqual(await idsOf(server, books), [1])
    assert.match((await becomes(server, 'DOWN'))!, /is read-only/)
    disk.uncover()
    await succeed(server, books, { insertOne: { document: bodyOf(2) } })
    await succeed(server, keyspace, { createCollection: { name: 'more' } })
    await becomes(server, 'UP')
    assert.deepEqual(await idsOf(server, books), [1, 2])
    await stop(server)
    assert.deepEqual(checkDataFolder(disk.data), [])
  })
})

function count(n: number): string {
  return JSON.stringify({ status: { count: n } })
}
