import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { CollectionPolicy } from '../../src/runtime/collect-garbage.ts'

const mb = 1_000_000
const quiet = 0.05

describe('a garbage collection', () => {
  test('is due when the heap of a quiet thread has grown considerably since its smallest size', () => {
    const policy = new CollectionPolicy()
    assert(!policy.isDue({ busyShare: quiet, size: 80 * mb, now: 0 }))
    assert(!policy.isDue({ busyShare: quiet, size: 60 * mb, now: 1 }))
    assert(!policy.isDue({ busyShare: quiet, size: 70 * mb, now: 2 }))
    assert(policy.isDue({ busyShare: quiet, size: 90 * mb, now: 3 }))
  })

  test('is not due while the thread is busy', () => {
    const policy = new CollectionPolicy()
    assert(!policy.isDue({ busyShare: quiet, size: 60 * mb, now: 0 }))
    assert(!policy.isDue({ busyShare: 0.9, size: 500 * mb, now: 1 }))
    assert(policy.isDue({ busyShare: quiet, size: 500 * mb, now: 2 }))
  })

  test('is due again after further growth, and after a pause in proportion to the duration of the last collection', () => {
    const policy = new CollectionPolicy()
    policy.note(200 * mb, 100, 0)
    assert(!policy.isDue({ busyShare: quiet, size: 210 * mb, now: 50_000 }))
    assert(!policy.isDue({ busyShare: quiet, size: 300 * mb, now: 19_000 }))
    assert(policy.isDue({ busyShare: quiet, size: 300 * mb, now: 20_000 }))
  })
})

test('an idle thread returns the memory that a burst of work has taken', async () => {
  const module = new URL('../../src/runtime/collect-garbage.ts', import.meta.url)
  const code = `
    const { parentPort } = require('node:worker_threads')
    const { getHeapStatistics } = require('node:v8')
    const size = () => getHeapStatistics().total_heap_size
    import(${JSON.stringify(module.href)}).then(({ collectWhenQuiet }) => {
      collectWhenQuiet()
      const idle = size()
      let made = Array.from({ length: 1_000_000 }, (_, n) => ({ n, text: String(n) }))
      const most = size()
      made = undefined
      setInterval(() => {
        if (size() < idle + (most - idle) / 2) parentPort.postMessage({ idle, most, now: size() })
      }, 100)
    })`
  const worker = new Worker(code, { eval: true })
  const [{ idle, most, now }] = (await once(worker, 'message')) as [
    Record<'idle' | 'most' | 'now', number>,
  ]
  await worker.terminate()
  assert(most > idle + 50 * mb, `${idle} to ${most} bytes`)
  assert(now < idle + (most - idle) / 2, `${now} bytes, of ${most}`)
})
