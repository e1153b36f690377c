import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  added,
  countIn,
  isElement,
  kindOf,
  kinds,
  removed,
  combine,
  valuesIn,
  type Change,
} from '../../../../src/engine/embedded/runs/change.ts'

/** The state of an entry: absent, or present with its element flag. */
type Entry = { readonly element: boolean } | undefined

/**
 * All sequences of at most `steps` changes of an entry that starts in state `first`, each with the
 * final state.
 */
function* pasts(first: Entry, steps: number): Generator<[Change[], Entry]> {
  yield [[], first]
  if (steps === 0) return
  const nexts: Entry[] =
    first === undefined ? [{ element: false }, { element: true }] : [undefined]
  for (const next of nexts)
    for (const [rest, last] of pasts(next, steps - 1)) {
      const state = next === undefined ? removed(first!.element) : added(next.element)
      yield [[{ key: 'x', state, doc: 1 }, ...rest], last]
    }
}

/** The state of an entry after a change. Without a change, it is the first state. */
function seenThrough(change: Change | undefined, first: Entry): Entry {
  if (change === undefined) return first
  if (kindOf(change.state) === kinds.remove) return undefined
  return { element: isElement(change.state) }
}

const countOf = (entry: Entry) => (entry === undefined ? 0 : 1)
const valuesOf = (entry: Entry) => (entry?.element === false ? 1 : 0)

describe('changes of an entry', () => {
  for (const tie of ['doc', 'id'] as const)
    test(`combine to the same state and count wherever a sequence of them is split, with entries ordered by ${tie}`, () => {
      const fold = (changes: readonly Change[]) =>
        changes.reduce<Change | undefined>(
          (older, newer) => combine(older, newer, tie),
          undefined,
        )
      for (const first of [undefined, { element: false }, { element: true }])
        for (const [changes, last] of pasts(first, 5))
          for (let cut = 0; cut <= changes.length; cut++) {
            const older = fold(changes.slice(0, cut))
            const newer = fold(changes.slice(cut))
            const whole = newer === undefined ? older : combine(older, newer, tie)
            assert.deepEqual(seenThrough(whole, first), last)
            assert.deepEqual(seenThrough(newer, seenThrough(older, first)), last)
            const parts = [[whole], [older, newer]].map((left) =>
              left.filter((change) => change !== undefined),
            )
            for (const part of parts) {
              const sum = (of: (state: number) => number) =>
                part.reduce((total, { state }) => total + of(state), 0)
              assert.equal(countOf(first) + sum(countIn), countOf(last))
              assert.equal(valuesOf(first) + sum(valuesIn), valuesOf(last))
            }
          }
    })
})
