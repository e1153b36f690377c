/**
 * Random commands on random tables over HTTP, compared with rows in a plain Map: rows after writes,
 * found rows, their order and pages. Meanwhile indexes are created and dropped, columns and types
 * change, and the server restarts. The model defines the meaning of values, filters and sorts
 * independently of the server's code.
 *
 * Each table has a separate seed. A failure prints the seed of its table with the last commands.
 * SEED makes this table the first one of the run.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seed, times } from './random.ts'
import { Model } from './tables-model.ts'
import { FolderService } from './tables-session.ts'

// With a small memtable, there are many runs on several levels.
process.env['STELA_TEST_MEMTABLE'] = '64'

const rounds = times
const tablesPerRound = 7
const stepsPerTable = 100

describe(`tables compared with a plain Map, seed ${seed}`, () => {
  let commands = 0

  for (let round = 0; round < rounds; round++)
    describe(`round ${round + 1}`, () => {
      const seedOf = (table: number) => seed + round * (tablesPerRound + 1) + table
      const service = new FolderService()
      before(() => service.start())
      after(() => service.remove())

      const run = async (model: Model, steps: number, inserts?: number) => {
        await model.run(steps, inserts)
        commands += model.commands
      }

      test(`${tablesPerRound} tables have the expected rows after ${stepsPerTable} steps each`, async () => {
        // Every second table reuses the name of the previous table, which was dropped.
        for (let i = 0; i < tablesPerRound; i++)
          await run(new Model(service, seedOf(i), `t${i >> 1}`), stepsPerTable)
      })

      test('a large table, whose reads take many steps, has the expected rows', async () => {
        await run(
          new Model(service, seedOf(tablesPerRound), 'large', { isLarge: true }),
          20,
          40,
        )
      })

      test('the data folder is intact after the server stops', () => service.stop())
    })

  test('servers got at least the intended number of commands', (t) => {
    t.diagnostic(`${commands} commands`)
    assert(commands >= 850 * times, `${commands} commands`)
  })
})
