import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { matches } from '../../src/language/filters/matches.ts'
import { compareBy, compareValues, rankOf } from '../../src/language/values/order.ts'
import { parsePath, type Path } from '../../src/language/values/path.ts'
import { seed } from './documents.ts'

function json(text: string): Value {
  return parseStored(text)
}

function documents(...texts: string[]): JsonObject[] {
  return texts.map((text) => {
    const value = json(text)
    assert(isObject(value))
    return value
  })
}

function path(text: string): Path {
  const read = parsePath(text)
  assert('segments' in read)
  return read
}

describe('values', () => {
  test('are ordered by type, then within the type', () => {
    const ascending = [
      undefined,
      null,
      json('-1e400'),
      -1,
      0,
      0.5,
      json('12345678901234567890123'),
      json('1e400'),
      '',
      'A',
      'a',
      json('{"$uuid":"F47AC10B-58CC-4372-A567-0E02B2C3D479"}'),
      'z',
      '\ud83d\ude00',
      '\uffff',
      false,
      true,
      json('{"$date":-5}'),
      json('{"$date":7}'),
      json('{"a":1}'),
      json('[]'),
      json('{"$binary":"AAAA"}'),
    ]
    for (const [i, a] of ascending.entries())
      for (const [j, b] of ascending.entries())
        assert.equal(Math.sign(compareValues(a, b)), Math.sign(i - j), `${i} with ${j}`)
  })

  test('are equal if their type has no order', () => {
    assert.equal(compareValues(json('{"a":1}'), json('{"b":2}')), 0)
    assert.equal(compareValues(json('[1]'), json('[2,3]')), 0)
    assert.equal(compareValues(json('{"$binary":"AAAA"}'), json('{"$binary":""}')), 0)
  })

  test('that are UUIDs or object ids are ordered as equal to their text', () => {
    const text = '0123456789abcdef01234567'
    assert.equal(compareValues(new Map([['$objectId', text.toUpperCase()]]), text), 0)
    assert.equal(compareValues(1, json('1.0')), 0)
    assert(compareValues(5, '5') < 0)
  })
})

describe('documents', () => {
  const ids = (sorted: readonly JsonObject[]) =>
    sorted.map((document) => printJson(document.get('_id')!)).join(' ')

  test('are sorted by several keys, with _id as the tie-breaker', () => {
    const all = documents(
      '{"_id":4,"a":1,"b":"x"}',
      '{"_id":3,"a":1,"b":"x"}',
      '{"_id":2,"a":1,"b":"y"}',
      '{"_id":1,"a":2}',
      '{"_id":0}',
    )
    const sorted = all.toSorted(
      compareBy([
        { path: path('a'), direction: 1 },
        { path: path('b'), direction: -1 },
      ]),
    )
    assert.equal(ids(sorted), '0 2 3 4 1')
  })

  test('are sorted by a descending key in exactly the reverse order, except for _id', () => {
    const all = documents(
      '{"_id":"missing"}',
      '{"_id":"null","a":null}',
      '{"_id":"date","a":{"$date":1}}',
      '{"_id":"z-object","a":{"b":1}}',
      '{"_id":"a-object","a":{"b":2}}',
      '{"_id":"number","a":1}',
    )
    assert.equal(
      ids(all.toSorted(compareBy([{ path: path('a'), direction: -1 }]))),
      '"a-object" "z-object" "date" "number" "null" "missing"',
    )
  })

  test('have no value for a sort path that omits the position of an array element', () => {
    const all = documents(
      '{"_id":1,"a":[{"b":1}]}',
      '{"_id":2,"a":{"b":9}}',
      '{"_id":3,"a":[{"b":0}]}',
    )
    assert.equal(
      ids(all.toSorted(compareBy([{ path: path('a.b'), direction: 1 }]))),
      '1 3 2',
    )
    assert.equal(
      ids(all.toSorted(compareBy([{ path: path('a.0.b'), direction: -1 }]))),
      '1 3 2',
    )
  })
})

describe('the order of values', () => {
  const order = (a: Value | undefined, b: Value | undefined) =>
    Math.sign(compareValues(a, b))
  const value: fc.Arbitrary<Value | undefined> = fc.oneof(
    fc.constantFrom<(Value | undefined)[]>(
      undefined,
      null,
      true,
      false,
      new Map([['$binary', 'AAAA']]),
    ),
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer().map((n): Value => json(`1234567890123456789${Math.abs(n)}.1e${n % 30}`)),
    fc.string({ maxLength: 3, unit: 'binary' }),
    fc.uuid().map((text): Value => new Map([['$uuid', text]])),
    fc.integer({ min: -3, max: 3 }).map((ms): Value => new Map([['$date', ms]])),
    fc.array(fc.integer(), { maxLength: 2 }),
    fc.integer().map((n): Value => new Map([['a', n]])),
  )

  test('is antisymmetric', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        assert.equal(order(a, b), 0 - order(b, a))
        assert.equal(order(a, a), 0)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('is transitive', () => {
    fc.assert(
      fc.property(value, value, value, (x, y, z) => {
        // sort() would move undefined to the end without calling the comparator, so the values are
        // wrapped in arrays.
        const [a, b, c] = [[x], [y], [z]]
          .toSorted(([left], [right]) => compareValues(left, right))
          .map(([held]) => held)
        assert(order(a, b) <= 0)
        assert(order(b, c) <= 0)
        assert(order(a, c) <= 0)
        if (order(a, b) === 0) assert.equal(order(a, c), order(b, c))
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('agrees with the range operators on values of one type', () => {
    fc.assert(
      fc.property(value, value, (stored, bound) => {
        const type = rankOf(bound)
        fc.pre(bound !== undefined && stored !== undefined)
        const document: JsonObject = new Map([['a', stored]])
        const ranged =
          type === rankOf(stored) &&
          type >= rankOf(0) &&
          type <= rankOf(json('{"$date":0}'))
        const holds = (kind: 'gt' | 'gte' | 'lt' | 'lte') =>
          matches({ kind, path: path('a'), value: bound }, document)
        const sign = order(stored, bound)
        assert.equal(holds('gt'), ranged && sign > 0)
        assert.equal(holds('gte'), ranged && sign >= 0)
        assert.equal(holds('lt'), ranged && sign < 0)
        assert.equal(holds('lte'), ranged && sign <= 0)
      }),
      { seed, numRuns: 2000 },
    )
  })
})
