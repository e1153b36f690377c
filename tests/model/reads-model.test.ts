/**
 * Random finds with any combination of filter, sort, projection, skip, limit and pages, against
 * rows and documents in a plain Map. cassandra/reads-model.test.ts asks both engines the same.
 */
import { after, before, describe } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'
import { seed, times } from './random.ts'
import { testReads } from './reads-run.ts'

describe(`random reads against a plain Map, seed ${seed}`, () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  testReads(() => new Map([['embedded', server]]), { targets: 4 * times, reads: 100 })
})
