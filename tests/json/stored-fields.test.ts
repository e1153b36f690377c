import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { JsonProblem } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import { storedFields, withoutFields } from '../../src/json/stored-fields.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { values } from './values.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

describe(`fields of a stored object, seed ${seed}`, () => {
  const names = fc.oneof(
    fc.constantFrom('_id', 'a', 'b', '__proto__', 'a"b', '\\', '}', ',', '\ud800', ''),
    fc.string(),
  )

  test('equal those of the parsed object', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(names, values), { selector: ([name]) => name }),
        fc.uniqueArray(names),
        (fields, wanted) => {
          const object: JsonObject = new Map(fields)
          const expected = fields.filter(([name]) => wanted.includes(name))
          const found = storedFields(printJson(object), new Set(wanted))
          assert.equal(printJson(found), printJson(new Map(expected)))
        },
      ),
      { seed, numRuns: 5000 },
    )
  })

  test('can be removed from a compact text, and from no other text', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(names, values), { selector: ([name]) => name }),
        fc.uniqueArray(names),
        (fields, unwanted) => {
          const text = printJson(new Map(fields))
          const kept = fields.filter(([name]) => !unwanted.includes(name))
          assert.equal(withoutFields(text, new Set(unwanted)), printJson(new Map(kept)))
        },
      ),
      { seed, numRuns: 2000 },
    )
    for (const text of [
      '{"a": {"b":1,"c":2}}',
      '{"a":1, "c":2}',
      '{ "a":1}',
      '{"a":\n{"b":1,"c":2},"d":1}',
    ])
      assert.equal(withoutFields(text, new Set(['c'])), undefined, text)
  })

  test('are rejected with a JsonProblem when the text is truncated within a field', () => {
    const text = '{"_id":"x","a":{"b":[1,"}"]},"c":12}'
    const betweenFields = [...text.matchAll(/[{,](?="(?:_id|a|c)")/g)].flatMap(
      ({ index }) => [index, index + 1],
    )
    for (let end = 1; end < text.length; end++) {
      const read = () => storedFields(text.slice(0, end), new Set(['c']))
      if (betweenFields.includes(end)) assert.equal(read().size, 0, String(end))
      else assert.throws(read, JsonProblem, String(end))
    }
    assert.equal(storedFields(text, new Set(['c'])).size, 1)
  })

  test('are empty when no names are given, or no such field exists', () => {
    assert.equal(storedFields('{"a":1}', new Set()).size, 0)
    assert.equal(storedFields('{}', new Set(['a'])).size, 0)
  })
})
