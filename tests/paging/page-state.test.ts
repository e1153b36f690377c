import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  decodePageState,
  decodeSearchState,
  encodePageState,
  encodeSearchState,
  nameQuery,
  type PageState,
} from '../../src/paging/page-state.ts'
import { defaultLimits as limits } from '../../src/limits.ts'
import { json, object } from '../collections/json.ts'
import { seed } from '../language/documents.ts'

const query = nameQuery('find', object({ a: 1 }), undefined)

describe('page states', () => {
  test('come back as they were', () => {
    const states: PageState[] = [
      { count: 20, place: { kind: 'engine', position: 'anything "at all"' } },
      {
        count: 0,
        place: { kind: 'sorted', key: [undefined, null, 'ä', json([1, { b: 2 }])] },
      },
      { count: 7, place: { kind: 'sorted', key: [{ decimal: '1.5e+400' }, 'id'] } },
      { count: 7, place: { kind: 'sorted', key: [Infinity, -Infinity, NaN, 'NaN', 'id'] } },
    ]
    for (const state of states) {
      const text = encodePageState(state, query)
      assert.match(text, /^[\w-]+$/)
      const { count, place } = decodePageState(text, query, limits)
      assert.deepEqual({ count, place }, state)
    }
  })

  test('are taken up to a length, and refused beyond it before they are decoded', () => {
    const max = encodePageState(
      { count: 1, place: { kind: 'engine', position: 'p'.repeat(1_000) } },
      query,
    )
    const bounds = { ...limits, pageStateLengthMax: max.length }
    assert.equal(decodePageState(max, query, bounds).count, 1)
    for (const text of [`${max}A`, '!'.repeat(max.length + 1)])
      assert.throws(() => decodePageState(text, query, bounds), {
        code: 'COMMAND_FIELD_VALUE_INVALID',
        message: new RegExp(`more than ${max.length} characters`),
      })
  })

  test('of another query are refused', () => {
    const text = encodePageState(
      { count: 1, place: { kind: 'engine', position: 'p' } },
      query,
    )
    for (const other of [
      nameQuery('find', object({ a: 2 }), undefined),
      nameQuery('find', object({ a: 1 }), object({ b: 1 })),
      nameQuery('updateMany', object({ a: 1 })),
    ])
      assert.throws(() => decodePageState(text, other, limits), {
        code: 'COMMAND_FIELD_VALUE_INVALID',
        message: /^command\.options\.pageState cannot be .*another query/,
      })
  })

  test('that are not ours are refused, whatever they are', () => {
    const forged = (parts: unknown) =>
      Buffer.from(JSON.stringify(parts)).toString('base64url')
    for (const text of [
      'x',
      '!!!',
      'AAAA',
      forged({}),
      forged([]),
      forged([2, 0, query, 'engine', 'p']),
      forged([1, 'many', query, 'engine', 'p']),
      forged([1, 0, query, 'engine', 5]),
      forged([1, 0, query, 'sorted', [5]]),
      forged([1, 0, query, 'elsewhere', 'p']),
      'A'.repeat(100_000),
    ])
      assert.throws(
        () => decodePageState(text, query, limits),
        { code: 'COMMAND_FIELD_VALUE_INVALID' },
        text.slice(0, 50),
      )
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        assert.throws(() => decodePageState(text, query, limits), {
          code: 'COMMAND_FIELD_VALUE_INVALID',
        })
      }),
      { seed },
    )
  })

  test('of a search come back to the last bit', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 9 }),
        (score, id, documentFrequencies) => {
          const statistics = { documents: 50, tokens: 2 ** 40, documentFrequencies }
          const state = { count: 20, place: { statistics, score, id } }
          const text = encodeSearchState(state, query)
          const { length } = documentFrequencies
          assert.deepEqual(decodeSearchState(text, query, length, limits), state)
          assert.throws(() => decodeSearchState(text, query, length + 1, limits), {
            message: /another query/,
          })
        },
      ),
      { seed },
    )
  })

  test('of a search are refused when they are forged, and in other finds', () => {
    const score = Buffer.from(Float64Array.of(1.5).buffer).toString('base64url')
    const forged = (where: unknown, count: unknown = 20, kind = 'scored') =>
      Buffer.from(JSON.stringify([1, count, query, kind, where])).toString('base64url')
    const good = forged([score, 'id', 9, 30, 4, 5])
    assert.equal(decodeSearchState(good, query, 2, limits).place.score, 1.5)
    assert.throws(() => decodePageState(good, query, limits), {
      code: 'COMMAND_FIELD_VALUE_INVALID',
    })
    const noScore = Buffer.from(Float64Array.of(NaN).buffer).toString('base64url')
    for (const text of [
      forged('p', 20, 'engine'),
      forged([score, 'id', 9, 30, 4, 5], -1),
      forged([score, 'id', 9, 30, 4, 5], 1.5),
      forged([score, 'id', 9, 30, 4, 5, 6]),
      forged([score, 'id', 9, 30, 4]),
      forged([score, 'id', 9, 30, 4, 10]),
      forged([score, 'id', 9, 30, 4, -1]),
      forged([score, 'id', 9, 30, 4, '5']),
      forged([score, 'id', 9, 30, 4, 0.5]),
      forged([score, 'id', 0, 30, 0, 0]),
      forged([score, 'id', 9, 0, 4, 5]),
      forged([score, 'id', 2 ** 60, 30, 4, 5]),
      forged([noScore, 'id', 9, 30, 4, 5]),
      forged(['AAAA', 'id', 9, 30, 4, 5]),
      forged([1.5, 'id', 9, 30, 4, 5]),
      forged([]),
      forged({}),
      forged(null),
    ])
      assert.throws(
        () => decodeSearchState(text, query, 2, limits),
        { code: 'COMMAND_FIELD_VALUE_INVALID' },
        Buffer.from(text, 'base64url').toString(),
      )
  })

  test('treat an absent clause and an empty one as the same query', () => {
    assert.equal(nameQuery(undefined), nameQuery(new Map()))
  })
})
