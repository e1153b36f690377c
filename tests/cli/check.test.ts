/** `stela check` as operators use it: on folders that are sound, damaged, in use or missing. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { program } from '../server-environment.ts'

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function check(dataDir: string): Promise<Ran> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    program,
    'check',
    '--data',
    dataDir,
  ]
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, out, err) => {
      resolve({ code: Number(error?.code ?? 0), out, err })
    })
  })
}

describe('stela check', () => {
  let server: TestServer

  before(async () => {
    server = await startServer()
    const keyspace = '/default_keyspace'
    await server.command(keyspace, { createCollection: { name: 'books' } })
    const document = { _id: 'a', title: 'Solaris', tags: ['space', 'sea'] }
    await server.command(`${keyspace}/books`, { insertOne: { document } })
    const definition = { columns: { id: 'int', word: 'text' }, primaryKey: 'id' }
    await server.command(keyspace, { createTable: { name: 'words', definition } })
    const index = { name: 'on_word', definition: { column: 'word' } }
    await server.command(`${keyspace}/words`, { createIndex: index })
    const row = { id: 1, word: 'one' }
    await server.command(`${keyspace}/words`, { insertOne: { document: row } })
  })

  after(() => rm(server.dataDir, { recursive: true, force: true }))

  test('rejects a folder that a running server uses', async () => {
    const { code, out, err } = await check(server.dataDir)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /^stela: .* is in use by a running server; stop it first\n$/)
    await server.stop()
  })

  test('reports every part of a sound folder as sound', async () => {
    const { code, out, err } = await check(server.dataDir)
    assert.deepEqual([code, err], [0, ''])
    assert.equal(
      out,
      'catalog: ok\n' +
        'default_keyspace.books: ok\n' +
        'default_keyspace.words: ok\n' +
        'No problems in the catalog and 2 collections and tables.\n',
    )
  })

  test('names the damaged store, and the document that is missing in an index', async () => {
    const store = new DatabaseSync(join(server.dataDir, 'default_keyspace/words/store.db'))
    store.exec('DELETE FROM recent')
    store.close()
    const { code, out } = await check(server.dataDir)
    assert.equal(code, 1)
    assert.match(out, /^default_keyspace\.books: ok$/m)
    assert.match(out, /^ {2}document .*"one".* is not indexed at "c2"$/m)
    assert.match(
      out,
      /^default_keyspace\.words: \d problems? in default_keyspace\/words\/store\.db$/m,
    )
    assert.match(out, /^\d problems? in the catalog and 2 collections and tables\.$/m)
  })

  test('reports folders that do not exist or have no valid catalog', async () => {
    const folder = await temporaryFolder()
    try {
      const { code, out, err } = await check(folder)
      assert.deepEqual([code, out], [2, ''])
      assert.match(err, /is not a data folder: it has no catalog\.db/)
      const missing = await check(join(folder, 'missing'))
      assert.deepEqual([missing.code, missing.out], [2, ''])
      assert.match(missing.err, /missing does not exist\. Set --data to a data folder\n$/)
      await writeFile(join(folder, 'catalog.db'), 'no database')
      const broken = await check(folder)
      assert.equal(broken.code, 1)
      assert.match(
        broken.out,
        /catalog: 1 problem in catalog\.db\n {2}.*is not a database file/,
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
