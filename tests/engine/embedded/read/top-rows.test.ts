/** The first rows of a sort, and the cost that the sort charges to the budget. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documentView } from '../../../../src/engine/record-view.ts'
import { OverBudget } from '../../../../src/engine/embedded/store/budget.ts'
import { TopRows } from '../../../../src/engine/embedded/read/top-rows.ts'
import type { SortKey } from '../../../../src/language/values/sort-key.ts'
import { compareBy } from '../../../../src/language/values/order.ts'
import type { JsonObject } from '../../../../src/json/value.ts'
import { parseStored } from '../../../../src/json/parse.ts'
import { Random, seed } from '../../../model/random.ts'

class Counting {
  spent = 0
  readonly max: number

  constructor(max = Infinity) {
    this.max = max
  }

  spend(units: number): void {
    this.spent += units
    if (this.spent > this.max) throw new OverBudget()
  }
}

function keysOf(count: number): SortKey[] {
  return Array.from({ length: count }, (_, n): SortKey => {
    return { path: { text: `f${n}`, segments: [`f${n}`] }, direction: n % 2 === 0 ? 1 : -1 }
  })
}

function textsOf(count: number, fields: (n: number) => object): string[] {
  return Array.from({ length: count }, (_, n) => {
    return JSON.stringify({ _id: (n * 7_919) % count, ...fields(n) })
  })
}

function firstOf(best: TopRows, texts: readonly string[], count: number): number[] {
  for (const [seq, text] of texts.entries()) best.add({ seq, version: 1, text }, count)
  return best.take(count)
}

const view = documentView({})

describe('sorted rows', () => {
  test(`equal those of a sorted array, from any position, seed ${seed}`, () => {
    const random = new Random(seed)
    const keys = keysOf(3)
    const texts = textsOf(300, () => ({
      f0: random.integer(0, 3),
      ...(random.chance(0.5) && { f1: random.pick([null, 'a', 1, [1]]) }),
      f2: random.integer(0, 3),
    }))
    const documents = texts.map((text) => parseStored(text) as JsonObject)
    const inOrder = [...documents.keys()].sort((a, b) =>
      compareBy(keys)(documents[a]!, documents[b]!),
    )
    const budget = new Counting()
    const first = new TopRows(keys, undefined, view, budget)
    assert.deepEqual(firstOf(first, texts, 300), inOrder)
    const last = documents[inOrder[99]!]!
    const values = keys.map(({ path }) => last.get(path.text))
    const after = { by: 'sort', values, id: last.get('_id')! } as const
    const next = new TopRows(keys, after, view, budget)
    assert.deepEqual(firstOf(next, texts, 50), inOrder.slice(100, 150))
  })

  test('cost at least 15 times as many units with 64 sort keys as with one', () => {
    const tied = (keyCount: number) => {
      const budget = new Counting()
      const best = new TopRows(keysOf(keyCount), undefined, view, budget)
      const all = Object.fromEntries(keysOf(keyCount).map(({ path }) => [path.text, 1]))
      const texts = textsOf(500, () => all)
      firstOf(best, texts, 20)
      return budget.spent
    }
    assert(tied(64) >= 15 * tied(1), `${tied(64)} after ${tied(1)}`)
    assert(tied(64) >= 10_000)
  })

  test('are abandoned when sorting them exceeds the budget', () => {
    const best = new TopRows(keysOf(64), undefined, view, new Counting(2_000))
    const texts = textsOf(500, () => ({}))
    assert.throws(() => firstOf(best, texts, 20), OverBudget)
  })
})
