/** The meaning of filters: single cases first, then laws that hold for any filter and document. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseStored } from '../../src/json/parse.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import type { Filter } from '../../src/language/filters/filter.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import { matches } from '../../src/language/filters/matches.ts'
import { valueAt } from '../../src/language/values/value-at.ts'
import { parseFilter } from '../../src/language/filters/parse-filter.ts'
import { parsePath } from '../../src/language/values/path.ts'
import { seed } from './documents.ts'

const context = {
  limits: defaultLimits,
  indexing: indexingRule(undefined),
  target: 'shop.books',
  analyze: undefined,
}

function object(text: string): JsonObject {
  const value = parseStored(text)
  assert(isObject(value))
  return value
}

function answer(filter: string, document: string): boolean {
  return matches(parseFilter(object(filter), context), object(document))
}

const uuid = 'f47ac10b-58cc-4372-a567-0e02b2c3d479'
const objectId = '0123456789abcdef01234567'

describe('a filter', () => {
  const cases: [filter: string, yes: string[], no: string[]][] = [
    // Filters by equality.
    [
      '{"a":1}',
      ['{"a":1}', '{"a":1.0}', '{"a":[2,1]}'],
      ['{}', '{"a":2}', '{"a":"1"}', '{"a":true}', '{"a":[[1]]}', '{"a":{"b":1}}'],
    ],
    [
      '{"a":12345678901234567890123}',
      ['{"a":12345678901234567890123}', '{"a":[1.2345678901234567890123e22]}'],
      ['{"a":12345678901234567890124}'],
    ],
    ['{"a":"x"}', ['{"a":"x"}', '{"a":["x"]}'], ['{"a":"X"}', '{"a":"xy"}', '{"a":null}']],
    [
      '{"a":true}',
      ['{"a":true}', '{"a":[true]}'],
      ['{"a":1}', '{"a":false}', '{"a":"true"}'],
    ],
    ['{"a":null}', ['{"a":null}'], ['{}', '{"a":[null]}', '{"a":0}', '{"a":""}']],
    [
      '{"a":{"$date":5}}',
      ['{"a":{"$date":5}}', '{"a":[{"$date":5}]}'],
      ['{"a":5}', '{"a":{"$date":6}}', '{"a":{"date":5}}'],
    ],
    [
      `{"a":{"$uuid":"${uuid.toUpperCase()}"}}`,
      [`{"a":{"$uuid":"${uuid}"}}`, `{"a":"${uuid}"}`, `{"a":[1,{"$uuid":"${uuid}"}]}`],
      [`{"a":"${uuid.toUpperCase()}"}`],
    ],
    [
      `{"a":"${objectId}"}`,
      [
        `{"a":{"$objectId":"${objectId.toUpperCase()}"}}`,
        `{"a":[{"$objectId":"${objectId}"}]}`,
      ],
      ['{"a":{"$objectId":"0123456789abcdef01234568"}}'],
    ],
    [
      '{"a":{"b":1,"c":[2]}}',
      ['{"a":{"b":1,"c":[2]}}', '{"a":{"b":1.0,"c":[2.0]}}'],
      ['{"a":{"c":[2],"b":1}}', '{"a":{"b":1}}', '{"a":[{"b":1,"c":[2]}]}', '{}'],
    ],
    [
      '{"a":{"$eq":{}}}',
      ['{"a":{}}'],
      ['{}', '{"a":{"b":1}}', '{"a":[]}', '{"a":null}', '{"a":{"$date":1}}'],
    ],
    ['{"a":{}}', ['{}', '{"a":{}}', '{"a":1}'], []],
    [
      '{"a":{"$eq":[1,2]}}',
      ['{"a":[1,2]}', '{"a":[1.0,2]}'],
      ['{"a":[2,1]}', '{"a":[1,2,3]}', '{"a":[[1,2]]}', '{"a":1}'],
    ],
    ['{"a":{"$eq":[]}}', ['{"a":[]}'], ['{}', '{"a":[1]}', '{"a":null}']],
    [
      '{"a":{"$ne":1}}',
      ['{}', '{"a":2}', '{"a":[2]}', '{"a":"1"}'],
      ['{"a":1}', '{"a":[1]}'],
    ],
    ['{"a":{"$ne":null}}', ['{}', '{"a":1}', '{"a":[null]}'], ['{"a":null}']],
    ['{"a":{"$ne":"AAAA"}}', ['{"a":{"$binary":"AAAA"}}'], ['{"a":"AAAA"}']],

    // Filters by ranges.
    [
      '{"a":{"$gt":5}}',
      ['{"a":5.1}', '{"a":1e40}'],
      [
        '{}',
        '{"a":5}',
        '{"a":"6"}',
        '{"a":[6]}',
        '{"a":null}',
        '{"a":{"$date":6}}',
        '{"a":true}',
      ],
    ],
    ['{"a":{"$gte":5,"$lt":7}}', ['{"a":5}', '{"a":6.99}'], ['{"a":7}', '{"a":4}']],
    [
      '{"a":{"$lt":"b"}}',
      ['{"a":"a"}', '{"a":""}', '{"a":"B"}'],
      ['{"a":"b"}', '{"a":1}', '{"a":["a"]}'],
    ],
    ['{"a":{"$lte":false}}', ['{"a":false}'], ['{"a":true}', '{"a":0}', '{"a":null}']],
    ['{"a":{"$gt":{"$date":5}}}', ['{"a":{"$date":6}}'], ['{"a":{"$date":5}}', '{"a":6}']],
    [
      `{"_id":{"$gt":{"$uuid":"${uuid}"}}}`,
      ['{"_id":{"$uuid":"F57AC10B-58CC-4372-A567-0E02B2C3D479"}}', '{"_id":"g"}'],
      [`{"_id":"${uuid}"}`, '{"_id":5}'],
    ],
    ['{"a":{"$lte":"\\ufb01"}}', ['{"a":"\\ud83d\\ude00"}'], ['{"a":"\\uffff"}']],

    // Filters by lists of values.
    [
      '{"a":{"$in":[1,"x",null]}}',
      ['{"a":1}', '{"a":["x"]}', '{"a":null}', '{"a":[null]}'],
      ['{}', '{"a":2}', '{"a":[[null]]}', '{"a":[]}'],
    ],
    ['{"a":{"$in":[]}}', [], ['{}', '{"a":1}', '{"a":null}', '{"a":[]}']],
    ['{"a":{"$nin":[]}}', ['{}', '{"a":1}', '{"a":[]}'], []],
    [
      '{"a":{"$in":[{"b":1},[2]]}}',
      ['{"a":{"b":1}}', '{"a":[2]}'],
      ['{"a":[{"b":1}]}', '{"a":[[2]]}', '{"a":2}'],
    ],
    [
      '{"a":{"$nin":[1,null]}}',
      ['{}', '{"a":2}'],
      ['{"a":1}', '{"a":null}', '{"a":[null]}'],
    ],

    // Filters by existence, elements and length.
    ['{"a":{"$exists":true}}', ['{"a":null}', '{"a":0}', '{"a":{"$binary":""}}'], ['{}']],
    [
      '{"a.b":{"$exists":false}}',
      ['{}', '{"a":1}', '{"a":[{"b":1}]}'],
      ['{"a":{"b":null}}'],
    ],
    ['{"$vector":{"$exists":true}}', ['{"$vector":[1]}'], ['{"vector":[1]}']],
    [
      '{"a":{"$all":[1,{"b":2},[3],null]}}',
      ['{"a":[null,[3],{"b":2},1,5]}'],
      ['{}', '{"a":[1,{"b":2},[3]]}', '{"a":1}', '{"a":[1,2,3,null]}'],
    ],
    [
      '{"a":{"$all":[1]}}',
      ['{"a":1}', '{"a":[1,2]}'],
      ['{}', '{"a":[[1]]}', '{"a":{"b":1}}'],
    ],
    ['{"a":{"$all":[null]}}', ['{"a":null}', '{"a":[null]}'], ['{}']],
    ['{"a":{"$all":[{"b":1}]}}', ['{"a":[{"b":1}]}'], ['{"a":{"b":1}}']],
    [`{"a":{"$all":["${uuid}"]}}`, [`{"a":[{"$uuid":"${uuid}"}]}`], ['{"a":[]}']],
    [
      '{"a":{"$size":2}}',
      ['{"a":[1,[2,3]]}'],
      ['{}', '{"a":[1]}', '{"a":"ab"}', '{"a":{"b":1,"c":2}}'],
    ],
    ['{"a":{"$size":0}}', ['{"a":[]}'], ['{}', '{"a":null}']],

    // Filters on nested paths.
    ['{"a.b":1}', ['{"a":{"b":1}}', '{"a":{"b":[1]}}'], ['{"a.b":1}', '{"a":[{"b":1}]}']],
    [
      '{"a.0":1}',
      ['{"a":[1,2]}', '{"a":{"0":1}}', '{"a":[[1]]}'],
      ['{"a":[2,1]}', '{"a":1}'],
    ],
    ['{"a.0.b":1}', ['{"a":[{"b":1}]}'], ['{"a":[{"b":2},{"b":1}]}']],
    ['{"a.00":1}', ['{"a":{"00":1}}'], ['{"a":[1]}']],
    ['{"a.length":1}', [], ['{"a":[1]}', '{"a":"x"}']],
    ['{"a&.b":1}', ['{"a.b":1}'], ['{"a":{"b":1}}']],
    ['{"a&&b":1}', ['{"a&b":1}'], []],
    ['{"a.$date":{"$exists":true}}', [], ['{"a":{"$date":1}}']],
    ['{"__proto__.x":1}', ['{"__proto__":{"x":1}}'], ['{}']],

    // Filters on _id.
    ['{"_id":5}', ['{"_id":5}', '{"_id":5.0}'], ['{"_id":"5"}', '{"_id":{"$date":5}}']],
    ['{"_id":100}', ['{"_id":1e2}'], []],
    ['{"_id":null}', ['{"_id":null}'], ['{"_id":"null"}']],
    [`{"_id":"${uuid}"}`, [`{"_id":{"$uuid":"${uuid.toUpperCase()}"}}`], []],
    ['{"_id":{"$ne":{"$date":5}}}', ['{"_id":5}'], ['{"_id":{"$date":5}}']],

    // Combinations of filters.
    [
      '{"$or":[{"a":1,"b":2},{"c":3}]}',
      ['{"a":1,"b":2}', '{"c":3}'],
      ['{"a":1}', '{"b":2}'],
    ],
    ['{"$or":[{},{"a":1}]}', ['{}', '{"a":2}'], []],
    ['{"$and":[],"$or":[]}', ['{}'], []],
    ['{"$not":{}}', [], ['{}', '{"a":1}']],
    ['{"$not":{"a":{"$gte":21}}}', ['{"a":20}'], ['{}', '{"a":21}', '{"a":"20"}']],
    ['{"$not":{"a":5}}', ['{}', '{"a":4}'], ['{"a":5}']],
    ['{"$not":{"a":{"$all":[1,2]}}}', ['{}', '{"a":[1]}', '{"a":1}'], ['{"a":[2,1]}']],
    ['{"$not":{"a":{"$size":1}}}', ['{}', '{"a":[]}', '{"a":"x"}'], ['{"a":[1]}']],
    ['{"$not":{"$or":[{"a":1},{"b":1}]}}', ['{}', '{"a":2}'], ['{"a":1}', '{"a":2,"b":1}']],
    ['{"$not":{"$not":{"a":{"$gt":1}}}}', ['{"a":2}'], ['{"a":1}', '{}']],
  ]
  for (const [filter, yes, no] of cases)
    test(`${filter} matches exactly the expected documents`, () => {
      for (const document of yes)
        assert(answer(filter, document), `should match ${document}`)
      for (const document of no)
        assert(!answer(filter, document), `should miss ${document}`)
    })

  test('treats a binary value as equal to no value', () => {
    const binary = new Map([['$binary', 'AAAA']])
    const path = parsePath('a')
    assert('segments' in path)
    const document = object('{"a":{"$binary":"AAAA"}}')
    assert(!matches({ kind: 'eq', path, value: binary }, document))
    assert(matches({ kind: 'ne', path, value: binary }, document))
    assert(!matches({ kind: 'in', path, values: [binary] }, document))
    assert(!matches({ kind: 'gte', path, value: binary }, document))
    assert(!matches({ kind: 'all', path, values: [binary] }, document))
  })

  test('requests terms from the analyzer for $match', () => {
    const path = parsePath('$lexical')
    assert('segments' in path)
    const filter = { kind: 'match', path, terms: ['x', 'y'], text: 'x y' } as const
    const has = (terms: readonly string[]) => terms.join() === 'x,y'
    assert(matches(filter, object('{}'), has))
    assert(!matches(filter, object('{}'), () => false))
    assert.throws(() => matches(filter, object('{}')), /terms/)
  })
})

test('a path finds the value that it names in objects and arrays', () => {
  const document = object('{"a":[{"b":[1,null]}],"":{"x":2},"c":{"10":3},"d":{"$date":1}}')
  const at = (text: string): Value | undefined => {
    const path = parsePath(text)
    assert('segments' in path)
    return valueAt(document, path)
  }
  assert.equal(at('a.0.b.0'), 1)
  assert.equal(at('a.0.b.1'), null)
  assert.equal(at('a.0.b.2'), undefined)
  assert.equal(at('a.b'), undefined)
  assert.equal(at('c.10'), 3)
  assert.equal(at('d.$date'), undefined)
  assert.equal(at('a.0.b.1.x'), undefined)
})

// A small set of values, so that random filters and documents match often.
const scalar = fc.constantFrom<Value>(
  0,
  1,
  2.5,
  { decimal: '12345678901234567890123' },
  'a',
  'b',
  '',
  true,
  false,
  new Map([['$date', 1]]),
  new Map([['$date', 2]]),
  uuid,
  new Map([['$uuid', uuid]]),
)
const leaf = fc.oneof({ weight: 4, arbitrary: scalar }, fc.constant<Value>(null))
const name = fc.constantFrom('a', 'b', 'c')
const map = (value: fc.Arbitrary<Value>) =>
  fc
    .uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 3 })
    .map((entries): JsonObject => new Map(entries))
const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 3, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }) },
  { weight: 1, arbitrary: map(leaf).filter((inner) => inner.size > 0) },
)
const document = map(value)
const path = fc.constantFrom('a', 'b', 'c', 'a.b', 'a.0', 'b.c')

const operation = (operator: string, operand: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  operand.map((argument) => new Map([[operator, argument]]))
const comparison = fc
  .tuple(
    path,
    fc.oneof(
      operation('$eq', value),
      operation('$ne', value),
      operation('$in', fc.array(value, { maxLength: 3 })),
      operation('$nin', fc.array(value, { maxLength: 3 })),
      operation('$exists', fc.boolean()),
      operation('$all', fc.array(value, { minLength: 1, maxLength: 2 })),
      operation('$size', fc.integer({ min: 0, max: 3 })),
    ),
  )
  .map(([at, operations]): JsonObject => new Map([[at, operations]]))
const { clause } = fc.letrec<{ clause: JsonObject }>((tie) => ({
  clause: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    comparison,
    operationOn('$not', tie('clause')),
    operationOn('$and', fc.array(tie('clause'), { minLength: 1, maxLength: 3 })),
    operationOn('$or', fc.array(tie('clause'), { minLength: 1, maxLength: 3 })),
  ),
}))

function operationOn(operator: string, operand: fc.Arbitrary<Value>) {
  return operand.map((argument): JsonObject => new Map([[operator, argument]]))
}

function filterOf(clauseText: Value): Filter {
  return parseFilter(clauseText, context)
}

function on(at: string, operator: string, argument: Value): Filter {
  return filterOf(new Map([[at, new Map([[operator, argument]])]]))
}

describe('for any document', () => {
  test('$not matches the documents that its filter does not match, except for ranges', () => {
    fc.assert(
      fc.property(clause, document, (inner, doc) => {
        const negated = filterOf(new Map([['$not', inner]]))
        assert.equal(matches(negated, doc), !matches(filterOf(inner), doc))
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('$not of a range is the opposite range on values of its type', () => {
    const opposite = { $gt: '$lte', $gte: '$lt', $lt: '$gte', $lte: '$gt' } as const
    const operator = fc.constantFrom('$gt', '$gte', '$lt', '$lte')
    fc.assert(
      fc.property(operator, scalar, document, (range, bound, doc) => {
        const plain = matches(on('a', range, bound), doc)
        const negated = filterOf(
          new Map([['$not', new Map([['a', new Map([[range, bound]])]])]]),
        )
        assert.equal(matches(negated, doc), matches(on('a', opposite[range], bound), doc))
        assert(!(plain && matches(negated, doc)))
        const ordered =
          matches(on('a', '$gte', bound), doc) || matches(on('a', '$lt', bound), doc)
        assert.equal(plain || matches(negated, doc), ordered)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('$and matches if all elements match, and $or if any does', () => {
    fc.assert(
      fc.property(
        fc.array(clause, { minLength: 1, maxLength: 3 }),
        document,
        (parts, doc) => {
          const each = parts.map((part) => matches(filterOf(part), doc))
          const all = filterOf(new Map<string, Value>([['$and', parts]]))
          const any = filterOf(new Map<string, Value>([['$or', parts]]))
          assert.equal(matches(all, doc), each.every(Boolean))
          assert.equal(matches(any, doc), each.some(Boolean))
        },
      ),
      { seed, numRuns: 2000 },
    )
  })

  test('$ne is the negation of $eq, and $nin of $in', () => {
    fc.assert(
      fc.property(
        path,
        value,
        fc.array(value, { maxLength: 3 }),
        document,
        (at, one, many, doc) => {
          assert.equal(matches(on(at, '$ne', one), doc), !matches(on(at, '$eq', one), doc))
          assert.equal(
            matches(on(at, '$nin', many), doc),
            !matches(on(at, '$in', many), doc),
          )
        },
      ),
      { seed, numRuns: 2000 },
    )
  })

  test('$in is a disjunction of $eq, except for null in arrays', () => {
    fc.assert(
      fc.property(path, fc.array(value, { maxLength: 3 }), document, (at, many, doc) => {
        const values = many.filter((one) => one !== null)
        assert.equal(
          matches(on(at, '$in', values), doc),
          values.some((one) => matches(on(at, '$eq', one), doc)),
        )
      }),
      { seed, numRuns: 2000 },
    )
  })
})
