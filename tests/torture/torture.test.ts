/** The short form of `npm run torture`: every fault once or twice, and some damaged files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seed } from '../faults/random.ts'
import { faultNames, type FaultName, type LifePlan } from './faults.ts'
import { torture } from './torture.ts'

const quiet: LifePlan = {
  commands: 160,
  movesClock: false,
  starvesDisk: false,
  endsStarved: false,
  startsStarved: false,
  end: 'kill',
  spoilsSnapshots: false,
  startsCut: 0,
}

/**
 * Lives of the server in each round. Each round also ends with a kill. `spoilsSnapshots` damages
 * the vector indexes that the stop has saved.
 */
const plans: readonly (readonly LifePlan[])[] = [
  [{ ...quiet, movesClock: true, end: 'stop', spoilsSnapshots: true }],
  [{ ...quiet, starvesDisk: true, startsCut: 1 }],
]

test('a server keeps acknowledged writes when it is killed or stopped, the disk is full or the clock is moved', async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const { tally, failure } = await torture({
    seed,
    clients: 4,
    faults: new Set(faultNames.filter((name) => name !== 'damage')),
    goesOn: (rounds) => rounds < plans.length,
    plan: (round) => plans[round - 1]!,
  })
  for (const line of tally.table().split('\n')) t.diagnostic(line)
  if (failure !== undefined) {
    t.diagnostic(`data folder: ${failure.folder}`)
    throw failure.error
  }
  assert.equal(tally.rounds, plans.length)
  assert.equal(tally.clockMoves, 1)
  assert(tally.snapshotsDamaged > 0)
  assert(tally.hostileRequests > 0)
  assert.equal(tally.diskEpisodes, tally.leftOut.length === 0 ? 1 : 0)
  assert.equal(tally.lost + tally.unexplained, 0)
})

test('a server with damaged files reports them or refuses to start, and gives no wrong answer before a report', async (t) => {
  // The seed is fixed, so that each run damages the same kinds of files.
  const fixed = Number(process.env['SEED'] ?? 20_261_119)
  t.diagnostic(`SEED=${fixed}`)
  const { tally, failure } = await torture({
    seed: fixed,
    clients: 2,
    faults: new Set<FaultName>(['damage']),
    goesOn: (rounds) => rounds < 1,
    strikes: 7,
    say: (line) => t.diagnostic(line),
  })
  for (const line of tally.damage.lines()) t.diagnostic(line)
  if (failure !== undefined) throw failure.error
  assert.equal(tally.damage.controls, 1)
  assert.equal(tally.damage.strikes, 7)
  assert(tally.damage.fileKinds.size >= 5)
})
