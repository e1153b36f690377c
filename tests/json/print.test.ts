import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromPlain } from '../../src/json/plain.ts'
import { printJson, printJsonInSteps } from '../../src/json/print.ts'
import type { Value } from '../../src/json/value.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

test('printJson prints what JSON.stringify prints, for all characters', (context) => {
  context.diagnostic(`SEED=${seed}`)
  // Characters of one and two bytes, surrogates, and characters that need an escape.
  const characters = fc.constantFrom(
    'a',
    'ß',
    'ÿ',
    'Ā',
    '漢',
    '\u{1f600}',
    '\ud800',
    '"',
    '\\',
    '\n',
  )
  const strings = fc.string({ unit: characters, maxLength: 60 })
  const scalars = fc.oneof(
    strings,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
  )
  const records = fc.dictionary(strings, fc.oneof(scalars, fc.array(scalars)), {
    maxKeys: 20,
  })
  fc.assert(
    fc.property(fc.array(records), (plain) => {
      // JSON.stringify prints -0 as 0, and moves keys that look like integers to the front. So the
      // plain value is parsed from its output first.
      const value = fromPlain(JSON.parse(JSON.stringify(plain)))
      assert.equal(printJson(value), JSON.stringify(plain))
    }),
    { seed },
  )
})

test('texts larger than the buffer are printed', () => {
  for (const size of [3_000, 16_383, 16_384, 40_000]) {
    const numbers = Array.from({ length: size }, (_, i) => i % 10)
    assert.equal(printJson(numbers), JSON.stringify(numbers))
  }
})

test('concurrent prints do not mix their texts', () => {
  const values: Value[] = [1, 2, 3].map((digit) => new Array<number>(2_000).fill(digit))
  const printing = values.map((value) => {
    const steps = printJsonInSteps(value)
    assert(typeof steps !== 'string')
    return steps
  })
  const texts: (string | undefined)[] = values.map(() => undefined)
  while (texts.includes(undefined))
    for (const [i, steps] of printing.entries()) {
      const step = steps.next()
      if (step.done === true) texts[i] ??= step.value
    }
  assert.deepEqual(
    texts,
    values.map((value) => JSON.stringify(value)),
  )
})
