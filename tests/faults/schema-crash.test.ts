/**
 * Crashes at every step of a schema change. The next start finds the schema as it was before or
 * after the change, and all acknowledged documents. To simulate crashes, the test copies the data
 * folder before each step that touches the disk.
 */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import sqlite, { DatabaseSync, StatementSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { digestsOf } from '../torture/folders.ts'
import { isEmbedded } from '../test-engine.ts'

const keyspace = '/default_keyspace'
const documents = Array.from({ length: 5 }, (_, _id) => ({ _id }))

const changes: readonly (readonly [path: string, command: object])[] = [
  [keyspace, { createCollection: { name: 'films' } }],
  ['', { createKeyspace: { name: 'second' } }],
  ['/second', { createCollection: { name: 'films' } }],
  [keyspace, { createType: { name: 'place', definition: { fields: { city: 'text' } } } }],
  [
    keyspace,
    {
      createTable: {
        name: 'shops',
        definition: {
          columns: { id: 'int', place: { type: 'userDefined', udtName: 'place' } },
          primaryKey: 'id',
        },
      },
    },
  ],
  [`${keyspace}/shops`, { alterTable: { operation: { add: { columns: { n: 'int' } } } } }],
  [keyspace, { alterType: { name: 'place', add: { fields: { street: 'text' } } } }],
  [`${keyspace}/shops`, { createIndex: { name: 'ns', definition: { column: 'n' } } }],
  [keyspace, { dropTable: { name: 'shops' } }],
  [keyspace, { deleteCollection: { name: 'films' } }],
  ['', { dropKeyspace: { name: 'second' } }],
]

/** A copy of the data folder in the state that a crash before `step` would leave. */
interface Remains {
  readonly folder: string
  readonly step: string
  /** Number of changes that were acknowledged before the step. */
  readonly answered: number
}

const { cpSync, rmSync } = fs
const { mkdirSync, openSync, writeSync, writeFileSync, fsyncSync } = fs
const { renameSync, rmdirSync, unlinkSync } = fs
const originals = {
  ...{ mkdirSync, openSync, writeSync, writeFileSync, fsyncSync },
  ...{ renameSync, rmdirSync, unlinkSync, rmSync },
}
const { mkdir, open, rename, rm, rmdir } = fs.promises
const asyncOriginals = { mkdir, open, rename, rm, rmdir }
const { exec } = DatabaseSync.prototype
const { run } = StatementSync.prototype
const { backup } = sqlite

/** The prototype of file handles, which node:fs does not export. */
async function fileHandles(): Promise<FileHandle> {
  const handle = await open(import.meta.filename)
  await handle.close()
  return Object.getPrototypeOf(handle) as FileHandle
}

const handles = await fileHandles()
const { sync, write, writeFile } = handles
const handleOriginals = { sync, write, writeFile }

type Functions = Readonly<Record<string, (...values: never) => unknown>>

/** Calls `onStep` before each call of this thread that touches the disk, synchronous or not. */
function watchDisk(onStep: (step: string) => void): void {
  let isBusy = false
  const before = (step: string): void => {
    // Ignores the steps of `onStep` itself, which copies the folder.
    if (isBusy) return
    isBusy = true
    onStep(step)
    isBusy = false
  }
  const watch = (target: object, functions: Functions): void => {
    for (const [name, original] of Object.entries(functions))
      Object.assign(target, {
        [name](this: unknown, ...values: never) {
          before(`${name} ${String((values as unknown[])[0])}`)
          return original.apply(this, values)
        },
      })
  }
  watch(fs, originals as Functions)
  watch(fs.promises, asyncOriginals as Functions)
  watch(handles, handleOriginals as Functions)
  const watchedBackup: typeof backup = (source, path) => {
    before(`backup ${String(path)}`)
    const progress = () => before(`backup of another page ${String(path)}`)
    return backup(source, path, { rate: 1, progress })
  }
  Object.assign(sqlite, { backup: watchedBackup })
  syncBuiltinESMExports()
  DatabaseSync.prototype.exec = function (sql) {
    before(sql.trim())
    return exec.call(this, sql)
  }
  StatementSync.prototype.run = function (...values) {
    before(this.sourceSQL)
    return run.apply(this, values as never) as never
  }
}

function unwatchDisk(): void {
  Object.assign(fs, originals)
  Object.assign(fs.promises, asyncOriginals)
  Object.assign(handles, handleOriginals)
  Object.assign(sqlite, { backup })
  syncBuiltinESMExports()
  Object.assign(DatabaseSync.prototype, { exec })
  Object.assign(StatementSync.prototype, { run })
}

/** The schema as clients see it. */
async function schemaOf(server: TestServer): Promise<string> {
  const ask = async (path: string, command: object) =>
    (await server.command(path, command)).body.status
  const { keyspaces } = (await ask('', { findKeyspaces: {} })) as { keyspaces: string[] }
  const seen: unknown[] = []
  for (const name of keyspaces.toSorted())
    for (const command of ['findCollections', 'listTables', 'listTypes'])
      seen.push([
        name,
        await ask(`/${name}`, { [command]: { options: { explain: true } } }),
      ])
  const indexes = await ask(`${keyspace}/shops`, { listIndexes: {} })
  return JSON.stringify([seen, indexes])
}

async function assertServes(folder: string, schemas: readonly string[], label: string) {
  const server = await startServer({ dataDir: folder })
  try {
    const seen = await schemaOf(server)
    assert(schemas.includes(seen), `${label}: ${seen}`)
    const counted = await server.command(`${keyspace}/books`, { countDocuments: {} })
    assert.deepEqual(counted.body.status, { count: 5 }, label)
  } finally {
    await server.stop()
  }
  assert.deepEqual(checkDataFolder(folder), [], label)
  assert(!fs.existsSync(join(folder, 'quarantine.stores')), `${label}: in quarantine`)
}

describe('the data folder after a crash in a schema change', { skip: !isEmbedded }, () => {
  let root: string
  const remains: Remains[] = []
  /** The schemas as clients see them, by the number of changes made. */
  const schemas: string[] = []

  let server: TestServer | undefined

  before(async () => {
    root = await temporaryFolder()
    const dataDir = join(root, 'live')
    server = await startServer({ dataDir })
    const live = server
    const send = async (path: string, command: object) => {
      const answer = await live.command(path, command)
      assert.deepEqual(answer.codes, [], answer.text)
    }
    await send(keyspace, { createCollection: { name: 'books' } })
    await send(`${keyspace}/books`, { insertMany: { documents } })
    schemas.push(await schemaOf(live))
    for (const [path, command] of changes) {
      const answered = schemas.length - 1
      let last = ''
      watchDisk((step) => {
        // Ignores a step if the folder has not changed since the last copy: most steps only read,
        // or change memory.
        const content = JSON.stringify([...digestsOf(dataDir)])
        if (content === last) return
        last = content
        const folder = join(root, `dead-${remains.length}`)
        cpSync(dataDir, folder, { recursive: true })
        remains.push({ folder, step, answered })
      })
      await send(path, command).finally(unwatchDisk)
      schemas.push(await schemaOf(live))
    }
  })
  after(async () => {
    await server?.stop()
    rmSync(root, { recursive: true, force: true })
  })

  test('can be served again if the first transaction of a store is incomplete', async () => {
    const storeIn = (folder: string) =>
      join(folder, 'default_keyspace', 'films', 'store.db')
    const sizeIn = (folder: string) =>
      fs.statSync(storeIn(folder), { throwIfNoEntry: false })?.size
    const found = remains.find(({ folder }) => sizeIn(folder) === 0)
    assert(found !== undefined)
    const half = join(root, 'half')
    cpSync(found.folder, half, { recursive: true })
    const store = storeIn(half)
    writeFileSync(store, 'x'.repeat(8192))
    writeFileSync(`${store}-journal`, 'x')
    await assertServes(half, schemas.slice(0, 2), 'a rollback journal')
  })

  test('has the old or the new schema, regardless of the step at which the process dies', async (context) => {
    context.diagnostic(`${remains.length} states`)
    assert(remains.length > 80)
    for (const { folder, step, answered } of remains) {
      const label = `change ${answered + 1}, dead before: ${step}`
      await assertServes(folder, schemas.slice(answered, answered + 2), label)
      rmSync(folder, { recursive: true })
    }
  })
})
