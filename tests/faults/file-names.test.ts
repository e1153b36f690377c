/**
 * Disk failures whose system errors contain file names. Only the log contains the names. A client
 * learns what failed, but not where the server keeps its data.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { unfinishedFile } from '../../src/engine/embedded/catalog/data-folder.ts'
import { reasonOf } from '../../src/errors/reason.ts'
import { temporaryFolder } from '../harness.ts'
import { becomes } from './health.ts'
import { killLeftovers, processToken, ServerProcess } from './server-process.ts'

describe('names of files in errors of the disk', () => {
  let folder: string
  let data: string
  let server: ServerProcess

  before(async () => {
    folder = await temporaryFolder()
    data = join(folder, 'data')
    server = await ServerProcess.start(data)
    for (const name of ['blocked', 'linked']) {
      const { codes } = await server.command('', { createKeyspace: { name } })
      assert.deepEqual(codes, [])
      rmSync(join(data, name), { recursive: true })
    }
    writeFileSync(join(data, 'blocked'), 'a file where a folder was')
    symlinkSync(tmpdir(), join(data, 'linked'))
  })
  after(async () => {
    await killLeftovers()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Whether a text contains the name of the data folder, which clients must not see. */
  const isTold = (text: string) => text.includes(basename(folder))

  /** Provokes an error. Asserts that the log contains file names, and that the reply does not. */
  async function refused(act: () => Promise<string>, log: RegExp): Promise<void> {
    const before = server.err.length
    const text = await act()
    assert(!isTold(text), text)
    const logged = () => server.err.slice(before)
    while (!log.test(logged())) await once(server.child.stderr!, 'data')
    assert(isTold(logged()), logged())
  }

  const create = async (keyspace: string) => {
    const answer = await server.command(`/${keyspace}`, { createCollection: { name: 'x' } })
    assert.equal(answer.codes.length, 1, answer.text)
    return answer.text
  }

  test('are in the log when a folder cannot be created', async () => {
    await refused(async () => {
      const text = await create('blocked')
      assert.match(text, /FAILED_WRITE_REQUEST.*ENOTDIR: not a directory, mkdir\)/)
      return text
    }, /ENOTDIR: not a directory, mkdir '/)
  })

  test('are in the log, and not in the reply, when the health check fails', async () => {
    // A folder at the path of the probe file makes the health check fail.
    const probe = join(data, `${unfinishedFile}-probe`)
    await becomes(server, 'UP')
    await refused(async () => {
      mkdirSync(probe)
      return (await becomes(server, 'DOWN'))!
    }, /EISDIR/)
    rmSync(probe, { recursive: true })
    await becomes(server, 'UP')
  })

  test('are in the log when a folder became a link', async () => {
    await refused(() => create('linked'), /is a symbolic link, not a folder/)
  })

  test('are in the log when a backup cannot be created', async () => {
    const admin = /The management API is at ([^"]+)\/v2/.exec(server.err)![1]!
    await refused(async () => {
      renameSync(data, `${data}-away`)
      try {
        const headers = { Authorization: `Bearer ${processToken}` }
        const backup = { method: 'POST', headers }
        const response = await fetch(`${admin}/v2/stela/backup`, backup)
        const text = await response.text()
        assert.match(text, /"error":"the backup failed: ENOENT/)
        return text
      } finally {
        renameSync(`${data}-away`, data)
      }
    }, /A backup failed"/)
  })
})

test('errors for clients omit file names', () => {
  const error = (message: string, details: object) =>
    Object.assign(new Error(message), details)
  const text = 'ENOENT: no such file or directory, rename'
  const paths = { path: '/data/a b', dest: '/data/c' }
  assert.equal(reasonOf(error(`${text} '/data/a b' -> '/data/c'`, paths)), text)
  assert.equal(
    reasonOf(error('Path is a directory: /data/a b', { path: '/data/a b' })),
    'Path is a directory: …',
  )
  assert.equal(reasonOf(error('disk I/O error', { errcode: 10 })), 'disk I/O error')
  assert.equal(reasonOf('no error at all'), 'no error at all')
})
