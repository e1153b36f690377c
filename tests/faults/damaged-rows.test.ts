/**
 * A bit that flips on disk causes an error that names the damaged document, and never a wrong
 * reply. Other documents stay readable.
 */
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test, type TestContext } from 'node:test'
import { runStela } from '../cli/run-stela.ts'
import { startServer, temporaryFolder, type Answer, type TestServer } from '../harness.ts'
import { isEmbedded } from '../test-engine.ts'
import { flipInFile, flipValue, settle, storeOf } from './damage.ts'

// Small runs and segments, so that the test data fills several of them.
process.env['STELA_TEST_MEMTABLE'] = '50'
process.env['STELA_TEST_WAITING'] = '200'

/**
 * Number of documents. It is at most the size of a page of find, so one find reads all documents.
 */
const count = 18
const vectorOf = (i: number) => [1 + i / 64, 2 - i / 128, 0.5]
const books = '/default_keyspace/books'
const letters = '/default_keyspace/letters'
const readings = '/default_keyspace/readings'

const documents = Array.from({ length: count }, (_, i) => ({
  _id: `b${i}`,
  n: i,
  list: [{ at: i }, { at: -i }],
  note: `note-of-${i}.`,
  $vector: vectorOf(i),
  $lexical: `common word${i}`,
}))

/**
 * Documents with long texts. Finds of them run on a reader thread, which returns the texts as
 * bytes.
 */
const long = Array.from({ length: 40 }, (_, i) => ({
  _id: i,
  text: `long-${i}. ` + 'lorem ipsum '.repeat(7_000),
}))

const rows = Array.from({ length: count }, (_, i) => ({
  sensor: `s${i % 3}`,
  at: i,
  kind: `k${i % 5}`,
  note: `row-note-${i}.`,
  place: vectorOf(i),
}))

async function fill(server: TestServer): Promise<void> {
  const send = async (path: string, command: object) => {
    const answer = await server.command(path, command)
    assert.deepEqual(answer.codes, [], answer.text)
  }
  const keyspace = '/default_keyspace'
  await send(keyspace, {
    createCollection: {
      name: 'books',
      options: {
        vector: { dimension: 3 },
        lexical: { enabled: true, analyzer: 'standard' },
        indexing: { deny: ['note'] },
      },
    },
  })
  await send(books, { insertMany: { documents } })
  await send(keyspace, {
    createCollection: { name: 'letters', options: { indexing: { deny: ['text'] } } },
  })
  for (let i = 0; i < long.length; i += 10)
    await send(letters, { insertMany: { documents: long.slice(i, i + 10) } })
  const columns = { sensor: 'text', at: 'int', kind: 'text', note: 'text', extra: 'text' }
  const place = { type: 'vector', dimension: 3 }
  const primaryKey = { partitionBy: ['sensor'], partitionSort: { at: -1 } }
  await send(keyspace, {
    createTable: {
      name: 'readings',
      definition: { columns: { ...columns, place }, primaryKey },
    },
  })
  await send(readings, {
    createIndex: { name: 'kinds', definition: { column: 'kind' } },
  })
  await send(readings, {
    createVectorIndex: { name: 'places', definition: { column: 'place' } },
  })
  await send(readings, { insertMany: { documents: rows } })
}

let folder: string

before(async () => {
  folder = await temporaryFolder()
  const server = await startServer({ dataDir: join(folder, 'sound') })
  await fill(server)
  await server.stop()
  for (const target of ['books', 'letters', 'readings'])
    settle(storeOf(join(folder, 'sound'), target))
})
after(() => rmSync(folder, { recursive: true, force: true }))

let served = 0

/** Copies the data, damages the store of one target in the copy, and starts a server on it. */
async function serveDamaged(
  context: TestContext,
  target: string,
  damage: (file: string) => void,
): Promise<TestServer> {
  const dataDir = join(folder, `damaged-${++served}`)
  await cp(join(folder, 'sound'), dataDir, { recursive: true })
  damage(storeOf(dataDir, target))
  const server = await startServer({ dataDir })
  context.after(() => server.close())
  return server
}

async function damageCount({ url }: TestServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^stela_damaged_records_total (\d+)$/m.exec(text)![1])
}

/**
 * Asserts that the command fails with an error that names the damage, and that the metric grows.
 */
async function assertFails(
  server: TestServer,
  path: string,
  command: object,
  name: RegExp,
): Promise<Answer> {
  const earlier = await damageCount(server)
  const answer = await server.command(path, command)
  const shown = `${JSON.stringify(command)} ${answer.text.slice(0, 1000)}`
  assert.deepEqual(answer.codes, ['STORED_DATA_DAMAGED'], shown)
  const { message } = answer.body.errors![0]!
  assert.match(message, name, shown)
  assert.match(message, /is damaged/, shown)
  assert.match(message, new RegExp(path.slice(1).replace('/', '.')), shown)
  assert.match(message, /from a backup/, shown)
  // The server updates the metric periodically, so the test waits until it has changed.
  while ((await damageCount(server)) <= earlier);
  return answer
}

async function assertFound(
  server: TestServer,
  path: string,
  command: object,
  expected: readonly unknown[],
): Promise<void> {
  const answer = await server.command(path, command)
  const { data } = answer.body
  const found = data?.documents ?? [data?.document]
  const ids = found.map((document) => document?.['_id'] ?? document?.['at'])
  assert.deepEqual(ids, expected, `${JSON.stringify(command)} ${answer.text}`)
}

const damagedBook = /the document with _id "b7" is damaged/

/** Bits to flip in `"note":"note-of-7."`, and what each flip damages. */
const flips: readonly (readonly [what: string, offset: number, bit: number])[] = [
  ['a changed text that is still valid JSON', '"note":"note'.length, 0],
  ['a changed text that is not JSON', '"note'.length, 4],
  ['a changed text that is not UTF-8', '"note":"note'.length, 7],
  ['a changed text that contains a line feed', '"note":"n'.length, 0],
]

describe('a document', { skip: !isEmbedded }, () => {
  for (const [what, offset, bit] of flips)
    test(`with ${what} causes an error`, async (context) => {
      const server = await serveDamaged(context, 'books', (file) =>
        flipInFile(file, '"note":"note-of-7."', offset, bit),
      )
      const byId = { filter: { _id: 'b7' } }
      const commands: object[] = [
        { findOne: byId },
        { find: byId },
        { find: {} },
        { find: { projection: { n: 1 } } },
        { find: { sort: { n: 1 } } },
        { find: { sort: { n: -1 }, projection: { note: 1 } } },
        { find: { sort: { _id: 1 } } },
        { find: { filter: { _id: { $gte: 'b6' } } } },
        { find: { filter: { _id: { $in: ['b6', 'b7'] } } } },
        { find: { filter: { n: 7 } } },
        { find: { filter: { n: { $gt: 5, $lt: 9 } } } },
        { find: { filter: { 'list.1.at': -7 } } },
        { find: { filter: { $lexical: { $match: 'word7' } } } },
        { find: { sort: { $lexical: 'common' }, options: { limit: 60 } } },
        { find: { sort: { $vector: vectorOf(7) }, options: { limit: 3 } } },
        { countDocuments: { filter: { 'list.1.at': { $lt: 0 } } } },
        { updateOne: { ...byId, update: { $set: { n: 0 } } } },
        { updateMany: { filter: { n: { $gte: 0 } }, update: { $inc: { n: 1 } } } },
        { findOneAndUpdate: { ...byId, update: { $set: { n: 0 } } } },
      ]
      for (const command of commands) await assertFails(server, books, command, damagedBook)
      const others = documents.filter(({ _id }) => _id !== 'b7').map(({ _id }) => _id)
      await assertFound(server, books, { findOne: { filter: { _id: 'b8' } } }, ['b8'])
      await assertFound(
        server,
        books,
        { find: { filter: { n: { $ne: 7 } }, options: { limit: 1000 } } },
        others,
      )
      await assertFound(server, books, { find: { filter: { n: 8 } } }, ['b8'])
      // The index alone answers this count, so the damaged document is not read.
      const counted = await server.command(books, { countDocuments: { filter: { n: 7 } } })
      assert.equal(counted.body.status!['count'], 1)
      const { code, err } = await runStela([
        ...['export', '--collection', 'books', '--url', server.url],
      ])
      assert.notEqual(code, 0)
      assert.match(err, damagedBook)
      assert.doesNotMatch(err, /retried/)
    })

  for (const bit of [0, 3])
    test(`that is missing in the index of ids causes an error (flipped bit ${bit})`, async (context) => {
      const server = await serveDamaged(context, 'books', (file) =>
        flipInIndexOfIds(file, 'b7', bit),
      )
      const byId = { filter: { _id: 'b7' } }
      const commands = [
        { findOne: byId },
        { find: { filter: { _id: { $in: ['b7'] } } } },
        { updateOne: { ...byId, update: { $set: { n: 0 } }, options: { upsert: true } } },
      ]
      for (const command of commands)
        await assertFails(server, books, command, /an index refers to document number \d+/)
      await assertFound(server, books, { findOne: { filter: { _id: 'b2' } } }, ['b2'])
      const missing = await server.command(books, { findOne: { filter: { _id: 'a' } } })
      assert.equal(missing.body.data!.document, null)
    })

  test('causes an error when it is missing but an index refers to it', async (context) => {
    const server = await serveDamaged(context, 'books', (file) =>
      change(file, 'DELETE FROM doc WHERE seq = 8'),
    )
    const name = /an index refers to document number 8/
    await assertFails(server, books, { find: { filter: { n: 7 } } }, name)
    await assertFails(server, books, { find: { sort: { n: 1 } } }, name)
    await assertFound(server, books, { find: { filter: { n: 8 } } }, ['b8'])
  })

  test('causes an error when its stored version is changed', async (context) => {
    const server = await serveDamaged(context, 'books', (file) =>
      flipValue(file, { table: 'doc', column: 'version', where: 'seq = 8' }, 0, 3),
    )
    await assertFails(server, books, { findOne: { filter: { _id: 'b7' } } }, damagedBook)
    await assertFails(server, books, { find: {} }, damagedBook)
  })

  test('that is long and damaged also causes an error on a reader thread', async (context) => {
    const server = await serveDamaged(context, 'letters', (file) =>
      flipInFile(file, 'long-17.', 0, 0),
    )
    const name = /the document with _id 17 is damaged/
    await assertFails(server, letters, { find: {} }, name)
    await assertFails(server, letters, { find: { sort: { _id: 1 } } }, name)
    await assertFails(server, letters, { findOne: { filter: { _id: 17 } } }, name)
    const rest = { find: { filter: { _id: { $lt: 17 } }, projection: { text: 0 } } }
    await assertFound(
      server,
      letters,
      rest,
      Array.from({ length: 17 }, (_, i) => i),
    )
  })

  test('with a damaged vector causes an error when the vector is read', async (context) => {
    const server = await serveDamaged(context, 'books', (file) =>
      flipInFile(file, new Uint8Array(Float32Array.from(vectorOf(7)).buffer), 2, 1),
    )
    const sort = { $vector: vectorOf(7) }
    const all = { projection: { '*': 1 } }
    const byId = { filter: { _id: 'b7' } }
    const commands = [
      { find: { sort, options: { limit: 3 } } },
      { findOne: { ...byId, ...all } },
      { find: { filter: { _id: { $in: ['b7'] } }, projection: { $vector: 1 } } },
      { countDocuments: { filter: { $vector: { $exists: true } } } },
    ]
    for (const command of commands) await assertFails(server, books, command, damagedBook)
    // The text of the document is intact, because the vector is stored separately.
    await assertFound(server, books, { findOne: byId }, ['b7'])
    await assertFound(server, books, { findOne: { filter: { _id: 'b8' }, ...all } }, ['b8'])
    // An update of the vector either repairs the document or reports the damage.
    const update = { $set: { $vector: vectorOf(7) } }
    const answer = await server.command(books, { updateOne: { ...byId, update } })
    if (answer.codes.length === 0)
      await assertFound(server, books, { find: { sort, options: { limit: 1 } } }, ['b7'])
    else assert.deepEqual(answer.codes, ['STORED_DATA_DAMAGED'])
  })

  test('with a damaged $lexical causes an error when $lexical is read', async (context) => {
    const server = await serveDamaged(context, 'books', (file) =>
      flipInFile(file, '"common word7"', 3, 0),
    )
    const all = { projection: { '*': 1 } }
    const byId = { filter: { _id: 'b7' } }
    await assertFails(server, books, { findOne: { ...byId, ...all } }, damagedBook)
    await assertFound(server, books, { findOne: byId }, ['b7'])
  })
})

describe('a row', { skip: !isEmbedded }, () => {
  const name = /the row with primary key \("s1", 7\) is damaged/
  const key = { sensor: 's1', at: 7 }

  test('that is damaged causes an error when it is read, changed or indexed', async (context) => {
    const server = await serveDamaged(context, 'readings', (file) =>
      flipInFile(file, 'row-note-7.', 4, 0),
    )
    const commands = [
      { findOne: { filter: key } },
      { find: {} },
      { find: { filter: { sensor: 's1' } } },
      { find: { filter: { kind: 'k2' } } },
      { find: { filter: key, projection: { kind: 1 } } },
      { find: { sort: { place: vectorOf(7) }, options: { limit: 3 } } },
      { updateOne: { filter: key, update: { $set: { kind: 'k9' } } } },
      { insertOne: { document: { ...key, kind: 'k9' } } },
      { deleteOne: { filter: key } },
      { deleteMany: { filter: { sensor: 's1' } } },
      { createIndex: { name: 'notes', definition: { column: 'note' } } },
    ]
    for (const command of commands) await assertFails(server, readings, command, name)
    // Only the write of the damaged row fails, not the other writes of the same group commit.
    const neighbours = Array.from({ length: 20 }, (_, i) => ({ sensor: 'new', at: i }))
    const answers = await Promise.all([
      ...neighbours.map((document) =>
        server.command(readings, { insertOne: { document } }),
      ),
      server.command(readings, {
        updateOne: { filter: key, update: { $set: { kind: 'k9' } } },
      }),
    ])
    const failed = answers.filter(({ codes }) => codes.length > 0)
    assert.equal(failed.length, 1)
    await assertFound(
      server,
      readings,
      { findOne: { filter: { sensor: 's1', at: 10 } } },
      [10],
    )
    await assertFound(server, readings, { find: { filter: { sensor: 'new' } } }, [
      ...neighbours.map(({ at }) => at).reverse(),
    ])
  })

  test('with a damaged vector causes an error when the vector is read', async (context) => {
    const server = await serveDamaged(context, 'readings', (file) =>
      flipInFile(file, new Uint8Array(Float32Array.from(vectorOf(7)).buffer), 2, 1),
    )
    const sorted = { find: { sort: { place: vectorOf(7) }, options: { limit: 3 } } }
    await assertFails(server, readings, sorted, name)
    await assertFails(server, readings, { findOne: { filter: key } }, name)
    const plain = { filter: key, projection: { at: 1 } }
    await assertFound(server, readings, { findOne: plain }, [7])
    // Writing the vector again repairs the row.
    const update = { $set: { place: vectorOf(7) } }
    const answer = await server.command(readings, { updateOne: { filter: key, update } })
    assert.deepEqual(answer.codes, [])
    await assertFound(server, readings, sorted, [7, 8, 6])
  })
})

describe('an index', { skip: !isEmbedded }, () => {
  const parts: readonly (readonly [string, string, object, RegExp])[] = [
    [
      'block',
      'bytes',
      { find: { filter: { n: { $gte: 0 } } } },
      /the index is damaged: block/,
    ],
    ['segment', 'first', { find: { filter: { n: 3 } } }, /the index is damaged: segment/],
    ['segment', 'detail', { find: { filter: { n: 3 } } }, /the index is damaged: segment/],
    ['segment', 'entries', { find: { filter: { n: 3 } } }, /the index is damaged: segment/],
    [
      'textsegment',
      'documents',
      { find: { sort: { $lexical: 'word3' } } },
      /the term index of \$lexical is damaged: segment/,
    ],
    [
      'posting',
      'bytes',
      { find: { sort: { $lexical: 'word3' } } },
      /the term index of \$lexical is damaged: row/,
    ],
  ]
  for (const [table, column, command, name] of parts)
    test(`causes an error when the column ${column} of its table ${table} is damaged`, async (context) => {
      const server = await serveDamaged(context, 'books', (file) => {
        const database = new DatabaseSync(file)
        const key = table === 'segment' ? 'block' : 'id'
        const all = database.prepare(`SELECT ${key} AS id FROM ${table}`).all()
        database.close()
        assert(all.length > 0, `no ${table}`)
        for (const { id } of all)
          flipValue(file, { table, column, where: `${key} = ${String(id)}` }, 5, 2)
      })
      await assertFails(server, books, command, name)
      await assertFound(server, books, { findOne: { filter: { _id: 'b3' } } }, ['b3'])
    })

  test('causes an error when its list of recent changes is damaged', async (context) => {
    const server = await serveDamaged(context, 'books', (file) =>
      change(file, "INSERT INTO recent SELECT flushed + 1000, x'01', 5 FROM manifest"),
    )
    const name = /the index is damaged: the list of recent changes/
    await assertFails(server, books, { find: { filter: { n: 3 } } }, name)
    await assertFound(server, books, { findOne: { filter: { _id: 'b3' } } }, ['b3'])
  })

  test('causes errors when its list of terms is damaged, even for inserts with other terms', async (context) => {
    const server = await serveDamaged(context, 'books', (file) =>
      change(file, "INSERT INTO waiting VALUES (4, x'05', 1)"),
    )
    const name = /the term index of \$lexical is damaged: the list of terms/
    await assertFails(server, books, { find: { sort: { $lexical: 'word3' } } }, name)
    const document = { $lexical: 'new' }
    await assertFails(server, books, { insertOne: { document } }, name)
    await assertFound(server, books, { findOne: { filter: { _id: 'b3' } } }, ['b3'])
  })
})

/**
 * Flips a bit in the last character of an _id in the index of ids. The document itself stays
 * intact.
 */
function flipInIndexOfIds(file: string, id: string, bit: number): void {
  const database = new DatabaseSync(file)
  const { rootpage } = database
    .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_doc_1'")
    .get()!
  database.close()
  const bytes = readFileSync(file)
  const start = (Number(rootpage) - 1) * pageSize
  const at = bytes.subarray(start, start + pageSize).lastIndexOf(id)
  assert(at >= 0, `${id} is not in the index`)
  bytes[start + at + id.length - 1]! ^= 1 << bit
  writeFileSync(file, bytes)
}

const pageSize = 4096

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}
