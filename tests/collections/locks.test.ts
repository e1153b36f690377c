import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Locks } from '../../src/collections/locks.ts'

describe('locks', () => {
  test('run one task at a time per key, in order of arrival', async () => {
    const locks = new Locks()
    const order: number[] = []
    let inside = 0
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        locks.holding(['key'], async () => {
          assert.equal(++inside, 1)
          await Promise.resolve()
          order.push(i)
          inside--
        }),
      ),
    )
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    )
  })

  test('report to each task whether it had to wait', async () => {
    const locks = new Locks()
    const waited = await Promise.all([
      locks.holding(['a'], (waited) => Promise.resolve(waited)),
      locks.holding(['a'], (waited) => Promise.resolve(waited)),
      locks.holding(['b'], (waited) => Promise.resolve(waited)),
    ])
    assert.deepEqual(waited, [false, true, false])
    assert.equal(await locks.holding(['a'], (waited) => Promise.resolve(waited)), false)
  })

  test('on the same keys in different orders do not deadlock', async () => {
    const locks = new Locks()
    const done = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        locks.holding(i % 2 === 0 ? ['a', 'b', 'a'] : ['b', 'a'], async () => {
          await Promise.resolve()
          return i
        }),
      ),
    )
    assert.equal(done.length, 50)
  })

  test('are released when the task fails', async () => {
    const locks = new Locks()
    await assert.rejects(locks.holding(['a'], () => Promise.reject(new Error('no'))))
    assert.equal(await locks.holding(['a'], () => Promise.resolve('yes')), 'yes')
  })
})
