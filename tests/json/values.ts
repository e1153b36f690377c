/** Random JSON values for property tests, with many edge cases. */
import fc from 'fast-check'
import { readNumeral } from '../../src/json/decimal.ts'
import type { Value } from '../../src/json/value.ts'

const strings = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  // Random UTF-16 code units around the surrogates, so that some texts contain lone surrogates.
  fc
    .array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 4 })
    .map((units) => String.fromCharCode(...units)),
)

const keys = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '10', '2', ''),
  strings,
)

const numbers = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc
    .stringMatching(/^-?[1-9][0-9]{0,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,6})?$/)
    .map(readNumeral),
)

export const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    numbers,
    strings,
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .uniqueArray(fc.tuple(keys, tie('value')), { selector: ([key]) => key, maxLength: 5 })
      .map((entries) => new Map(entries)),
  ),
})).value

/** Converts a value from JSON.parse into a Value of src/json. */
export function fromPlain(plain: unknown): Value {
  if (Array.isArray(plain)) return plain.map(fromPlain)
  if (typeof plain === 'object' && plain !== null)
    return new Map(Object.entries(plain).map(([key, value]) => [key, fromPlain(value)]))
  if (typeof plain === 'number') return plain + 0
  return plain as Value
}
