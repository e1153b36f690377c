/**
 * Random finds with any combination of filter, sort, projection, skip, limit and pages, compared with
 * rows and documents in a plain Map. cassandra/reads-model.test.ts compares both engines.
 */
import { after, before, describe } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'
import { seed, times } from './random.ts'
import { testReads } from './reads-run.ts'

describe(`random reads compared with a plain Map, seed ${seed}`, () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  testReads(() => new Map([['embedded', server]]), { targets: 4 * times, reads: 100 })
})
