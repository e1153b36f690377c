import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { afterPrefix, arrayKey, keyOf } from '../../src/language/values/key.ts'
import { readNumeral } from '../../src/json/decimal.ts'
import { printJson } from '../../src/json/print.ts'
import type { Value } from '../../src/json/value.ts'
import { compareValues } from '../../src/language/values/order.ts'
import { values } from '../json/values.ts'

/** SEED repeats a failed run. fast-check prints the seed when a property fails. */
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

const doubles = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, 0.1, -0.1, 5e-324, -5e-324, 2.2250738585072014e-308),
  fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, 1e21, 1e22, 123456789012345680),
  fc.integer({ min: -4, max: 4 }).map((step) => 2 ** 53 + step * 2),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

/**
 * Numerals that equal a double, and numerals with additional digits, which lie close to a double.
 */
const numbers = fc.oneof(
  doubles,
  fc
    .constantFrom('1e400', '-1e400', '2e400', '1e-400', '-1e-400', '-2e-400', '1.5e400')
    .map(readNumeral),
  fc
    .constantFrom(
      '0.1000000000000000001',
      '0.10000000000000000555',
      '0.0999999999999999999',
    )
    .map(readNumeral),
  fc
    .tuple(fc.constantFrom('', '-'), fc.integer({ min: -5, max: 5 }))
    .map(([sign, step]) => readNumeral(`${sign}${2n ** 53n + BigInt(step)}`)),
  fc.tuple(doubles, fc.stringMatching(/^[0-9]{1,3}$/)).map(([double, digits]) => {
    const [mantissa, power] = String(double).split('e') as [string, string?]
    const longer = `${mantissa}${mantissa.includes('.') ? '' : '.'}${digits}`
    return readNumeral(power === undefined ? longer : `${longer}e${power}`)
  }),
  fc.stringMatching(/^-?[1-9][0-9]{16,18}(e[+-]?[0-9]{1,3})?$/).map(readNumeral),
  fc.stringMatching(/^-?[1-9](\.[0-9]{0,2}[1-9])?e[+-]?2147483[0-9]{2}$/).map(readNumeral),
)

/** NUL, and code units whose order differs between UTF-16 and UTF-8. */
const strings = fc.oneof(
  fc
    .array(
      fc.oneof(
        fc.constantFrom(0, 1, 0x61, 0x62, 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0xd800, 0xdfff),
        fc.integer({ min: 0xd7fe, max: 0xe001 }),
      ),
      { maxLength: 4 },
    )
    .map((units) => String.fromCharCode(...units)),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('😀', '\ue000', '\uffff', '\ud83d', '', '\0', 'a\0', 'a'),
)

const uuids = fc
  .constantFrom('0000', 'ABCD', 'abcd', 'ffff')
  .map((group) => `${group}${group}-${group}-${group}-${group}-${group}${group}${group}`)

const scalars: fc.Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: numbers },
  { weight: 3, arbitrary: strings },
  fc.constantFrom(null, true, false),
  fc.oneof(
    fc.integer({ min: -3, max: 3 }).map((ms) => new Map([['$date', ms]])),
    fc.maxSafeInteger().map((ms) => new Map([['$date', ms]])),
  ),
  uuids,
  uuids.map((text) => new Map([['$uuid', text]])),
  fc
    .constantFrom('0123456789ABCDEF01234567', '0123456789abcdef01234567')
    .map((text) => new Map([['$objectId', text]])),
)

describe('index keys', () => {
  test('order scalars as their values are ordered, and are equal exactly if the values are equal', () => {
    fc.assert(
      fc.property(scalars, scalars, (a, b) => {
        assert.equal(
          Buffer.compare(keyOf(a), keyOf(b)),
          Math.sign(compareValues(a, b)),
          `${printJson(a)} against ${printJson(b)}`,
        )
      }),
      { seed, numRuns: 20_000 },
    )
  })

  test('order numbers with equal or adjacent doubles', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        assert.equal(Buffer.compare(keyOf(a), keyOf(b)), Math.sign(compareValues(a, b)))
      }),
      { seed, numRuns: 20_000 },
    )
  })

  test('order different types, including arrays and objects', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const order = compareValues(a, b)
        if (order !== 0) assert.equal(Buffer.compare(keyOf(a), keyOf(b)), Math.sign(order))
      }),
      { seed, numRuns: 3_000 },
    )
  })

  test('for arrays contain only the size of the array', () => {
    for (const size of [0, 1, 255, 256, 1000]) {
      assert(
        Buffer.from(arrayKey(size)).equals(keyOf(Array.from({ length: size }, () => 1))),
      )
      assert(
        Buffer.from(arrayKey(size)).equals(keyOf(Array.from({ length: size }, () => 'x'))),
      )
    }
  })

  test('that share a prefix are adjacent in sort order', () => {
    fc.assert(
      fc.property(scalars, scalars, (a, b) => {
        const prefix = keyOf(a).subarray(0, 1)
        const key = keyOf(b)
        assert.equal(
          Buffer.compare(key, prefix) >= 0 && Buffer.compare(key, afterPrefix(prefix)) < 0,
          key[0] === prefix[0],
        )
      }),
      { seed, numRuns: 2_000 },
    )
  })
})
