/** Parsing of sorts, and errors in sorts. order.test.ts covers the order itself. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../../src/errors/api-error.ts'
import { parseStored } from '../../src/json/parse.ts'
import { defaultLimits } from '../../src/limits.ts'
import { indexingRule, type IndexingLists } from '../../src/language/filters/indexing.ts'
import {
  checkSortIndexed,
  parseSort,
  type SortContext,
} from '../../src/language/sorts/parse-sort.ts'
import type { Sort } from '../../src/language/sorts/sort.ts'
import {
  checkVector,
  decodeBinaryVector,
  readVectorNumbers,
} from '../../src/language/values/vector.ts'

const everywhere: SortContext = {
  target: 'shop.books',
  limits: defaultLimits,
  vector: { dimension: 2, metric: 'cosine' },
  vectorize: true,
  lexicalOperator: 'any',
  analyze: (text) =>
    text
      .toLowerCase()
      .split(/\W+/)
      .filter((term) => term !== ''),
}

function read(text: string, changes: Partial<SortContext> = {}): Sort {
  return parseSort(parseStored(text), { ...everywhere, ...changes })
}

function refuses(attempt: () => unknown, code: string, named: string): void {
  assert.throws(attempt, (error) => {
    assert(error instanceof ApiError, String(error))
    assert.equal(error.code, code, error.message)
    assert(error.message.includes(named), `"${error.message}" should name ${named}`)
    return true
  })
}

/** Floats of 32 bits in big-endian order, as Base64. */
function binary(...numbers: number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [position, number] of numbers.entries())
    bytes.writeFloatBE(number, position * 4)
  return bytes.toString('base64')
}

describe('a sort', () => {
  test('has a maximum number of keys', () => {
    const of = (count: number) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, 1])),
      )
    const sort = read(of(64))
    assert(sort.kind === 'values' && sort.keys.length === 64)
    refuses(() => read(of(65)), 'SORT_CLAUSE_INVALID', '65 keys; the maximum is 64')
    refuses(() => read(of(65)), 'SORT_CLAUSE_INVALID', '--max-sort-keys')
    const limits = { ...defaultLimits, sortKeysMax: 2 }
    refuses(() => read(of(3), { limits }), 'SORT_CLAUSE_INVALID', 'the maximum is 2')
    const search = JSON.stringify({ $vector: [1, 2], ...(JSON.parse(of(64)) as object) })
    refuses(() => read(search), 'SORT_CLAUSE_INVALID', '65 keys')
  })

  test('that is absent, null or empty has no keys', () => {
    const none: Sort = { kind: 'values', keys: [] }
    assert.deepEqual(parseSort(undefined, everywhere), none)
    assert.deepEqual(read('null'), none)
    assert.deepEqual(read('{}'), none)
  })

  test('keeps its keys in the order they were sent', () => {
    assert.deepEqual(read('{"b":-1,"10":1,"a.0.x&.y":1.0}'), {
      kind: 'values',
      keys: [
        { path: { text: 'b', segments: ['b'] }, direction: -1 },
        { path: { text: '10', segments: ['10'] }, direction: 1 },
        { path: { text: 'a.0.x&.y', segments: ['a', '0', 'x.y'] }, direction: 1 },
      ],
    })
  })

  test('by $vector accepts numbers or binary', () => {
    const expected: Sort = { kind: 'vector', vector: Float32Array.of(0.25, -2) }
    assert.deepEqual(read('{"$vector":[0.25,-2]}'), expected)
    assert.deepEqual(read(`{"$vector":{"$binary":"${binary(0.25, -2)}"}}`), expected)
  })

  test('by $vector rounds every numeral to a 32-bit float', () => {
    const sort = read('{"$vector":[0.1234567890123456789,1]}')
    assert(sort.kind === 'vector')
    assert.deepEqual(sort.vector, Float32Array.of(0.12345679, 1))
  })

  test('by $vectorize keeps the text unchanged', () => {
    assert.deepEqual(read('{"$vectorize":"blue sky"}'), {
      kind: 'vectorize',
      text: 'blue sky',
    })
  })

  test('by $lexical accepts text, and searches for its distinct terms', () => {
    assert.deepEqual(read('{"$lexical":"Blue sky, blue!"}'), {
      kind: 'lexical',
      terms: ['blue', 'sky'],
      text: 'Blue sky, blue!',
      operator: 'any',
    })
  })

  test('accepts a zero vector when the metric does not compare directions', () => {
    const vector = { dimension: 2, metric: 'euclidean' }
    assert.equal(read('{"$vector":[0,0]}', { vector }).kind, 'vector')
  })
})

describe('the parser of sorts', () => {
  const none = { vector: undefined, vectorize: false, analyze: undefined }
  const rejections: [sort: string, code: string, named: string, Partial<SortContext>?][] = [
    ['5', 'SORT_CLAUSE_INVALID', 'Number'],
    ['[]', 'SORT_CLAUSE_INVALID', 'Array'],
    ['"a"', 'SORT_CLAUSE_INVALID', 'String'],

    ['{"a":2}', 'SORT_CLAUSE_VALUE_INVALID', '2'],
    ['{"a":0}', 'SORT_CLAUSE_VALUE_INVALID', '"a"'],
    ['{"a":1.5}', 'SORT_CLAUSE_VALUE_INVALID', '1.5'],
    ['{"a":true}', 'SORT_CLAUSE_VALUE_INVALID', 'true'],
    ['{"a":"asc"}', 'SORT_CLAUSE_VALUE_INVALID', '"asc"'],
    ['{"a":[1]}', 'SORT_CLAUSE_VALUE_INVALID', '[1]'],
    ['{"a":null}', 'SORT_CLAUSE_VALUE_INVALID', 'null'],
    ['{"a":1,"b":{"c":1}}', 'SORT_CLAUSE_VALUE_INVALID', '"b"'],
    ['{"":1}', 'SORT_CLAUSE_PATH_INVALID', 'empty'],
    ['{"a..b":1}', 'SORT_CLAUSE_PATH_INVALID', '"a..b"'],
    ['{"a&b":1}', 'SORT_CLAUSE_PATH_INVALID', '"a&b"'],
    ['{"*":1}', 'SORT_CLAUSE_PATH_INVALID', '"*"'],
    ['{"a.*.b":1}', 'SORT_CLAUSE_PATH_INVALID', '"a.*.b"'],
    ['{"$foo":1}', 'SORT_CLAUSE_PATH_INVALID', '"$foo"'],
    ['{"$hybrid":"x"}', 'SORT_CLAUSE_PATH_INVALID', '"$hybrid"'],

    ['{"$vector":[1,2],"a":1}', 'SORT_CLAUSE_INVALID', '"a"'],
    ['{"$vector":[1,2],"$vectorize":"x"}', 'SORT_CLAUSE_INVALID', '"$vectorize"'],
    ['{"$vector":"x"}', 'SORT_CLAUSE_VALUE_INVALID', '"x"'],
    ['{"$vector":1}', 'SORT_CLAUSE_VALUE_INVALID', '1 (Number)'],
    ['{"$vector":null}', 'SORT_CLAUSE_VALUE_INVALID', 'null'],
    ['{"$vector":{"$binary":5}}', 'SORT_CLAUSE_VALUE_INVALID', '{"$binary":5}'],
    ['{"$vector":{"$date":5}}', 'SORT_CLAUSE_VALUE_INVALID', '{"$date":5}'],
    ['{"$vector":{"$binary":"!"}}', 'SORT_CLAUSE_VALUE_INVALID', '"!"'],
    ['{"$vector":{"$binary":"AAA="}}', 'SORT_CLAUSE_VALUE_INVALID', '2 bytes'],
    ['{"$vector":{"$binary":""}}', 'SORT_CLAUSE_VALUE_INVALID', 'no numbers'],
    ['{"$vector":[]}', 'SHRED_BAD_VECTOR_SIZE', '$vector'],
    ['{"$vector":[1,"x"]}', 'SHRED_BAD_VECTOR_VALUE', '"x"'],
    ['{"$vector":[null,1]}', 'SHRED_BAD_VECTOR_VALUE', 'element 0'],
    ['{"$vector":[1,2,3]}', 'INVALID_VECTOR_LENGTH', '3'],
    [`{"$vector":{"$binary":"${binary(1)}"}}`, 'INVALID_VECTOR_LENGTH', 'shop.books'],
    ['{"$vector":[1,2]}', 'VECTOR_SEARCH_NOT_SUPPORTED', 'shop.books', none],
    ['{"$vector":[0,0]}', 'SHRED_BAD_VECTOR_VALUE', 'cosine'],
    ['{"$vector":[1e-6,-1e-6]}', 'SHRED_BAD_VECTOR_VALUE', 'cosine'],
    ['{"$vector":[1,2e17]}', 'SHRED_BAD_VECTOR_VALUE', 'element 1'],
    ['{"$vector":[1e60,1]}', 'SHRED_BAD_VECTOR_VALUE', 'element 0'],
    [`{"$vector":{"$binary":"${binary(1, NaN)}"}}`, 'SHRED_BAD_VECTOR_VALUE', 'NaN'],

    ['{"$vectorize":"x","a":1}', 'SORT_CLAUSE_INVALID', '"a"'],
    ['{"$vectorize":5}', 'SORT_CLAUSE_VALUE_INVALID', '5'],
    ['{"$vectorize":" "}', 'SORT_CLAUSE_VALUE_INVALID', 'blank'],
    ['{"$vectorize":"x"}', 'EMBEDDING_SERVICE_NOT_CONFIGURED', 'shop.books', none],

    ['{"a":1,"$lexical":"x"}', 'SORT_CLAUSE_INVALID', '"a"'],
    ['{"$lexical":1}', 'SORT_CLAUSE_INVALID', '1 (Number)'],
    ['{"$lexical":"x"}', 'LEXICAL_NOT_ENABLED_FOR_COLLECTION', 'shop.books', none],
    ['{"$lexical":"?!"}', 'SORT_CLAUSE_VALUE_INVALID', '"?!"'],
    ['{"$lexical":""}', 'SORT_CLAUSE_VALUE_INVALID', '"$lexical"'],
  ]
  for (const [text, code, named, changes] of rejections)
    test(`rejects ${text} as ${code}`, () =>
      refuses(() => read(text, changes), code, named))

  test('leaves unindexed paths to checkSortIndexed, which rejects them', () => {
    const check = (text: string, lists: IndexingLists) =>
      checkSortIndexed(read(text), indexingRule(lists))
    check('{"a":1,"b.c":1}', { allow: ['a', 'b'] })
    check('{"$vector":[1,2]}', { deny: ['*'] })
    refuses(
      () => check('{"a":1,"b.c":1}', { deny: ['b'] }),
      'SORT_CLAUSE_PATH_UNINDEXED',
      '"b.c"',
    )
    refuses(
      () => check('{"_id":1}', { allow: ['a'] }),
      'SORT_CLAUSE_PATH_UNINDEXED',
      '"_id"',
    )
  })
})

describe('a vector', () => {
  const euclidean = { dimension: 3, metric: 'euclidean', target: 'shop.books' }

  test('in binary consists of big-endian floats', () => {
    assert.deepEqual(decodeBinaryVector('P4AAAMAAAAA='), Float32Array.of(1, -2))
    assert.deepEqual(decodeBinaryVector('P4AAAMAAAAA'), {
      problem: 'is not padded standard Base64',
    })
  })

  test('may contain numbers up to the limit', () => {
    checkVector(readVectorNumbers([1e17, -1e17, 0]), euclidean)
    refuses(
      () => checkVector(readVectorNumbers([0, 0, -1.1e17]), euclidean),
      'SHRED_BAD_VECTOR_VALUE',
      'element 2',
    )
  })

  test('is accepted with the metric cosine if one of its numbers is not zero', () => {
    checkVector(readVectorNumbers([0, 2e-6, 0]), { ...euclidean, metric: 'cosine' })
  })
})
