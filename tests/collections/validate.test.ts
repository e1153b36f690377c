import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkLength } from '../../src/collections/validate.ts'
import { checkDocument } from './check-document.ts'
import { defaultLimits as limits } from '../../src/limits.ts'
import { indexingRule, type IndexingLists } from '../../src/language/filters/indexing.ts'
import { object } from './json.ts'

function check(document: object, indexing?: IndexingLists): void {
  checkDocument(object(document), indexingRule(indexing), limits)
}

function refused(document: object, code: string, message?: RegExp): void {
  assert.throws(
    () => check(document),
    (error: Error & { code: string }) => {
      assert.equal(error.code, code)
      if (message !== undefined) assert.match(error.message, message)
      return true
    },
  )
}

const limitBroken = 'SHRED_DOC_LIMIT_VIOLATION'

function nested(levels: number): object {
  let value: unknown = 1
  for (let level = 1; level < levels; level++)
    value = level % 2 === 0 ? [value] : { a: value }
  return { a: value }
}

function fields(count: number, prefix = 'f'): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, i]))
}

describe('field names', () => {
  test('may hold dots, ampersands and what objects already have', () => {
    check({ 'a.b': 1, '&': 1, a$: 1, constructor: 1, toString: 1, ' ': 1, '**': 1 })
  })

  test('cannot be empty, begin with $ or be *, on any level', () => {
    for (const name of ['', '$', '$x', '$vectorx', '*'])
      for (const document of [
        { [name]: 1 },
        { a: { [name]: 1, b: 1 } },
        { a: [{ [name]: 1, b: 2 }] },
      ])
        refused(document, 'SHRED_BAD_FIELD_NAME')
    refused({ a: { b: { $x: 1, c: 2 } } }, 'SHRED_BAD_FIELD_NAME', /"\$x" under "a\.b"/)
  })

  test('of search fields are known at the root only', () => {
    refused({ a: { $vector: [1] } }, 'SHRED_BAD_FIELD_NAME')
    refused({ $hybrid: 'text' }, 'SHRED_BAD_FIELD_NAME')
  })
})

describe('typed values', () => {
  test('are values wherever they stand', () => {
    check({ a: { $date: 1 }, b: [{ $uuid: '0190c5a0-8d4c-7f3b-9a57-0242ac120002' }] })
    check({ a: { $objectId: '0123456789abcdef01234567' }, b: { $binary: 'AAAA' } })
  })

  test('are refused when malformed, with wrapper, value and place', () => {
    refused(
      { a: { b: { $date: 'now' } } },
      'SHRED_BAD_EJSON_VALUE',
      /\$date.*"a\.b".*"now"/,
    )
    refused({ a: [{ $uuid: 'x' }] }, 'SHRED_BAD_EJSON_VALUE')
    refused({ a: { $objectId: 5 } }, 'SHRED_BAD_EJSON_VALUE')
    refused({ a: { $binary: '?' } }, 'SHRED_BAD_EJSON_VALUE')
  })

  test('have no second key and no unknown wrapper', () => {
    refused({ a: { $date: 1, b: 2 } }, 'SHRED_BAD_FIELD_NAME')
    refused({ a: { $decimal: 1 } }, 'SHRED_BAD_FIELD_NAME')
  })
})

describe('limits of a document', () => {
  test('16 levels are fine and 17 are not', () => {
    check(nested(16))
    refused(nested(17), limitBroken, /17 levels.*16/)
    refused(nested(400), limitBroken)
  })

  test('a path has 1000 characters, names and dots together', () => {
    check({ ['n'.repeat(499)]: { ['m'.repeat(500)]: 1 } })
    refused({ ['n'.repeat(500)]: { ['m'.repeat(500)]: 1 } }, limitBroken, /1001/)
    refused({ ['n'.repeat(1001)]: 1 }, limitBroken)
  })

  test('an object has 1000 properties, the _id among them', () => {
    check({ _id: 1, ...fields(999) })
    check({ a: fields(1000) })
    refused({ _id: 1, ...fields(1000) }, limitBroken, /1001.*1000/)
    refused({ a: fields(1001) }, limitBroken, /"a" is 1001/)
  })

  test('a document has 2000 properties in all', () => {
    check({ _id: 1, a: fields(999), b: fields(998) })
    refused({ _id: 1, a: fields(999), b: fields(999) }, limitBroken, /2001.*2000/)
  })

  test('an array has 1000 elements', () => {
    check({ a: { b: Array(1000).fill(0) } })
    refused({ a: { b: Array(1001).fill(0) } }, limitBroken, /"a\.b" is 1001.*1000/)
  })

  test('a string has 8000 bytes of UTF-8', () => {
    check({ a: 'x'.repeat(8000), b: 'ä'.repeat(4000) })
    refused({ a: 'x'.repeat(8001) }, limitBroken, /"a" in bytes is 8001.*8000/)
    refused({ a: ['ä'.repeat(4001)] }, limitBroken, /8002/)
    refused({ _id: 'x'.repeat(8001) }, limitBroken)
  })

  test('a binary value may be longer than a string', () => {
    check({ a: { $binary: 'AAAA'.repeat(3000) } })
  })

  test('what is not indexed escapes the limits of what is', () => {
    const big = {
      long: 'x'.repeat(9000),
      many: Array(1001).fill(0),
      wide: fields(1500),
      more: fields(1500, 'g'),
    }
    assert.throws(() => check(big), { code: limitBroken })
    check(big, { deny: ['long', 'many', 'wide', 'more'] })
    check(big, { allow: ['title'] })
    check({ a: { long: 'x'.repeat(9000), short: 'x' } }, { deny: ['a.long'] })
  })

  test('what is not indexed still has legal names, depth and values', () => {
    const deny = { deny: ['a'] }
    assert.throws(() => check({ a: { $x: 1, y: 1 } }, deny), {
      code: 'SHRED_BAD_FIELD_NAME',
    })
    assert.throws(() => check(nested(17), deny), { code: limitBroken })
    assert.throws(() => check({ a: { $date: 'x' } }, deny), {
      code: 'SHRED_BAD_EJSON_VALUE',
    })
  })

  test('the text has four million characters', () => {
    checkLength(4_000_000, limits)
    assert.throws(() => checkLength(4_000_001, limits), /4000001.*4000000/)
  })
})
