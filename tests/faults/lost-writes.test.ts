/**
 * Acknowledged writes that are lost because files of a store were damaged. The next start and
 * `stela check` report the loss if another file proves that the writes existed.
 */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { saveSnapshot } from '../../src/engine/embedded/vectors/snapshot.ts'
import { Segment } from '../../src/search/vector/segment.ts'
import { runStela } from '../cli/run-stela.ts'
import { temporaryFolder } from '../harness.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'

const keyspace = '/default_keyspace'
const books = `${keyspace}/books`

let root: string
/** A data folder after `kill -9`. Its log contains writes. */
let killed: string
/** A data folder after a clean stop. Its log is empty. */
let stopped: string
/** The store.db of `stopped` before the last writes. */
let earlier: string
let copies = 0

before(async () => {
  root = await temporaryFolder()
  killed = join(root, 'killed')
  stopped = join(root, 'stopped')
  earlier = join(root, 'earlier.db')
  for (const folder of [killed, stopped]) {
    const first = await ServerProcess.start(folder)
    for (const name of ['books', 'others'])
      await first.command(keyspace, { createCollection: { name } })
    await insert(first, 'books', 0)
    await insert(first, 'others', 0)
    assert.equal(await first.stop(), 0)
    if (folder === stopped) copyFileSync(storeOf(folder), earlier)
    const second = await ServerProcess.start(folder)
    await insert(second, 'books', 1)
    if (folder === stopped) assert.equal(await second.stop(), 0)
    else await second.kill()
  }
  assert(statSync(`${storeOf(killed)}-wal`).size > 0)
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

async function insert(server: ServerProcess, name: string, batch: number): Promise<void> {
  const documents = Array.from({ length: 10 }, (_, n) => ({ _id: `${batch}-${n}` }))
  const answer = await server.command(`${keyspace}/${name}`, { insertMany: { documents } })
  assert.deepEqual(answer.codes, [])
}

function storeOf(folder: string): string {
  return join(folder, 'default_keyspace/books/store.db')
}

function copyOf(folder: string): string {
  const copy = join(root, `copy-${++copies}`)
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true })
  return copy
}

const lost =
  /default_keyspace\.books: 10 acknowledged writes are lost: .* version 10.* version 20/

/** Runs `stela check` and then a server on the folder, and returns the reports of both. */
async function look(folder: string) {
  const checked = await runStela(['check', '--data', folder])
  const server = await ServerProcess.start(folder)
  const others = await server.command(`${keyspace}/others`, { countDocuments: {} })
  assert.deepEqual(others.body.status, { count: 10 })
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  const [, count] = /^stela_lost_writes_total (\d+)$/m.exec(metrics)!
  await server.stop()
  const { code, out } = checked
  return { code, checked: String(out), log: server.err, count: Number(count) }
}

async function assertReported(folder: string): Promise<void> {
  const { code, checked, log, count } = await look(folder)
  assert.match(log, lost)
  assert.equal(count, 10)
  assert.equal(code, 1, checked)
  assert.match(checked, /10 acknowledged writes are lost/)
}

async function assertSound(folder: string): Promise<void> {
  const { code, checked, log, count } = await look(folder)
  assert.doesNotMatch(log, /lost/)
  assert.equal(count, 0)
  assert.equal(code, 0, checked)
}

describe('acknowledged writes that are lost', () => {
  for (const [what, damage] of [
    [
      'a flipped bit in',
      (log: string) => {
        const bytes = readFileSync(log)
        bytes[100]! ^= 1
        writeFileSync(log, bytes)
      },
    ],
    ['an emptied', (log: string) => truncateSync(log, 0)],
    ['a missing', (log: string) => rmSync(log)],
  ] as const)
    test(`are reported when the server finds ${what} store.db-wal`, async () => {
      const folder = copyOf(killed)
      damage(`${storeOf(folder)}-wal`)
      await assertReported(folder)
    })

  test('are reported as damage of the log when store.version is missing', async () => {
    const folder = copyOf(killed)
    const log = `${storeOf(folder)}-wal`
    const bytes = readFileSync(log)
    bytes[100]! ^= 1
    writeFileSync(log, bytes)
    rmSync(join(folder, 'default_keyspace/books/store.version'))
    const found = await look(folder)
    const damage = /default_keyspace\.books: store\.db-wal is damaged at frame 1: /
    assert.match(found.log, damage)
    assert.equal(found.code, 1, found.checked)
    assert.match(found.checked, /store\.db-wal is damaged at frame 1: /)
  })

  test('are reported when store.db is an older copy', async () => {
    const folder = copyOf(stopped)
    copyFileSync(earlier, storeOf(folder))
    await assertReported(folder)
  })

  test('are detected by means of the catalog when store.version is missing or damaged', async () => {
    for (const damage of [
      (file: string) => rmSync(file),
      (file: string) => truncateSync(file, 5),
      (file: string) => writeFileSync(file, Buffer.alloc(32, 1)),
    ]) {
      const folder = copyOf(stopped)
      copyFileSync(earlier, storeOf(folder))
      damage(join(folder, 'default_keyspace/books/store.version'))
      await assertReported(folder)
    }
  })
})

test('lost acknowledged writes are detected by means of a newer snapshot of vectors', async () => {
  const folder = join(root, 'vectors')
  const first = await ServerProcess.start(folder)
  const options = { vector: { dimension: 2, metric: 'cosine' } }
  await first.command(keyspace, { createCollection: { name: 'books', options } })
  await insert(first, 'books', 0)
  assert.equal(await first.stop(), 0)
  const shape = { dimension: 2, metric: 'cosine', bits: 8, capacity: 16 } as const
  const segment = Segment.create({ ...shape, breadth: 8, threads: 1 })
  const snapshot = join(folder, 'default_keyspace/books/vectors')
  for (const version of [10, 13]) {
    await saveSnapshot(snapshot, version, [segment])
    const server = await ServerProcess.start(folder)
    await server.stop()
    if (version === 10) assert.doesNotMatch(server.err, /lost/)
    else
      assert.match(
        server.err,
        /books: 3 acknowledged writes are lost: the store is at version 10, but version 13/,
      )
  }
})

describe('a folder that has lost nothing', () => {
  test('is reported as intact after kill -9 and after a stop', async () => {
    await assertSound(copyOf(killed))
    await assertSound(copyOf(stopped))
  })

  test('is reported as intact when store.version is missing', async () => {
    for (const folder of [copyOf(killed), copyOf(stopped)]) {
      const file = join(folder, 'default_keyspace/books/store.version')
      rmSync(file)
      await assertSound(folder)
      assert(!existsSync(file))
    }
  })

  test('is reported as intact when store.version is a link, which is replaced and not followed', async () => {
    const folder = copyOf(stopped)
    const file = join(folder, 'default_keyspace/books/store.version')
    const diary = join(root, 'diary.txt')
    writeFileSync(diary, 'dear diary')
    rmSync(file)
    symlinkSync(diary, file)
    const server = await ServerProcess.start(folder)
    const added = await server.command(books, { insertOne: { document: { _id: 'new' } } })
    assert.deepEqual(added.codes, [])
    await server.stop()
    assert.equal(readFileSync(diary, 'utf8'), 'dear diary')
    assert.equal(statSync(file).size, 32)
  })
})
