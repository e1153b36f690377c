import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  addNumeric,
  compareNumeric,
  decimalParts,
  multiplyNumeric,
  printNumeric,
  readNumeral,
} from '../../src/json/decimal.ts'
import { isDecimal } from '../../src/json/value.ts'
import type { Numeric } from '../../src/json/value.ts'

/** Numerals of every grammatical form whose values are small enough for BigInt. */
const numerals = fc
  .record({
    minus: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,25}$/)),
    fraction: fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,25}$/)),
    exponent: fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,2}$/)),
  })
  .map(({ minus, whole, fraction, exponent }) => minus + whole + fraction + exponent)

const doubles = fc.double({ noNaN: true, noDefaultInfinity: true })

const texts = fc.oneof(numerals, doubles.map(String), fc.integer().map(String))

describe('readNumeral', () => {
  test('reads a numeral as a double if a double represents it', () => {
    for (const [text, value] of [
      ['0', 0],
      ['-0', 0],
      ['-0.00e7', 0],
      ['0e99999999999999', 0],
      ['1.50', 1.5],
      ['1E3', 1000],
      ['100000e-5', 1],
      ['0.1', 0.1],
      ['9007199254740993.0e0', undefined],
      ['123456789012345', 123456789012345],
      ['1.7976931348623157e308', Number.MAX_VALUE],
      ['5e-324', Number.MIN_VALUE],
    ] as const) {
      const read = readNumeral(text)
      if (value === undefined) assert(isDecimal(read), text)
      else assert(Object.is(read, value), text)
    }
  })

  test('keeps digits beyond the precision of a double', () => {
    for (const [text, canonical] of [
      ['9007199254740993', '9007199254740993'],
      ['0.10000000000000000', undefined],
      ['0.10000000000000001', '0.10000000000000001'],
      ['0.1000000000000000055511151231257827', '0.1000000000000000055511151231257827'],
      ['1e400', '1e+400'],
      ['-10.0e399', '-1e+400'],
      ['1e-400', '1e-400'],
      ['4.9e-324', '4.9e-324'],
      ['1'.repeat(100), '1'.repeat(100)],
      ['12345678901234567890.12345000', '12345678901234567890.12345'],
      ['1e2147483647', '1e+2147483647'],
    ] as const) {
      const read = readNumeral(text)
      if (canonical === undefined) assert.equal(typeof read, 'number', text)
      else assert.deepEqual(read, { decimal: canonical })
    }
  })

  test('returns one form for equal numerals in any notation', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 30 }), (text, shift) => {
        const { count, scale } = oracle(text)
        const shifted = `${count * 10n ** BigInt(shift)}e${-scale - shift}`
        assert.deepEqual(readNumeral(shifted), readNumeral(text))
      }),
    )
  })

  test('is the inverse of printNumeric, without loss', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const read = readNumeral(text)
        assert.equal(difference(text, printNumeric(read)), 0n)
        assert.deepEqual(readNumeral(printNumeric(read)), read)
        assert.doesNotThrow(() => void JSON.parse(printNumeric(read)))
      }),
    )
  })

  test('reads the text of every double as that double', () => {
    fc.assert(
      fc.property(doubles, (double) =>
        assert.equal(readNumeral(String(double)), double + 0),
      ),
    )
  })

  test('rejects exponents out of range', () => {
    for (const text of [
      '1e2147483648',
      '-1e-2147483649',
      '10e2147483647',
      '1e99999999999999',
    ])
      assert.throws(() => readNumeral(text), RangeError)
  })
})

describe('compareNumeric', () => {
  test('orders by exact decimal value', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const order = compareNumeric(readNumeral(a), readNumeral(b))
        assert.equal(Math.sign(order), sign(difference(a, b)))
      }),
    )
  })

  test('distinguishes adjacent values that a double would merge', () => {
    for (const [less, greater] of [
      ['9007199254740992', '9007199254740993'],
      ['0.1', '0.10000000000000000555'],
      ['-1e400', '-1e399'],
      ['1e-401', '1e-400'],
      ['-1e-400', '0'],
      ['0', '1e-400'],
      ['1.7976931348623157e308', '1e309'],
    ] as const) {
      assert(compareNumeric(readNumeral(less), readNumeral(greater)) < 0, less)
      assert(compareNumeric(readNumeral(greater), readNumeral(less)) > 0, less)
      assert.equal(compareNumeric(readNumeral(less), readNumeral(less)), 0)
    }
  })

  test('compares exponents that are too large to expand', () => {
    const huge = readNumeral('1e2147483647')
    assert(compareNumeric(huge, 1) > 0)
    assert(compareNumeric(readNumeral('1e-2147483647'), 1) < 0)
    assert.equal(compareNumeric(huge, readNumeral('10e2147483646')), 0)
  })
})

describe('addNumeric and multiplyNumeric', () => {
  test('are exact', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const left = oracle(a)
        const right = oracle(b)
        const scale = Math.max(left.scale, right.scale)
        const sum = inScale(left, scale) + inScale(right, scale)
        const product = left.count * right.count
        assert.deepEqual(
          addNumeric(readNumeral(a), readNumeral(b), Infinity),
          readNumeral(`${sum}e${-scale}`),
        )
        assert.deepEqual(
          multiplyNumeric(readNumeral(a), readNumeral(b), Infinity),
          readNumeral(`${product}e${-left.scale - right.scale}`),
        )
      }),
    )
  })

  test('return undefined exactly when the text of the result is too long', () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1, max: 60 }), (a, b, lengthMax) => {
        for (const operation of [addNumeric, multiplyNumeric]) {
          const whole = operation(readNumeral(a), readNumeral(b), Infinity)
          assert(whole !== undefined)
          const fits = printNumeric(whole).length <= lengthMax
          const bounded = operation(readNumeral(a), readNumeral(b), lengthMax)
          assert.deepEqual(bounded, fits ? whole : undefined)
        }
      }),
    )
  })

  test('calculate with decimal fractions instead of binary fractions', () => {
    assert.equal(addNumeric(0.1, 0.2, 100), 0.3)
    assert.equal(multiplyNumeric(0.1, 3, 100), 0.3)
    assert.deepEqual(addNumeric(9007199254740991, 2, 100), { decimal: '9007199254740993' })
    assert.deepEqual(multiplyNumeric(1e300, 1e300, 100), { decimal: '1e+600' })
  })

  test('return no negative zero', () => {
    assert(Object.is(multiplyNumeric(0, -5, 100), 0))
    assert(Object.is(multiplyNumeric(-0.5, 0, 100), 0))
    assert(Object.is(addNumeric(-5, 5, 100), 0))
    assert(Object.is(addNumeric(-0.5, 0.5, 100), 0))
  })

  test('do not expand a huge exponent', () => {
    const huge = readNumeral('1e999999999')
    const tiny = readNumeral('1e-999999999')
    assert.equal(addNumeric(huge, 1, 100), undefined)
    assert.equal(addNumeric(huge, tiny, 1_000_000), undefined)
    assert.deepEqual(addNumeric(huge, huge, 100), { decimal: '2e+999999999' })
    assert.equal(multiplyNumeric(huge, tiny, 100), 1)
    assert.equal(multiplyNumeric(readNumeral('1e2147483647'), 10, 100), undefined)
    assert.equal(addNumeric(huge, readNumeral('-1e999999999'), 100), 0)
  })
})

describe('decimalParts', () => {
  test('splits a number into sign, digits and exponent', () => {
    const cases: [Numeric, -1 | 0 | 1, string, number][] = [
      [0, 0, '', 0],
      [-0, 0, '', 0],
      [1, 1, '1', 1],
      [-120, -1, '12', 3],
      [0.00102, 1, '102', -2],
      [1e21, 1, '1', 22],
      [readNumeral('-1.5e400'), -1, '15', 401],
    ]
    for (const [numeric, sign, digits, exponent] of cases)
      assert.deepEqual(decimalParts(numeric), { sign, digits, exponent })
  })
})

/** An exact number: `count` / 10^`scale`. */
interface Exact {
  readonly count: bigint
  readonly scale: number
}

function oracle(text: string): Exact {
  const [mantissa, exponent] = text.toLowerCase().split('e')
  const [whole, fraction = ''] = mantissa!.split('.')
  const sign = whole!.startsWith('-') ? -1n : 1n
  const count = sign * BigInt(whole!.replace('-', '') + fraction)
  return { count, scale: fraction.length - Number(exponent ?? 0) }
}

function inScale({ count, scale }: Exact, wanted: number): bigint {
  return count * 10n ** BigInt(wanted - scale)
}

function difference(a: string, b: string): bigint {
  const left = oracle(a)
  const right = oracle(b)
  const scale = Math.max(left.scale, right.scale)
  return inScale(left, scale) - inScale(right, scale)
}

function sign(count: bigint): number {
  return count < 0n ? -1 : count > 0n ? 1 : 0
}
