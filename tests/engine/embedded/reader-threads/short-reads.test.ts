import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ShortReads } from '../../../../src/engine/embedded/reader-threads/short-reads.ts'

test('a principal may try only two short reads per turn if these reads turn out to be long', async () => {
  const reads = new ShortReads()
  for (const turn of [1, 2]) {
    let tried = 0
    for (let i = 0; i < 40; i++)
      if (reads.mayTry('many')) {
        tried++
        reads.noteFailure('many')
      }
    assert.equal(tried, 2, `turn ${turn}`)
    assert(reads.mayTry('other'))
    await nextTurn()
  }
})
