/** Random documents for property tests. */
import fc from 'fast-check'
import type { JsonObject, Value } from '../../src/json/value.ts'

/** SEED repeats a failed run. fast-check prints the seed when a property fails. */
export const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

/**
 * There are few names, so that paths often match fields. Some are also names of built-in
 * properties of JavaScript.
 */
export const names = fc.constantFrom(
  'a',
  'b',
  'c',
  '0',
  '1',
  'x.y',
  '&',
  '__proto__',
  'toString',
)

const tree = fc.letrec<{ value: Value; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Value>(null, true, false, 0, 1, -2.5, '', 'a', 'ä', {
      decimal: '1e+400',
    }),
    fc.constantFrom<Value>(new Map([['$date', 5]]), new Map([['$date', 7]])),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(names, tie('value')), {
      maxLength: 4,
      selector: ([name]) => name,
    })
    .map((fields) => new Map(fields)),
}))

export const values = tree.value

/** Documents that start with an _id. Half of them end with a vector. */
export const documents = fc
  .tuple(fc.integer(), tree.object, fc.boolean())
  .map(([id, fields, vector]): JsonObject => {
    const document = new Map<string, Value>([['_id', id], ...fields])
    return vector ? document.set('$vector', [1, 2]) : document
  })
