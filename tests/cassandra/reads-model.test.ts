/**
 * Random finds of rows and documents, some of which get or lose a vector after their insert. Both
 * engines get the same writes and finds; the results are compared with a plain Map.
 */
import { after, before, describe } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { seed, times } from '../model/random.ts'
import { testReads } from '../model/reads-run.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

describe(`random reads on both engines, seed ${seed}`, () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  const servers = new Map<string, TestServer>()
  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    servers.set('embedded', await startServer())
    servers.set('cassandra', await startServer({ checked: false }, engine))
  })
  after(async () => {
    for (const server of servers.values()) await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  testReads(() => servers, { targets: 2 * times, reads: 60 })
})
