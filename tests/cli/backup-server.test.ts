/** Backups of real servers: permissions, interruptions and restores. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { DataAPIClient } from '@datastax/astra-db-ts'
import { defaultRoleId } from '../../src/auth/roles.ts'
import type { BackupManifest } from '../../src/engine/backup.ts'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { killLeftovers, processToken, ServerProcess } from '../faults/server-process.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { runStela, startStela } from './run-stela.ts'

describe('a backup of a server', () => {
  const home = mkdtempSync(join(tmpdir(), 'stela-backup-server-'))
  after(async () => {
    await killLeftovers()
    rmSync(home, { recursive: true, force: true })
  })

  const ask = (
    { adminUrl }: TestServer,
    { token = testToken, body = '{"have":[]}', signal }: Asking = {},
  ): Promise<Response> =>
    fetch(`${adminUrl}/v2/stela/backup`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body,
      signal: signal ?? null,
    })

  test('is restored with everything that clients see: searches, tokens, databases', async () => {
    const server = await startServer({ adminPort: 0 })
    const folder = join(home, 'backups')
    const data = join(home, 'restored')
    let token: string
    try {
      token = await makeToken(server, 'Organization Administrator')
      const db = dbOf(server, token)
      await db.createCollection('books', {
        vector: { dimension: 2, metric: 'cosine' },
        lexical: { enabled: true, analyzer: 'standard' },
      })
      await db.collection('books').insertMany([
        { _id: 'dune', $vector: [1, 0], $lexical: 'a planet of sand' },
        { _id: 'emma', $vector: [0, 1], $lexical: 'a village of manners' },
      ])
      const made = await runStela(['backup', folder, '--admin-url', server.adminUrl])
      assert.deepEqual([made.code, made.err], [0, ''])
    } finally {
      await server.close()
    }
    assert.equal((await runStela(['restore', folder, '--data', data])).code, 0)
    assert.deepEqual(checkDataFolder(data), [])
    const again = await startServer({ dataDir: data })
    try {
      const books = dbOf(again, token).collection('books')
      const near = await books.find({}, { sort: { $vector: [0, 1] }, limit: 1 }).toArray()
      const said = await books.find({}, { sort: { $lexical: 'sand' } }).toArray()
      assert.deepEqual(
        [near, said].map(([first]) => first?._id),
        ['emma', 'dune'],
      )
    } finally {
      await again.stop()
    }
    assert.deepEqual(checkDataFolder(data), [])
  })

  test('requires the role Organization Administrator and a valid request', async () => {
    const server = await startServer({ adminPort: 0 })
    try {
      const token = await makeToken(server, 'Database Administrator')
      const refused = await ask(server, { token })
      assert.equal(refused.status, 403)
      assert.match(await refused.text(), /It requires the role Organization Administrator/)
      assert.equal((await ask(server, { token: 'none' })).status, 401)
      for (const body of ['{"have":1}', '{"have":[1]}', '[]', '{'])
        assert.equal((await ask(server, { body })).status, 400)
      const get = await fetch(`${server.adminUrl}/v2/stela/backup`, {
        headers: { Authorization: `Bearer ${testToken}` },
      })
      assert.equal(get.status, 405)
      const whole = await (await ask(server)).text()
      const last = whole.slice(whole.lastIndexOf('{"manifest"'))
      const { manifest } = JSON.parse(last) as { readonly manifest: BackupManifest }
      assert.deepEqual([manifest.format, manifest.stores], [1, []])
    } finally {
      await server.close()
    }
  })

  test('ends when its client disconnects, and when the server stops', async () => {
    const server = await startServer({ adminPort: 0 })
    try {
      await fill(server)
      const leaving = new AbortController()
      const { body } = await ask(server, { signal: leaving.signal })
      await body!.getReader().read()
      assert.equal(copiesIn(server.dataDir).length, 1)
      leaving.abort()
      for (let tries = 0; copiesIn(server.dataDir).length > 0 && tries < 1000; tries++)
        await setTimeout(10)
      assert.deepEqual(copiesIn(server.dataDir), [])
      // A backup that its client does not read must not delay the stop of the server.
      await (await ask(server)).body!.getReader().read()
      assert.equal(copiesIn(server.dataDir).length, 1)
    } finally {
      await server.stop()
    }
    assert.deepEqual(copiesIn(server.dataDir), [])
    assert.deepEqual(checkDataFolder(server.dataDir), [])
    rmSync(server.dataDir, { recursive: true })
  })

  test('is not stored when the server is killed during the backup, and the next start removes its temporary files', async () => {
    const dataDir = join(home, 'killed')
    const folder = join(home, 'of-killed')
    const flags = ['--admin-port', '0', '--log-level', 'info']
    const server = await ServerProcess.start(dataDir, ...flags)
    await fill(server)
    const adminUrl = /The management API is at (\S+)\/v2/.exec(server.err)![1]!
    const wire = await StallingWire.to(adminUrl, 1_000_000)
    const running = startStela(['backup', folder, '--admin-url', wire.url], {
      token: processToken,
    })
    await wire.stalled
    await server.kill()
    const { code, out, err } = await running.ended
    wire.close()
    assert.deepEqual([code, out.toString()], [1, ''])
    assert.match(
      err,
      /^stela: (?:the connection to the server failed|the server closed the connection)/,
    )
    assert.deepEqual(readdirSync(join(folder, 'files')), [])
    assert.deepEqual(readdirSync(join(folder, 'backups')), [])
    assert.equal(copiesIn(dataDir).length, 1)
    const again = await ServerProcess.start(dataDir, ...flags)
    assert.deepEqual(copiesIn(dataDir), [])
    await again.stop()
    assert.deepEqual(checkDataFolder(dataDir), [])
  })
})

interface Asking {
  readonly token?: string
  readonly body?: string
  readonly signal?: AbortSignal
}

function dbOf({ url }: TestServer, token: string) {
  return new DataAPIClient(token, { environment: 'hcd' }).db(url, {
    keyspace: 'default_keyspace',
  })
}

/**
 * Inserts more data than network buffers hold, so that a backup waits until its client reads it.
 */
async function fill(server: Pick<TestServer | ServerProcess, 'command'>): Promise<void> {
  await server.command('/default_keyspace', {
    createCollection: { name: 'large', options: { indexing: { allow: ['n'] } } },
  })
  const text = 'x'.repeat(7_900)
  const documents = Array.from({ length: 100 }, (_, n) => ({
    n,
    a: text,
    b: text,
    c: text,
  }))
  for (let i = 0; i < 5; i++)
    await server.command('/default_keyspace/large', { insertMany: { documents } })
}

function copiesIn(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => name.startsWith('backup.partial-'))
}

async function makeToken({ adminUrl }: TestServer, role: string): Promise<string> {
  const headers = {
    Authorization: `Bearer ${testToken}`,
    'Content-Type': 'application/json',
  }
  const body = JSON.stringify({ roles: [defaultRoleId(role)] })
  const made = await fetch(`${adminUrl}/v2/clientIdSecrets`, {
    method: 'POST',
    headers,
    body,
  })
  return ((await made.json()) as { readonly token: string }).token
}

/** A proxy that stops forwarding a reply after a given number of bytes. */
class StallingWire {
  readonly url: string
  readonly stalled: Promise<unknown>
  readonly close: () => void

  private constructor(url: string, stalled: Promise<unknown>, close: () => void) {
    this.url = url
    this.stalled = stalled
    this.close = close
  }

  static async to(url: string, size: number): Promise<StallingWire> {
    const { hostname, port } = new URL(url)
    const { promise: stalled, resolve } = Promise.withResolvers<undefined>()
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname)
      let passed = 0
      client.pipe(upstream)
      upstream.on('data', (chunk: Buffer) => {
        passed += chunk.length
        if (passed > size) resolve(undefined)
        else client.write(chunk)
      })
      upstream.on('error', () => client.destroy())
      upstream.on('close', () => client.destroy())
      client.on('error', () => upstream.destroy())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return new StallingWire(own, stalled, () => server.close())
  }
}
