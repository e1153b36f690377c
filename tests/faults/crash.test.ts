/**
 * After a kill, a server has all acknowledged writes and no partial ones. A kill ends only the
 * process, so the operating system keeps data that it has received. Durability after a power loss
 * depends on the sync of SQLite at each commit. The tests simulate it only by damaging or cutting
 * logs.
 */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { temporaryFolder } from '../harness.ts'
import { Random, seed } from './random.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'
import { assertSound } from './sound-copy.ts'
import { WriteLoad } from './write-load.ts'

const rounds = 5

let root: string
before(async () => {
  root = await temporaryFolder()
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

const pages = ['--page-size', '1000', '--max-count', '1000000']

test(`a server killed ${rounds} times during writes keeps all acknowledged writes`, async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const random = new Random(seed)
  const folder = join(root, 'killed')
  const load = new WriteLoad(random.fork())
  let server = await ServerProcess.start(folder, ...pages)
  await load.prepare(server)
  for (let round = 1; round <= rounds; round++) {
    const writing = load.run(server, 8)
    await delay(200 + random.below(300))
    await server.kill()
    await writing
    assertSound(folder)
    if (random.oneIn(4)) {
      // Kills the server again during recovery.
      const starting = new ServerProcess(folder)
      await delay(random.below(500))
      await starting.kill()
      assertSound(folder)
    }
    server = await ServerProcess.start(folder, ...pages)
    await load.verify(server)
  }
  assert.equal(await server.stop(), 0)
  assertSound(folder)
  t.diagnostic(`${load.answered} writes answered, ${load.inDoubt} cut short`)
})

/**
 * Findings that report lost writes: a damaged log, or a store that is older than its recorded
 * version.
 */
const lostFinding = /: store\.db-wal .*damaged|acknowledged writes? (is|are) lost: /

test('recovery from a log that is cut or damaged keeps the writes before the damage', async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const random = new Random(seed)
  const folder = join(root, 'cut')
  const server = await ServerProcess.start(folder)
  const path = '/default_keyspace/books'
  await server.command('/default_keyspace', { createCollection: { name: 'books' } })
  for (let _id = 0; _id < 60; _id++) {
    const document = { _id, n: _id, tags: ['a', 'b', _id], body: 'x'.repeat(_id * 10) }
    assert.deepEqual((await server.command(path, { insertOne: { document } })).codes, [])
  }
  await server.kill()

  for (let i = 0; i < 20; i++) {
    const copy = join(root, `cut-${i}`)
    cpSync(folder, copy, { recursive: true })
    const store = join(copy, 'default_keyspace', 'books', 'store.db')
    const log = `${store}-wal`
    const bytes = readFileSync(log)
    const place = random.below(bytes.length)
    const isCut = random.oneIn(2)
    if (isCut) truncateSync(log, place)
    else {
      const end = Math.min(bytes.length, place + random.below(5_000))
      writeFileSync(log, bytes.fill(random.below(256), place, end))
    }

    const findings = checkDataFolder(copy)
    const database = new DatabaseSync(store)
    const texts = database.prepare('SELECT text FROM doc ORDER BY seq').all()
    database.close()
    const ids = texts.map(({ text }) => (JSON.parse(String(text)) as { _id: number })._id)
    assert.deepEqual(
      ids,
      ids.map((_, position) => position),
      'the first ones, without a gap',
    )
    const label = `at ${place}: ${findings.join()}`
    // Even if all 60 documents are there, the log may have lost a later transaction, which contains
    // no document. In this case, a damaged log may cause findings, but a log that was cut must not.
    if (ids.length < 60) assert(findings.length > 0, label)
    else if (isCut) assert.deepEqual(findings, [])
    for (const finding of findings) assert.match(finding, lostFinding)
  }
})
