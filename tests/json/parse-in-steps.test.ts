/** Parsing JSON in steps returns the same values and errors as parsing it at once. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  JsonProblem,
  parseJson,
  parseJsonInSteps,
  type ParseLimits,
} from '../../src/json/parse.ts'
import { fromPlain } from '../../src/json/plain.ts'
import { printJson, printJsonInSteps } from '../../src/json/print.ts'
import { atOnce } from '../../src/runtime/steps.ts'

const seed = Date.now() % 2 ** 31

const limits: ParseLimits = { depthMax: 20, numeralLengthMax: 30, valuesMax: 60 }

/** The printed value, or all details of the error. */
function outcomeOf(parse: () => ReturnType<typeof parseJson>): unknown {
  try {
    return printJson(parse())
  } catch (problem) {
    if (!(problem instanceof JsonProblem)) throw problem
    const { message, kind, offset, depthMax, numeralLength } = problem
    return { message, kind, offset, depthMax, numeralLength }
  }
}

function assertSame(text: string, stepSize: number, withLimits = limits): void {
  assert.deepEqual(
    outcomeOf(() => atOnce(parseJsonInSteps(text, withLimits, stepSize))),
    outcomeOf(() => parseJson(text, withLimits)),
    JSON.stringify({ text: text.slice(0, 500), stepSize }),
  )
}

function stepsOf(text: string, stepSize?: number): number {
  const steps = parseJsonInSteps(text, { depthMax: 10, numeralLengthMax: 100 }, stepSize)
  let count = 1
  while (steps.next().done !== true) count++
  return count
}

describe(`reading JSON in steps, seed ${seed}`, () => {
  test('gives the same values and the same errors, wherever it pauses', () => {
    // Texts that are often invalid JSON: one character is changed, removed or inserted.
    const texts = fc
      .tuple(
        fc.json({ maxDepth: 6, noUnicodeString: false }),
        fc.nat(),
        fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '1', '\n', ' ', 'é'),
        fc.constantFrom(0, 0, 1),
        fc.boolean(),
      )
      .map(([json, place, put, left, broken]) => {
        const at = place % (json.length + 1)
        return broken ? json.slice(0, at) + put + json.slice(at + left) : json
      })
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 12 }), (text, stepSize) =>
        assertSame(text, stepSize),
      ),
      { seed, numRuns: 5_000 },
    )
  })

  test('finds an error at every offset', () => {
    const text = '{"a":[1,-2.5e3,"x\\n\\u00e9",{"b":null,"c":[]}],"d":{},"e":[true,false]}'
    for (let at = 0; at <= text.length; at++)
      for (const put of ['', '@', '"', '\u0001', ',', '}', ']'])
        for (const stepSize of [1, 2, 3, 5])
          assertSame(text.slice(0, at) + put + text.slice(at + 1), stepSize)
  })

  test('pauses within long strings and keys, escaped or not, and finds every error in them', () => {
    const fill = (unit: string, length: number) => unit.repeat(length / unit.length)
    for (const unit of ['x', 'é', '\\n', '\\u00e9', '\\ud83d\\ude42', 'ab\\"c'])
      for (const length of [16_380, 16_384, 16_390, 40_000])
        for (const end of ['', '\\', '\\u12', '\\x', '\n']) {
          const string = `"${fill(unit, length)}${end}"`
          for (const text of [string, `[${string}]`, `{${string}:1}`, `{"a":${string}}`]) {
            assertSame(text, 1)
            assertSame(text.slice(0, -3), 1)
          }
        }
    assert(stepsOf(`["${'x'.repeat(1_000_000)}"]`, 1) > 50)
    assert(stepsOf(`{"${'\\n'.repeat(500_000)}":1}`, 1) > 50)
  })

  test('counts every value but no key, up to the limit', () => {
    const valuesMax = 5
    const within = { ...limits, valuesMax }
    for (const text of ['[1,2,3,4]', '{"a":{"b":{"c":[1]}}}', '["",null,true,{}]']) {
      for (const stepSize of [1, 2, 4, 5, 6, 100]) assertSame(text, stepSize, within)
      assert.equal(printJson(parseJson(text, within)), text)
    }
    for (const text of ['[1,2,3,4,5]', '[[[[[[]]]]]]', '{"a":1,"b":2,"c":3,"d":4,"e":5}'])
      for (const stepSize of [1, 2, 4, 5, 6, 100]) {
        assertSame(text, stepSize, within)
        assert.throws(
          () => parseJson(text, within),
          (problem) => problem instanceof JsonProblem && problem.kind === 'values',
        )
      }
  })

  test('takes a number of steps proportional to the length, and one step for a short text', () => {
    assert.equal(stepsOf('{"findOne":{"filter":{"_id":"x"}}}'), 1)
    const many = stepsOf(`[${'{},'.repeat(100_000)}0]`)
    assert(many > 500, `${many} steps`)
  })

  test('rejects an overlong numeral', () => {
    for (const text of [
      '1'.repeat(50_000),
      `0.${'0'.repeat(50_000)}`,
      `1e${'1'.repeat(50_000)}`,
    ])
      assert.throws(
        () => parseJson(text, limits),
        (problem) => problem instanceof JsonProblem && problem.kind === 'numeral',
      )
  })
})

describe('printing JSON in steps', () => {
  test('gives the same text as printing it at once', () => {
    const large = fc
      .array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 40 })
      .map((values) => fromPlain([values, ...Array<unknown>(20).fill(values)]))
    fc.assert(
      fc.property(large, (value) => {
        const printed = printJsonInSteps(value)
        const text = typeof printed === 'string' ? printed : atOnce(printed)
        assert.equal(text, printJson(value))
      }),
      { seed, numRuns: 300 },
    )
  })
})
