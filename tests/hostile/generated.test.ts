/**
 * The short form of `npm run hostile -- --generate`: episodes with little data and few requests. It
 * does not check waiting times.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { killLeftovers } from '../faults/server-process.ts'
import { Bystander } from './bystander.ts'
import { Arena } from './generated/arena.ts'
import { describeEpisode, isTlsEpisode, makeEpisode } from './generated/episode.ts'
import { runEpisode } from './generated/run-episode.ts'
import { makeManyOperations } from './operations.ts'

const seed = 29
const episodes = Array.from({ length: 8 }, (_, n) => n)
const options = { seconds: 2, requestsMax: 3, connectionsMax: 4 }

/** Size of the data on the server, relative to long runs. */
const scale = 0.02

/**
 * Milliseconds between requests of a bystander. The pause is long to save processor time, because
 * this test does not measure waits.
 */
const restMs = 50

describe('while a client sends generated load, other clients are answered:', () => {
  let arena: Arena
  let bystander: Bystander

  before(async () => {
    arena = await Arena.open({ tls: isTlsEpisode(episodes[0]!) }, scale)
    const operations = await makeManyOperations(arena.server)
    bystander = await Bystander.start(arena.server, restMs, operations)
    await bystander.takeWhenAnswered()
  })
  after(async () => {
    await bystander.stop()
    await arena.server.stop()
    await killLeftovers()
  })

  for (const number of episodes) {
    const episode = makeEpisode(seed, number)
    test(describeEpisode(episode), async () => {
      const { requests } = await runEpisode(arena, episode, options)
      assert(requests > 0)
      for (const { name, failed, firstFailure } of await bystander.takeWhenAnswered())
        assert.equal(failed, 0, `${name} failed: ${firstFailure}`)
      assert(arena.server.isAlive)
      assert.equal(arena.server.complaints, '')
    })
  }

  test('a seed and a number always produce the same episode', () => {
    assert.deepEqual(makeEpisode(seed, 3), makeEpisode(seed, 3))
    assert.notDeepEqual(makeEpisode(seed, 3), makeEpisode(seed + 1, 3))
  })
})
