/** Dropping a keyspace is atomic: after a crash the keyspace is complete or gone. */
import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../harness.ts'
import { Random, seed } from './random.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'
import { assertSound } from './sound-copy.ts'

const rounds = 5
const collections = 12

let root: string
before(async () => {
  root = await temporaryFolder()
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

test(`a server killed ${rounds} times while it drops a keyspace has the whole keyspace or nothing of it`, async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const random = new Random(seed)
  const folder = join(root, 'killed')
  const flags = ['--max-collections', '1000']
  let server = await ServerProcess.start(folder, ...flags)
  for (let round = 1; round <= rounds; round++) {
    await server.command('', { createKeyspace: { name: 'ks' } })
    await server.command('/ks', {
      createType: { name: 't', definition: { fields: { a: 'int' } } },
    })
    for (let n = 0; n < collections; n++)
      await server.command('/ks', { createCollection: { name: `c${n}` } })
    const dropping = server
      .command('', { dropKeyspace: { name: 'ks' } })
      .catch(() => undefined)
    await delay(random.below(40))
    await server.kill()
    const answer = await dropping
    assertSound(folder)

    server = await ServerProcess.start(folder, ...flags)
    const { body } = await server.command('/ks', { findCollections: {} })
    const left = (body.status?.['collections'] as unknown[] | undefined)?.length
    if (answer !== undefined) assert.equal(left, undefined)
    else assert([undefined, collections].includes(left), `${left} collections are left`)
    await server.command('', { dropKeyspace: { name: 'ks' } })
    assert(!existsSync(join(folder, 'ks')), 'what was dropped takes no space')
  }
})
