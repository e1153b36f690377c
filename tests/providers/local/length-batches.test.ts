import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  batchesOf,
  batchTokensMax,
  usefulShareMin,
} from '../../../src/providers/local/length-batches.ts'

const lengths = fc.array(fc.integer({ min: 2, max: batchTokensMax }), { maxLength: 120 })

describe('batches of texts', () => {
  test('contain every text once', () => {
    fc.assert(
      fc.property(lengths, (lengths) => {
        const positions = batchesOf(lengths).flat()
        assert.deepEqual(
          positions.toSorted((a, b) => a - b),
          lengths.map((_, position) => position),
        )
      }),
    )
  })

  test('fit the batch size of the model with little padding', () => {
    fc.assert(
      fc.property(lengths, (lengths) => {
        for (const batch of batchesOf(lengths)) {
          const tokens = batch.map((position) => lengths[position]!)
          const filled = tokens.length * Math.max(...tokens)
          assert.ok(filled <= batchTokensMax)
          assert.ok(tokens.reduce((sum, length) => sum + length) >= filled * usefulShareMin)
        }
      }),
    )
  })

  test('group texts of the same length', () => {
    assert.deepEqual(batchesOf([8, 200, 8, 8]), [[0, 2, 3], [1]])
  })
})
