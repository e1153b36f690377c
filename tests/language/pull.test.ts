import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../src/errors/api-error.ts'
import { equalValues } from '../../src/json/equal.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { defaultLimits, type Limits } from '../../src/limits.ts'
import { matches } from '../../src/language/filters/matches.ts'
import { parseFilter } from '../../src/language/filters/parse-filter.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { applyUpdate } from '../../src/language/updates/update.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { seed, values } from './documents.ts'

function applied(update: Value, document: JsonObject, limits: Limits = defaultLimits) {
  const context = { inserting: false, nowMs: 0, limits }
  return atOnce(applyUpdate(parseUpdate(update, limits), document, context))
}

/**
 * Asserts the result of each row. A row has an array, the argument of the operator, and the
 * remaining elements.
 */
function assertLeft(
  operator: '$pull' | '$pullAll',
  rows: readonly (readonly [string, string, string])[],
) {
  for (const [array, argument, rest] of rows) {
    const what = `${operator} ${argument} from ${array}`
    const document = parseStored(`{"_id":1,"a":${array}}`) as JsonObject
    const update = parseStored(`{"${operator}":{"a":${argument}}}`)
    const { document: after, changed } = applied(update, document)
    assert.equal(printJson(after.get('a')!), printJson(parseStored(rest)), what)
    assert.equal(changed, array !== rest, what)
    assert.equal(changed, after !== document, what)
  }
}

function refusal(update: string, document: string, limits?: Limits): ApiError {
  try {
    applied(parseStored(update), parseStored(document) as JsonObject, limits)
  } catch (error) {
    assert(error instanceof ApiError, update)
    return error
  }
  assert.fail(`${update} was taken`)
}

describe('$pull of a value', () => {
  test('removes every equal element', () => {
    assertLeft('$pull', [
      ['["a","b","a"]', '"a"', '["b"]'],
      ['["a","b"]', '"A"', '["a","b"]'],
      ['[1,1.5,"1",null,true]', '1.0', '[1.5,"1",null,true]'],
      ['[1,2]', '3', '[1,2]'],
      ['[null,0,false,""]', 'null', '[0,false,""]'],
      ['[true,1]', 'true', '[1]'],
      ['[]', '1', '[]'],
      ['[0.1000000000000000001,0.1]', '0.1000000000000000001', '[0.1]'],
    ])
  })

  test('compares an array as a whole, in order', () => {
    assertLeft('$pull', [
      ['[[1,2],[2,1],1,2]', '[1,2]', '[[2,1],1,2]'],
      ['[[],[1]]', '[]', '[[1]]'],
      ['[[[1]],[1]]', '[[1]]', '[[1]]'],
    ])
  })

  test('compares typed values, with ids in any letter case', () => {
    const id = '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f'
    assertLeft('$pull', [
      ['[{"$date":1},{"$date":2},1]', '{"$date":1}', '[{"$date":2},1]'],
      [`[{"$uuid":"${id.toUpperCase()}"},"${id}"]`, `{"$uuid":"${id}"}`, `["${id}"]`],
      [
        '[{"$binary":"AQ=="},{"$binary":"Ag=="}]',
        '{"$binary":"AQ=="}',
        '[{"$binary":"Ag=="}]',
      ],
    ])
  })
})

describe('$pull by a condition', () => {
  test('removes elements that satisfy all operators', () => {
    assertLeft('$pull', [
      ['[1,5,9,"9"]', '{"$gt":4}', '[1,"9"]'],
      ['[1,5,9]', '{"$gte":5,"$lt":9}', '[1,9]'],
      ['["a","b","c"]', '{"$in":["a","c","z"]}', '["b"]'],
      ['["a","b","c"]', '{"$nin":["a","c"]}', '["a","c"]'],
      ['[1,2,null]', '{"$ne":1}', '[1]'],
      ['[null,1]', '{"$eq":null}', '[1]'],
      ['[{"$date":5},{"$date":9}]', '{"$gt":{"$date":6}}', '[{"$date":5}]'],
      ['[[1,2],[1],1]', '{"$size":2}', '[[1],1]'],
      ['[["a","b"],["a"]]', '{"$all":["a","b"]}', '[["a"]]'],
      ['[1]', '{"$exists":false}', '[1]'],
    ])
  })

  test('with $not removes elements of any type that do not satisfy the condition', () => {
    assertLeft('$pull', [
      ['[1,5,9,"9",null]', '{"$not":{"$gt":4}}', '[5,9]'],
      ['[1,5,9]', '{"$not":{"$gte":5,"$lt":9}}', '[5]'],
      ['[1,5,9]', '{"$gt":2,"$not":{"$in":[9]}}', '[1,9]'],
      ['["a","b"]', '{"$not":{"$eq":"a"}}', '["a"]'],
      ['[1,5,"x"]', '{"$not":{"$not":{"$gt":4}}}', '[1,"x"]'],
    ])
  })

  test('compares an object as a whole under $eq and $in, its keys in order', () => {
    const array = '[{"x":1,"y":2},{"y":2,"x":1},{"x":1}]'
    assertLeft('$pull', [
      [array, '{"$eq":{"x":1,"y":2}}', '[{"y":2,"x":1},{"x":1}]'],
      [array, '{"$in":[{"x":1}]}', '[{"x":1,"y":2},{"y":2,"x":1}]'],
    ])
  })
})

describe('$pull by fields', () => {
  test('removes objects that match, whatever other fields they have', () => {
    assertLeft('$pull', [
      ['[{"x":1,"y":2},{"y":2,"x":1,"z":3},{"x":2},1]', '{"x":1,"y":2}', '[{"x":2},1]'],
      ['[{"x":{"y":1}},{"x":{"y":2}}]', '{"x.y":{"$gt":1}}', '[{"x":{"y":1}}]'],
      ['[{"x":["a"]},{"x":["b"]}]', '{"x":"a"}', '[{"x":["b"]}]'],
      ['[{"x":{"y":1,"z":1}},{"x":{"y":1}}]', '{"x":{"y":1}}', '[{"x":{"y":1,"z":1}}]'],
      ['[{"x":1},{"y":1},{"z":1}]', '{"$or":[{"x":1},{"y":1}]}', '[{"z":1}]'],
      ['[{"x":1},{"x":2},"x"]', '{"$not":{"x":1}}', '[{"x":1},"x"]'],
      ['[{"x":1},{"x":7},{"y":1},"x"]', '{"$not":{"x":{"$gt":5}}}', '[{"x":7},"x"]'],
      ['[{"x":1},{"x":7},{"y":1},"x"]', '{"x":{"$not":{"$gt":5}}}', '[{"x":7},"x"]'],
      ['[{"x":1,"y":1},{"x":1}]', '{"x":1,"y":{"$not":{"$eq":1}}}', '[{"x":1,"y":1}]'],
      ['[{"x":1},[{"x":1}],{"$date":1},"x"]', '{}', '[[{"x":1}],{"$date":1},"x"]'],
    ])
  })

  test('treats _id like any other field', () => {
    assertLeft('$pull', [
      ['[{"_id":1},{"_id":2},{"_id":3}]', '{"_id":{"$in":[1,3]}}', '[{"_id":2}]'],
      ['[{"_id":{"k":1}},{"_id":2}]', '{"_id":{"k":1}}', '[{"_id":2}]'],
      ['[{"_id":1},{"_id":2}]', '{"$or":[{"_id":1},{"_id":5}]}', '[{"_id":2}]'],
      ['[{"_id":1},{"_id":2}]', '{"_id":{"$gt":0,"$lt":2}}', '[{"_id":2}]'],
    ])
  })
})

test('$pullAll removes the elements that equal one of its values', () => {
  assertLeft('$pullAll', [
    ['[1,2,3,2,"2"]', '[2,3]', '[1,"2"]'],
    ['[1,2]', '[]', '[1,2]'],
    [
      '[{"x":1,"y":2},{"y":2,"x":1},{"x":1,"y":2,"z":3}]',
      '[{"x":1,"y":2}]',
      '[{"y":2,"x":1},{"x":1,"y":2,"z":3}]',
    ],
    ['[[1],[2],1]', '[[1]]', '[[2],1]'],
    ['[{"$gt":1}]', '[2]', '[{"$gt":1}]'],
  ])
})

describe('$pull and $pullAll', () => {
  test('change nothing when the field is missing or no element matches', () => {
    for (const operator of ['$pull', '$pullAll'])
      for (const path of ['b', 'a.b', 'a.7', 'n.x'])
        for (const text of ['{"a":[1],"n":1}', '{"a":[{"c":1}],"n":null}']) {
          const document = parseStored(text) as JsonObject
          const update = parseStored(`{"${operator}":{"${path}":[1]}}`)
          assert.equal(applied(update, document).document, document, `${operator} ${path}`)
        }
  })

  test('resolve paths through objects and arrays', () => {
    const document = parseStored('{"a":{"b":[{"c":[1,2]},{"c":[1]}]}}') as JsonObject
    const { document: after } = applied(parseStored('{"$pull":{"a.b.0.c":1}}'), document)
    assert.equal(printJson(after), '{"a":{"b":[{"c":[2]},{"c":[1]}]}}')
  })

  test('reject non-array values', () => {
    for (const operator of ['$pull', '$pullAll'])
      for (const [value, type] of [
        ['"text"', 'a String'],
        ['null', 'Null'],
        ['{"b":1}', 'an Object'],
        ['{"$date":1}', 'an Object'],
      ] as const) {
        const error = refusal(`{"${operator}":{"a":[1]}}`, `{"a":${value}}`)
        assert.equal(error.code, 'UNSUPPORTED_UPDATE_OPERATION_TARGET')
        assert(
          error.message.includes(`${operator} requires an Array at "a"`),
          error.message,
        )
        assert(error.message.includes(type), error.message)
      }
  })

  test('run after $pop and before $push', () => {
    const update = parseStored(
      '{"$push":{"c":1},"$pullAll":{"b":[1]},"$pull":{"a":1},"$pop":{"d":1}}',
    )
    assert.deepEqual(
      parseUpdate(update).actions.map(({ operator }) => operator),
      ['$pop', '$pull', '$pullAll', '$push'],
    )
  })

  test('reject arguments other than conditions on elements', () => {
    const param = 'UNSUPPORTED_UPDATE_OPERATION_PARAM'
    for (const [update, mention] of [
      ['{"$pullAll":{"a":1}}', '$pullAll of "a" requires an Array of values, not 1'],
      ['{"$pullAll":{"a":{"$in":[1]}}}', 'an Array of values'],
      ['{"$pull":{"a":{"$in":1}}}', '$in on "a" requires an Array'],
      ['{"$pull":{"a":{"$gt":[1]}}}', '$gt on "a"'],
      ['{"$pull":{"a":{"$elemMatch":{"b":1}}}}', '"$elemMatch"'],
      ['{"$pull":{"a":{"$gt":1,"b":2}}}', 'both operators and the field "b"'],
      ['{"$pull":{"a":{"b":2,"$gt":1}}}', 'both operators and the field "b"'],
      ['{"$pull":{"a":{"$match":"b"}}}', '$match'],
      ['{"$pull":{"a":{"b":{"$match":"b"}}}}', '$match'],
      ['{"$pull":{"a":{"$vector":{"$exists":true}}}}', '"$vector"'],
      ['{"$pull":{"a":{"$or":[{"$lexical":{"$match":"x"}}]}}}', '"$lexical"'],
      ['{"$pull":{"a":{"$nor":[{"b":1}]}}}', '"$nor"'],
      ['{"$pull":{"a":{"$and":[{"b":1}],"$gt":1}}}', '$and'],
      ['{"$pull":{"a":{"$not":1}}}', '$not'],
      ['{"$pull":{"a":{"b":{"$not":1}}}}', '$not on "b" requires an Object of operators'],
      ['{"$pull":{"a":{"b":{"$not":{}}}}}', '$not on "b" requires an Object of operators'],
      ['{"$pull":{"a":{"$gt":1,"$not":{"b":1}}}}', '$not on "a"'],
      ['{"$pull":{"a":{"$not":{"$gt":1},"b":2}}}', 'both operators and the field "b"'],
      ['{"$pull":{"a":{"$not":{"$regex":"b"}}}}', '"$regex"'],
      ['{"$pull":{"a":{"$not":{"$match":"b"}}}}', '$match'],
      ['{"$pull":{"a":{"b":[1]}}}', '{"$eq": […]}'],
      ['{"$pull":{"a":{"b..c":1}}}', '"b..c"'],
      ['{"$pull":{"a":{"*":1}}}', '"*"'],
      ['{"$pull":{"a":{"$date":"x"}}}', '$date requires a whole number'],
      ['{"$pullAll":{"a":[1,{"$uuid":"x"}]}}', '$uuid requires'],
      ['{"$pull":{"$each":[1]}}', '"$each"'],
      ['{"$pullAll":{"a":[1]},"$set":{"a.0":1}}', 'overlaps'],
      ['{"$pull":{"a":1},"$pullAll":{"a":[1]}}', 'overlaps'],
      ['{"$pull":{"a":1},"$push":{"a":1}}', 'overlaps'],
    ] as const) {
      const error = refusal(update, '{"a":[1]}')
      assert.equal(error.code, param, `${update}: ${error.message}`)
      assert(error.message.includes(mention), `${update}: ${error.message}`)
      assert(!error.message.includes('..') || mention.includes('..'), error.message)
    }
  })

  test('cannot change _id and search fields', () => {
    for (const [path, code] of [
      ['_id', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID'],
      ['$vector', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTOR'],
      ['$vectorize', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTORIZE'],
      ['$lexical', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_LEXICAL'],
    ] as const)
      for (const operator of ['$pull', '$pullAll'])
        assert.equal(refusal(`{"${operator}":{"${path}":[1]}}`, '{}').code, code)
  })

  test('have the limits of filters, and reject arguments beyond them', () => {
    const choices = (count: number) =>
      `{"$pull":{"a":{"$in":[${'1,'.repeat(count - 1)}1]}}}`
    const max = defaultLimits.inValuesMax
    assert(
      applied(parseStored(choices(max)), parseStored('{"a":[1]}') as JsonObject).changed,
    )
    assert(refusal(choices(max + 1), '{"a":[1]}').message.includes(`maximum is ${max}`))

    const comparisons = (count: number) =>
      `{"$pull":{"a":{${Array.from({ length: count }, (_, i) => `"f${i}":1`).join()}}}}`
    const most = defaultLimits.filterComparisonsMax
    applied(parseStored(comparisons(most)), parseStored('{"a":[1]}') as JsonObject)
    assert(refusal(comparisons(most + 1), '{}').message.includes(`maximum is ${most}`))

    const negated = comparisons(most + 1).replace(/1(?=[,}])/g, '{"$not":{"$gt":1}}')
    assert(refusal(negated, '{}').message.includes(`maximum is ${most}`))

    const parts = `{"$pull":{"a":{"$and":[${'{},'.repeat(defaultLimits.clausePartsMax)}{}]}}}`
    assert(refusal(parts, '{}').message.includes(String(defaultLimits.clausePartsMax)))
  })

  test('limit the number of comparisons with one document', () => {
    // Each element takes two comparisons: one for the condition as a whole, and one for $gt.
    const limits = { ...defaultLimits, pullComparisonsMax: 6 }
    const update = '{"$pull":{"a":{"$gt":1},"b":{"$gt":1}}}'
    const document = (text: string) => parseStored(text) as JsonObject
    assert(applied(parseStored(update), document('{"a":[1,2],"b":[2]}'), limits).changed)
    const error = refusal(update, '{"a":[1,2],"b":[2,3]}', limits)
    assert.equal(error.code, 'UNSUPPORTED_UPDATE_OPERATION_PARAM')
    assert(error.message.includes('8 comparisons'), error.message)
    const long = document(`{"a":[${'1,'.repeat(99)}2]}`)
    assert(
      applied(parseStored('{"$pull":{"a":2}}'), long, limits).changed,
      'values are free',
    )
  })
})

describe('any $pull or $pullAll', () => {
  const arrays = fc.array(values, { maxLength: 6 })
  const withArray = (array: Value[]): JsonObject =>
    new Map<string, Value>([
      ['_id', 1],
      ['a', array],
    ])
  const updateOf = (operator: string, argument: Value): JsonObject =>
    new Map([[operator, new Map([['a', argument]])]])

  test('keeps the elements that equal none of the given values, in order', () => {
    fc.assert(
      fc.property(arrays, arrays, (array, pulled) => {
        const expected = array.filter(
          (element) => !pulled.some((value) => equalValues(element, value)),
        )
        const { document, changed } = applied(
          updateOf('$pullAll', pulled),
          withArray(array),
        )
        assert.equal(printJson(document.get('a')!), printJson(expected))
        assert.equal(changed, expected.length < array.length)
      }),
      { seed, numRuns: 1000 },
    )
  })

  test('by fields keeps exactly the elements that a filter with these fields does not match', () => {
    const indexing = indexingRule(undefined)
    const conditions = fc.oneof(
      fc.constantFrom<Value>(1, null, 'a', true),
      fc
        .tuple(
          fc.constantFrom('$gt', '$lte', '$ne', '$eq'),
          fc.constantFrom<Value>(0, 'a', true),
        )
        .map(([operator, value]): Value => new Map([[operator, value]])),
    )
    const filters = fc.dictionary(fc.constantFrom('a', 'b', 'a.b', '0'), conditions, {
      maxKeys: 2,
    })
    fc.assert(
      fc.property(arrays, filters, (array, fields) => {
        const given: JsonObject = new Map(Object.entries(fields))
        const context = { limits: defaultLimits, indexing, target: '', analyze: undefined }
        const filter = parseFilter(given, context)
        const expected = array.filter(
          (element) =>
            !(element instanceof Map && !element.has('$date') && matches(filter, element)),
        )
        const { document } = applied(updateOf('$pull', given), withArray(array))
        assert.equal(printJson(document.get('a')!), printJson(expected))
      }),
      { seed, numRuns: 1000 },
    )
  })

  test('by a condition keeps exactly the elements that its negation removes', () => {
    const conditions = fc.tuple(
      fc.constantFrom('$gt', '$lte', '$ne', '$eq'),
      fc.constantFrom<Value>(0, 'a', true),
    )
    fc.assert(
      fc.property(arrays, conditions, (array, [operator, value]) => {
        const condition: JsonObject = new Map([[operator, value]])
        const negation: JsonObject = new Map([['$not', condition]])
        const left = [condition, negation].map((argument) => {
          const { document } = applied(updateOf('$pull', argument), withArray(array))
          return (document.get('a') as Value[]).map(printJson)
        })
        assert.deepEqual(left.flat().toSorted(), array.map(printJson).toSorted())
      }),
      { seed, numRuns: 300 },
    )
  })
})
