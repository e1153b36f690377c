/**
 * Damage to the catalog. Whatever happens to its files, no collection is deleted or forgotten
 * silently. The server refuses the folder until it is repaired, or until --accept-lost-catalog
 * accepts its state.
 */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, describe, test } from 'node:test'
import { runStela } from '../cli/run-stela.ts'
import { editCatalog } from '../engine/embedded/catalog/edit-catalog.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'

const keyspace = '/default_keyspace'
const documents = Array.from({ length: 30 }, (_, n) => ({ _id: n, text: `number ${n}` }))
const rows = Array.from({ length: 10 }, (_, n) => ({ id: n, place: { city: `c${n}` } }))

let root: string
/** A data folder after `kill -9`, with every kind of target, an extra keyspace, and a setting. */
let killed: string
/** A copy of catalog.db before the last few changes. */
let earlier: string
let copies = 0

before(async () => {
  root = await temporaryFolder()
  killed = join(root, 'killed')
  earlier = join(root, 'earlier.db')
  const server = await ServerProcess.start(killed)
  const send = async (path: string, command: object) => {
    const answer = await server.command(path, command)
    assert.deepEqual(answer.codes, [], answer.text)
  }
  await send(keyspace, { createCollection: { name: 'books' } })
  await send(`${keyspace}/books`, { insertMany: { documents } })
  copyFileSync(join(killed, 'catalog.db'), earlier)
  await send('', { createKeyspace: { name: 'second' } })
  const options = { vector: { dimension: 2, metric: 'cosine' } }
  await send('/second', { createCollection: { name: 'films', options } })
  await send('/second/films', { insertMany: { documents } })
  const fields = { city: 'text' }
  await send(keyspace, { createType: { name: 'place', definition: { fields } } })
  const columns = { id: 'int', place: { type: 'userDefined', udtName: 'place' } }
  const definition = { columns, primaryKey: 'id' }
  await send(keyspace, { createTable: { name: 'shops', definition } })
  await send(`${keyspace}/shops`, { insertMany: { documents: rows } })
  const add = { columns: { extra: 'text' } }
  await send(keyspace + '/shops', { alterTable: { operation: { add } } })
  await server.kill()
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

function copyOfKilled(): string {
  const folder = join(root, `copy-${++copies}`)
  cpSync(killed, folder, { recursive: true })
  return folder
}

const storesOf = ['default_keyspace/books', 'default_keyspace/shops', 'second/films']

/** Asserts that a server on the folder has the data of all acknowledged writes. */
function assertWhole(folder: string): Promise<void> {
  return serving(folder, async (server) => {
    for (const path of [`${keyspace}/books`, '/second/films']) {
      const answer = await server.command(path, { countDocuments: {} })
      assert.deepEqual(answer.body.status, { count: 30 }, answer.text)
    }
    const found = await server.command(`${keyspace}/shops`, { find: {} })
    assert.equal(found.body.data?.documents?.length, 10, found.text)
    const types = await server.command(keyspace, { listTypes: {} })
    assert.deepEqual(types.body.status!['types'], ['place'], types.text)
    const tables = await server.command(keyspace, {
      listTables: { options: { explain: true } },
    })
    assert.match(tables.text, /"extra":/)
    const films = await server.command('/second', {
      findCollections: { options: { explain: true } },
    })
    assert.match(films.text, /"dimension":2/)
  })
}

async function serving(
  folder: string,
  act: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startServer({ dataDir: folder })
  try {
    await act(server)
  } finally {
    await server.stop()
  }
}

/** Asserts that the server refuses the folder in one line, and that no store is removed. */
async function refusalOf(folder: string): Promise<string> {
  const server = new ServerProcess(folder)
  await assert.rejects(server.ready(), 'the folder was not to be served')
  assert.equal(await server.exit, 1)
  assert.match(server.err, /^stela: [^\n]+\n$/)
  for (const store of storesOf) assert(existsSync(join(folder, store, 'store.db')), store)
  return server.err
}

async function assertRepairable(folder: string, says: RegExp): Promise<void> {
  const refusal = await refusalOf(folder)
  assert.match(refusal, says)
  assert.match(refusal, /stela repair --catalog/)
  const checked = await runStela(['check', '--data', folder])
  assert.equal(checked.code, 1, String(checked.out) + checked.err)
  const repaired = await runStela(['repair', '--catalog', '--data', folder])
  assert.equal(repaired.code, 0, repaired.err)
  await assertWhole(folder)
  const again = await runStela(['check', '--data', folder])
  assert.equal(again.code, 0, String(again.out) + again.err)
}

function flipBit(file: string, position: number): void {
  const bytes = readFileSync(file)
  bytes[position]! ^= 1
  writeFileSync(file, bytes)
}

describe('after kill -9', () => {
  for (const [what, damage] of [
    ['a flipped bit in', (log: string) => flipBit(log, statSync(log).size >> 1)],
    ['a halved', (log: string) => truncateSync(log, statSync(log).size >> 1)],
    ['an emptied', (log: string) => truncateSync(log, 0)],
    ['a missing', (log: string) => rmSync(log)],
  ] as const)
    test(`${what} catalog.db-wal loses no acknowledged change`, async () => {
      const folder = copyOfKilled()
      const log = join(folder, 'catalog.db-wal')
      if (existsSync(log) && statSync(log).size > 0) damage(log)
      for (const store of storesOf) assert(existsSync(join(folder, store, 'store.db')))
      await assertWhole(folder)
    })
})

describe('a catalog that has lost changes', () => {
  test('is refused when it is an older copy, and repaired from the stores', async () => {
    const folder = copyOfKilled()
    copyFileSync(earlier, join(folder, 'catalog.db'))
    rmSync(join(folder, 'catalog.db-wal'), { force: true })
    await assertRepairable(
      folder,
      /record generation \d+.*does not list default_keyspace.shops, second.films/,
    )
  })

  test('is refused when it is an older copy and catalog.generation is missing', async () => {
    const folder = copyOfKilled()
    copyFileSync(earlier, join(folder, 'catalog.db'))
    rmSync(join(folder, 'catalog.db-wal'), { force: true })
    rmSync(join(folder, 'catalog.generation'))
    assert.match(await refusalOf(folder), /does not list/)
  })

  test('is refused when it is missing, and repaired from the stores', async () => {
    const folder = copyOfKilled()
    rmSync(join(folder, 'catalog.db'))
    rmSync(join(folder, 'catalog.db-wal'), { force: true })
    const refusal = await refusalOf(folder)
    assert.match(refusal, /catalog\.db is missing, but the folder contains data/)
    const repaired = await runStela(['repair', '--catalog', '--data', folder])
    assert.equal(repaired.code, 0, repaired.err)
    await assertWhole(folder)
  })

  /** A folder whose catalog.db is missing, while catalog.db-wal still has pages of it. */
  function copyWithLogOnly(): string {
    const folder = copyOfKilled()
    const file = join(folder, 'catalog.db')
    const catalog = new DatabaseSync(file)
    catalog.exec('PRAGMA wal_autocheckpoint = 0')
    catalog.exec("UPDATE target SET version = version + 1, name = name || '_old'")
    copyFileSync(`${file}-wal`, `${file}-kept`)
    catalog.close()
    rmSync(file)
    renameSync(`${file}-kept`, `${file}-wal`)
    assert(readFileSync(`${file}-wal`).includes('_old'))
    return folder
  }

  test('is repaired when only its log is left, and the log is renamed instead of deleted', async () => {
    const folder = copyWithLogOnly()
    const repaired = await runStela(['repair', '--catalog', '--data', folder])
    assert.equal(repaired.code, 0, repaired.err)
    assert(existsSync(join(folder, 'catalog.db.replaced-1-wal')))
    await assertWhole(folder)
    const checked = await runStela(['check', '--data', folder])
    assert.equal(checked.code, 0, String(checked.out) + checked.err)
  })

  test('is replaced by an empty catalog on request when only its log is left, and stores move to quarantine', async () => {
    const folder = copyWithLogOnly()
    const server = await startServer({ dataDir: folder, acceptsLostCatalog: true })
    const { body } = await server.command(keyspace, { findCollections: {} })
    assert.deepEqual(body.status, { collections: [] })
    await server.stop()
    assert(existsSync(join(folder, 'quarantine.stores')))
    const checked = await runStela(['check', '--data', folder])
    assert.equal(checked.code, 0, String(checked.out) + checked.err)
  })

  test('is refused when only a keyspace without collections is lost, which a repair restores', async () => {
    const folder = join(root, 'lone-keyspace')
    await serving(folder, () => Promise.resolve())
    const before = readFileSync(join(folder, 'catalog.db'))
    await serving(folder, async (server) => {
      await server.command('', { createKeyspace: { name: 'lone' } })
    })
    writeFileSync(join(folder, 'catalog.db'), before)
    const server = new ServerProcess(folder)
    await assert.rejects(server.ready())
    assert.match(
      server.err,
      /other files record generation \d+: its latest changes are lost/,
    )
    const repaired = await runStela(['repair', '--catalog', '--data', folder])
    assert.equal(repaired.code, 0, repaired.err)
    await serving(folder, async (again) => {
      const found = await again.command('', { findKeyspaces: {} })
      assert.deepEqual(found.body.status, { keyspaces: ['default_keyspace', 'lone'] })
    })
  })

  test('is refused when a bit of a name was flipped, and repaired from the stores', async () => {
    const folder = copyOfKilled()
    await serving(folder, () => Promise.resolve())
    const file = join(folder, 'catalog.db')
    const bytes = readFileSync(file)
    // Flips the bit both in the row and in the index of names, so that SQLite does not detect the
    // damage.
    for (let at = bytes.indexOf('films'); at >= 0; at = bytes.indexOf('films', at + 1))
      bytes[at + 3]! ^= 1
    writeFileSync(file, bytes)
    await assertRepairable(folder, /does not match its checksum/)
  })

  for (const page of [1, 2, 3, 4, 5])
    test(`is refused when all bytes of page ${page + 1} are zeros, and repaired from the stores`, async () => {
      const folder = copyOfKilled()
      await serving(folder, () => Promise.resolve())
      const file = join(folder, 'catalog.db')
      const bytes = readFileSync(file)
      bytes.fill(0, page * 4096, (page + 1) * 4096)
      writeFileSync(file, bytes)
      await assertRepairable(folder, /catalog/)
    })

  test('is refused when it lists a collection with documents in the state "creating", and can be repaired', async () => {
    const folder = copyOfKilled()
    editCatalog(folder, (catalog) =>
      catalog.exec("UPDATE target SET state = 'creating', name = uid WHERE name = 'books'"),
    )
    await assertRepairable(folder, /default_keyspace.books contains data/)
  })

  test('is refused when a folder contains another collection than it lists, and can be repaired', async () => {
    const folder = copyOfKilled()
    editCatalog(folder, (catalog) =>
      catalog.exec("UPDATE target SET uid = 'other' WHERE name = 'books'"),
    )
    await assertRepairable(
      folder,
      /books contains another collection or table than the catalog lists/,
    )
  })
})

for (const [what, change] of [
  [
    'the options of a collection',
    `UPDATE target SET options = '{"v:' WHERE name = 'films'`,
  ],
  ['the columns of a table', "UPDATE target SET options = '{}' WHERE kind = 'table'"],
  ['the definition of a type', "UPDATE type SET definition = '{'"],
  ['the keyspace of a type', "UPDATE type SET keyspace = 'unknown'"],
] as const)
  test(`a catalog in which ${what} cannot be read is refused, and only a repair is offered`, async () => {
    const folder = copyOfKilled()
    editCatalog(folder, (catalog) => {
      catalog.exec('PRAGMA foreign_keys = OFF')
      assert.equal(catalog.prepare(change).run().changes, 1)
    })
    const refusal = await refusalOf(folder)
    assert.doesNotMatch(refusal, /accept-lost-catalog/)
    await assertRepairable(folder, /catalog\.db cannot be read: /)
  })

test('a repair moves a store to quarantine when the options of the store cannot be read', async () => {
  for (const options of ['{"vector":', 'null']) {
    const folder = copyOfKilled()
    rmSync(join(folder, 'second/films/target.json'))
    editCatalog(folder, (catalog) =>
      catalog.prepare("UPDATE target SET options = ? WHERE name = 'films'").run(options),
    )
    const repaired = await runStela(['repair', '--catalog', '--data', folder])
    assert.match(
      String(repaired.out) + repaired.err,
      /second.films is not listed, because its options cannot be read; it was moved to/,
    )
    assert(existsSync(join(folder, 'quarantine.stores/second/films/store.db')))
    await serving(folder, async (server) => {
      const books = await server.command(`${keyspace}/books`, { countDocuments: {} })
      assert.deepEqual(books.body.status, { count: 30 }, books.text)
    })
  }
})

test('a repair leaves out a type whose definition cannot be read', async () => {
  const folder = copyOfKilled()
  editCatalog(folder, (catalog) => {
    catalog.exec("INSERT INTO type SELECT keyspace, 'broken', '{' FROM type LIMIT 1")
  })
  rmSync(join(folder, 'default_keyspace/shops/target.json'))
  const repaired = await runStela(['repair', '--catalog', '--data', folder])
  assert.match(
    String(repaired.out) + repaired.err,
    /the type default_keyspace.broken is not listed: it cannot be read/,
  )
  await assertWhole(folder)
})

describe('--accept-lost-catalog', () => {
  test('serves the stores that the catalog lists, and moves the others to quarantine', async () => {
    const folder = copyOfKilled()
    copyFileSync(earlier, join(folder, 'catalog.db'))
    rmSync(join(folder, 'catalog.db-wal'), { force: true })
    const server = await ServerProcess.start(folder, '--accept-lost-catalog')
    const found = await server.command(keyspace, { findCollections: {} })
    assert.deepEqual(found.body.status, { collections: ['books'] })
    const created = await server.command(keyspace, { createCollection: { name: 'shops' } })
    assert.deepEqual(created.codes, [])
    await server.stop()
    assert.match(server.err, /second.films.*to quarantine\.stores.second.films/)
    for (const store of ['default_keyspace/shops', 'second/films'])
      assert(existsSync(join(folder, 'quarantine.stores', store, 'store.db')), store)
    await serving(folder, async (again) => {
      const keyspaces = await again.command('', { findKeyspaces: {} })
      assert.deepEqual(keyspaces.body.status, { keyspaces: ['default_keyspace'] })
    })
  })

  test('moves a store to quarantine when an older catalog lists its folder as being dropped', async () => {
    const folder = copyOfKilled()
    copyFileSync(earlier, join(folder, 'catalog.db'))
    rmSync(join(folder, 'catalog.db-wal'), { force: true })
    // Makes the old catalog list a dropped collection whose folder now belongs to another table.
    const sql =
      "INSERT INTO target(uid, keyspace, name, folder, kind, state, options) VALUES ('gone', " +
      "'default_keyspace', 'gone', 'shops', 'collection', 'dropping', '{}')"
    editCatalog(folder, (catalog) => catalog.exec(sql))
    for (const isDescribed of [true, false]) {
      const copy = join(root, `dropped-${isDescribed}`)
      cpSync(folder, copy, { recursive: true })
      const place = join('default_keyspace', 'shops')
      if (!isDescribed) rmSync(join(copy, place, 'target.json'))
      const server = await ServerProcess.start(copy, '--accept-lost-catalog')
      await server.stop()
      assert(existsSync(join(copy, 'quarantine.stores', place, 'store.db')), server.err)
    }
  })

  test('creates a missing catalog, and moves all stores to quarantine', async () => {
    const folder = copyOfKilled()
    rmSync(join(folder, 'catalog.db'))
    rmSync(join(folder, 'catalog.db-wal'), { force: true })
    const server = await ServerProcess.start(folder, '--accept-lost-catalog')
    const found = await server.command(keyspace, { findCollections: {} })
    assert.deepEqual(found.body.status, { collections: [] })
    await server.stop()
    for (const store of storesOf)
      assert(existsSync(join(folder, 'quarantine.stores', store, 'store.db')), store)
  })

  test('changes nothing when nothing was lost', async () => {
    const folder = copyOfKilled()
    const server = await ServerProcess.start(folder, '--accept-lost-catalog')
    await server.stop()
    assert(!existsSync(join(folder, 'quarantine.stores')))
    await assertWhole(folder)
  })
})

describe('the description of a collection inside its store', () => {
  test('suffices for a repair when target.json and catalog.generation are missing or damaged', async () => {
    const folder = copyOfKilled()
    rmSync(join(folder, 'default_keyspace/books/target.json'))
    writeFileSync(join(folder, 'second/films/target.json'), '{"checksum":1,"content":{}}')
    rmSync(join(folder, 'catalog.generation'))
    await assertWhole(folder)
    rmSync(join(folder, 'catalog.db'))
    const repaired = await runStela(['repair', '--catalog', '--data', folder])
    assert.equal(repaired.code, 0, repaired.err)
    await assertWhole(folder)
  })

  test('is removed when the collection is dropped, so a repair does not restore the collection', async () => {
    const folder = copyOfKilled()
    await serving(folder, async (server) => {
      await server.command(keyspace, { deleteCollection: { name: 'books' } })
    })
    rmSync(join(folder, 'catalog.db'))
    const repaired = await runStela(['repair', '--catalog', '--data', folder])
    assert.equal(repaired.code, 0, repaired.err)
    await serving(folder, async (again) => {
      const found = await again.command(keyspace, { findCollections: {} })
      assert.deepEqual(found.body.status, { collections: [] })
    })
  })
})

describe('dropping a keyspace', () => {
  test('moves stores in its folder that the catalog does not list to quarantine', async () => {
    const folder = copyOfKilled()
    await serving(folder, async (server) => {
      cpSync(join(folder, 'second/films'), join(folder, 'second/copy'), { recursive: true })
      const dropped = await server.command('', { dropKeyspace: { name: 'second' } })
      assert.deepEqual(dropped.codes, [])
    })
    assert(!existsSync(join(folder, 'second')))
    assert.deepEqual(readdirSync(join(folder, 'quarantine.stores/second')), ['copy'])
    const file = join(folder, 'quarantine.stores/second/copy/store.db')
    const store = new DatabaseSync(file, { readOnly: true })
    assert.equal(store.prepare('SELECT count(*) AS n FROM doc').get()!['n'], 30)
    store.close()
  })
})
