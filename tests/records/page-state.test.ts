import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  decodePageState,
  encodePageState,
  nameQuery,
  type PageState,
} from '../../src/records/page-state.ts'
import { defaultLimits as limits } from '../../src/limits.ts'
import { json, object } from '../documents/json.ts'
import { seed } from '../query/documents.ts'

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
    ]
    for (const state of states) {
      const text = encodePageState(state, query)
      assert.match(text, /^[\w-]+$/)
      const { count, place } = decodePageState(text, query, limits)
      assert.deepEqual({ count, place }, state)
    }
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

  test('treat an absent clause and an empty one as the same query', () => {
    assert.equal(nameQuery(undefined), nameQuery(new Map()))
  })
})
