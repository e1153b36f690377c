/**
 * A server that is killed during schema changes has the old or the new schema after its restart,
 * never a mixture, and all acknowledged rows.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../harness.ts'
import { Random, seed } from './random.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'
import { TableLoad } from './table-load.ts'
import { assertSound } from './sound-copy.ts'
import { SchemaLoad } from './table-schema-load.ts'

const rounds = 3
const rowsAtFirst = 1_500
const flags = ['--page-size', '1000', '--log-level', 'warn']

let root: string
before(async () => {
  root = await temporaryFolder()
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

/** Waits until `changes` more schema changes are acknowledged. */
async function progressOf(schema: SchemaLoad, changes: number): Promise<void> {
  const goal = schema.answered + changes
  while (schema.answered < goal) await delay(5)
}

test(`a server killed ${rounds} times during schema changes has the schema before or after the interrupted change`, async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const random = new Random(seed)
  const folder = join(root, 'killed')
  const schema = new SchemaLoad(random.fork())
  const rows = new TableLoad(random.fork())
  let server = await ServerProcess.start(folder, ...flags)
  await schema.prepare(server)
  await rows.fill(server, rowsAtFirst)
  for (let round = 1; round <= rounds; round++) {
    const working = Promise.all([schema.run(server), rows.run(server, 4)])
    await Promise.race([working, progressOf(schema, random.below(6))])
    await delay(random.below(150))
    await server.kill()
    await working
    assertSound(folder)
    if (random.oneIn(4)) {
      // Kills the server again during recovery.
      const starting = new ServerProcess(folder, flags)
      await delay(random.below(500))
      await starting.kill()
      assertSound(folder)
    }
    // In both modes, acknowledged writes survive a kill of the process. With "relaxed", clients
    // make more writes.
    const durability = random.pick(['full', 'relaxed'])
    server = await ServerProcess.start(folder, ...flags, '--durability', durability)
    await schema.verify(server)
    await rows.verifyRows(server)
    await rows.verifyIndexes(server, schema.indexes)
    assert.equal(server.err, '', 'the server complained')
  }
  await schema.completeIndexes(server)
  await rows.verifyIndexes(server, schema.indexes)
  assert.equal(await server.stop(), 0)
  assertSound(folder)
  t.diagnostic(
    `${schema.answered} changes answered, ${schema.cut.made} made without an answer, ` +
      `${schema.cut.unmade} not made; ${rows.answered} writes answered, ${rows.inDoubt} cut short`,
  )
})
