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
  test('may contain dots, ampersands and names of built-in properties', () => {
    check({ 'a.b': 1, '&': 1, a$: 1, constructor: 1, toString: 1, ' ': 1, '**': 1 })
  })

  test('must not be empty, be *, or start with $, at any level', () => {
    for (const name of ['', '$', '$x', '$vectorx', '*'])
      for (const document of [
        { [name]: 1 },
        { a: { [name]: 1, b: 1 } },
        { a: [{ [name]: 1, b: 2 }] },
      ])
        refused(document, 'SHRED_BAD_FIELD_NAME')
    refused({ a: { b: { $x: 1, c: 2 } } }, 'SHRED_BAD_FIELD_NAME', /"\$x" under "a\.b"/)
  })

  test('must not be those of search fields below the root, or $hybrid anywhere', () => {
    refused({ a: { $vector: [1] } }, 'SHRED_BAD_FIELD_NAME')
    refused({ $hybrid: 'text' }, 'SHRED_BAD_FIELD_NAME')
  })
})

describe('typed values', () => {
  test('are recognized at every nesting level', () => {
    check({ a: { $date: 1 }, b: [{ $uuid: '0190c5a0-8d4c-7f3b-9a57-0242ac120002' }] })
    check({ a: { $objectId: '0123456789abcdef01234567' }, b: { $binary: 'AAAA' } })
  })

  test('are rejected when malformed, and the error names wrapper, value and path', () => {
    refused(
      { a: { b: { $date: 'now' } } },
      'SHRED_BAD_EJSON_VALUE',
      /\$date.*"a\.b".*"now"/,
    )
    refused({ a: [{ $uuid: 'x' }] }, 'SHRED_BAD_EJSON_VALUE')
    refused({ a: { $objectId: 5 } }, 'SHRED_BAD_EJSON_VALUE')
    refused({ a: { $binary: '?' } }, 'SHRED_BAD_EJSON_VALUE')
  })

  test('are rejected with a second key or an unknown wrapper', () => {
    refused({ a: { $date: 1, b: 2 } }, 'SHRED_BAD_FIELD_NAME')
    refused({ a: { $decimal: 1 } }, 'SHRED_BAD_FIELD_NAME')
  })
})

describe('limits of a document', () => {
  test('allow 16 levels', () => {
    check(nested(16))
    refused(nested(17), limitBroken, /17 levels.*16/)
    refused(nested(400), limitBroken)
  })

  test('allow 1000 characters in a path, names and dots together', () => {
    check({ ['n'.repeat(499)]: { ['m'.repeat(500)]: 1 } })
    refused({ ['n'.repeat(500)]: { ['m'.repeat(500)]: 1 } }, limitBroken, /1001/)
    refused({ ['n'.repeat(1001)]: 1 }, limitBroken)
  })

  test('allow 1000 properties in an object, the _id included', () => {
    check({ _id: 1, ...fields(999) })
    check({ a: fields(1000) })
    refused({ _id: 1, ...fields(1000) }, limitBroken, /1001.*1000/)
    refused({ a: fields(1001) }, limitBroken, /"a" is 1001/)
  })

  test('allow 2000 properties in a document', () => {
    check({ _id: 1, a: fields(999), b: fields(998) })
    refused({ _id: 1, a: fields(999), b: fields(999) }, limitBroken, /2001.*2000/)
  })

  test('allow 1000 elements in an array', () => {
    check({ a: { b: Array(1000).fill(0) } })
    refused({ a: { b: Array(1001).fill(0) } }, limitBroken, /"a\.b" is 1001.*1000/)
  })

  test('allow 8000 bytes of UTF-8 in a string', () => {
    check({ a: 'x'.repeat(8000), b: 'ä'.repeat(4000) })
    refused({ a: 'x'.repeat(8001) }, limitBroken, /bytes of the string "a" is 8001.*8000/)
    refused({ a: ['ä'.repeat(4001)] }, limitBroken, /8002/)
    refused({ _id: 'x'.repeat(8001) }, limitBroken)
  })

  test('allow a binary value longer than a string', () => {
    check({ a: { $binary: 'AAAA'.repeat(3000) } })
  })

  test('do not apply to unindexed fields if they only protect indexes', () => {
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

  test('restrict names, depth and values of unindexed fields as well', () => {
    const deny = { deny: ['a'] }
    assert.throws(() => check({ a: { $x: 1, y: 1 } }, deny), {
      code: 'SHRED_BAD_FIELD_NAME',
    })
    assert.throws(() => check(nested(17), deny), { code: limitBroken })
    assert.throws(() => check({ a: { $date: 'x' } }, deny), {
      code: 'SHRED_BAD_EJSON_VALUE',
    })
  })

  test('allow four million characters of text', () => {
    checkLength(4_000_000, limits)
    assert.throws(() => checkLength(4_000_001, limits), /4000001.*4000000/)
  })
})
