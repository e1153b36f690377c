/** Index columns of documents must equal the columns that other servers of the Data API store. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashOf } from '../../../src/engine/cassandra/documents/hash.ts'
import { keyOf, keysOf } from '../../../src/engine/cassandra/documents/document-key.ts'
import { plainNumeral, scaledNumber } from '../../../src/engine/cassandra/cql/numerals.ts'
import { shredInSteps } from '../../../src/engine/cassandra/documents/shred.ts'
import { parseJson } from '../../../src/json/parse.ts'
import type { JsonObject, Numeric, Value } from '../../../src/json/value.ts'
import { indexingRule, type IndexingLists } from '../../../src/language/filters/indexing.ts'
import { storedByOthers as lines } from './stored-by-others.ts'
import { atOnce } from '../../../src/runtime/steps.ts'

const limits = { depthMax: 100, numeralLengthMax: 100, valuesMax: 10_000 }
const read = (text: string): Value => parseJson(text, limits)

const indexingOf = new Map(
  lines.flatMap(({ table, comment }): [string, IndexingLists | undefined][] => {
    if (comment === undefined) return []
    const { collection } = JSON.parse(comment) as {
      collection: { options: { indexing?: IndexingLists } }
    }
    return [[table, collection.options.indexing]]
  }),
)

describe('documents that another server stored', () => {
  for (const { table, row } of lines) {
    if (row === undefined) continue
    // Skips rows with $binary in this table: the other server stored the memory address of an
    // object instead of the value.
    if (row.doc_json.includes('$binary') && table === 'plain') continue
    test(`${row.key.join(' ')} has the same key and columns as in the other server`, () => {
      const whole = read(row.doc_json) as JsonObject
      const { $vector, ...columns } = { $vector: whole.get('$vector'), ...row }
      const document = new Map(whole)
      document.delete('$vector')
      const { type, text } = keyOf(document.get('_id')!)
      assert.deepEqual([type, text], columns.key)
      const pruned = indexingRule(indexingOf.get(table)).prune(document)
      const vector = $vector && { numbers: new Float32Array(3), form: 'array' as const }
      const shredded = atOnce(shredInSteps(pruned, vector ? { vector } : {}))
      assert.deepEqual([...shredded.exists].toSorted(), row.exist_keys ?? [])
      assert.deepEqual([...shredded.contains].toSorted(), row.array_contains ?? [])
      assert.deepEqual([...shredded.nulls].toSorted(), row.query_null_values ?? [])
      assert.deepEqual(Object.fromEntries(shredded.sizes), row.array_size ?? {})
      assert.deepEqual(Object.fromEntries(shredded.texts), row.query_text_values ?? {})
      assert.deepEqual(
        mapValues(shredded.booleans, (value) => (value ? 1 : 0)),
        row.query_bool_values ?? {},
      )
      assert.deepEqual(
        mapValues(shredded.numbers, (value) => plainNumeral(value)),
        mapValues(new Map(Object.entries(row.query_dbl_values ?? {})), (text) =>
          plainNumeral(read(text.replace('E+', 'e')) as Numeric),
        ),
      )
      assert.deepEqual(
        mapValues(shredded.dates, (ms) => ms),
        mapValues(new Map(Object.entries(row.query_timestamp_values ?? {})), Date.parse),
      )
    })
  }
})

function mapValues<T, U>(map: ReadonlyMap<string, T>, make: (value: T) => U) {
  return Object.fromEntries([...map].map(([name, value]) => [name, make(value)]))
}

describe('hashes of values', () => {
  for (const [text, hash] of [
    [`"${'x'.repeat(20)}"`, `S${'x'.repeat(20)}`],
    ['"abcdefghijklmnopqrstu"', 'Pxad/wLO4+kJxaGuVXZjmg'],
    ['12345678901234567890.1234567890', 'mLLQu4M36kR/6WuDaMlxRQ'],
    ['{"street":"Elm Street","zipcode":21040}', 'PyKbUrbuZrGDV6sL2Wtchw'],
    [
      '{"name":"Bob","values":[1,2,1,2,true,null],"address":{"street":"Elm Street","zipcode":21040}}',
      'LLTTMbjCHs36mgXO1seHKg',
    ],
    ['1e2', 'N100'],
    ['-0.5', 'N-0.5'],
    ['0.0', 'N0'],
  ] as const)
    test(`equal those of other servers: ${text.slice(0, 40)}`, () => {
      assert.equal(hashOf(read(text)), hash)
    })

  test('use the exponent form for numbers with a huge exponent', () => {
    assert.equal(hashOf(read('1e999999999')), 'N1E+999999999')
    assert.equal(hashOf(read('-1.5e-999999999')), 'N-1.5E-999999999')
  })
})

describe('keys of documents', () => {
  test('have two spellings for an integer with trailing zeros', () => {
    assert.deepEqual(
      keysOf(100).map(({ text }) => text),
      ['100', '1E+2'],
    )
    assert.deepEqual(keysOf(-1200)[1], { type: 2, text: '-1.2E+3' })
    assert.equal(keysOf(105).length, 1)
    assert.equal(keysOf(0).length, 1)
  })

  for (const [text, key] of [
    ['1.5', '1.5'],
    ['1e-7', '1E-7'],
    ['0.000001', '0.000001'],
    ['1.23e-7', '1.23E-7'],
    ['12345678901234567890123', '12345678901234567890123'],
    ['1e300', `1${'0'.repeat(300)}`],
  ] as const)
    test(`equal those of other servers: ${text}`, () => {
      assert.deepEqual(keyOf(read(text)), { type: 2, text: key })
    })

  test('preserve the digits and the scale of a number', () => {
    assert.deepEqual(scaledNumber(100), { unscaled: 100n, scale: 0 })
    assert.deepEqual(scaledNumber(-0.025), { unscaled: -25n, scale: 3 })
    assert.deepEqual(scaledNumber(0), { unscaled: 0n, scale: 0 })
  })
})
