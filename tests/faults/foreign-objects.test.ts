/**
 * Stores, catalogs and backups whose schema contains foreign SQL objects. The server runs none of
 * this SQL: it refuses the file, and the error names the object.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { openToRead, openToWrite } from '../../src/engine/embedded/store/layout.ts'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { TakenBackups } from '../engine/embedded/backup/restored.ts'
import { Store } from '../engine/store.ts'
import { TableStore } from '../engine/table-store.ts'

const home = mkdtempSync(join(tmpdir(), 'stela-objects-'))
/** The data folder of a stopped server, with the collections a and b and a table. */
const sound = join(home, 'sound')
let count = 0
let dataDir = ''

function open(folder: string): Promise<Engine> {
  return openEmbeddedEngine({ dataDir: folder, durable: false, log: () => undefined })
}

before(async () => {
  const engine = await open(sound)
  for (const name of ['a', 'b'])
    await (await Store.create(engine, name)).insert([{ _id: 1 }])
  await TableStore.create(engine)
  await engine.close()
})
after(() => rmSync(home, { recursive: true, force: true }))

beforeEach(() => {
  dataDir = join(home, `${++count}`)
  cpSync(sound, dataDir, { recursive: true })
})

function doctor(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; ${sql}`)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

/**
 * SQL statements that change a schema with the tables `main` and `other`, each with the error that
 * the change must cause.
 */
function doctorings(
  main: string,
  column: string,
  other: string,
): readonly (readonly [string, RegExp])[] {
  return [
    [
      `CREATE TRIGGER evil AFTER INSERT ON ${main} BEGIN DELETE FROM ${other}; END`,
      /has the trigger "evil", which Stela did not create/,
    ],
    [
      `ALTER TABLE ${main} RENAME TO ${other}_9x; CREATE VIEW ${main} AS SELECT * FROM ${other}_9x`,
      /has the (?:table "\w+_9x"|view "\w+"), which Stela did not create/,
    ],
    [
      `ALTER TABLE ${main} RENAME TO feed_9; CREATE VIEW ${main} AS SELECT * FROM feed_9`,
      /has the (?:view "\w+"|table "feed_9"), which Stela did not create/,
    ],
    ['CREATE VIEW evil AS SELECT 1', /has the view "evil", which/],
    ['CREATE TABLE evil(x)', /has the table "evil", which/],
    [`CREATE TABLE feed_1_2(x)`, /has the table "feed_1_2", which/],
    [`CREATE TABLE "feed_1;x"(x)`, /has the table "feed_1;x", which/],
    [`CREATE INDEX evil ON ${main}(length(${column}))`, /has the index "evil", which/],
    ['CREATE VIRTUAL TABLE evil USING fts5(x)', /has the table "evil", which/],
    [
      `ALTER TABLE ${main} ADD COLUMN x ANY AS (abs(1))`,
      /has an expression in the table "\w+", which/,
    ],
    [
      `ALTER TABLE ${main} ADD COLUMN x ANY DEFAULT (1) CHECK (abs(1))`,
      /has an expression in the table "\w+", which/,
    ],
  ]
}

describe('foreign SQL', () => {
  for (const [sql, reason] of doctorings('doc', 'id', 'path'))
    test(`in a store is refused: ${sql}`, async () => {
      const file = join(dataDir, 'default_keyspace', 'a', 'store.db')
      doctor(file, sql)
      const bytes = readFileSync(file)
      for (const openStore of [openToRead, (path: string) => openToWrite(path, true)])
        assert.throws(
          () => openStore(file),
          (error: unknown) =>
            error instanceof EngineError &&
            error.kind === 'damaged' &&
            reason.test(error.message) &&
            !error.message.includes(dataDir),
        )
      const engine = await open(dataDir)
      try {
        const store = await Store.find(engine, 'a')
        await assert.rejects(store.insert([{ _id: 2 }]), reason)
        await assert.rejects(store.find(), reason)
        await (await Store.find(engine, 'b')).insert([{ _id: 2 }])
      } finally {
        await engine.close()
      }
      assert.deepEqual(readFileSync(file), bytes)
      const findings = checkDataFolder(dataDir)
      assert.equal(findings.length, 1, findings.join('\n'))
      assert.match(findings[0]!, reason)
    })

  for (const [sql, reason] of doctorings('target', 'uid', 'setting'))
    test(`in a catalog is refused: ${sql}`, async () => {
      const file = join(dataDir, 'catalog.db')
      doctor(file, sql)
      const bytes = readFileSync(file)
      await assert.rejects(open(dataDir), (error: unknown) => {
        assert(error instanceof EngineError && error.kind === 'damaged', String(error))
        assert.match(error.message, reason)
        assert(error.message.includes(file))
        return true
      })
      assert.deepEqual(readFileSync(file), bytes)
      const findings = checkDataFolder(dataDir)
      assert(
        findings.some((finding) => reason.test(finding)),
        findings.join('\n'),
      )
    })

  test('in a backup is refused, and the error names the file', async (context) => {
    const engine = await open(dataDir)
    const backups = new TakenBackups(context)
    const taken = await backups.take(engine)
    await engine.close()
    const [store] = taken.contents.stores
    const files = [
      [store!.key, doctorings('doc', 'id', 'path')],
      [taken.contents.catalog.key, doctorings('target', 'uid', 'setting')],
    ] as const
    for (const [key, changes] of files) {
      const path = backups.pathOf(key)
      const whole = readFileSync(path)
      const before = backups.files.get(key)!
      for (const [sql, reason] of changes) {
        writeFileSync(path, whole)
        doctor(path, sql)
        const content = readFileSync(path)
        const sha256 = createHash('sha256').update(content).digest('hex')
        backups.files.set(key, { key, size: content.length, sha256 })
        await assert.rejects(backups.restore(taken), (error: unknown) => {
          assert(error instanceof EngineError && error.kind === 'damaged', String(error))
          assert.match(error.message, reason)
          assert(error.message.startsWith(`${path} `), error.message)
          return true
        })
      }
      writeFileSync(path, whole)
      backups.files.set(key, before)
    }
    assert.deepEqual(checkDataFolder(await backups.restore(taken)), [])
  })
})
