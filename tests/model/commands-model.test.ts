/** Random commands over HTTP, compared with a plain Map. */
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'
import { CommandsModel } from './commands-model.ts'
import { Random, seed, times } from './random.ts'

// With a small memtable, there are many runs on several levels.
process.env['STELA_TEST_MEMTABLE'] = '64'

const commandsPerRun = 1_600 * times

describe(`commands compared with a plain Map, seed ${seed}`, () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  for (const [round, shape] of [
    { nested: 0.3, scalars: 8, fields: 4 },
    { nested: 0.1, scalars: 30, fields: 5 },
  ].entries())
    test(`have equal replies: ${commandsPerRun / 2} commands with ${shape.scalars} different values`, async () => {
      const random = new Random(seed + round)
      const model = new CommandsModel(server, random, shape, `model${round}`)
      await model.create()
      for (let i = 0; i < commandsPerRun / 2; i++) await model.step()
      await model.compareAll()
    })
})
