/**
 * File modes of all files that the server and the commands write. Only the user who runs them can
 * read the files, whatever the umask.
 */
import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { saveSnapshot } from '../../src/engine/embedded/vectors/snapshot.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { PermissionFixer } from '../../src/engine/private-files.ts'
import { Segment } from '../../src/search/vector/segment.ts'
import { runStela } from '../cli/run-stela.ts'
import { TakenBackups } from '../engine/embedded/backup/restored.ts'
import { Store } from '../engine/store.ts'
import { startServer, testToken, type Envelope, type TestServer } from '../harness.ts'
import { interrupt, readyUrl, startCommand, type Started } from '../package/run-command.ts'
import { program } from '../server-environment.ts'

const home = mkdtempSync(join(tmpdir(), 'stela-permissions-'))
after(() => rmSync(home, { recursive: true, force: true }))

/** The permission bits of a file, in octal. */
function modeOf(path: string): string {
  return (lstatSync(path).mode & 0o7777).toString(8)
}

/** Asserts that the folder and its contents are private. Returns the names of the contents. */
function assertPrivate(folder: string): string[] {
  assert.equal(modeOf(folder), '700', folder)
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    assert.equal(modeOf(path), entry.isDirectory() ? '700' : '600', path)
    return entry.name
  })
}

let umask = 0
beforeEach(() => {
  umask = process.umask(0)
})
afterEach(() => process.umask(umask))

const lines: string[] = []
function open(dataDir: string): Promise<Engine> {
  lines.length = 0
  const log = (level: string, line: string) => void lines.push(`${level} ${line}`)
  return openEmbeddedEngine({ dataDir, durable: false, log })
}

async function fill(engine: Engine): Promise<void> {
  await engine.createKeyspace('other')
  await (await Store.create(engine, 'books')).insert([{ _id: 1 }])
}

async function snapshotIn(dataDir: string): Promise<void> {
  const shape = { dimension: 2, metric: 'cosine', bits: 8, capacity: 16 } as const
  const segment = Segment.create({ ...shape, breadth: 8, threads: 1 })
  const folder = join(dataDir, 'default_keyspace', 'books', 'vectors')
  await saveSnapshot(folder, 1, [segment])
}

describe('a data folder', () => {
  for (const mask of [0o000, 0o022, 0o077])
    test(`is private with umask ${mask.toString(8)}`, async () => {
      process.umask(mask)
      const dataDir = join(home, `umask-${mask}`, 'data')
      const engine = await open(dataDir)
      await fill(engine)
      await snapshotIn(dataDir)
      const names = assertPrivate(dataDir)
      for (const name of ['catalog.db', 'store.db', 'store.db-wal', 'store.db-shm'])
        assert(names.includes(name), name)
      assert(names.includes('snapshot.json') && names.includes('1-0.graph'))
      assert.deepEqual(lines, [])
      await engine.close()
      assertPrivate(dataDir)
      // The parent folder is not part of the data folder, so its mode follows the umask.
      assert.equal(modeOf(join(dataDir, '..')), (0o777 & ~mask).toString(8))
    })

  test('stays private during a backup', async (context) => {
    const dataDir = join(home, 'backed-up')
    const engine = await open(dataDir)
    await fill(engine)
    const seen: string[] = []
    for await (const part of engine.operations!.backup(
      new Set(),
      new AbortController().signal,
    )) {
      if (part.kind === 'file') await Array.fromAsync(part.content)
      seen.push(...assertPrivate(dataDir))
    }
    assert(seen.some((name) => name.startsWith('backup.partial-')))
    const backups = new TakenBackups(context)
    const restored = await backups.restore(await backups.take(engine))
    assertPrivate(restored)
    await engine.close()
  })

  test('that other users can read is made private at the next start, and the log says so', async () => {
    const dataDir = join(home, 'loose')
    await open(dataDir).then(async (engine) => {
      await fill(engine)
      await snapshotIn(dataDir)
      await engine.close()
    })
    const loosened = [dataDir]
    for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true }))
      loosened.push(join(entry.parentPath, entry.name))
    for (const path of loosened)
      chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644)
    // Files that the catalog does not list do not belong to the server, so it must not change their
    // modes.
    mkdirSync(join(dataDir, 'notes'), { mode: 0o755 })
    writeFileSync(join(dataDir, 'notes.txt'), '', { mode: 0o644 })
    const elsewhere = join(home, 'elsewhere')
    mkdirSync(elsewhere, { mode: 0o755 })
    symlinkSync(elsewhere, join(dataDir, 'default_keyspace', 'books', 'link'))
    const engine = await open(dataDir)
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(
      lines[0]!,
      /^info Other users of this machine had access to .*loose\. The server/,
    )
    assert(lines[0]!.includes(` ${loosened.length} files and folders`), lines[0])
    for (const path of loosened)
      assert.equal(modeOf(path), lstatSync(path).isDirectory() ? '700' : '600', path)
    assert.equal(modeOf(join(dataDir, 'notes')), '755')
    assert.equal(modeOf(join(dataDir, 'notes.txt')), '644')
    assert.equal(modeOf(elsewhere), '755')
    await engine.close()
    await (await open(dataDir)).close()
    assert.deepEqual(lines, [])
  })

  test('that is opened through a symbolic link is made private', async () => {
    const dataDir = join(home, 'linked')
    mkdirSync(dataDir, { mode: 0o755 })
    symlinkSync(dataDir, join(home, 'link'))
    await (await open(join(home, 'link'))).close()
    assertPrivate(dataDir)
  })

  test('that several users share stays shared, and the log warns', async () => {
    const dataDir = join(home, 'shared')
    mkdirSync(dataDir)
    chmodSync(dataDir, 0o1777)
    const engine = await open(dataDir)
    await fill(engine)
    assert.equal(modeOf(dataDir), '1777')
    assert.equal(modeOf(join(dataDir, 'catalog.db')), '600')
    assert.equal(modeOf(join(dataDir, 'default_keyspace')), '700')
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(
      lines[0]!,
      /^warn Other users .* may have access to .*shared.*several users/,
    )
    await engine.close()
  })

  test('that belongs to another user is served, and the log warns', async () => {
    const told: string[] = []
    if (process.getuid!() !== 0) {
      const access = new PermissionFixer()
      access.tighten('/')
      access.report('/', (level, line) => void told.push(`${level} ${line}`))
    } else {
      const dataDir = join(home, 'of-another')
      mkdirSync(dataDir)
      chmodSync(dataDir, 0o777)
      chownSync(dataDir, 65_534, 65_534)
      const server = startWithoutOwnership(dataDir)
      try {
        await serveOneDocument(await readyUrl(server))
      } finally {
        await interrupt(server)
      }
      const logged = server.err.trimEnd().split('\n')
      for (const line of logged) {
        const { level, msg } = JSON.parse(line) as { level: number; msg: string }
        if (level >= warnLevel) told.push(`warn ${msg}`)
      }
      assert.equal(modeOf(dataDir), '777')
      assert.equal(modeOf(join(dataDir, 'catalog.db')), '600')
    }
    assert.equal(told.length, 1, told.join('\n'))
    assert.match(told[0]!, /^warn Other users .* may have access to .*EPERM/)
  })
})

/** The number of the level "warn" in pino. */
const warnLevel = 40

/**
 * Starts a server as root, but without the capability to change modes of files of other users. The
 * server can still read this checkout, whatever the permissions of the folders above it.
 */
function startWithoutOwnership(dataDir: string): Started {
  const serve = [program, 'serve', '--port', '0', '--admin-port', 'off', '--data', dataDir]
  const node = [process.execPath, '--disable-warning=ExperimentalWarning']
  return startCommand('setpriv', ['--bounding-set', '-fowner', ...node, ...serve], {
    cwd: home,
    // Disables log lines about slow commands, which a busy machine would cause.
    env: { STELA_ADMIN_TOKEN: testToken, STELA_SLOW_COMMAND: '0' },
  })
}

async function serveOneDocument(url: string): Promise<void> {
  const send = async (path: string, command: object) => {
    const answer = await fetch(`${url}/v1/default_keyspace${path}`, {
      method: 'POST',
      headers: { Token: testToken, 'Content-Type': 'application/json' },
      body: JSON.stringify(command),
    })
    return (await answer.json()) as Envelope
  }
  await send('', { createCollection: { name: 'books' } })
  await send('/books', { insertOne: { document: { _id: 1 } } })
  const found = await send('/books', { findOne: {} })
  assert.deepEqual(found.data?.document, { _id: 1 })
}

describe('files that only their user can read', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ adminPort: 0, dataDir: join(home, 'served') })
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    const documents = [{ _id: 1 }]
    await server.command('/default_keyspace/books', { insertMany: { documents } })
  })
  after(() => server.close())

  test('are written by backups and restores', async () => {
    const folder = join(home, 'backups')
    const run = () => runStela(['backup', folder, '--admin-url', server.adminUrl])
    const first = await run()
    assert.deepEqual([first.code, first.err], [0, ''])
    assertPrivate(folder)
    chmodSync(folder, 0o755)
    chmodSync(join(folder, 'files'), 0o755)
    for (const name of readdirSync(join(folder, 'files')))
      chmodSync(join(folder, 'files', name), 0o644)
    const second = await run()
    assert.equal(second.code, 0)
    assert.match(
      second.err,
      /^stela: Other users .* had access to .*\. The server removed this access/,
    )
    assert.equal(second.err.split('\n').length, 2, second.err)
    assertPrivate(folder)
    const data = join(home, 'restored')
    assert.equal((await runStela(['restore', folder, '--data', data])).code, 0)
    assert(assertPrivate(data).includes('store.db'))
    const empty = join(home, 'empty')
    mkdirSync(empty, { mode: 0o755 })
    const into = await runStela(['restore', folder, '--data', empty])
    assert.deepEqual([into.code, into.err], [0, ''])
    assertPrivate(empty)
  })

  test('are written by exports', async () => {
    const out = join(home, 'books.jsonl')
    writeFileSync(out, 'before', { mode: 0o644 })
    const partial = `${out}.partial`
    const victim = join(home, 'victim')
    writeFileSync(victim, 'mine')
    symlinkSync(victim, partial)
    const ran = await runStela([
      ...['export', '--collection', 'books', '--url', server.url, '--out', out],
    ])
    assert.equal(ran.code, 0, ran.err)
    assert.equal(modeOf(out), '600')
    assert.equal(lstatSync(victim).size, 'mine'.length)
    assert(!existsSync(partial))
  })

  test('are written by exports, and a link to a device as the output stays a link', async () => {
    const link = join(home, 'null')
    symlinkSync('/dev/null', link)
    const ran = await runStela([
      ...['export', '--collection', 'books', '--url', server.url, '--out', link],
    ])
    assert.equal(ran.code, 0, ran.err)
    assert(lstatSync(link).isSymbolicLink())
  })

  test('are written by imports for rejected records, and the mode of a device is unchanged', async () => {
    const input = join(home, 'in.jsonl')
    writeFileSync(input, '{"_id":2}\nnot JSON\n')
    for (const mode of [undefined, 0o644]) {
      const rejects = join(home, `rejects-${mode ?? 'new'}`)
      if (mode !== undefined) writeFileSync(rejects, 'before', { mode })
      const ran = await runStela([
        ...['import', input, '--collection', 'books', '--url', server.url],
        ...['--rejects', rejects],
      ])
      assert.equal(ran.code, 2, ran.err)
      assert.equal(modeOf(rejects), '600')
    }
    const before = modeOf('/dev/null')
    await runStela([
      ...['import', input, '--collection', 'books', '--url', server.url],
      ...['--rejects', '/dev/null'],
    ])
    assert.equal(modeOf('/dev/null'), before)
  })
})
