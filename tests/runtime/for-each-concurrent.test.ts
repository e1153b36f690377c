import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { forEachConcurrent } from '../../src/runtime/for-each-concurrent.ts'

describe('forEachConcurrent', () => {
  test('calls act for each item in order, with a limit on concurrent calls', async () => {
    const started: number[] = []
    let running = 0
    let mostRunning = 0
    await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      started.push(item)
      mostRunning = Math.max(mostRunning, ++running)
      await nextTurn()
      running--
    })
    assert.deepEqual(started, [1, 2, 3, 4, 5, 6, 7])
    assert.equal(mostRunning, 3)
  })

  for (const [name, items] of [
    ['an array', () => [1, 2, 3, 4, 5, 6]],
    ['a Map', () => new Map([1, 2, 3, 4, 5, 6].map((n) => [n, n])).values()],
  ] as const)
    test(`starts no further call for ${name} after a call has failed`, async () => {
      const started: number[] = []
      const act = async (item: number) => {
        started.push(item)
        await nextTurn()
        if (item === 2) throw new Error('the second fails')
      }
      await assert.rejects(forEachConcurrent(items(), 2, act), /the second fails/)
      for (let turn = 0; turn < 10; turn++) await nextTurn()
      assert(started.length <= 3, started.join())
    })
})
