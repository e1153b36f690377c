/**
 * Catalogs and backups that were changed to name foreign folders, and links to foreign folders. The
 * server opens, writes and removes nothing outside the data folder.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, beforeEach, describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { generationOf, seal } from '../../src/engine/embedded/catalog/catalog-file.ts'
import { checkFolderName } from '../../src/engine/embedded/store/folder-names.ts'
import { loadSnapshot, saveSnapshot } from '../../src/engine/embedded/vectors/snapshot.ts'
import {
  restoreDataFolder,
  type RestoredFile,
} from '../../src/engine/embedded/backup/restore.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { Segment } from '../../src/search/vector/segment.ts'
import { dropTarget, Store } from '../engine/store.ts'
import { TableStore } from '../engine/table-store.ts'

const keyspace = 'default_keyspace'
const home = mkdtempSync(join(tmpdir(), 'stela-foreign-'))
/** The data folder of a stopped server, with the collections a and b and a table. */
const sound = join(home, 'sound')
let count = 0
let place = ''
/** A copy of `sound`, made anew for each test. */
let dataDir = ''
/**
 * A foreign folder. Its content is that of a valid collection, so that only its location is wrong.
 */
let foreign = ''

function open(folder: string): Promise<Engine> {
  return openEmbeddedEngine({ dataDir: folder, durable: false, log: () => undefined })
}

before(async () => {
  const engine = await open(sound)
  for (const name of ['a', 'b'])
    await (await Store.create(engine, name)).insert([{ _id: 1 }])
  await TableStore.create(engine)
  await engine.createKeyspace('other')
  await engine.close()
})
after(() => rmSync(home, { recursive: true, force: true }))

beforeEach(() => {
  place = join(home, `${++count}`)
  dataDir = join(place, 'deep', 'data')
  foreign = join(place, 'foreign')
  cpSync(sound, dataDir, { recursive: true })
  cpSync(join(sound, keyspace, 'a'), foreign, { recursive: true })
  writeFileSync(join(foreign, 'diary.txt'), 'dear diary')
})

/** Every file outside the data folder, with its bytes. */
function outside(): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!path.startsWith(dataDir) && entry.isFile())
      files[path] = readFileSync(path).toString('base64')
  }
  return files
}

function doctor(catalog: string, sql: string, ...values: (string | null)[]): void {
  const database = new DatabaseSync(catalog)
  database.exec('PRAGMA foreign_keys = OFF')
  database.prepare(sql).run(...values)
  seal(database, generationOf(database))
  database.close()
}

/**
 * Asserts that the server refuses the folder with this reason in one line, and that files outside
 * it are unchanged.
 */
async function assertRefused(reason: RegExp): Promise<void> {
  const untouched = outside()
  const catalog = readFileSync(join(dataDir, 'catalog.db'))
  const refusal = await open(dataDir).then(
    (engine) => engine.close().then(() => assert.fail('the folder was not to be served')),
    (error: unknown) => error,
  )
  assert(refusal instanceof EngineError, String(refusal))
  assert.match(refusal.message, reason)
  assert.match(refusal.message, /^[^\n]+$/)
  assert.deepEqual(outside(), untouched)
  assert.deepEqual(readFileSync(join(dataDir, 'catalog.db')), catalog)
  const findings = checkDataFolder(dataDir)
  assert(
    findings.some((finding) => reason.test(finding)),
    findings.join('\n'),
  )
  assert.deepEqual(outside(), untouched)
}

const badNames = [
  '../../foreign',
  '../../../foreign',
  '..',
  '.',
  '',
  '/etc',
  'a/../../../../foreign',
  'a/b',
  'a\\b',
  '..\\..\\foreign',
  'C:\\foreign',
  'a\0b',
  'a\n',
  '~2',
  'a~2~3',
  'a~',
  'catalog.db',
  'backup.partial-6f0cf2b1-0000-4000-8000-000000000000',
  '.hidden',
  'a b',
  'ä',
  'x'.repeat(256),
]

describe('a catalog that names a foreign folder', () => {
  for (const name of badNames)
    test(`is rejected: ${JSON.stringify(name.slice(0, 50))}`, async () => {
      const file = join(dataDir, 'catalog.db')
      doctor(file, "UPDATE target SET folder = ? WHERE name = 'a'", name)
      await assertRefused(
        /cannot be trusted: .* is not a valid folder name of a collection/,
      )
      doctor(file, "UPDATE target SET folder = 'a' WHERE name = 'a'")
      doctor(file, "UPDATE keyspace SET folder = ? WHERE name = 'other'", name)
      await assertRefused(/cannot be trusted: .* is not a valid folder name of a keyspace/)
    })

  test('is rejected when the target is being created or dropped', async () => {
    for (const state of ['creating', 'dropping']) {
      const sql = "UPDATE target SET folder = ?, state = ?, name = uid WHERE folder <> 'b'"
      doctor(join(dataDir, 'catalog.db'), sql, '../../../foreign', state)
      await assertRefused(/cannot be trusted/)
    }
  })

  test('is rejected when the keyspace is being dropped', async () => {
    const sql = "UPDATE keyspace SET name = ':x', folder = ? WHERE name = 'other'"
    doctor(join(dataDir, 'catalog.db'), sql, '../../foreign')
    await assertRefused(/cannot be trusted/)
  })

  test('is rejected when two targets share a folder, or a target has no keyspace', async () => {
    const file = join(dataDir, 'catalog.db')
    doctor(file, "UPDATE target SET folder = 'A' WHERE name = 'b'")
    await assertRefused(/two of its rows name the folder default_keyspace.[aA]/)
    doctor(file, "UPDATE target SET folder = 'b' WHERE name = 'b'")
    doctor(file, "UPDATE target SET keyspace = 'nowhere' WHERE name = 'b'")
    await assertRefused(/names a keyspace that does not exist/)
  })

  test('is rejected when the id of a column is a path', async () => {
    const sql = `UPDATE target SET options = json_set(options, '$.columns[0].id', ?)
      WHERE kind = 'table'`
    doctor(join(dataDir, 'catalog.db'), sql, '/../../../../foreign')
    const untouched = outside()
    await assert.rejects(open(dataDir), /the id of a column or index is a number/)
    assert.deepEqual(outside(), untouched)
  })

  test('is not created by createKeyspace with an invalid name', async () => {
    const engine = await open(dataDir)
    const untouched = outside()
    await assert.rejects(
      engine.createKeyspace('../../foreign2'),
      /is not a valid folder name/,
    )
    await assert.rejects(engine.createKeyspace('../x.y'), /is not a valid folder name/)
    await engine.close()
    assert.deepEqual(outside(), untouched)
    assert(!existsSync(join(place, 'foreign2')))
  })

  test('is also rejected when the name is not text, whereas generated names are accepted', () => {
    for (const name of ['a', 'A_1', 'a~2', 'a~10', 'x'.repeat(48)])
      for (const kind of ['keyspace', 'target'] as const)
        assert.equal(checkFolderName(kind, name), name)
    const inDatabase = '6f0cf2b1-0000-4000-8000-000000000000.library~2'
    assert.equal(checkFolderName('keyspace', inDatabase), inDatabase)
    assert.throws(() => checkFolderName('target', inDatabase))
    for (const name of [null, 1, new Uint8Array([97])])
      assert.throws(() => checkFolderName('target', name), EngineError)
  })
})

describe('a link in a data folder', () => {
  test('in place of the folder of a keyspace is rejected', async () => {
    rmSync(join(dataDir, 'other'), { recursive: true })
    symlinkSync(foreign, join(dataDir, 'other'))
    const untouched = outside()
    await assert.rejects(open(dataDir), /other is a symbolic link, not a folder/)
    assert.deepEqual(outside(), untouched)
  })

  test('in place of the folder of a keyspace with collections is rejected', async () => {
    renameSync(join(dataDir, keyspace), join(place, 'moved'))
    symlinkSync(join(place, 'moved'), join(dataDir, keyspace))
    await assertRefused(/default_keyspace is a symbolic link, not a folder/)
  })

  test('in place of the folder of a collection is rejected', async () => {
    rmSync(join(dataDir, keyspace, 'a'), { recursive: true })
    symlinkSync(foreign, join(dataDir, keyspace, 'a'))
    await assertRefused(/a is a symbolic link, not a folder/)
  })

  test('in place of a store is rejected', async () => {
    rmSync(join(dataDir, keyspace, 'a', 'store.db'))
    symlinkSync(join(foreign, 'store.db'), join(dataDir, keyspace, 'a', 'store.db'))
    await assertRefused(/store\.db is a symbolic link, not a file/)
  })

  test('in place of the folder of a collection is removed with the collection, and not followed', async () => {
    const engine = await open(dataDir)
    const untouched = outside()
    rmSync(join(dataDir, keyspace, 'a'), { recursive: true })
    symlinkSync(foreign, join(dataDir, keyspace, 'a'))
    await dropTarget(engine, (await engine.findTarget(keyspace, 'a'))!)
    await engine.close()
    assert.deepEqual(outside(), untouched)
    assert(!existsSync(join(dataDir, keyspace, 'a')))
  })

  test('in place of the folder of a keyspace is not followed when collections are dropped or created', async () => {
    const engine = await open(dataDir)
    renameSync(join(dataDir, keyspace), join(place, 'moved'))
    symlinkSync(join(place, 'moved'), join(dataDir, keyspace))
    const untouched = outside()
    await dropTarget(engine, (await engine.findTarget(keyspace, 'a'))!)
    await assert.rejects(Store.create(engine, 'c'))
    assert(!existsSync(join(place, 'moved', 'c')))
    await engine.dropKeyspace(keyspace)
    await engine.close()
    assert.deepEqual(outside(), untouched)
  })

  test('among the temporary files of earlier starts is removed, and not followed', async () => {
    const untouched = outside()
    const id = '6f0cf2b1-0000-4000-8000-000000000000'
    const links = [`backup.partial-${id}`, `catalog.db.new-${id}`]
    for (const name of links) symlinkSync(foreign, join(dataDir, name))
    mkdirSync(join(dataDir, 'backup.partial-of-my-own'))
    await (await open(dataDir)).close()
    assert.deepEqual(outside(), untouched)
    for (const name of links)
      assert.equal(lstatSync(join(dataDir, name), { throwIfNoEntry: false }), undefined)
    assert(existsSync(join(dataDir, 'backup.partial-of-my-own')))
  })

  test('in place of a snapshot, or of a file in it, is replaced', async () => {
    const folder = join(dataDir, keyspace, 'a', 'vectors')
    const shape = { dimension: 2, metric: 'cosine', bits: 8, capacity: 16 } as const
    const segment = Segment.create({ ...shape, breadth: 8, threads: 1 })
    const untouched = outside()
    symlinkSync(foreign, folder)
    await saveSnapshot(folder, 1, [segment])
    assert.deepEqual(outside(), untouched)
    assert(lstatSync(folder).isDirectory())
    assert.deepEqual(listing(folder), ['1-0.graph', 'snapshot.json'])
    for (const name of ['snapshot.json', 'snapshot.json.new', '1-0.graph', '2-0.graph']) {
      rmSync(join(folder, name), { force: true })
      symlinkSync(join(foreign, 'diary.txt'), join(folder, name))
    }
    await saveSnapshot(folder, 2, [segment])
    assert.deepEqual(outside(), untouched)
    assert.deepEqual(listing(folder), ['2-0.graph', 'snapshot.json'])
    assert(lstatSync(join(folder, 'snapshot.json')).isFile())
    assert.equal(loadSnapshot(folder, segment.shape)?.version, 2)
  })

  test('in place of a file of a snapshot is not loaded, and neither is a file outside the snapshot', async () => {
    const folder = join(dataDir, keyspace, 'a', 'vectors')
    const shape = { dimension: 2, metric: 'cosine', bits: 8, capacity: 16 } as const
    const segment = Segment.create({ ...shape, breadth: 8, threads: 1 })
    await saveSnapshot(folder, 1, [segment])
    renameSync(join(folder, '1-0.graph'), join(foreign, 'x.graph'))
    symlinkSync(join(foreign, 'x.graph'), join(folder, '1-0.graph'))
    assert.throws(() => loadSnapshot(folder, segment.shape), /1-0\.graph is not a file/)
    const manifest = join(folder, 'snapshot.json')
    const rest = JSON.parse(
      readFileSync(manifest, 'utf8')
        .replace('1-0.graph', '../../../../../foreign/x.graph')
        .replace(/,"crc":\d+\}$/, '}'),
    ) as object
    writeFileSync(manifest, JSON.stringify({ ...rest, crc: crc32(JSON.stringify(rest)) }))
    assert.throws(() => loadSnapshot(folder, segment.shape), /it names the file \.\./)
  })
})

describe('a backup', () => {
  let target = ''
  beforeEach(() => {
    // The target is three folders deep, so that paths with ".." lead to folders that the test
    // inspects.
    target = join(place, 'restored', 'deep', 'data')
    mkdirSync(target, { recursive: true })
  })

  function fileAt(path: string): RestoredFile {
    const content = readFileSync(path)
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { path, size: content.length, sha256 }
  }

  function backup() {
    const catalog = join(dataDir, 'catalog.db')
    const database = new DatabaseSync(catalog)
    const rows = database.prepare('SELECT uid FROM target').all()
    database.exec('PRAGMA journal_mode = DELETE')
    database.close()
    const store = fileAt(join(sound, keyspace, 'a', 'store.db'))
    return {
      catalog: fileAt(catalog),
      stores: new Map(rows.map(({ uid }) => [String(uid), store])),
    }
  }

  const restore = () =>
    restoreDataFolder(
      backup(),
      target,
      () => undefined,
      () => undefined,
    )

  for (const name of badNames)
    test(`is not restored when it names a foreign folder: ${JSON.stringify(name.slice(0, 50))}`, async () => {
      const sqls = [
        "UPDATE target SET folder = ? WHERE name = 'a'",
        "UPDATE keyspace SET folder = ? WHERE name = 'default_keyspace'",
        "UPDATE target SET folder = ?, state = 'dropping' WHERE name = 'a'",
        "UPDATE keyspace SET folder = ?, name = ':x' WHERE name = 'other'",
      ]
      const original = readFileSync(join(dataDir, 'catalog.db'))
      for (const sql of sqls) {
        writeFileSync(join(dataDir, 'catalog.db'), original)
        doctor(join(dataDir, 'catalog.db'), sql, name)
        const before = listing(place)
        await assert.rejects(restore(), (error: unknown) => {
          assert(error instanceof EngineError)
          assert.match(error.message, /cannot be trusted: .* is not a valid folder name/)
          assert.match(error.message, /\. Restore another backup$/)
          return true
        })
        assert(!existsSync(join(target, 'catalog.db')))
        rmSync(target, { recursive: true })
        mkdirSync(target)
        assert.deepEqual(listing(place), before)
      }
    })

  test('is not restored when its files are links', async () => {
    const files = backup()
    const link = join(place, 'link')
    symlinkSync(files.catalog.path, link)
    const linked = { ...files, catalog: { ...files.catalog, path: link } }
    await assert.rejects(
      restoreDataFolder(
        linked,
        target,
        () => undefined,
        () => undefined,
      ),
      /link is a symbolic link, not a file\. Restore another backup$/,
    )
  })

  test('is restored when all its folder names are valid', async () => {
    await restore()
    assert(existsSync(join(target, keyspace, 'b', 'store.db')))
    assert.equal(dirname(target), join(place, 'restored', 'deep'))
  })
})

function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
}
