/**
 * Folders that are moved, removed or replaced under a running server. Writes to the open files
 * would still succeed, but would be lost silently. So the server must notice the change, and reject
 * writes.
 */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { becomes } from './health.ts'

let root: string
let data: string
let away: string
let server: TestServer

const keyspace = '/default_keyspace'
const books = `${keyspace}/books`

beforeEach(async () => {
  root = await temporaryFolder()
  data = join(root, 'data')
  away = join(root, 'away')
  server = await startServer({ dataDir: data })
  for (const name of ['books', 'unused'])
    await succeed(keyspace, { createCollection: { name } })
  await succeed(books, { insertOne: { document: { _id: 'before' } } })
})

afterEach(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true })
})

async function succeed(path: string, command: object): Promise<void> {
  const answer = await server.command(path, command)
  assert.deepEqual(answer.codes, [], answer.text)
}

async function refuse(path: string, command: object, says: RegExp): Promise<void> {
  const answer = await server.command(path, command)
  assert.deepEqual(answer.codes, ['FAILED_WRITE_REQUEST'], answer.text)
  assert.match(answer.body.errors![0]!.message, says)
  assert.match(
    answer.body.errors![0]!.message,
    /Nothing of this batch of writes was stored/,
  )
}

async function ids(): Promise<unknown[]> {
  const { body } = await server.command(books, { find: { sort: { _id: 1 } } })
  return body.data!.documents!.map((document) => document['_id'])
}

const gone = /was removed, renamed or unmounted\. Put it back/
const replaced = /was replaced while the server runs.* Restart the server/

async function refuseEverything(says: RegExp): Promise<void> {
  await refuse(books, { insertOne: { document: { _id: 'refused' } } }, says)
  await refuse(books, { updateOne: { filter: {}, update: { $set: { n: 1 } } } }, says)
  await refuse(books, { deleteMany: {} }, says)
  await refuse(keyspace, { createCollection: { name: 'refused' } }, says)
  await refuse(keyspace, { deleteCollection: { name: 'books' } }, says)
  await refuse('', { createKeyspace: { name: 'refused' } }, says)
  await refuse('', { dropKeyspace: { name: 'default_keyspace' } }, says)
  assert.deepEqual(await ids(), ['before'], 'reads go on')
}

async function resume(): Promise<void> {
  await succeed(books, { insertOne: { document: { _id: 'later' } } })
  await succeed(`${keyspace}/unused`, { insertOne: { document: { _id: 'first' } } })
  await succeed(keyspace, { createCollection: { name: 'refused' } })
  await succeed('', { createKeyspace: { name: 'refused' } })
  assert.deepEqual(await ids(), ['before', 'later'])
  assert.equal(await becomes(server, 'UP'), undefined)
  await server.stop()
  assert.deepEqual(checkDataFolder(data), [])
  const left = readdirSync(join(data, 'default_keyspace')).sort()
  assert.deepEqual(left, ['books', 'refused', 'unused'])
  server = await startServer({ dataDir: data })
  assert.deepEqual(await ids(), ['before', 'later'])
}

describe('a data folder that is moved away', () => {
  test('makes the server reject writes until it is back, and contains no rejected write', async () => {
    renameSync(data, away)
    await refuseEverything(gone)
    assert(!existsSync(data), 'nothing is made in its place')
    assert.match((await becomes(server, 'DOWN'))!, gone)
    renameSync(away, data)
    await becomes(server, 'UP')
    await resume()
  })

  test('makes the health check report DOWN even without writes', async () => {
    renameSync(data, away)
    assert.match((await becomes(server, 'DOWN'))!, gone)
    renameSync(away, data)
    await becomes(server, 'UP')
  })

  test('and replaced by a copy makes the server reject writes, and leave the copy unchanged', async () => {
    renameSync(data, away)
    cpSync(away, data, { recursive: true })
    const before = contentsOf(data)
    await refuseEverything(replaced)
    assert.match((await becomes(server, 'DOWN'))!, replaced)
    await refuse(`${keyspace}/unused`, { insertOne: { document: {} } }, replaced)
    assert.deepEqual(contentsOf(data), before)
    rmSync(data, { recursive: true })
    renameSync(away, data)
    await resume()
  })

  test('and replaced by an empty one makes the server reject writes', async () => {
    renameSync(data, away)
    mkdirSync(data)
    await refuseEverything(gone)
    assert.deepEqual(readdirSync(data), [])
    rmSync(data, { recursive: true })
    renameSync(away, data)
    await resume()
  })
})

describe('the folder of one collection that is moved away', () => {
  test('makes the server reject writes to this collection only, until the folder is back', async () => {
    const folder = join(data, 'default_keyspace', 'books')
    renameSync(folder, away)
    await refuse(books, { insertOne: { document: { _id: 'refused' } } }, gone)
    await succeed(`${keyspace}/unused`, { insertOne: { document: { _id: 'other' } } })
    assert.deepEqual(await ids(), ['before'])
    assert.match((await becomes(server, 'DOWN'))!, gone)
    renameSync(away, folder)
    await becomes(server, 'UP')
    await succeed(books, { insertOne: { document: { _id: 'later' } } })
    assert.deepEqual(await ids(), ['before', 'later'])
  })

  test('and replaced by a copy makes the server reject every write to this collection', async () => {
    const folder = join(data, 'default_keyspace', 'books')
    renameSync(folder, away)
    cpSync(away, folder, { recursive: true })
    for (let i = 0; i < 3; i++)
      await refuse(books, { insertOne: { document: { _id: 'refused' } } }, replaced)
    rmSync(folder, { recursive: true })
    renameSync(away, folder)
    await succeed(books, { insertOne: { document: { _id: 'later' } } })
    assert.deepEqual(await ids(), ['before', 'later'])
  })

  test('causes no further error once its collection is dropped', async () => {
    renameSync(join(data, 'default_keyspace', 'books'), away)
    await refuse(books, { insertOne: { document: { _id: 'refused' } } }, gone)
    await succeed(keyspace, { deleteCollection: { name: 'books' } })
    await becomes(server, 'UP')
    await succeed(keyspace, { createCollection: { name: 'books' } })
    assert.deepEqual(await ids(), [])
  })
})

test('a server whose data folder is removed rejects writes', async () => {
  rmSync(data, { recursive: true })
  await refuseEverything(gone)
  assert(!existsSync(data))
})

/** Sorted names of all files and folders. */
function contentsOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}
