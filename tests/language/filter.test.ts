/** Parsing of filters, and errors in filters. matches.test.ts covers the meaning of filters. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../../src/errors/api-error.ts'
import { parseStored } from '../../src/json/parse.ts'
import { defaultLimits } from '../../src/limits.ts'
import { everything, type Filter } from '../../src/language/filters/filter.ts'
import { indexingRule, type IndexingLists } from '../../src/language/filters/indexing.ts'
import { parseFilter } from '../../src/language/filters/parse-filter.ts'

interface Settings {
  readonly indexing?: IndexingLists
  readonly lexical?: boolean
}

function words(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\W+/)
    .filter((term) => term !== '')
}

function read(text: string, settings: Settings = {}): Filter {
  return parseFilter(parseStored(text), {
    limits: defaultLimits,
    indexing: indexingRule(settings.indexing),
    target: 'shop.books',
    analyze: (settings.lexical ?? true) ? words : undefined,
  })
}

function refuses(text: string, code: string, named: string, settings: Settings = {}): void {
  assert.throws(
    () => read(text, settings),
    (error) => {
      assert(error instanceof ApiError, String(error))
      assert.equal(error.code, code, error.message)
      assert(error.message.includes(named), `"${error.message}" should name ${named}`)
      return true
    },
  )
}

/** A filter in short text form, such as "and(a eq 1, b exists true)". */
function sketch(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `${filter.kind}(${filter.of.map(sketch).join(', ')})`
    default: {
      const { kind, path, ...rest } = filter
      return `${path.text} ${kind} ${JSON.stringify(Object.values(rest)[0])}`
    }
  }
}

describe('a filter', () => {
  test('that is absent, null or empty matches everything', () => {
    const context = {
      limits: defaultLimits,
      indexing: indexingRule(undefined),
      target: 'shop.books',
      analyze: words,
    }
    assert.equal(parseFilter(undefined, context), everything)
    assert.equal(parseFilter(null, context), everything)
    assert.equal(read('{}'), everything)
  })

  const readings: [filter: string, tree: string][] = [
    ['{"a":1}', 'a eq 1'],
    ['{"a":null}', 'a eq null'],
    ['{"a":1,"b":"x"}', 'and(a eq 1, b eq "x")'],
    ['{"a":{"$gt":1,"$lte":5}}', 'and(a gt 1, a lte 5)'],
    ['{"a":{"$eq":[1,2]}}', 'a eq [1,2]'],
    ['{"a":{"$in":[]}}', 'a in []'],
    ['{"a.0.b":{"$size":2}}', 'a.0.b size 2'],
    ['{"a":{"$size":2.0}}', 'a size 2'],
    ['{"$vector":{"$exists":true}}', '$vector exists true'],
    ['{"$vectorize":{"$exists":false}}', '$vectorize exists false'],
    ['{"_id":{"$ne":true}}', '_id ne true'],
    ['{"_id":{"$nin":[null,false]}}', '_id nin [null,false]'],
    // Empty clauses add no condition.
    ['{"a":{}}', 'and()'],
    ['{"a":{},"b":1}', 'b eq 1'],
    ['{"$and":[],"$or":[],"b":1}', 'b eq 1'],
    ['{"$or":[]}', 'and()'],
    // Conditions at the top level are members of the top "and". Nested clauses become members with
    // conditions of their own.
    ['{"$and":[{"a":1}]}', 'and(and(a eq 1))'],
    ['{"a":1,"$and":[{"b":1}]}', 'and(a eq 1, and(b eq 1))'],
    ['{"$or":[{"a":1,"b":2},{"c":3}]}', 'and(or(and(a eq 1, b eq 2), c eq 3))'],
    ['{"$not":{"a":{"$ne":1}}}', 'and(or(a eq 1))'],
    // $not is moved inwards to the comparisons, which become their opposites.
    ['{"$not":{"a":1,"b":2}}', 'and(or(a ne 1, b ne 2))'],
    ['{"$not":{"a":{"$gt":1,"$lt":5}}}', 'and(or(a lte 1, a gte 5))'],
    ['{"$not":{"a":{"$gte":1,"$lte":5}}}', 'and(or(a lt 1, a gt 5))'],
    ['{"$not":{"a":{"$in":[1]},"b":{"$nin":[2]}}}', 'and(or(a nin [1], b in [2]))'],
    ['{"$not":{"a":{"$exists":true}}}', 'and(or(a exists false))'],
    ['{"$not":{"a":{"$all":[1],"$size":1}}}', 'and(or(a notAll [1], a notSize 1))'],
    ['{"$not":{"$or":[{"a":1},{"b":2}]}}', 'and(or(and(a ne 1, b ne 2)))'],
    [
      '{"$not":{"$and":[{"a":1,"b":2},{"c":3}]}}',
      'and(or(or(or(a ne 1, b ne 2), c ne 3)))',
    ],
    ['{"$not":{"$not":{"a":{"$size":1}}}}', 'and(or(and(a size 1)))'],
    ['{"$or":[{"$not":{"a":1}}]}', 'and(or(or(a ne 1)))'],
    // $not of an empty filter matches nothing: an "or" without members.
    ['{"$not":{}}', 'and(or())'],
  ]
  for (const [text, tree] of readings)
    test(`${text} is parsed as ${tree}`, () => assert.equal(sketch(read(text)), tree))

  test('keeps typed values as they were written', () => {
    const filter = read('{"_id":{"$uuid":"F47AC10B-58CC-4372-A567-0E02B2C3D479"}}')
    assert(filter.kind === 'eq')
    assert.deepEqual(
      filter.value,
      new Map([['$uuid', 'F47AC10B-58CC-4372-A567-0E02B2C3D479']]),
    )
  })

  test('accepts field names that are built-in properties in JavaScript', () => {
    assert.equal(sketch(read('{"__proto__":1}')), '__proto__ eq 1')
    assert.equal(
      sketch(read('{"constructor":{"$exists":true}}')),
      'constructor exists true',
    )
    refuses('{"a":{"$constructor":1}}', 'FILTER_UNSUPPORTED_OPERATOR', '"$constructor"')
    refuses('{"a":{"$toString":1}}', 'FILTER_UNSUPPORTED_OPERATOR', '"$toString"')
  })

  test('may contain comparisons up to the limit', () => {
    const fields = (count: number) =>
      Array.from({ length: count }, (_, i) => `"f${i}":1`).join()
    read(`{${fields(64)}}`)
    refuses(`{${fields(65)}}`, 'FILTER_FIELDS_LIMIT_VIOLATION', '65')
    refuses(`{${fields(65)}}`, 'FILTER_FIELDS_LIMIT_VIOLATION', '64')
    read(`{${fields(62)},"g":{"$gt":1,"$lt":2}}`)
    refuses(`{${fields(63)},"g":{"$gt":1,"$lt":2}}`, 'FILTER_FIELDS_LIMIT_VIOLATION', '65')
    refuses(
      `{"$or":[{${fields(40)}},{"$not":{${fields(40)}}}]}`,
      'FILTER_FIELDS_LIMIT_VIOLATION',
      '80',
    )
  })

  test('may contain values in $in and $nin up to the limit', () => {
    const values = (count: number) => `[${Array.from({ length: count }, () => 1).join()}]`
    read(`{"a":{"$in":${values(100)}},"b":{"$nin":${values(100)}}}`)
    refuses(`{"a":{"$in":${values(101)}}}`, 'FILTER_INVALID_EXPRESSION', '101')
    refuses(`{"a":{"$nin":${values(101)}}}`, 'FILTER_INVALID_EXPRESSION', '100')
  })
})

describe('the parser of filters', () => {
  const bad = 'FILTER_INVALID_EXPRESSION'
  const rejections: [filter: string, code: string, named: string][] = [
    ['5', 'FILTER_UNSUPPORTED_DATA_TYPE', 'Number'],
    ['[]', 'FILTER_UNSUPPORTED_DATA_TYPE', 'Array'],
    ['"a"', 'FILTER_UNSUPPORTED_DATA_TYPE', 'String'],

    // Invalid paths.
    ['{"":1}', bad, 'empty'],
    ['{"a..b":1}', bad, '"a..b"'],
    ['{"a.":1}', bad, '"a."'],
    ['{"a&b":1}', bad, '"a&b"'],
    ['{"*":1}', bad, '"*"'],
    ['{"a.*":{"$exists":true}}', bad, '"a.*"'],
    ['{"a":{"*":1}}', bad, 'contains "*"'],
    ['{"a":{"$in":[{"b":{"*":1}}]}}', bad, 'contains "*"'],
    ['{"$foo":1}', bad, '"$foo"'],
    ['{"$vector.0":1}', bad, '"$vector.0"'],
    ['{"$eq":1}', bad, '"$eq"'],
    ['{"$hybrid":"x"}', bad, '"$hybrid"'],

    // Unsupported operators.
    ['{"a":{"$regex":"x"}}', 'FILTER_UNSUPPORTED_OPERATOR', '"$regex"'],
    ['{"a":{"$elemMatch":{"b":1}}}', 'FILTER_UNSUPPORTED_OPERATOR', '"$elemMatch"'],
    ['{"a":{"$mod":[4,0]}}', 'FILTER_UNSUPPORTED_OPERATOR', '"$mod"'],
    ['{"$nor":[{"a":1}]}', 'FILTER_UNSUPPORTED_OPERATOR', '"$nor"'],
    ['{"a":{"$gt":1,"$foo":2}}', 'FILTER_UNSUPPORTED_OPERATOR', '"$foo"'],
    ['{"a":{"$not":{"$gt":5}}}', 'FILTER_UNSUPPORTED_OPERATOR', '$not'],
    ['{"a":{"$gt":1,"b":2}}', bad, '"b"'],
    ['{"a":{"b":2,"$gt":1}}', bad, '"b"'],
    ['{"a":{"b":{"$eq":1}}}', bad, '"$eq"'],
    ['{"a":{"b":[{"$in":[1]}]}}', bad, '"$in"'],
    ['{"a":{"$eq":{"$gt":1}}}', bad, '"$gt"'],
    ['{"a":{"$in":[{"$gt":1}]}}', bad, '"$gt"'],

    // Invalid operands.
    ['{"a":[1]}', bad, '"a"'],
    ['{"_id":[1]}', bad, '"_id"'],
    ['{"a":{"$gt":null}}', bad, 'null'],
    ['{"a":{"$gt":[1]}}', bad, '[1]'],
    ['{"a":{"$gte":{"b":1}}}', bad, '{"b":1}'],
    ['{"a":{"$lt":{}}}', bad, '$lt'],
    ['{"a":{"$lte":[]}}', bad, '$lte'],
    ['{"a":{"$in":5}}', bad, '$in on "a"'],
    ['{"a":{"$in":"x"}}', bad, '"x"'],
    ['{"a":{"$nin":{"b":1}}}', bad, '$nin'],
    ['{"a":{"$exists":1}}', bad, '1 (Number)'],
    ['{"a":{"$exists":"true"}}', bad, '"true"'],
    ['{"a":{"$exists":null}}', bad, 'null'],
    ['{"a":{"$all":[]}}', bad, '$all'],
    ['{"a":{"$all":5}}', bad, '5 (Number)'],
    ['{"a":{"$size":-1}}', bad, '-1'],
    ['{"a":{"$size":1.5}}', bad, '1.5'],
    ['{"a":{"$size":"2"}}', bad, '"2"'],
    ['{"a":{"$size":true}}', bad, 'true'],
    ['{"a":{"$eq":{"$binary":"AAAA"}}}', bad, '$binary'],
    ['{"a":{"$binary":"AAAA"}}', bad, '$binary'],
    ['{"a":{"$gt":{"$binary":"AAAA"}}}', bad, '$binary'],

    // Malformed typed values.
    ['{"a":{"$date":"2020"}}', 'SHRED_BAD_EJSON_VALUE', '"2020"'],
    ['{"a":{"$gt":{"$date":1.5}}}', 'SHRED_BAD_EJSON_VALUE', '1.5'],
    ['{"a":{"$uuid":"x"}}', 'SHRED_BAD_EJSON_VALUE', '$uuid at "a"'],
    ['{"a":{"$in":[{"$objectId":"x"}]}}', 'SHRED_BAD_EJSON_VALUE', '$objectId at "a"'],
    ['{"a":{"b":{"$date":null}}}', 'SHRED_BAD_EJSON_VALUE', '$date'],
    ['{"a":{"$binary":1}}', 'SHRED_BAD_EJSON_VALUE', '$binary'],
    ['{"a":{"$date":1,"$uuid":"x"}}', 'FILTER_UNSUPPORTED_OPERATOR', '"$date"'],

    // Invalid $and, $or and $not.
    ['{"$and":{"a":1}}', bad, '$and'],
    ['{"$or":5}', bad, '5 (Number)'],
    ['{"$and":[{"a":1},5]}', bad, '5 (Number)'],
    ['{"$or":[null]}', bad, 'null'],
    ['{"$or":[[{"a":1}]]}', bad, '$or'],
    ['{"$not":[{"a":1}]}', bad, '$not'],
    ['{"$not":true}', bad, 'true'],

    // Invalid conditions on _id.
    ['{"_id":{"$gt":1,"$lt":9}}', 'FILTER_MULTIPLE_ID_FILTER', '_id'],
    ['{"_id":1,"$and":[{"_id":2}]}', 'FILTER_MULTIPLE_ID_FILTER', '$in'],
    ['{"_id":1,"$not":{"_id":2}}', 'FILTER_MULTIPLE_ID_FILTER', '_id'],
    ['{"$or":[{"_id":1},{"a":1}]}', bad, '_id'],
    ['{"_id":{"a":1}}', 'SHRED_BAD_DOCID_TYPE', '{"a":1}'],
    ['{"_id":{"$eq":[1]}}', 'SHRED_BAD_DOCID_TYPE', '[1]'],
    ['{"_id":{"$in":[1,[2]]}}', 'SHRED_BAD_DOCID_TYPE', '[2]'],
    ['{"_id":{"$uuid":"x"}}', 'SHRED_BAD_DOCID_TYPE', '{"$uuid":"x"}'],
    ['{"_id":{"$ne":{"$objectId":5}}}', 'SHRED_BAD_DOCID_TYPE', '{"$objectId":5}'],
    ['{"_id":{"$gt":{"$date":"x"}}}', 'SHRED_BAD_DOCID_TYPE', '{"$date":"x"}'],
    ['{"_id":{"$binary":"AAAA"}}', 'SHRED_BAD_DOCID_TYPE', '$binary'],
    ['{"_id":{"$gt":null}}', bad, 'null'],

    // Invalid conditions on search fields.
    ['{"$vector":[0.1,0.2]}', bad, '"$vector"'],
    ['{"$vector":{"$eq":[0.1]}}', bad, '$exists'],
    ['{"$vector":{"$size":2}}', bad, '$size'],
    ['{"$vectorize":"text"}', bad, '"$vectorize"'],
    ['{"$vectorize":{"$ne":"text"}}', bad, '$ne'],
    ['{"$lexical":"text"}', bad, '$match'],
    ['{"$lexical":{"$exists":true}}', bad, '$exists'],
    ['{"$lexical":{"$match":5}}', bad, '5 (Number)'],
    ['{"a":{"$match":"text"}}', bad, '"a"'],
    ['{"$not":{"$lexical":{"$match":"text"}}}', bad, '$not'],
    ['{"$lexical":{"$match":"?!"}}', bad, '"?!"'],
  ]
  for (const [text, code, named] of rejections)
    test(`rejects ${text} as ${code}`, () => refuses(text, code, named))

  test('rejects $lexical when lexical search is off', () => {
    const off = { lexical: false }
    refuses(
      '{"$lexical":{"$match":"x"}}',
      'LEXICAL_NOT_ENABLED_FOR_COLLECTION',
      'shop.books',
      off,
    )
    refuses('{"$lexical":"x"}', 'LEXICAL_NOT_ENABLED_FOR_COLLECTION', 'shop.books', off)
  })

  test('accepts an _id in an $and inside $or', () => {
    assert.equal(
      sketch(read('{"$or":[{"$and":[{"_id":1},{"a":2}]},{"b":1}]}')),
      'and(or(and(_id eq 1, a eq 2), b eq 1))',
    )
  })
})

describe('the parser of filters with selective indexing', () => {
  const deny = { indexing: { deny: ['secret', 'address.zip', 'lines.cost', 'x&.y'] } }
  const allow = { indexing: { allow: ['name', 'address.city', 'tags'] } }

  const accepted: [filter: string, settings: Settings][] = [
    ['{"name":"x","address":{"$exists":true},"lines.0.price":1}', deny],
    ['{"address":{"city":"x"}}', deny],
    ['{"x.y":1}', deny],
    ['{"_id":{"$gt":1}}', deny],
    ['{"name":"x","address.city":"y","tags.0":1,"address":{"city":"y"}}', allow],
    ['{"_id":1}', allow],
    ['{"_id":{"$in":[1,2]}}', allow],
    ['{"$not":{"_id":{"$ne":1}}}', allow],
    ['{"$vector":{"$exists":true}}', allow],
    ['{"_id":{"$in":[1]}}', { indexing: { deny: ['*'] } }],
    ['{"_id":{"$gt":1}}', { indexing: { allow: ['_id'] } }],
    ['{"secret":1}', { indexing: { allow: ['*'] } }],
    ['{"secret":1}', { indexing: { deny: [] } }],
  ]
  for (const [text, settings] of accepted)
    test(`accepts ${text} under ${JSON.stringify(settings.indexing)}`, () => {
      read(text, settings)
    })

  const refused: [filter: string, code: string, named: string, settings: Settings][] = [
    ['{"secret":1}', 'FILTER_PATH_UNINDEXED', '"secret"', deny],
    ['{"secret.deep":1}', 'FILTER_PATH_UNINDEXED', '"secret.deep"', deny],
    ['{"address":{"city":"x","zip":1}}', 'FILTER_PATH_UNINDEXED', '"address.zip"', deny],
    ['{"lines.3.cost":1}', 'FILTER_PATH_UNINDEXED', '"lines.3.cost"', deny],
    ['{"lines":{"$eq":[{"cost":1}]}}', 'FILTER_PATH_UNINDEXED', '"lines.0.cost"', deny],
    ['{"lines":{"$in":[{"cost":1}]}}', 'FILTER_PATH_UNINDEXED', '"lines.cost"', deny],
    ['{"lines":{"$all":[{"cost":1}]}}', 'FILTER_PATH_UNINDEXED', 'cost"', deny],
    ['{"x&.y":1}', 'FILTER_PATH_UNINDEXED', '"x&.y"', deny],
    ['{"$or":[{"a":1},{"secret":1}]}', 'FILTER_PATH_UNINDEXED', '"secret"', deny],
    ['{"other":1}', 'FILTER_PATH_UNINDEXED', '"other"', allow],
    ['{"address":{"zip":1}}', 'FILTER_PATH_UNINDEXED', '"address.zip"', allow],
    ['{"_id":{"$gt":1}}', 'FILTER_ID_NOT_INDEXED', '$gt', allow],
    ['{"_id":{"$exists":true}}', 'FILTER_ID_NOT_INDEXED', '$exists', allow],
    ['{"$not":{"_id":1}}', 'FILTER_ID_NOT_INDEXED', '$ne', allow],
    [
      '{"_id":{"$nin":[1]}}',
      'FILTER_ID_NOT_INDEXED',
      '$nin',
      { indexing: { deny: ['_id'] } },
    ],
    ['{"a":1}', 'FILTER_PATH_UNINDEXED', '"a"', { indexing: { deny: ['*'] } }],
    [
      '{"$vector":{"$exists":true}}',
      'FILTER_PATH_UNINDEXED',
      '"$vector"',
      { indexing: { deny: ['*'] } },
    ],
    ['{"_id":{"$lt":1}}', 'FILTER_ID_NOT_INDEXED', '$lt', { indexing: { deny: ['*'] } }],
  ]
  for (const [text, code, named, settings] of refused)
    test(`rejects ${text} under ${JSON.stringify(settings.indexing)}`, () =>
      refuses(text, code, named, settings))

  test('accepts a path of 100 000 segments with an operand of 1 000 fields', () => {
    const path = Array.from({ length: 100_000 }, () => '0').join('.')
    const fields = Array.from({ length: 1_000 }, (_, i) => `"f${i}":0`).join()
    read(`{"tags.${path}":{${fields}}}`, allow)
  })
})
