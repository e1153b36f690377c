/** `stela backup` and `stela restore` as operators use them, including failures. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { backupStream } from '../../src/admin/backup-stream.ts'
import type { BackupManifest } from '../../src/engine/backup.ts'
import { readBackup } from '../../src/cli/backup/backup-reader.ts'
import { requestBackup } from '../../src/cli/backup/request-backup.ts'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { withEngine } from '../engine/embedded/backup/restored.ts'
import { noSignal, Store } from '../engine/store.ts'
import { runStela, startStela, type Ran } from './run-stela.ts'
import { eventually, putSetting, settingOf } from '../engine/settings.ts'

describe('stela backup', () => {
  const home = mkdtempSync(join(tmpdir(), 'stela-backup-cli-'))
  const dataDir = join(home, 'data')
  let engine: Engine
  let source: Source
  let folder = ''
  let count = 0

  before(async () => {
    engine = await openEmbeddedEngine({ dataDir, durable: false, log: () => undefined })
    source = await Source.start(engine)
    const large = await Store.create(engine, 'large')
    const text = 'x'.repeat(10_000)
    await large.insert(Array.from({ length: 400 }, (_, i) => ({ _id: i, text })))
    await (await Store.create(engine, 'small')).insert([{ _id: 1 }])
    await putSetting(engine, 'motto', 'stone')
  })

  beforeEach(() => {
    folder = join(home, `backups-${++count}`)
    source.reset()
  })

  after(async () => {
    source.close()
    await engine.close()
    rmSync(home, { recursive: true, force: true })
  })

  const backup = (...args: readonly string[]): Promise<Ran> =>
    runStela(['backup', folder, '--admin-url', source.url, ...args])
  const restore = (...args: readonly string[]): Promise<Ran> =>
    runStela(['restore', folder, ...args])
  const namesIn = (part: 'files' | 'backups') => readdirSync(join(folder, part)).toSorted()
  const manifests = () =>
    namesIn('backups').map(
      (name) =>
        JSON.parse(readFileSync(join(folder, 'backups', name), 'utf8')) as BackupManifest,
    )
  const add = async (id: unknown) =>
    (await Store.find(engine, 'small')).insert([{ _id: id }])

  test('creates a backup that is restored unchanged', async () => {
    const made = await backup()
    assert.deepEqual([made.code, made.err], [0, ''])
    assert.match(
      made.out.toString(),
      /^Backup (\S+Z) is complete: 2 collections and tables, \d\.\d MB\.\nCopied 2 \(\d\.\d MB\), 0 unchanged, in \d+\.\d s\.\n$/,
    )
    assert.equal(source.lastToken, 'Bearer test-token')
    assert.deepEqual(
      [namesIn('files').length, namesIn('backups').length, readdirSync(folder).length],
      [3, 1, 2],
    )
    const listed = await restore('--list')
    assert.match(
      listed.out.toString(),
      /^\S+Z {2}2 collections and tables, \d\.\d MB, by Stela 1\.2\.3\n$/,
    )
    const data = join(home, 'restored')
    mkdirSync(data)
    const restored = await restore('--data', data)
    assert.deepEqual([restored.code, restored.err], [0, ''])
    assert.match(
      restored.out.toString(),
      /^Restored backup \S+Z into .*: 2 collections and tables, and all tokens and settings\.\nStart a server on it with: stela serve --data /,
    )
    assert.deepEqual(checkDataFolder(data), [])
    await withEngine(data, async (copy) => {
      assert.equal(await (await Store.find(copy, 'large')).count(), 400)
      assert.equal(await settingOf(copy, 'motto'), 'stone')
    })
    const again = await restore('--data', data)
    assert.equal(again.code, 1)
    assert.match(again.err, /^stela: .* is not empty\. A restore never overwrites files\. /)
    assert.deepEqual(checkDataFolder(data), [])
  })

  test('copies only changed files again, and removes the oldest backups with --keep', async () => {
    await backup()
    await add('second')
    const second = await backup()
    assert.match(second.out.toString(), /Copied 1 \(\d+\.\d KB\), 1 unchanged/)
    await add('third')
    assert.equal((await backup()).code, 0)
    assert.deepEqual([namesIn('backups').length, namesIn('files').length], [3, 5])
    const all = manifests()
    const name = namesIn('backups')[1]!.replace('.json', '')
    const data = join(home, 'the-second')
    const restored = await restore('--data', data, '--backup', name)
    assert.equal(restored.code, 0)
    await withEngine(data, async (copy) => {
      const ids = await (await Store.find(copy, 'small')).ids()
      assert.deepEqual([ids.includes('second'), ids.includes('third')], [true, false])
    })
    const kept = await backup('--keep', '2')
    assert.match(kept.out.toString(), /\nRemoved \S+Z, \S+Z\.\n$/)
    assert.deepEqual(manifests().slice(0, 1), all.slice(2))
    // Both remaining backups consist of the same files: those of two stores and of the catalog.
    assert.equal(namesIn('files').length, 3)
    const wrong = await backup('--keep', '0')
    assert.match(wrong.err, /It must be a whole number from 1/)
  })

  test('detects damaged files and copies these files again', async () => {
    await backup()
    const name = namesIn('files').find((file) => !file.startsWith('catalog'))!
    const path = join(folder, 'files', name)
    const bytes = readFileSync(path)
    bytes[bytes.length - 1]! ^= 1
    writeFileSync(path, bytes)
    const made = await backup('--verify', '--keep', '1')
    assert.equal(made.code, 0)
    assert.match(made.err, /^stela: .* is damaged\. This backup copies it again\.\n$/)
    assert.match(made.out.toString(), /\nCopied 1 /)
    assert.notDeepEqual(readFileSync(path), bytes)
    assert.equal((await backup('--verify')).err, '')
  })

  test('reports the cause when it fails, and leaves no partial backup', async () => {
    const check = async (message: RegExp) => {
      const { code, out, err } = await backup()
      assert.deepEqual([code, out.toString()], [1, ''])
      assert.match(err, message)
      assert.deepEqual([namesIn('files'), namesIn('backups')], [[], []])
      assert(!existsSync(join(folder, 'backup.lock')))
    }
    source.answer = (_, response) => answerJson(response, 401, 'Unknown.')
    await check(/does not accept the token\. Unknown\. Set STELA_TOKEN/)
    source.answer = (_, response) => response.end('{"error":"the disk is full"}\n')
    await check(/the server aborted the backup: the disk is full/)
    // The reply ends in the middle of a file.
    source.answer = (stream, response) => cutAfter(1_000_000, stream, response)
    await check(/the connection to the server failed|the server closed the connection/)
  })

  test('reports the cause when the server sends no backup', async () => {
    const ask = (adminUrl: string) =>
      requestBackup({ adminUrl, token: undefined, have: [], signal: noSignal })
    const answers = [
      [403, 'Denied.', /may not make backups\. Denied\. Use a token of an Organization/],
      [404, '', /is not the management API of a Stela server/],
      [503, 'Busy.', /answered with HTTP status 503\. Busy\./],
    ] as const
    for (const [status, message, says] of answers) {
      source.answer = (_, response) => answerJson(response, status, message)
      await assert.rejects(ask(source.url), says)
    }
    const nowhere = ask('http://127.0.0.1:1')
    await assert.rejects(
      nowhere,
      /^Failure: cannot reach the server at http:\/\/127\.0\.0\.1:1: .*--admin-url/,
    )
  })

  test('leaves no backup when it is killed during the download, and the next backup removes its partial files', async () => {
    await backup()
    const before = manifests()
    await (await Store.find(engine, 'large')).insert([{ _id: `more ${count}` }])
    const half = Promise.withResolvers<undefined>()
    const left = Promise.withResolvers<undefined>()
    source.answer = (stream, response) => {
      stallAfter(1_000_000, stream, response, () => half.resolve(undefined))
      stream.on('close', () => left.resolve(undefined))
    }
    const running = startStela(['backup', folder, '--admin-url', source.url])
    await half.promise
    // A second backup must not use the folder while the first one runs.
    const second = await backup()
    assert.equal(second.code, 1)
    assert.match(second.err, /another backup into .* is running: process \d+ on /)
    running.child.kill('SIGKILL')
    await running.ended
    await left.promise
    assert(namesIn('files').some((name) => name.endsWith('.partial')))
    assert.deepEqual(manifests(), before)
    source.reset()
    const next = await backup()
    assert.deepEqual([next.code, next.err], [0, ''])
    assert.equal(manifests().length, 2)
    assert(!namesIn('files').some((name) => name.endsWith('.partial')))
    // Waits until the server has released the files of the first backup.
    const isHeld = (name: string) => name.startsWith('backup.')
    await eventually(() => !readdirSync(dataDir).some(isHeld))
  })

  test('takes over a stale lock, and keeps files that an unreadable manifest may name', async () => {
    await backup()
    const lock = join(folder, 'backup.lock')
    writeFileSync(
      lock,
      JSON.stringify({ id: 'x', pid: 2 ** 22 + 1, host: hostname(), started: '1' }),
    )
    writeFileSync(join(folder, 'files', 'notes.txt'), 'mine')
    assert.equal((await backup()).code, 0)
    writeFileSync(
      lock,
      JSON.stringify({ id: 'x', pid: 1, host: 'elsewhere', started: '1' }),
    )
    const refused = await backup()
    assert.match(refused.err, /process 1 on elsewhere/)
    rmSync(lock)
    // A backup must not remove files that an unreadable manifest may name.
    const name = namesIn('backups')[0]!
    truncateSync(join(folder, 'backups', name), 40)
    await add('one more')
    const files = namesIn('files').length
    const made = await backup('--keep', '1')
    assert.equal(made.code, 0)
    assert.match(made.err, /cannot be read/)
    assert(namesIn('files').length > files && namesIn('files').includes('notes.txt'))
    const listed = await restore('--list')
    assert.equal(listed.code, 1)
    assert.match(listed.err, /^stela: .*json cannot be read/)
  })
})

describe('stela restore', () => {
  const home = mkdtempSync(join(tmpdir(), 'stela-restore-cli-'))
  const folder = join(home, 'backups')
  const data = join(home, 'data')
  let large = ''

  before(async () => {
    const log = (): void => undefined
    const dataDir = join(home, 'original')
    const engine = await openEmbeddedEngine({ dataDir, durable: false, log })
    const store = await Store.create(engine, 'books')
    const text = 'x'.repeat(10_000)
    await store.insert(Array.from({ length: 100 }, (_, i) => ({ _id: i, text })))
    const source = await Source.start(engine)
    const made = await runStela(['backup', folder, '--admin-url', source.url])
    assert.equal(made.code, 0)
    source.close()
    await engine.close()
    large = readdirSync(join(folder, 'files')).find((name) => !name.startsWith('catalog'))!
  })

  after(() => rmSync(home, { recursive: true, force: true }))

  const restore = (...args: readonly string[]): Promise<Ran> =>
    runStela(['restore', folder, '--data', data, ...args])

  test('rejects missing, damaged and incomplete backups, and leaves no folder', async () => {
    const none = await runStela(['restore', join(home, 'none'), '--list'])
    assert.deepEqual([none.code, none.out.length], [1, 0])
    assert.match(none.err, /is not a backup folder/)
    const unknown = await restore('--backup', 'yesterday')
    assert.match(unknown.err, /holds no backup yesterday\. List its backups with --list/)
    const path = join(folder, 'files', large)
    const sound = readFileSync(path)
    const changed = Buffer.from(sound)
    changed[changed.length >> 1]! ^= 1
    writeFileSync(path, changed)
    const damaged = await restore()
    assert.equal(damaged.code, 1)
    assert.match(damaged.err, /was changed after the backup: its digest differs/)
    assert(!existsSync(data))
    truncateSync(path, 100)
    const cut = await restore()
    assert.equal(cut.code, 1)
    assert.match(cut.err, /is not complete: .* is missing or truncated/)
    const listed = await restore('--list')
    assert.match(listed.out.toString(), /; NOT COMPLETE: 1 files are missing\n$/)
    writeFileSync(path, sound)
    writeFileSync(data, 'a file')
    assert.match((await restore()).err, /is not a folder/)
    rmSync(data)
  })
})

describe('a backup stream', () => {
  const read = async (...chunks: readonly string[]) => {
    const received: unknown[] = []
    const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
    for await (const part of readBackup(stream))
      if (part.kind === 'file') {
        let content = ''
        for await (const chunk of part.content) content += chunk.toString()
        received.push([part.key, content])
      } else received.push(part.kind)
    return received
  }

  test('is read in chunks of any size', async () => {
    const text =
      '{"begin":{"files":2,"size":9}}\n\n{"file":"abcdefgh","size":5}\nab\nc\n' +
      '\n{"file":"bcdefghi","size":0}\n{"manifest":{}}\n'
    const expected = ['begin', ['abcdefgh', 'ab\nc\n'], ['bcdefghi', ''], 'manifest']
    assert.deepEqual(await read(text), expected)
    assert.deepEqual(await read(...Array.from(text)), expected)
    for (const at of [1, 31, 40, 63, 70])
      assert.deepEqual(await read(text.slice(0, at), text.slice(at)), expected)
  })

  test('is rejected when it is invalid', async () => {
    await assert.rejects(read('hello\n'), /is not a backup/)
    await assert.rejects(read('7\n'), /is not a backup/)
    await assert.rejects(read('{}\n'), /is not a backup/)
    for (const file of ['"../../evil"', '"a/b"', '7', '""'])
      await assert.rejects(read(`{"file":${file},"size":3}\nabc`), /is not a backup/)
    await assert.rejects(read('{"file":"abcdefgh","size":-1}\n'), /is not a backup/)
    await assert.rejects(
      read('{"file":"abcdefgh","size":3}\nab'),
      /closed the connection before/,
    )
    await assert.rejects(
      read('{"file":"abcdefgh","size":1}\nx'),
      /closed the connection before/,
    )
    await assert.rejects(read(''), /closed the connection before/)
  })
})

function answerJson(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status).end(JSON.stringify({ errors: [{ ID: 1, message }] }))
}

/** Sends about the first `size` bytes of a stream, and then nothing more. */
function stallAfter(
  size: number,
  stream: Readable,
  response: ServerResponse,
  onStalled: () => void,
): void {
  let sent = 0
  stream.on('data', (chunk: Buffer) => {
    sent += chunk.length
    response.write(chunk)
    if (sent < size) return
    stream.pause()
    stream.removeAllListeners('data')
    onStalled()
  })
}

function cutAfter(size: number, stream: Readable, response: ServerResponse): void {
  stallAfter(size, stream, response, () => response.destroy())
}

type AnswerBackup = (stream: Readable, response: ServerResponse) => void

/** A server that answers with a backup of an engine, or with the reply that a test sets. */
class Source {
  readonly url: string
  lastToken: string | undefined
  answer: AnswerBackup = sendAll
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(engine: Engine): Promise<Source> {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const source = new Source(server)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void source.#serve(engine, request, response)
    })
    return source
  }

  async #serve(engine: Engine, request: IncomingMessage, response: ServerResponse) {
    assert.deepEqual([request.method, request.url], ['POST', '/v2/stela/backup'])
    this.lastToken = request.headers.authorization
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk as string
    const { have } = JSON.parse(body) as { have: readonly string[] }
    const report = (error: unknown) => assert.fail(error as Error)
    const stream = backupStream({
      engine,
      have,
      version: '1.2.3',
      signal: noSignal,
      report,
    })
    response.on('close', () => stream.destroy())
    this.answer(stream, response)
  }

  reset(): void {
    this.answer = sendAll
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

function sendAll(stream: Readable, response: ServerResponse): void {
  stream.pipe(response)
}
