import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../../src/errors/api-error.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import { defaultLimits } from '../../src/limits.ts'
import type { Filter } from '../../src/language/filters/filter.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import { parseFilter } from '../../src/language/filters/parse-filter.ts'
import { equalityDocument } from '../../src/language/updates/upsert.ts'

function parse(filter: string): Filter {
  return parseFilter(parseStored(filter), {
    limits: defaultLimits,
    indexing: indexingRule(undefined),
    target: 'library.books',
    analyze: (text) =>
      text
        .toLowerCase()
        .split(/\W+/)
        .filter((term) => term !== ''),
  })
}

function assertDocuments(rows: readonly (readonly [string, string])[]): void {
  for (const [filter, expected] of rows)
    assert.equal(printJson(equalityDocument(parse(filter))), expected, filter)
}

describe('the initial document of an upsert', () => {
  test('has the values that the filter compares by equality', () => {
    assertDocuments([
      ['{}', '{}'],
      ['{"a":1}', '{"a":1}'],
      ['{"a":1,"b":{"$eq":"x"}}', '{"a":1,"b":"x"}'],
      ['{"a":null,"b":false}', '{"a":null,"b":false}'],
      ['{"a":{"$date":5}}', '{"a":{"$date":5}}'],
      ['{"a":{"$eq":[1,2]},"b":{"$eq":{"c":1}}}', '{"a":[1,2],"b":{"c":1}}'],
      ['{"a":{"$eq":1,"$exists":true}}', '{"a":1}'],
    ])
  })

  test('nests paths as objects, and uses numbers in paths as names', () => {
    assertDocuments([
      ['{"a.b":1}', '{"a":{"b":1}}'],
      ['{"a.b":1,"c":2,"a.d.e":3}', '{"a":{"b":1,"d":{"e":3}},"c":2}'],
      ['{"a.0":1}', '{"a":{"0":1}}'],
      ['{"a&.b":1}', '{"a.b":1}'],
      ['{"__proto__.x":1,"toString":2}', '{"__proto__":{"x":1},"toString":2}'],
    ])
  })

  test('has _id as its first field', () => {
    assertDocuments([
      ['{"a":1,"_id":"x"}', '{"_id":"x","a":1}'],
      ['{"a":1,"_id":null}', '{"_id":null,"a":1}'],
    ])
  })

  test('ignores all other conditions', () => {
    assertDocuments([
      ['{"a":{"$gt":1},"b":{"$in":[1]},"c":{"$exists":true},"d":4}', '{"d":4}'],
      ['{"a":{"$ne":null},"b":{"$all":[1]},"c":{"$size":0},"d":{"$nin":[1]}}', '{}'],
      ['{"_id":{"$in":["a","b"]}}', '{}'],
      ['{"$and":[{"a":1}]}', '{}'],
      ['{"$and":[{"a":1},{"b":2}],"c":3}', '{"c":3}'],
      ['{"$or":[{"a":1}],"c":3}', '{"c":3}'],
      ['{"$not":{"a":{"$ne":1}}}', '{}'],
    ])
  })

  test('is rejected when paths overlap', () => {
    for (const filter of ['{"a":1,"a.b":2}', '{"a.b":2,"a":{"$eq":{"b":2}}}'])
      assert.throws(
        () => equalityDocument(parse(filter)),
        (error) =>
          error instanceof ApiError &&
          error.code === 'UNSUPPORTED_UPDATE_OPERATION_PATH' &&
          error.message.includes('"a.b"'),
      )
  })

  test('does not modify the values of the filter', () => {
    const filter = parse('{"a":{"$eq":{"b":1}},"c.d":1}')
    equalityDocument(filter).set('x', 1)
    assert.equal(printJson(equalityDocument(filter)), '{"a":{"b":1},"c":{"d":1}}')
  })
})
