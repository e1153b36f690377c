/**
 * `stela check` on damaged folders, and on folders that it cannot read. It never changes anything
 * on disk.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkEverything } from '../../src/engine/embedded/backup/check.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { saveSnapshot } from '../../src/engine/embedded/vectors/snapshot.ts'
import { Segment } from '../../src/search/vector/segment.ts'
import { createCollection, plainOptions, Store } from '../engine/store.ts'
import { noDisks, SmallDisk, unmountLeftovers } from '../faults/small-disk.ts'
import { program, serverEnvironment } from '../server-environment.ts'
import { runStela } from './run-stela.ts'

const home = mkdtempSync(join(tmpdir(), 'stela-check-'))
chmodSync(home, 0o755)
/** The data folder after a stop, without write-ahead logs. */
const stopped = join(home, 'stopped')
/** The data folder after a kill, with write-ahead logs. */
const killed = join(home, 'killed')
let count = 0
let dataDir = ''

before(async () => {
  const log = (): void => undefined
  const engine = await openEmbeddedEngine({ dataDir: stopped, durable: false, log })
  const vector = { dimension: 2, metric: 'cosine', sourceModel: 'other' } as const
  await createCollection(engine, 'books', { ...plainOptions, vector })
  await Store.create(engine, 'films')
  for (const name of ['books', 'films']) {
    const store = await Store.find(engine, name)
    for (let i = 0; i < 20; i++) await store.insert([{ _id: i, title: `Title ${i}` }])
  }
  cpSync(stopped, killed, { recursive: true })
  await engine.close()
})
after(() => rmSync(home, { recursive: true, force: true }))

function copyOf(folder: string): string {
  const copy = join(home, `${++count}`)
  cpSync(folder, copy, { recursive: true })
  return copy
}

beforeEach(() => {
  dataDir = copyOf(killed)
})

const storeOf = (name: string) => join(dataDir, 'default_keyspace', name, 'store.db')

/** The bytes of every file in a folder, in base64, by path. */
function contentOf(folder: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    // Shared memory is left out: SQLite may reset it after a kill, and rebuilds it from the log.
    if (entry.isFile())
      files[path] = path.endsWith('-shm') ? '' : readFileSync(path).toString('base64')
  }
  return files
}

function flip(file: string, position: number): void {
  const bytes = readFileSync(file)
  bytes[position]! ^= 1
  writeFileSync(file, bytes)
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function run(
  file: string,
  words: readonly string[],
  { env, ...user }: { env?: object; uid?: number; gid?: number },
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { ...user, env: { ...serverEnvironment, ...env } }
    execFile(file, words, options, (error, out, err) => {
      resolve({ code: Number(error?.code ?? 0), out, err })
    })
  })
}

async function check(folder = dataDir) {
  const { code, out, err } = await runStela(['check', '--data', folder])
  return { code, out: out.toString(), err }
}

describe('stela check', () => {
  for (const [name, prepare] of [
    ['changes nothing in a folder with logs', () => copyOf(killed)],
    ['changes nothing in a folder without logs', () => copyOf(stopped)],
    [
      'changes nothing in a folder with logs and without shared memory',
      () => {
        const folder = copyOf(killed)
        for (const path of Object.keys(contentOf(folder)))
          if (path.endsWith('-shm')) rmSync(path)
        return folder
      },
    ],
    [
      'changes nothing in a folder with a damaged log',
      () => {
        const folder = copyOf(killed)
        flip(join(folder, 'default_keyspace/films/store.db-wal'), 5000)
        return folder
      },
    ],
  ] as const)
    test(name, async () => {
      const folder = prepare()
      const before = contentOf(folder)
      const { code, err } = await check(folder)
      assert.deepEqual([code, err], [name.includes('damaged') ? 1 : 0, ''])
      assert.deepEqual(contentOf(folder), before)
    })

  test('prevents servers from opening the folder while it runs', async () => {
    const checks = checkEverything(dataDir)
    checks.next()
    const log = (): void => undefined
    await assert.rejects(
      openEmbeddedEngine({ dataDir, durable: false, log }),
      /is in use by another running server/,
    )
    assert.deepEqual(
      [...checks].flatMap(({ findings }) => findings),
      [],
    )
    await (await openEmbeddedEngine({ dataDir, durable: false, log })).close()
  })
})

describe('stela check finds', () => {
  test('commits that a damaged write-ahead log has lost, and names the log', async () => {
    flip(`${storeOf('films')}-wal`, 32 + 24 + 100)
    const { code, out } = await check()
    assert.equal(code, 1, out)
    assert.match(out, /^catalog: ok\ndefault_keyspace\.books: ok\n/)
    assert.match(
      out,
      /^default_keyspace\.films: \d+ problems? in default_keyspace\/films\/store\.db\n {2}store\.db-wal is damaged at frame 1: opening the file discards the \d+ committed transactions after it/m,
    )
  })

  test('a write-ahead log with a damaged header', async () => {
    flip(`${storeOf('books')}-wal`, 17)
    const { code, out } = await check()
    assert.equal(code, 1, out)
    assert.match(out, / {2}store\.db-wal has a damaged header: .* all of its committed/)
    assert.match(out, /^default_keyspace\.films: ok$/m)
  })

  test('a damaged write-ahead log of the catalog', async () => {
    const file = join(dataDir, 'catalog.db')
    const database = new DatabaseSync(file)
    for (const name of ['one', 'two'])
      database.exec(`INSERT INTO setting VALUES ('${name}', 'x')`)
    dataDir = copyOf(dataDir)
    database.close()
    flip(join(dataDir, 'catalog.db-wal'), 32 + 24 + 100)
    const { code, out } = await check()
    assert.equal(code, 1, out)
    assert.match(
      out,
      /^catalog: \d+ problems? in catalog\.db\n {2}catalog\.db-wal is damaged/,
    )
  })

  test('an index of the catalog that lacks a row', async () => {
    dataDir = copyOf(stopped)
    const file = join(dataDir, 'catalog.db')
    const database = new DatabaseSync(file)
    database.exec("INSERT INTO setting VALUES ('a_setting_to_look_for', 'x')")
    const { rootpage } = database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name GLOB '*autoindex_setting*'")
      .get()!
    const { page_size: size } = database.prepare('PRAGMA page_size').get()!
    database.close()
    const bytes = readFileSync(file)
    const at = bytes.indexOf('a_setting_to_look_for', (Number(rootpage) - 1) * Number(size))
    bytes.write('b', at)
    writeFileSync(file, bytes)
    const { code, out } = await check()
    assert.equal(code, 1, out)
    assert.match(out, /^catalog: .*\n {2}the file is damaged: .*index/)
    // Damage of the catalog does not prevent the check of the stores.
    assert.match(out, /^default_keyspace\.films: ok$/m)
  })

  test('a row of the catalog that cannot be read', async () => {
    const database = new DatabaseSync(join(dataDir, 'catalog.db'))
    database.exec("UPDATE target SET options = '{' WHERE name = 'books'")
    database.close()
    const { code, out, err } = await check()
    assert.deepEqual([code, err], [1, ''])
    assert.match(
      out,
      /^catalog: 2 problems in catalog\.db\n {2}the content of catalog\.db does not match its checksum\n {2}the file cannot be read: /,
    )
  })

  test('a catalog that is missing from a folder with data', async () => {
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(dataDir, `catalog.db${end}`), { force: true })
    const { code, out, err } = await check()
    assert.deepEqual([code, err], [1, ''])
    assert.match(out, /^catalog: 1 problem in catalog\.db\n {2}.*catalog\.db is missing/)
  })

  test('that a store has lost writes when a snapshot is newer than the store', async () => {
    const shape = { dimension: 2, metric: 'cosine', bits: 8, capacity: 16 } as const
    const segment = Segment.create({ ...shape, breadth: 8, threads: 1 })
    const folder = join(dataDir, 'default_keyspace', 'books', 'vectors')
    await saveSnapshot(folder, 20, [segment])
    assert.equal((await check()).code, 0)
    await saveSnapshot(folder, 21, [segment])
    const { code, out } = await check()
    assert.equal(code, 1, out)
    assert.match(
      out,
      / {2}vectors has a vector index up to write 21, but the last write of the store is 20: the store has lost writes\n/,
    )
    writeFileSync(join(folder, 'snapshot.json'), '{')
    const unusable = await check()
    assert.equal(unusable.code, 0, unusable.out)
    assert.match(unusable.out, / {2}note: vectors cannot be used, and the index will be/)
  })

  test('damage in one store, and checks the other stores too', async () => {
    dataDir = copyOf(stopped)
    writeFileSync(storeOf('books'), readFileSync(storeOf('books')).fill(0xee, 4096))
    const { code, out } = await check()
    assert.equal(code, 1, out)
    assert.match(out, /^default_keyspace\.books: \d+ problems? in /m)
    assert.match(out, /^default_keyspace\.films: ok$/m)
  })
})

describe('stela check cannot check', () => {
  /** Runs the check as a user without privileges when this process is privileged. */
  function checkAsOther(): Promise<Ran> {
    const isRoot = process.getuid!() === 0
    return run(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, 'check', '--data', dataDir],
      isRoot ? { uid: 65_534, gid: 65_534 } : {},
    )
  }

  /** Lets other users read everything in a folder, and write nothing. */
  function letRead(folder: string): void {
    const own = process.getuid!() === 0 ? 0o700 : 0o500
    chmodSync(folder, own | 0o055)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      chmodSync(
        join(entry.parentPath, entry.name),
        entry.isDirectory() ? own | 0o055 : (own & 0o600) | 0o044,
      )
  }

  const noPermission = /cannot be checked: this user has no permission to read/

  test('a folder that it has no permission to read', async () => {
    dataDir = copyOf(stopped)
    letRead(dataDir)
    chmodSync(join(dataDir, 'catalog.db'), 0)
    for (const mode of [0o755, 0]) {
      chmodSync(dataDir, mode)
      const { code, out, err } = await checkAsOther()
      chmodSync(dataDir, 0o700)
      assert.deepEqual([code, out], [2, ''], err)
      assert.match(err, noPermission)
      assert.match(err, /then run the command again\n$/)
    }
  })

  test('a store that it has no permission to read, but checks the other stores', async () => {
    dataDir = copyOf(stopped)
    letRead(dataDir)
    chmodSync(storeOf('books'), 0)
    const { code, out, err } = await checkAsOther()
    assert.equal(
      out,
      'catalog: ok\ndefault_keyspace.books: not checked\n' +
        'default_keyspace.films: ok\n1 of 2 collections and tables could not be checked.\n',
    )
    assert.equal(code, 2)
    assert.match(err, /books\/store\.db cannot be checked: this user has no permission/)
  })

  test('stores with write-ahead logs in a read-only folder, but checks stores without them', async () => {
    for (const path of Object.keys(contentOf(dataDir)))
      if (path.endsWith('-shm')) rmSync(path)
    letRead(dataDir)
    const { code, out, err } = await checkAsOther()
    assert.equal(code, 2, err)
    assert.equal(
      out,
      'catalog: ok\ndefault_keyspace.books: not checked\n' +
        'default_keyspace.films: not checked\n2 of 2 collections and tables could not be checked.\n',
    )
    assert.match(err, noPermission)
    dataDir = copyOf(stopped)
    letRead(dataDir)
    const without = await checkAsOther()
    assert.deepEqual([without.code, without.err], [0, ''], without.out)
  })

  test('a folder when too few file handles are left', async () => {
    const preload = fileURLToPath(new URL('../faults/take-handles.ts', import.meta.url))
    const words = [
      ...['--disable-warning=ExperimentalWarning', '--import', preload, program],
      ...['check', '--data', dataDir],
    ]
    let refused = 0
    let done = 0
    for (let left = 1; done === 0; left++) {
      const env = { HANDLES_LEFT: `${left}` }
      const limited = ['-c', 'ulimit -n 128; exec "$0" "$@"', process.execPath, ...words]
      const { code, out, err } = await run('sh', limited, { env })
      // With so few handles, Node cannot load the program, so the check does not run.
      if (code === 1 && /EMFILE: .* open '.*\.[jt]s'|ERR_INVALID_PACKAGE_CONFIG/.test(err))
        continue
      assert(code === 0 || code === 2, `${left} handles: ${code} ${out}${err}`)
      if (code === 0) done++
      else {
        refused++
        assert.match(err, /has too many open files\. Raise the limit \(ulimit -n\)/)
        assert.doesNotMatch(out, /problem/)
      }
    }
    assert(refused > 0)
  })

  const options = { skip: noDisks ?? false }
  afterEach(unmountLeftovers)

  test('stores with write-ahead logs on a full disk', options, async () => {
    const disk = await SmallDisk.mount(4)
    cpSync(killed, disk.data, { recursive: true, filter: (path) => !path.endsWith('-shm') })
    disk.fill()
    const { code, err } = await check(disk.data)
    assert.equal(code, 2, err)
    assert.match(err, /cannot be checked: the disk of the data folder is full\. Free some/)
    disk.empty()
    assert.equal((await check(disk.data)).code, 0)
  })

  test(
    'stores with write-ahead logs on a read-only disk, but checks stores without them',
    options,
    async () => {
      const disk = await SmallDisk.mount(4)
      cpSync(killed, disk.data, {
        recursive: true,
        filter: (path) => !path.endsWith('-shm'),
      })
      disk.remount('ro')
      const { code, err } = await check(disk.data)
      assert.equal(code, 2, err)
      assert.match(err, /cannot be checked: the data folder is read-only\. Make its/)
      disk.remount('rw')
      rmSync(disk.data, { recursive: true })
      cpSync(stopped, disk.data, { recursive: true })
      disk.remount('ro')
      assert.deepEqual((await check(disk.data)).code, 0)
      assert(!existsSync(join(disk.data, 'catalog.db-wal')))
    },
  )
})
