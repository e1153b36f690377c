/**
 * Random commands on random tables, over HTTP, against rows in a plain Map: what writes leave
 * behind, and what finds find, in which order and on which page, while indexes come and go,
 * columns and types change and the server starts again. What values, filters and sorts mean
 * is the model's own idea of it.
 *
 * Each table has a seed of its own. A failure prints it with the last commands; as SEED it
 * makes this table the first of the run.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seed, times } from './random.ts'
import { Model } from './tables-model.ts'
import { FolderService } from './tables-session.ts'

// Few changes in memory, and many runs, on several levels.
process.env['STELA_TEST_MEMTABLE'] = '64'

const rounds = times
const tablesPerRound = 7
const stepsPerTable = 100

describe(`tables against a plain Map, seed ${seed}`, () => {
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

      test(`${tablesPerRound} tables, ${stepsPerTable} steps each`, async () => {
        // Every second table gets the name of the one before it, which is dropped.
        for (let i = 0; i < tablesPerRound; i++)
          await run(new Model(service, seedOf(i), `t${i >> 1}`), stepsPerTable)
      })

      test('a table that takes many steps to read', async () => {
        await run(
          new Model(service, seedOf(tablesPerRound), 'large', { isLarge: true }),
          20,
          40,
        )
      })

      test('leaves a folder that is sound', () => service.stop())
    })

  test('ran as many commands as were meant', (t) => {
    t.diagnostic(`${commands} commands`)
    assert(commands >= 850 * times, `${commands} commands`)
  })
})
