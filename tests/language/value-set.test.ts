/** Compares sets of values, $addToSet and $pullAll with pairwise comparison of values. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { equalValues } from '../../src/json/equal.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { applyUpdate } from '../../src/language/updates/update.ts'
import { ValueSet } from '../../src/language/values/value-set.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { seed, values } from './documents.ts'

/** Equal values in different notations, and different values with similar texts. */
const numerals = fc
  .constantFrom(
    ...['1', '1.0', '1e0', '10e-1', '-1', '0', '-0', '0.1', '1e400', '10e399', '1e-400'],
    ...[
      '9007199254740993',
      '9007199254740993.0',
      '9007199254740992',
      '0.30000000000000004',
    ],
    ...['"1"', '"1e+400"', '"[1]"', '[1]', '[1.0]', '"{}"', '{}', '[]', 'null', '"null"'],
    ...['true', '"true"', '{"$date":5}', '{"$date":5.0}', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    '{"$uuid":"0f1e2d3c-0000-4000-8000-0123456789ab"}',
    '"0f1e2d3c-0000-4000-8000-0123456789ab"',
    '{"$objectId":"0123456789abcdef01234567"}',
  )
  .map(parseStored)

const lists = fc.array(fc.oneof(numerals, values), { maxLength: 30 })

/** The values of `from` that `to` lacks, each of them once. */
function added(to: readonly Value[], from: readonly Value[]): Value[] {
  const all = [...to]
  for (const value of from)
    if (!all.some((other) => equalValues(other, value))) all.push(value)
  return all.slice(to.length)
}

function texts(list: readonly Value[]): string[] {
  return list.map(printJson)
}

function updated(list: readonly Value[], operator: string, argument: Value): Value {
  const document: JsonObject = new Map<string, Value>([['a', [...list]]])
  const update = parseUpdate(new Map([[operator, new Map([['a', argument]])]]))
  const context = { inserting: false, nowMs: 0, limits: defaultLimits }
  return atOnce(applyUpdate(update, document, context)).document.get('a')!
}

describe('a set of values', () => {
  test('adds missing values, compared by value', () => {
    fc.assert(
      fc.property(lists, lists, (first, second) => {
        const set = new ValueSet()
        assert.deepEqual(texts(atOnce(set.add(first))), texts(added([], first)))
        const lacking = second.filter(
          (value) => !first.some((other) => equalValues(other, value)),
        )
        assert.deepEqual(texts(atOnce(set.lacking(second))), texts(lacking))
        assert.deepEqual(texts(atOnce(set.add(second))), texts(added(first, second)))
      }),
      { seed, numRuns: 500 },
    )
  })

  test('takes a step for every 500 values, and more for long values', () => {
    const stepsOf = (list: readonly Value[]) => {
      const adding = new ValueSet().add(list)
      let steps = 0
      while (adding.next().done !== true) steps++
      return steps
    }
    const numbers = Array.from({ length: 100_000 }, (_, n) => n)
    assert(stepsOf(numbers) >= 199)
    assert(stepsOf([numbers]) >= 199)
    assert(stepsOf(numbers.map((n) => [n, 'x'.repeat(100)])) >= 1_000)
  })
})

test('$addToSet adds values that the array lacks, each once', () => {
  fc.assert(
    fc.property(lists, lists, (list, given) => {
      const after = updated(list, '$addToSet', new Map([['$each', given]]))
      assert.deepEqual(texts(after as Value[]), texts([...list, ...added(list, given)]))
    }),
    { seed, numRuns: 500 },
  )
})

test('$pullAll removes elements that equal one of the values', () => {
  fc.assert(
    fc.property(lists, lists, (list, given) => {
      const left = list.filter((value) => !given.some((other) => equalValues(other, value)))
      assert.deepEqual(texts(updated(list, '$pullAll', given) as Value[]), texts(left))
    }),
    { seed, numRuns: 500 },
  )
})
