import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { equalValues } from '../../src/json/equal.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import { values } from './values.ts'

const equalTexts = (a: string, b: string): boolean =>
  equalValues(parseStored(a), parseStored(b))

describe('equalValues', () => {
  test('agrees with a comparison of the printed texts', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        assert(equalValues(a, structuredClone(a)))
        assert.equal(equalValues(a, b), printJson(a) === printJson(b))
        assert.equal(equalValues([a, b], [b, a]), equalValues(a, b))
      }),
    )
  })

  test('compares numbers by value', () => {
    assert(equalTexts('[1.0, 1e2, 1e400]', '[1, 100, 10e399]'))
    assert(equalValues(-0, 0))
    assert(!equalTexts('9007199254740992', '9007199254740993'))
    assert(equalValues({ decimal: '1e+400' }, { decimal: '1e+400' }))
  })

  test('considers the order of keys', () => {
    assert(equalTexts('{"a":1,"b":{"c":[]}}', '{"a":1,"b":{"c":[]}}'))
    assert(!equalTexts('{"a":1,"b":2}', '{"b":2,"a":1}'))
    assert(!equalTexts('{"a":1}', '{"a":1,"b":2}'))
    assert(!equalTexts('{"a":1}', '{"b":1}'))
  })

  test('distinguishes types', () => {
    const texts = ['null', 'false', '0', '""', '"0"', '[]', '{}', '[0]', '1e400', '[null]']
    for (const a of texts)
      for (const b of texts) assert.equal(equalTexts(a, b), a === b, `${a} and ${b}`)
  })
})
