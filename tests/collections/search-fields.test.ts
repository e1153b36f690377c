import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  attach,
  detach,
  expandHybrid,
  withTerms,
  type SearchRules,
} from '../../src/collections/search-fields.ts'
import { embedTexts } from '../../src/collections/vectorize.ts'
import type { SearchFields } from '../../src/engine/contract.ts'
import { printJson } from '../../src/json/print.ts'
import { defaultLimits as limits } from '../../src/limits.ts'
import type { CollectionOptions, Metric } from '../../src/engine/schema.ts'
import { collection } from './plain-engine.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { object } from './json.ts'

function rulesOf(options: Partial<CollectionOptions> = {}): SearchRules {
  return {
    collection: collection(options),
    target: 'library.books',
    limits: { ...limits, lexicalSizeMax: 10 },
    analyzer: { terms: (text) => text.split(' ') },
    embedder: undefined,
  }
}

function withVectors(metric: Metric = 'cosine', dimension = 3): SearchRules {
  return rulesOf({ vector: { dimension, metric, sourceModel: 'other' } })
}

const floats = Buffer.alloc(12)
;[0.5, 1, -2].forEach((number, i) => floats.writeFloatBE(number, i * 4))
const binary = { $binary: floats.toString('base64') }

describe('$hybrid', () => {
  const expand = (document: object) =>
    printJson(atOnce(expandHybrid(object(document), 'document 2 of 5')))

  test('expands to $lexical and $vectorize', () => {
    assert.equal(
      expand({ a: 1, $hybrid: 'text' }),
      '{"a":1,"$lexical":"text","$vectorize":"text"}',
    )
    assert.equal(expand({ $hybrid: null }), '{"$lexical":null,"$vectorize":null}')
    assert.equal(
      expand({ $hybrid: { $vectorize: 'v' } }),
      '{"$lexical":null,"$vectorize":"v"}',
    )
    assert.equal(expand({ $hybrid: {} }), '{"$lexical":null,"$vectorize":null}')
  })

  test('does not change documents without $hybrid', () => {
    const document = object({ a: 1 })
    assert.equal(atOnce(expandHybrid(document, 'document 1 of 1')), document)
  })

  test('is rejected beside the fields that it expands to, and beside $vector', () => {
    for (const name of ['$lexical', '$vectorize', '$vector'])
      assert.throws(() => expand({ $hybrid: 'text', [name]: null }), {
        code: 'HYBRID_FIELD_CONFLICT',
        message: /document 2 of 5/,
      })
  })

  test('is rejected unless it is a text, or an object with $lexical and $vectorize', () => {
    for (const value of [5, true, ['text']])
      assert.throws(() => expand({ $hybrid: value }), {
        code: 'HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE',
      })
    assert.throws(() => expand({ $hybrid: { $lexical: 'a', other: 1 } }), {
      code: 'HYBRID_FIELD_UNKNOWN_SUBFIELDS',
      message: /other/,
    })
    assert.throws(() => expand({ $hybrid: { $lexical: 5 } }), {
      code: 'HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE',
      message: /\$lexical.*Number/,
    })
  })
})

describe('$vector', () => {
  const roundTrip = (vector: unknown, rules = withVectors()) => {
    const { document, search } = atOnce(detach(object({ a: 1, $vector: vector }), rules))
    assert.equal(printJson(document), '{"a":1}')
    return printJson(atOnce(attach(document, search)).document)
  }

  test('is returned in the form and with the digits in which it was sent', () => {
    assert.equal(roundTrip([0.1, 1, -2e-7]), '{"a":1,"$vector":[0.1,1,-2e-7]}')
    assert.equal(roundTrip([0.5, 1, -2]), '{"a":1,"$vector":[0.5,1,-2]}')
    assert.equal(roundTrip(binary), `{"a":1,"$vector":${JSON.stringify(binary)}}`)
    assert.equal(roundTrip(null), '{"a":1,"$vector":null}')
  })

  test('takes half the space when 32-bit floats represent the numbers exactly', () => {
    const { search } = atOnce(detach(object({ $vector: [0.5, 1, -2] }), withVectors()))
    assert(search.vector?.numbers instanceof Float32Array)
    const { search: wide } = atOnce(
      detach(object({ $vector: [0.1, 1, -2] }), withVectors()),
    )
    assert(wide.vector?.numbers instanceof Float64Array)
  })

  const refusals: readonly (readonly [string, unknown, string])[] = [
    ['an empty array', [], 'SHRED_BAD_VECTOR_SIZE'],
    ['an element that is not a number', [1, 'x', 3], 'SHRED_BAD_VECTOR_VALUE'],
    ['an element that is null', [1, null, 3], 'SHRED_BAD_VECTOR_VALUE'],
    ['a string', 'text', 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
    ['a number', 5, 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
    ['an object other than $binary', { $bin: 'AAAA' }, 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
    ['$binary with a second key', { ...binary, a: 1 }, 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
    ['$binary that is not a string', { $binary: 5 }, 'SHRED_BAD_BINARY_VECTOR_VALUE'],
    ['$binary that is not Base64', { $binary: '?' }, 'SHRED_BAD_BINARY_VECTOR_VALUE'],
    ['$binary of five bytes', { $binary: 'AAAAAAA=' }, 'SHRED_BAD_BINARY_VECTOR_VALUE'],
    ['too few numbers', [1, 2], 'INVALID_VECTOR_LENGTH'],
    ['too many numbers', [1, 2, 3, 4], 'INVALID_VECTOR_LENGTH'],
    [
      'more numbers than the maximum dimension',
      Array(4097).fill(1),
      'SHRED_DOC_LIMIT_VIOLATION',
    ],
    ['numbers that are all close to zero', [0, 0, 1e-7], 'SHRED_BAD_VECTOR_VALUE'],
    ['a number beyond the maximum magnitude', [1e18, 1, 1], 'SHRED_BAD_VECTOR_VALUE'],
  ]
  for (const [what, vector, code] of refusals)
    test(`rejects ${what}`, () => {
      assert.throws(() => roundTrip(vector), { code })
    })

  test('may be zero unless the metric is cosine', () => {
    for (const metric of ['euclidean', 'dot_product'] as const)
      roundTrip([0, 0, 0], withVectors(metric))
  })

  test('is rejected in a collection without vectors, unless null', async () => {
    const none = ownCaller(AbortSignal.abort())
    assert.throws(() => embedTexts([object({ $vector: [1] })], rulesOf(), none), {
      code: 'VECTOR_SEARCH_NOT_SUPPORTED',
    })
    await embedTexts([object({ $vector: null })], rulesOf(), none)
  })

  test('keeps its stored form when it did not change', () => {
    const first = atOnce(detach(object({ $vector: [0.1, 1, 2], a: 1 }), withVectors()))
    const before = atOnce(attach(first.document, first.search))
    const after = new Map(before.document).set('a', 2)
    assert.equal(
      atOnce(detach(after, withVectors(), before)).search.vector,
      first.search.vector,
    )
  })
})

describe('$lexical', () => {
  test('is text or null', () => {
    assert.deepEqual(atOnce(detach(object({ $lexical: 'text' }), rulesOf())).search, {
      lexical: 'text',
    })
    assert.deepEqual(atOnce(detach(object({ $lexical: null }), rulesOf())).search, {
      lexical: null,
    })
    assert.throws(() => atOnce(detach(object({ $lexical: ['text'] }), rulesOf())), {
      code: 'SHRED_BAD_DOCUMENT_LEXICAL_TYPE',
    })
  })

  test('is rejected in a collection without lexical search, unless null', () => {
    const rules = rulesOf({ lexical: { enabled: false } })
    assert.throws(() => atOnce(detach(object({ $lexical: 'text' }), rules)), {
      code: 'LEXICAL_NOT_ENABLED_FOR_COLLECTION',
    })
    atOnce(detach(object({ $lexical: null }), rules))
  })

  const recordOf = (search: SearchFields) =>
    ({ id: 1, text: '{"_id":1}', document: object({ _id: 1 }), search }) as const

  test('is stored with its terms, repeated ones included', () => {
    const { terms } = withTerms(recordOf({ lexical: 'to be to' }), rulesOf())
    assert.deepEqual(terms!('$lexical'), ['to', 'be', 'to'])
    for (const search of [{}, { lexical: null }, { vectorize: 'to be' }])
      assert.equal('terms' in withTerms(recordOf(search), rulesOf()), false)
  })

  test('has a maximum number of bytes in its terms, repeated ones included', () => {
    for (const lexical of ['a b c d e f g h i j', 'aaaaa aaaaa', 'ééééé', 'a'.repeat(10)])
      withTerms(recordOf({ lexical }), rulesOf())
    for (const lexical of ['a b c d e f g h i j k', 'aaaaa aaaaaa', 'ééééé a'])
      assert.throws(() => withTerms(recordOf({ lexical }), rulesOf()), {
        code: 'LEXICAL_CONTENT_TOO_LONG',
        message: /more than 10 bytes/,
      })
  })

  test('is analyzed again only if it changed or its terms are requested', () => {
    let asked = 0
    const rules = {
      ...rulesOf(),
      analyzer: { terms: (text: string) => (asked++, text.split(' ')) },
    }
    const before = atOnce(attach(object({ _id: 1 }), { lexical: 'to be' }))
    const same = withTerms(recordOf({ lexical: 'to be' }), rules, before)
    assert.equal(asked, 0)
    assert.deepEqual(
      [same.terms!('$lexical'), same.terms!('$lexical')],
      [
        ['to', 'be'],
        ['to', 'be'],
      ],
    )
    assert.equal(asked, 1)
    withTerms(recordOf({ lexical: 'or not' }), rules, before)
    assert.equal(asked, 2)
  })
})
