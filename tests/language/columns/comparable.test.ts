import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { comparable, comparableEntry } from '../../../src/language/columns/comparable.ts'
import type { ElementType, UserTypes } from '../../../src/language/columns/column-type.ts'
import { BadValue, readElement, readValue } from '../../../src/language/columns/values.ts'
import { equalValues } from '../../../src/json/equal.ts'
import { parseStored } from '../../../src/json/parse.ts'
import { printJson } from '../../../src/json/print.ts'
import { isDecimal, type Value } from '../../../src/json/value.ts'
import { compareValues } from '../../../src/language/values/order.ts'
import { seed } from '../documents.ts'
import { samples, writable, type Sample } from './samples.ts'

console.log(`SEED=${seed}`)

const numRuns = 300

function storedOf(type: ElementType, input: Value, types: UserTypes = []): Value {
  const stored = readElement(type, input, types)
  if (stored instanceof BadValue)
    assert.fail(`${printJson(input)} ${stored.problem} (seed ${seed})`)
  return stored
}

for (const name of writable) {
  const { of, compare } = samples[name]

  describe(`values of type ${name}`, () => {
    test('can be read from their stored form', () => {
      fc.assert(
        fc.property(of, ({ input }) => {
          const stored = storedOf(name, input)
          assert(equalValues(storedOf(name, stored), stored))
          const printed = parseStored(printJson(stored))
          assert(equalValues(printed, stored))
          assert.equal(
            printJson(readValue({ type: name }, printed, []) as Value),
            printJson(stored),
          )
        }),
        { seed, numRuns },
      )
    })

    test('have comparable forms that are scalars', () => {
      fc.assert(
        fc.property(of, ({ input }) => {
          const scalar = comparable(name, storedOf(name, input), [])
          assert(
            ['number', 'string', 'boolean'].includes(typeof scalar) || isDecimal(scalar),
          )
        }),
        { seed, numRuns },
      )
    })

    test('are ordered like the values that they represent', () => {
      fc.assert(
        fc.property(of, of, (a: Sample, b: Sample) => {
          for (const [left, right] of [
            [a, b],
            [a, a],
          ] as const) {
            const order = compareValues(
              comparable(name, storedOf(name, left.input), []),
              comparable(name, storedOf(name, right.input), []),
            )
            if (compare === undefined) assert.equal(order === 0, left.model === right.model)
            else
              assert.equal(
                Math.sign(order),
                Math.sign(compare(left.model as never, right.model as never)),
              )
          }
        }),
        { seed, numRuns },
      )
    })

    test('have equal stored forms exactly if they are equal', () => {
      fc.assert(
        fc.property(of, of, (a, b) => {
          const left = storedOf(name, a.input)
          const right = storedOf(name, b.input)
          const order = compareValues(
            comparable(name, left, []),
            comparable(name, right, []),
          )
          assert.equal(equalValues(left, right), order === 0)
        }),
        { seed, numRuns },
      )
    })
  })
}

describe('comparable', () => {
  test('maps a date to its number of days since 1970', () => {
    assert.equal(comparable('date', '1970-01-01', []), 0)
    assert.equal(comparable('date', '1969-12-31', []), -1)
    assert.equal(comparable('date', '-5877641-06-23', []), -(2 ** 31))
    assert.equal(comparable('date', '+5881580-07-11', []), 2 ** 31 - 1)
    fc.assert(
      fc.property(fc.integer({ min: -100_000_000, max: 100_000_000 }), (days) => {
        const text = new Date(days * 86_400_000).toISOString().slice(0, -14)
        // `Date` prints negative years with six digits, but stored dates have at least four. So two
        // leading zeros are removed.
        const stored = storedOf('date', text.replace(/^-00(?=\d{4})/, '-'))
        assert.equal(comparable('date', stored, []), days)
      }),
      { seed, numRuns },
    )
  })

  test('maps consecutive days to consecutive numbers, over 800 years', () => {
    for (let days = -146_097; days <= 146_097; days++) {
      const text = new Date(days * 86_400_000).toISOString().slice(0, 10)
      assert.equal(comparable('date', text, []), days)
      assert.equal(storedOf('date', text), text)
    }
  })

  test('maps times to nanoseconds, and timestamps to milliseconds', () => {
    assert.equal(comparable('time', '23:59:59.999999999', []), 86_399_999_999_999)
    assert.equal(comparable('timestamp', '1970-01-01T00:00:00.001Z', []), 1)
    assert.deepEqual(comparable('timestamp', '+292278994-08-17T07:12:55.807Z', []), {
      decimal: '9223372036854775807',
    })
    assert.deepEqual(comparable('timestamp', '-292275055-05-16T16:47:04.192Z', []), {
      decimal: '-9223372036854775808',
    })
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        const stored = storedOf('timestamp', new Map([['$date', date.getTime()]]))
        assert.equal(comparable('timestamp', stored, []), date.getTime())
        if (date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999)
          assert.equal(stored, date.toISOString().replace('.000Z', 'Z'))
      }),
      { seed, numRuns },
    )
  })

  test('places NaN after all numbers', () => {
    const order = ['-Infinity', -1e300, 0, 1e300, 'Infinity', 'NaN']
    const comparables = order.map((stored) => comparable('double', stored, []))
    assert.deepEqual(comparables.toReversed().sort(compareValues), comparables)
    assert.equal(comparables[0], -Infinity)
  })

  test('orders UUIDs of version 1 by time', () => {
    const uuids = [
      'ffffffff-ffff-1000-8000-000000000000',
      '00000000-0000-1001-8000-000000000000',
      '00000000-0001-1001-8000-000000000000',
      '00000001-0001-1001-8000-000000000000',
      '00000001-0001-1001-8000-000000000001',
      '00000001-0001-1001-f000-000000000000',
      '00000000-0000-4000-8000-000000000000',
    ]
    const comparables = uuids.map((stored) => comparable('uuid', stored, []))
    assert.deepEqual(comparables.toSorted(compareValues), comparables)
  })
})

describe('user-defined values', () => {
  const type = { type: 'userDefined', udtName: 't' } as const
  const fields = [
    { name: 'a', type: 'text' },
    { name: 'b', type: 'double' },
    { name: 'c', type: 'text' },
  ] as const
  const types: UserTypes = [{ name: 't', fields }]
  const values = fc
    .record(
      {
        a: fc.constantFrom('', 'a', '","c', '"b"', 'Infinity'),
        b: fc.constantFrom(0, 1, 10, 'Infinity', 'NaN'),
        c: fc.constantFrom('', 'a', '1', 'Infinity'),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    .map((record): Value => new Map(Object.entries(record)))

  test('are equal exactly if all their fields are equal', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const left = storedOf(type, a, types)
        const right = storedOf(type, b, types)
        assert.equal(
          comparable(type, left, types) === comparable(type, right, types),
          equalValues(left, right),
        )
      }),
      { seed, numRuns: 1000 },
    )
  })

  test('stay equal when a field is added to the type', () => {
    const later: UserTypes = [
      {
        name: 't',
        fields: [...fields, { name: 'd', type: 'int' }],
      },
    ]
    const stored = storedOf(type, new Map([['a', 'x']]), types)
    assert.equal(comparable(type, stored, types), comparable(type, stored, later))
  })
})

test('timeuuids use the order of a timeuuid column, with signed bytes', () => {
  const timeUuids = [
    '00000001-0000-1000-8000-000000000000',
    '00000001-0000-1000-8000-00000000007f',
    '00000000-0001-1000-8000-000000000000',
  ]
  const [positive, negative] = ['7f00-000000000000', '8000-000000000000']
  const ties = [negative, positive].map((rest) => `00000001-0000-1000-${rest}`)
  for (const ordered of [timeUuids, ties]) {
    const comparables = ordered.map((stored) => comparable('timeuuid', stored, []))
    assert.deepEqual(comparables.toSorted(compareValues), comparables)
  }
})

test('entries of maps are equal exactly if their keys and values are equal', () => {
  const parts: Value[] = ['', 'a', '","', 1, '1', Infinity, 'Infinity', true, 'true']
  const texts = parts.flatMap((key) => parts.map((value) => comparableEntry(key, value)))
  assert.equal(new Set(texts).size, parts.length ** 2)
  assert.equal(comparableEntry('a', 1), comparableEntry('a', 1))
})
