import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { inBatches } from '../../src/providers/batches.ts'

const { signal } = new AbortController()

describe('batches', () => {
  test('are joined in order, whatever their number and duration', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        async (items, size) => {
          const indexes = items.map((_, i) => i)
          const done = await inBatches(indexes, size, signal, async (batch) => {
            assert(batch.length >= 1 && batch.length <= size)
            for (let turns = items[batch[0]!]!; turns > 0; turns--) await Promise.resolve()
            return batch.map((i) => i * 2)
          })
          assert.deepEqual(
            done,
            indexes.map((i) => i * 2),
          )
        },
      ),
    ))

  test('fail with the first failure, after all running batches were aborted', async () => {
    const stopped: unknown[] = []
    await assert.rejects(
      inBatches([0, 1, 2, 3, 4, 5, 6, 7], 1, signal, async ([item], batchSignal) => {
        if (item === 2) throw new Error('two')
        await new Promise((resolve) => {
          batchSignal.addEventListener('abort', resolve)
        })
        stopped.push(item)
        throw new Error('stopped')
      }),
      { message: 'two' },
    )
    assert.deepEqual(stopped, [0, 1, 3])
  })

  test('are aborted by their signal', async () => {
    const abort = new AbortController()
    const running = inBatches([1, 2], 1, abort.signal, async (_, batchSignal) => {
      await new Promise((resolve) => {
        batchSignal.addEventListener('abort', resolve)
      })
      return []
    })
    abort.abort()
    await assert.rejects(running, { name: 'AbortError' })
  })
})
