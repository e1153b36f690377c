import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  asFloating,
  asFloats,
  leastFloatShownAs,
  shortestFloat,
} from '../../src/json/floats.ts'
import { printJson } from '../../src/json/print.ts'
import { seed } from '../language/documents.ts'

test('a float is printed with its shortest decimal form', () => {
  for (const number of [0, 0.5, 0.1, 0.994447, 1, 1e17, 1e-30, 16777216, -2.5])
    assert.equal(shortestFloat(Math.fround(number)), number)
})

test('a float is shown with at most nine digits, from which it is read back unchanged', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (float) => {
      const shown = shortestFloat(float)
      assert(Math.fround(shown) === float)
      const digits = String(Math.abs(shown)).replace(/e.*/, '').replace('.', '')
      assert(digits.replace(/^0+|0+$/g, '').length <= 9, String(shown))
    }),
    { seed },
  )
})

test('leastFloatShownAs returns the least float that is shown as at least the given number', () => {
  for (const [number, float] of [
    [0, 0],
    [1, 1],
    [0.8535534, Math.fround(0.8535534)],
    // The nearest float is shown as 0.8535534, which is less than this number.
    [0.85355341, 0.853553473949432373046875],
    [1e-50, 2 ** -149],
  ] as const)
    assert.equal(leastFloatShownAs(number), float)
  const fractions = fc.double({ min: 0, max: 1, noNaN: true })
  const floats = fc.float({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.oneof(fractions, floats.map(shortestFloat)), floats, (number, other) => {
      const least = leastFloatShownAs(number)
      assert(shortestFloat(least) >= number)
      assert.equal(shortestFloat(other) >= number, other >= least)
    }),
    { seed },
  )
})

test('NaN and infinities are printed as strings', () => {
  const printed = printJson(asFloats(Float32Array.of(NaN, Infinity, -Infinity, 1)))
  assert.equal(printed, '["NaN","Infinity","-Infinity",1.0]')
})

test('a decimal of six digits is unchanged after conversion to a 32-bit float and back', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -999_999, max: 999_999 }),
      fc.integer({ min: -20, max: 10 }),
      (digits, power) => {
        const decimal = Number(`${digits}e${power}`)
        assert.equal(shortestFloat(Math.fround(decimal)), decimal)
      },
    ),
    { seed },
  )
})

test('a double is printed as a floating-point number of the same value', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.maxSafeInteger(),
      ),
      (double) => {
        const text = printJson(asFloating(double))
        assert.match(text, /[.e]/)
        assert(JSON.parse(text) === double, text)
      },
    ),
    { seed },
  )
})

test('the numbers of a vector are printed with the digits of floats', () => {
  const floats = Float32Array.of(1, -2, 0, -0, 0.1, 1e20, 3.4e38, 1e-7, 16777216)
  assert.equal(
    printJson(asFloats(floats)),
    '[1.0,-2.0,0.0,0.0,0.1,100000000000000000000.0,3.4e+38,1e-7,16777216.0]',
  )
})
