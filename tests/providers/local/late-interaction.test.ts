import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { score, toCompare } from '../../../src/providers/local/late-interaction.ts'

const start = 101
const end = 102
/**
 * Token ids of "the", the first word of the vocabulary, and of a word with four times the weight of
 * "the".
 */
const the = 1_996
const common = 1_998
assert.equal(Math.log(1 + (common - 1_995)) / Math.log(1 + (the - 1_995)), 2)

function text(ids: readonly number[], vectors: readonly (readonly number[])[]) {
  const dimension = vectors[0]!.length
  return toCompare({ ids, numbers: Float32Array.from(vectors.flat()), dimension })
}

function assertNear(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`)
}

describe('late interaction', () => {
  test('averages the similarity of the nearest tokens and that of the vectors of both texts', () => {
    // The sum of the query's vectors has the direction [4, 5], that of the passage [1, 0].
    const query = text(
      [start, the, common, end],
      [
        [1, 1],
        [2, 0],
        [0, 3],
        [1, 1],
      ],
    )
    const passage = text(
      [start, the, end],
      [
        [1, 0],
        [1, 0],
        [1, 0],
      ],
    )
    // "the" has similarity 1 and weight 1. The other word has similarity 0 and weight 4.
    const nearest = (1 * 1 + 4 * 0) / 5
    const wholes = 3 / Math.hypot(4, 5) + 1 / Math.hypot(4, 5)
    assertNear(score(query, passage), (nearest + wholes) / 2)
  })

  test('gives 1 to a passage that contains the query literally', () => {
    const same = text(
      [start, the, end],
      [
        [1, 2],
        [3, -1],
        [0, 2],
      ],
    )
    assertNear(score(same, same), 1)
  })

  test('compares only the vectors of both texts when a query has no words', () => {
    const blank = text(
      [start, end],
      [
        [1, 0],
        [1, 0],
      ],
    )
    const passage = text(
      [start, the, end],
      [
        [0, 1],
        [0, 1],
        [0, 1],
      ],
    )
    assertNear(score(blank, passage), 0)
    assertNear(score(blank, blank), 1)
  })
})
