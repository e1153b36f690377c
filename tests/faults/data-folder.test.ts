/**
 * Data folders that cannot be served, because they are in use, written by a later version, or
 * damaged. A server refuses such a folder, names the file and the remedy, and changes nothing.
 */
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, describe, test } from 'node:test'
import { EngineError } from '../../src/engine/errors.ts'
import { editCatalog } from '../engine/embedded/catalog/edit-catalog.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'

let root: string
/** A data folder of a stopped server, with two collections of documents. */
let sound: string
let copies = 0

before(async () => {
  root = await temporaryFolder()
  sound = join(root, 'sound')
  const server = await startServer({ dataDir: sound })
  for (const name of ['books', 'authors']) {
    await server.command('/default_keyspace', { createCollection: { name } })
    const documents = Array.from({ length: 50 }, (_, n) => ({ _id: n, n, name: `${n}` }))
    await server.command(`/default_keyspace/${name}`, { insertMany: { documents } })
  }
  await server.stop()
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

function copyOfSound(): string {
  const folder = join(root, `copy-${++copies}`)
  cpSync(sound, folder, { recursive: true })
  return folder
}

const store = (name: string) => join('default_keyspace', name, 'store.db')

/**
 * Every file with its bytes. Omits the log files of SQLite, which contain no data in these tests.
 */
function filesOf(folder: string): Map<string, string> {
  const files = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /-(?:wal|shm)$/.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    files.set(path, readFileSync(path).toString('base64'))
  }
  return files
}

/** Starts a server that must refuse the folder, and returns its message. */
async function refusalOf(folder: string): Promise<string> {
  const refusal = await startServer({ dataDir: folder }).then(
    (server) => server.stop().then(() => assert.fail('the folder was not to be served')),
    (error: unknown) => error,
  )
  assert(refusal instanceof EngineError, String(refusal))
  assert.match(refusal.message, /^[^\n]+$/, 'one line, for people')
  return refusal.message
}

/**
 * Starts a server process that must refuse the folder with exit code 1, and returns its error
 * output.
 */
async function processRefusalOf(folder: string): Promise<string> {
  const server = new ServerProcess(folder)
  await assert.rejects(server.ready(), 'the folder was not to be served')
  assert.equal(await server.exit, 1)
  assert.equal(server.out, '')
  assert.match(server.err, /^stela: [^\n]+\n$/)
  return server.err
}

async function assertRefused(folder: string, file: string, says: RegExp): Promise<void> {
  const untouched = filesOf(folder)
  const refusal = await refusalOf(folder)
  assert(refusal.includes(file), refusal)
  assert.match(refusal, says)
  assert.deepEqual(filesOf(folder), untouched)
}

async function countOf(server: TestServer | ServerProcess, name: string): Promise<unknown> {
  const answer = await server.command(`/default_keyspace/${name}`, { countDocuments: {} })
  return answer.body.status?.['count']
}

function overwrite(file: string, position: number, bytes: Buffer): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, position)
  closeSync(handle)
}

const garbage = (size: number) => Buffer.alloc(size, 'not what was here before')

describe('a data folder', () => {
  test('is refused while another server uses it, and that server keeps serving', async () => {
    const folder = copyOfSound()
    const holder = await ServerProcess.start(folder)
    assert.match(
      await processRefusalOf(folder),
      new RegExp(`${folder} is in use.*Stop that server`),
    )
    assert.equal(await countOf(holder, 'books'), 50)
    assert.equal(await holder.stop(), 0)
  })

  for (const file of ['catalog.db', store('books')])
    test(`is refused when its ${file} was written by a later version`, async () => {
      const folder = copyOfSound()
      const database = new DatabaseSync(join(folder, file))
      database.exec('PRAGMA user_version = 1000; PRAGMA wal_checkpoint(TRUNCATE)')
      database.close()
      await assertRefused(folder, join(folder, file), /format 1000.*Use /)
    })

  for (const file of ['catalog.db', store('authors')]) {
    for (const size of [0, 50, 99])
      test(`is refused when its ${file} was cut to ${size} bytes`, async () => {
        const folder = copyOfSound()
        truncateSync(join(folder, file), size)
        await assertRefused(folder, join(folder, file), /truncated.*Restore/)
      })

    test(`is refused when its ${file} lost its second half`, async () => {
      const folder = copyOfSound()
      const path = join(folder, file)
      truncateSync(path, Math.floor(readFileSync(path).length / 2))
      await assertRefused(folder, path, /Restore/)
    })

    test(`is refused when its ${file} has a foreign header`, async () => {
      const folder = copyOfSound()
      overwrite(join(folder, file), 0, garbage(100))
      await assertRefused(folder, join(folder, file), /not a database.*Restore/)
    })

    test(`is refused when its ${file} belongs to another program`, async () => {
      const folder = copyOfSound()
      rmSync(join(folder, file))
      const other = new DatabaseSync(join(folder, file))
      other.exec('CREATE TABLE t(x)')
      other.close()
      await assertRefused(folder, join(folder, file), /not written by Stela.*Restore/)
    })
  }

  test('is refused when a page of catalog.db has garbage in its middle', async () => {
    const folder = copyOfSound()
    const path = join(folder, 'catalog.db')
    // Overwrites a part of the first page, which contains the schema. The header and the cell
    // pointers stay intact.
    overwrite(path, 2_000, garbage(1_500))
    await assertRefused(folder, path, /Restore/)
    const untouched = filesOf(folder)
    assert((await processRefusalOf(folder)).includes(path))
    assert.deepEqual(filesOf(folder), untouched)
  })

  test('is refused when the last page of catalog.db is garbage', async () => {
    const folder = copyOfSound()
    const path = join(folder, 'catalog.db')
    overwrite(path, readFileSync(path).length - 4_096, garbage(4_096))
    await assertRefused(folder, path, /Restore/)
  })

  test('is refused when it has data but no catalog.db', async () => {
    const folder = copyOfSound()
    rmSync(join(folder, 'catalog.db'))
    await assertRefused(folder, 'catalog.db', /missing.*Restore/)
    assert(!existsSync(join(folder, 'catalog.db')))
  })

  test('is refused when a store that catalog.db names is missing', async () => {
    const folder = copyOfSound()
    rmSync(join(folder, store('books')))
    await assertRefused(folder, join(folder, store('books')), /missing.*Restore/)
    assert(!existsSync(join(folder, store('books'))))
  })

  test('is refused when the folder of a keyspace is missing', async () => {
    const folder = copyOfSound()
    rmSync(join(folder, 'default_keyspace'), { recursive: true })
    await assertRefused(folder, join(folder, 'default_keyspace'), /missing.*Restore/)
  })

  test('is refused when options in catalog.db are unreadable', async () => {
    const folder = copyOfSound()
    editCatalog(folder, (catalog) => catalog.exec("UPDATE target SET options = '{\"lexi'"))
    await assertRefused(folder, join(folder, 'catalog.db'), /cannot be read.*Restore/)
  })

  test('is refused when its path is that of a file', async () => {
    const file = join(root, 'a-file')
    writeFileSync(file, 'precious')
    assert.match(
      await refusalOf(file),
      new RegExp(`${file} is not a folder.*another folder`),
    )
    assert.equal(readFileSync(file, 'utf8'), 'precious')
  })

  test('is refused when its path is inside a file', async () => {
    const file = join(root, 'another-file')
    writeFileSync(file, 'precious')
    const refusal = await refusalOf(join(file, 'data'))
    assert.match(
      refusal,
      new RegExp(`${join(file, 'data')} is not a folder.*another folder`),
    )
  })

  test('is refused when catalog.db is a folder', async () => {
    const folder = join(root, 'odd')
    mkdirSync(join(folder, 'catalog.db'), { recursive: true })
    const refusal = await refusalOf(folder)
    assert(refusal.includes(join(folder, 'catalog.db')), refusal)
  })
})

describe('a server with damaged pages in a store', () => {
  test('reports the damage to commands that read these pages, and serves other collections', async (t) => {
    const folder = copyOfSound()
    const path = join(folder, store('books'))
    const size = readFileSync(path).length
    // Overwrites all pages except the first seven, which contain the schema.
    overwrite(path, 4_096 * 7, garbage(size - 4_096 * 7))
    const server = await startServer({ dataDir: folder })
    t.after(() => server.stop())
    const answers = await Promise.all(
      [
        { find: {} },
        { find: { filter: { n: 7 } } },
        { find: { sort: { name: 1 } } },
        { findOne: { filter: { _id: 30 } } },
        { countDocuments: { filter: { name: { $gt: '' } } } },
        { insertMany: { documents: [{ n: 100 }, { n: 101 }] } },
        { updateOne: { filter: { _id: 30 }, update: { $inc: { n: 1 } } } },
        { deleteMany: { filter: { n: 3 } } },
      ].map((command) => server.command('/default_keyspace/books', command)),
    )
    const codes = new Set(answers.flatMap((answer) => answer.codes))
    for (const code of codes)
      assert.match(code, /^(?:STORED_DATA_DAMAGED|FAILED_WRITE_REQUEST)$/)
    assert(codes.size > 0, 'the damage was noticed')
    assert.equal(await countOf(server, 'authors'), 50)
  })
})

describe('a server whose term index has lost its postings', () => {
  test('logs once that it cannot merge the index, and continues', async () => {
    const folder = join(root, 'neglected')
    const path = '/default_keyspace/texts'
    let next = 0
    const insert = (server: ServerProcess) => {
      const documents = Array.from({ length: 30 }, () => {
        const number = next++
        return { _id: number, $lexical: `word${number} ${'again '.repeat(5)}` }
      })
      return server.command(path, { insertMany: { documents } })
    }
    const first = await ServerProcess.start(folder, '--log-level', 'error')
    await first.command('/default_keyspace', { createCollection: { name: 'texts' } })
    for (let i = 0; i < 5; i++) assert.deepEqual((await insert(first)).codes, [])
    assert.equal(await first.stop(), 0)
    const database = new DatabaseSync(join(folder, store('texts')))
    // Asserts that there are postings. Otherwise deleting them would damage nothing.
    assert.equal(
      database.prepare('SELECT count(*) > 0 AS yes FROM posting').get()!['yes'],
      1,
    )
    database.exec('DELETE FROM posting')
    database.close()

    const second = await ServerProcess.start(folder, '--log-level', 'error')
    while (!second.err.includes('Maintenance of'))
      assert.deepEqual((await insert(second)).codes, [])
    for (let i = 0; i < 5; i++) assert.deepEqual((await insert(second)).codes, [])
    assert.equal(await second.stop(), 0)
    assert.match(second.err, /Maintenance of .*store\.db failed: .*damaged.*stela check/)
    assert.equal(second.err.split('Maintenance of').length, 2, second.err)
  })
})

describe('a folder after an interrupted first start', () => {
  async function assertOpensEmpty(folder: string): Promise<void> {
    const server = await startServer({ dataDir: folder })
    const answer = await server.command('', { findKeyspaces: {} })
    assert.equal(answer.text, '{"status":{"keyspaces":["default_keyspace"]}}')
    await server.stop()
    assert.deepEqual(readdirSync(folder).toSorted(), [
      'catalog.db',
      'catalog.generation',
      'default_keyspace',
    ])
  }

  test('opens when it is empty', async () => {
    const folder = join(root, 'empty')
    mkdirSync(folder)
    await assertOpensEmpty(folder)
  })

  for (const [what, write] of [
    ['nothing', () => Buffer.alloc(0)],
    ['garbage', () => garbage(5_000)],
    ['half a catalog', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['a whole catalog', (whole: Buffer) => whole],
  ] as const)
    test(`opens when its catalog.db.new contains ${what}`, async () => {
      const folder = join(root, `new-${++copies}`)
      mkdirSync(folder)
      const whole = readFileSync(join(sound, 'catalog.db'))
      writeFileSync(join(folder, 'catalog.db.new'), write(whole))
      writeFileSync(join(folder, 'catalog.db.new-journal'), garbage(600))
      writeFileSync(join(folder, 'catalog.db.new-wal'), garbage(600))
      await assertOpensEmpty(folder)
    })

  test('opens regardless of when the first start was killed', async () => {
    for (let delayMs = 0; delayMs <= 500; delayMs += 100) {
      const folder = join(root, `killed-${delayMs}`)
      const server = new ServerProcess(folder)
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      await server.kill()
      if (existsSync(folder) && !existsSync(join(folder, 'catalog.db')))
        await assertOpensEmpty(folder)
    }
    await assertOpensEmpty(join(root, 'killed-500'))
  })

  test('opens for one of two servers that start together, and the other is refused', async () => {
    for (let round = 0; round < 2; round++) {
      const folder = join(root, `together-${round}`)
      const both = [new ServerProcess(folder), new ServerProcess(folder)]
      const started = await Promise.allSettled(both.map((server) => server.ready()))
      const serving = both.filter((_, i) => started[i]!.status === 'fulfilled')
      const refused = both.filter((_, i) => started[i]!.status === 'rejected')
      assert.equal(serving.length, 1, both.map(({ err }) => err).join())
      assert.match(refused[0]!.err, /in use/)
      const created = await serving[0]!.command('/default_keyspace', {
        createCollection: { name: 'kept' },
      })
      assert.deepEqual(created.codes, [])
      await serving[0]!.stop()
      const again = await startServer({ dataDir: folder })
      assert.equal(await countOf(again, 'kept'), 0)
      await again.stop()
    }
  })
})

describe('the first start after a crash', () => {
  for (const state of ['creating', 'dropping'])
    for (const folderThere of [true, false])
      test(`removes a collection in state ${state} whose folder is ${folderThere ? 'present' : 'missing'}`, async () => {
        const folder = copyOfSound()
        // A collection in state "creating" is always empty, because it receives writes only once it
        // is ready.
        const name = state === 'creating' ? 'fresh' : 'books'
        const first = await startServer({ dataDir: folder })
        await first.command('/default_keyspace', { createCollection: { name: 'fresh' } })
        await first.stop()
        editCatalog(folder, (catalog) => {
          catalog.prepare('UPDATE target SET state = ? WHERE name = ?').run(state, name)
        })
        const path = join(folder, 'default_keyspace', name)
        if (!folderThere) rmSync(path, { recursive: true })

        const server = await startServer({ dataDir: folder })
        const found = await server.command('/default_keyspace', { findCollections: {} })
        const left = ['authors', 'books', 'fresh'].filter((other) => other !== name)
        assert.deepEqual(found.body.status, { collections: left })
        assert(!existsSync(path))
        await server.command('/default_keyspace', { createCollection: { name } })
        assert.equal(await countOf(server, name), 0)
        assert.equal(await countOf(server, 'authors'), 50)
        await server.stop()
      })
})
