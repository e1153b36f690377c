/**
 * A server that is killed during a merge of postings resumes the merge after its restart, and loses
 * nothing.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../harness.ts'
import { Random, seed } from './random.ts'
import { SearchLoad } from './search-load.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'
import { assertSound } from './sound-copy.ts'

const flags = ['--page-size', '1000', '--max-count', '1000000', '--log-level', 'warn']

/**
 * States of a segment in which the server is killed: "making" while other segments are merged into
 * it, and "dropped" while its rows are deleted.
 */
const halfDone = ['making', 'dropped'] as const

/** The required number of kills in each state, and the maximum number of all kills. */
const hitsWanted = 1
const killsMax = 8

let root: string
before(async () => {
  root = await temporaryFolder()
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

test('a server killed during a merge of postings finds all stored documents', async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const folder = join(root, 'killed')
  const load = new SearchLoad(new Random(seed))
  let server = await ServerProcess.start(folder, ...flags)
  await load.prepare(server)
  const hits = { making: 0, dropped: 0 }
  const isDone = () => halfDone.every((state) => hits[state] >= hitsWanted)
  for (let kills = 0; !isDone(); kills++) {
    assert(kills < killsMax, `${JSON.stringify(hits)} of ${kills} kills came in between`)
    const wanted = halfDone.find((state) => hits[state] < hitsWanted)!
    const writing = load.run(server, 4)
    await killDuring(server, folder, wanted)
    await writing
    for (const state of halfDone) if (hasSegment(folder, state)) hits[state]++
    assertSound(folder)
    server = await ServerProcess.start(folder, ...flags)
    await load.verify(server)
  }
  assert.equal(await server.stop(), 0)
  assertSound(folder)
  t.diagnostic(
    `${load.answered} writes answered, ${load.inDoubt} cut short, killed ` +
      `${hits.making} times while segments were merged, ${hits.dropped} while some were deleted`,
  )
})

/** Kills a server as soon as the collection has a segment in this state. */
async function killDuring(
  server: ServerProcess,
  folder: string,
  state: (typeof halfDone)[number],
): Promise<void> {
  while (server.child.exitCode === null) {
    if (hasSegment(folder, state)) break
    await delay(1)
  }
  await server.kill()
}

function hasSegment(folder: string, state: (typeof halfDone)[number]): boolean {
  const file = join(folder, 'default_keyspace', 'many', 'store.db')
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const found = database.prepare('SELECT 1 FROM textsegment WHERE state = ?').get(state)
    return found !== undefined
  } finally {
    database.close()
  }
}
