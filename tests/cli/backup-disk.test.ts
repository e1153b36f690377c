/** Backups when a disk is full: that of the server, of the backups, or of the restored folder. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { noDisks, SmallDisk, unmountLeftovers } from '../faults/small-disk.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { runStela, type Ran } from './run-stela.ts'

describe('a full disk', { skip: noDisks ?? false }, () => {
  let home: string
  let disk: SmallDisk

  before(async () => {
    home = await temporaryFolder()
    disk = await SmallDisk.mount(24)
  })

  after(() => {
    unmountLeftovers()
    rmSync(home, { recursive: true, force: true })
  })

  const backup = (folder: string, { adminUrl }: TestServer): Promise<Ran> =>
    runStela(['backup', folder, '--admin-url', adminUrl])

  test('on the server makes a backup fail with a message, and the server continues to serve', async () => {
    const first = await startServer({ dataDir: disk.data })
    await fill(first)
    // Stopping the server removes the write-ahead log, so its data takes less of the small disk.
    await first.stop()
    const server = await startServer({ adminPort: 0, dataDir: disk.data })
    const folder = join(home, 'backups')
    try {
      disk.fill(1_500_000)
      const refused = await backup(folder, server)
      assert.deepEqual([refused.code, refused.out.toString()], [1, ''])
      assert.match(
        refused.err,
        /^stela: the server aborted the backup: the backup failed: .*full.*\. A backup needs free space in the data folder/,
      )
      assert(!readdirSync(disk.data).some((name) => name.startsWith('backup')))
      assert.deepEqual(readdirSync(join(folder, 'files')), [])
      const document = { _id: 'one more' }
      const { body } = await server.command('/default_keyspace/large', {
        insertOne: { document },
      })
      assert.deepEqual(body, { status: { insertedIds: ['one more'] } })
      disk.empty()
      assert.equal((await backup(folder, server)).code, 0)
    } finally {
      await server.stop()
    }
    assert.deepEqual(checkDataFolder(disk.data), [])
    rmSync(disk.data, { recursive: true })
  })

  test('that receives backups or a restored folder is left without partial files', async () => {
    const server = await startServer({ adminPort: 0, dataDir: join(home, 'data') })
    const folder = join(disk.path, 'backups')
    const sound = join(home, 'sound')
    try {
      await fill(server)
      disk.fill(2_000_000)
      const full = await backup(folder, server)
      assert.deepEqual([full.code, full.out.toString()], [1, ''])
      assert.match(full.err, /^stela: .*\.db\.partial cannot be written: ENOSPC/)
      for (const part of ['files', 'backups'])
        assert.deepEqual(readdirSync(join(folder, part)), [])
      assert(!existsSync(join(folder, 'backup.lock')))
      assert.equal((await backup(sound, server)).code, 0)
    } finally {
      await server.stop()
    }
    const data = join(disk.path, 'restored')
    const restored = await runStela(['restore', sound, '--data', data])
    assert.deepEqual([restored.code, restored.out.toString()], [1, ''])
    assert.match(restored.err, /^stela: .*ENOSPC/)
    assert(!existsSync(data))
  })
})

async function fill(server: TestServer): Promise<void> {
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
  await server.command('/default_keyspace/large', { insertMany: { documents } })
}
