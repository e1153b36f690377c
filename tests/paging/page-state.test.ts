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
import { packValue, type Packable } from '../../src/json/packed.ts'
import type { LexicalOperator } from '../../src/language/sorts/sort.ts'
import { defaultLimits as limits } from '../../src/limits.ts'
import { json, object } from '../collections/json.ts'
import { seed } from '../language/documents.ts'

const query = nameQuery('find', object({ a: 1 }), undefined)
const packed = (parts: readonly Packable[]) =>
  Buffer.concat([Uint8Array.of(2), packValue(parts)]).toString('base64url')
const nested = (depth: number): Packable[] => (depth === 0 ? [] : [nested(depth - 1)])
const paged = { noun: 'row', sort: ['s'], limits } as const

describe('page states', () => {
  test('are decoded to the encoded values', () => {
    const states: PageState[] = [
      { count: 20, place: { kind: 'engine', position: 'anything "at all"' } },
      {
        count: 0,
        place: { kind: 'sorted', key: [undefined, null, 'ä', '€', '\ud800', true, -0] },
      },
      { count: 7, place: { kind: 'sorted', key: [{ decimal: '1.5e+400' }, 'id'] } },
      { count: 7, place: { kind: 'sorted', key: [Infinity, -Infinity, NaN, 'NaN', 'id'] } },
    ]
    for (const state of states) {
      const text = encodePageState(state, query, paged)
      assert.match(text, /^[\w-]+$/)
      const { count, place } = decodePageState(text, query, limits)
      assert.deepEqual({ count, place }, state)
    }
  })

  test('are accepted up to a maximum length, which is checked before decoding', () => {
    const max = encodePageState(
      { count: 1, place: { kind: 'engine', position: 'p'.repeat(1_015) } },
      query,
      paged,
    )
    const bounds = { ...limits, bodySizeMax: (max.length / 5) * 6 }
    assert.equal(decodePageState(max, query, bounds).count, 1)
    for (const text of [`${max}A`, 'A'.repeat(max.length + 1)])
      assert.throws(() => decodePageState(text, query, bounds), {
        code: 'COMMAND_FIELD_VALUE_INVALID',
        message: new RegExp(`more than ${max.length} characters`),
      })
  })

  test('have a length proportional to their contents, for any characters', () => {
    for (const text of ['a', '"', '\\', '\u0000', '\u0001', 'é', '\xff', '€', '😀']) {
      const value = text.repeat(100_000)
      const size = /[^\0-\xff]/.test(text) ? Buffer.byteLength(value) : value.length
      const key = [value, json([value]), json({ a: value }), 'id']
      const state: PageState = { count: 1, place: { kind: 'sorted', key } }
      const given = encodePageState(state, query, paged)
      assert(
        given.length < (size / 3) * 4 + 100,
        `${given.length} characters of ${size} bytes`,
      )
      const { place } = decodePageState(given, query, limits)
      // A page state keeps only empty arrays and objects: a sort treats all arrays as equal, and
      // all objects as equal.
      assert.deepEqual(place, { kind: 'sorted', key: [value, [], new Map(), 'id'] })
    }
  })

  test('can contain the longest value of a row', () => {
    const key = ['€'.repeat(limits.documentLengthMax), 'id']
    const given = encodePageState(
      { count: 1, place: { kind: 'sorted', key } },
      query,
      paged,
    )
    assert.deepEqual(decodePageState(given, query, limits).place, { kind: 'sorted', key })
  })

  test('are not created when they would be rejected', () => {
    const state = (length: number): PageState => ({
      count: 1,
      place: { kind: 'engine', position: 'p'.repeat(length) },
    })
    const bounds = { ...limits, bodySizeMax: 10_000 }
    const bounded = { ...paged, limits: bounds }
    const given = encodePageState(state(6_200), query, bounded)
    assert.equal(decodePageState(given, query, bounds).count, 1)
    assert.throws(() => encodePageState(state(6_300), query, bounded), {
      code: 'UNSUPPORTED_PAGINATION_WITH_LONG_VALUES',
      message:
        /values of "s", the primary key of the last row.*maximum is 8333.*limit to no more than.* 20/s,
    })
    assert.throws(
      () =>
        encodePageState(state(6_300), query, { ...bounded, noun: 'document', sort: [] }),
      { message: /values of _id of the last document.*\. Set options\.limit/ },
    )
  })

  test('that version 0.1 created are accepted', () => {
    const old = (kind: string, where: unknown) =>
      Buffer.from(JSON.stringify([1, 20, query, kind, where])).toString('base64url')
    const places = [
      [old('engine', '["n",5]'), { kind: 'engine', position: '["n",5]' }],
      [
        old('sorted', [[], ['x'], ['-Infinity', true], [[1]]]),
        { kind: 'sorted', key: [undefined, 'x', -Infinity, [1]] },
      ],
    ] as const
    for (const [text, place] of places)
      assert.deepEqual(decodePageState(text, query, limits), { count: 20, place })
    assert.throws(
      () => decodePageState(old('engine', 'p'.repeat(1_000_000)), query, limits),
      { message: /more than 1100000 characters/ },
    )
  })

  test('are rejected when they are sent with another query', () => {
    const text = encodePageState(
      { count: 1, place: { kind: 'engine', position: 'p' } },
      query,
      paged,
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

  test('that clients forged are rejected', () => {
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
      ...[[], [0, query, 'engine'], [0, query, 'engine', 5], [0, query, 'sorted', 'p']].map(
        packed,
      ),
      packed([-1, query, 'engine', 'p']),
      packed([0, query, 'elsewhere', 'p']),
      packed([0, query, 'sorted', [[undefined]]]),
      packed([0, query, 'sorted', nested(600)]),
      packed([0, query, 'sorted', Array.from({ length: 100_001 }, () => null)]),
      `${packed([0, query, 'engine', 'p'])}AAAA`,
      packed([0, query, 'engine', 'p']).slice(0, -4),
      // Strings, lists and objects whose stated length exceeds the input.
      ...[5, 6, 7, 8, 9, 10].map((tag) =>
        Buffer.from([2, 9, 1, tag, 255, 255, 255, 127]).toString('base64url'),
      ),
      Buffer.from([2, 9, 255, 255, 255, 255, 255, 255, 127]).toString('base64url'),
      Buffer.from([2, 9, 4, 5, 1, 45]).toString('base64url'),
      Buffer.from([2, 9, 4, 5, 1, 55]).toString('base64url'),
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

  test('preserve every bit of the score of a search', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 9 }),
        fc.constantFrom('all', 'some'),
        (score, id, documentFrequencies, having) => {
          const statistics = { documents: 50, tokens: 2 ** 40, documentFrequencies }
          const state = { count: 20, place: { statistics, score, id, having } as const }
          const text = encodeSearchState(state, query, paged)
          const { length } = documentFrequencies
          const decoded = (termCount: number, operator: LexicalOperator) =>
            decodeSearchState(text, query, { termCount, operator }, limits)
          const ofAnother = { message: /another query/ }
          assert.deepEqual(decoded(length, 'any'), state)
          assert.throws(() => decoded(length + 1, 'any'), ofAnother)
          if (having === 'all') assert.deepEqual(decoded(length, 'all'), state)
          else assert.throws(() => decoded(length, 'all'), ofAnother)
        },
      ),
      { seed },
    )
  })

  test('that a search returned are rejected when they are changed, or used by another kind of find', () => {
    const score = Buffer.from(Float64Array.of(1.5).buffer).toString('base64url')
    const forged = (where: unknown, count: unknown = 20, kind = 'scored') =>
      Buffer.from(JSON.stringify([1, count, query, kind, where])).toString('base64url')
    const good = forged([score, 'id', 9, 30, 4, 5])
    const asked = { termCount: 2, operator: 'any' } as const
    assert.equal(decodeSearchState(good, query, asked, limits).place.score, 1.5)
    assert.throws(() => decodePageState(good, query, limits), {
      code: 'COMMAND_FIELD_VALUE_INVALID',
    })
    const noScore = Buffer.from(Float64Array.of(NaN).buffer).toString('base64url')
    for (const text of [
      forged('p', 20, 'engine'),
      packed([20, query, 'scored', [NaN, 'id', 9, 30, 4, 5]]),
      packed([20, query, 'scored', ['1.5', 'id', 9, 30, 4, 5]]),
      packed([20, query, 'scored', [1.5, undefined, 9, 30, 4, 5]]),
      packed([20, query, 'scored', [1.5, 'id', 9, 30, 4, 10]]),
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
        () => decodeSearchState(text, query, asked, limits),
        { code: 'COMMAND_FIELD_VALUE_INVALID' },
        Buffer.from(text, 'base64url').toString(),
      )
  })

  test('treat an absent clause and an empty one as the same query', () => {
    assert.equal(nameQuery(undefined), nameQuery(new Map()))
  })
})
