/** Compares the interruptible sort with the sort of JavaScript. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sortInSteps } from '../../src/runtime/sort-in-steps.ts'
import { atOnce, Pace } from '../../src/runtime/steps.ts'
import { seed } from './documents.ts'

function stepsOf(sorting: Generator<void, unknown>): number {
  let steps = 0
  while (sorting.next().done !== true) steps++
  return steps
}

describe('a sort in steps', () => {
  test('gives the result of toSorted, and is stable', () => {
    const items = fc.array(fc.record({ key: fc.integer({ min: 0, max: 20 }) }), {
      maxLength: 300,
    })
    fc.assert(
      fc.property(items, (given) => {
        const before = [...given]
        const compare = (a: { key: number }, b: { key: number }) => a.key - b.key
        const sorted = atOnce(sortInSteps(given, compare, new Pace()))
        // All objects are distinct, so comparing identities also checks the order of ties.
        const expected = given.toSorted(compare)
        assert(sorted.length === expected.length)
        assert(sorted.every((item, at) => item === expected[at]))
        assert.deepEqual(given, before)
      }),
      { seed },
    )
  })

  test('sorts an empty list and a single element', () => {
    assert.deepEqual(atOnce(sortInSteps([], () => 0, new Pace())), [])
    assert.deepEqual(atOnce(sortInSteps([1], () => 0, new Pace())), [1])
  })

  test('takes a step for every 500 comparisons, and more when comparisons cost more', () => {
    const items = Array.from({ length: 2 ** 12 }, (_, n) => (n * 2_654_435_761) % 4_093)
    const cheap = new Pace()
    const steps = stepsOf(sortInSteps(items, (a, b) => a - b, cheap))
    assert(steps >= (12 * 2 ** 12) / 500 - 1, `${steps} steps`)
    const dear = new Pace()
    const compare = (a: number, b: number) => {
      dear.spend(63)
      return a - b
    }
    const dearSteps = stepsOf(sortInSteps(items, compare, dear))
    assert(dearSteps >= 50 * steps, `${dearSteps} steps after ${steps}`)
  })
})
