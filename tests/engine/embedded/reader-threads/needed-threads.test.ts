import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NeededThreads } from '../../../../src/engine/embedded/reader-threads/needed-threads.ts'

/** Starts reads, which are to run at the same time. */
function begin(needed: NeededThreads, count: number): void {
  for (let n = 0; n < count; n++) needed.begin()
}

function end(needed: NeededThreads, count: number): void {
  for (let n = 0; n < count; n++) needed.end()
}

describe('the number of needed reader threads', () => {
  test('is the minimum when no read runs', () => {
    const needed = new NeededThreads(2)
    assert.equal(needed.take(), 2)
    begin(needed, 6)
    end(needed, 6)
    needed.take()
    assert.equal(needed.take(), 2)
  })

  test('is one more than the threads that were used at the same time', () => {
    const needed = new NeededThreads(2)
    begin(needed, 5)
    end(needed, 5)
    begin(needed, 3)
    assert.equal(needed.take(), 6)
  })

  test('falls when fewer threads are used, although reads follow each other without a gap', () => {
    const needed = new NeededThreads(2)
    begin(needed, 5)
    end(needed, 3)
    assert.equal(needed.take(), 6)
    for (let n = 0; n < 100; n++) {
      needed.end()
      needed.begin()
    }
    assert.equal(needed.take(), 3)
  })

  test('includes reads that started before the last measurement and still run', () => {
    const needed = new NeededThreads(1)
    begin(needed, 4)
    needed.take()
    end(needed, 4)
    assert.equal(needed.take(), 5)
    assert.equal(needed.take(), 1)
  })
})
