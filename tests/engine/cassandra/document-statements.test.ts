/**
 * Statements for clusters with an index of terms. Tests cannot start such clusters, so they compare
 * statement texts.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller } from '../../../src/caller/caller.ts'
import { conditionsOf } from '../../../src/engine/cassandra/documents/columns.ts'
import type { Branch } from '../../../src/engine/cassandra/documents/filter-plan.ts'
import { planWith } from '../../../src/engine/cassandra/documents/filter-capabilities.ts'
import {
  selectNearest,
  selectRanked,
} from '../../../src/engine/cassandra/documents/search-documents.ts'
import { searchRanked } from '../../../src/engine/cassandra/lexical/search-ranked.ts'
import type { Collection, SearchPlace } from '../../../src/engine/contract.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import type { Filter } from '../../../src/language/filters/filter.ts'
import { pathOf } from '../../model/random.ts'
import type { Value } from '../../../src/json/value.ts'

const books: Collection = {
  kind: 'collection',
  keyspace: 'ks',
  name: 'Books',
  uid: '1',
  options: {
    vector: { dimension: 2, metric: 'cosine', sourceModel: 'other' },
    lexical: { enabled: true, analyzer: 'standard' },
    rerank: { enabled: false },
  },
}
const start = 'SELECT doc_json, tx_id FROM "ks"."Books" /* 1 */'
const match: Filter = {
  kind: 'match',
  path: pathOf('$lexical'),
  terms: ['owl', 'night'],
  text: 'Owls at night',
}
const year: Filter = { kind: 'eq', path: pathOf('year'), value: 1961 }

const everything = { or: true, negations: true, ranges: true, words: true }
const onlyWords = { or: false, negations: false, ranges: false, words: true }

function branchOf(filter: Filter, more = onlyWords): Branch {
  const plan = planWith(filter, more)
  assert(plan.kind === 'branches')
  assert.equal(plan.branches.length, 1)
  return plan.branches[0]!
}

describe('documents on a cluster', () => {
  test('are selected by $match with the text of the request as the value', () => {
    assert.deepEqual(conditionsOf(branchOf(match)), {
      text: 'query_lexical_value : ?',
      values: ['Owls at night'],
    })
    assert.deepEqual(conditionsOf(branchOf({ kind: 'and', of: [year, match] })), {
      text: 'array_contains CONTAINS ? AND query_lexical_value : ?',
      values: ['year N1961', 'Owls at night'],
    })
  })

  test('are selected with one statement if the cluster supports OR', () => {
    const date: Value = new Map([['$date', 5]])
    const cases: [Filter, string, readonly unknown[]][] = [
      [
        { kind: 'or', of: [year, { kind: 'exists', path: pathOf('a.b'), exists: false }] },
        '(array_contains CONTAINS ? OR exist_keys NOT CONTAINS ?)',
        ['year N1961', 'a.b'],
      ],
      [
        {
          kind: 'or',
          of: [
            { kind: 'and', of: [year, match] },
            { ...year, kind: 'eq', value: null },
          ],
        },
        '((array_contains CONTAINS ? AND query_lexical_value : ?) OR query_null_values CONTAINS ?)',
        ['year N1961', 'Owls at night', 'year'],
      ],
      [
        { kind: 'in', path: pathOf('a'), values: ['x', true] },
        '(array_contains CONTAINS ? OR array_contains CONTAINS ?)',
        ['a Sx', 'a B1'],
      ],
      [
        {
          kind: 'and',
          of: [{ kind: 'nin', path: pathOf('a'), values: ['x', 1, null] }, year],
        },
        'array_contains CONTAINS ? AND array_contains NOT CONTAINS ? AND array_contains NOT CONTAINS ? ' +
          'AND query_null_values NOT CONTAINS ? AND array_contains NOT CONTAINS ?',
        ['year N1961', 'a Sx', 'a N1', 'a', 'a Z'],
      ],
      [{ kind: 'notSize', path: pathOf('a'), size: 2 }, 'array_size[?] != ?', ['a', 2]],
      [
        { kind: 'gte', path: pathOf('a'), value: date },
        'query_timestamp_values[?] >= ?',
        ['a', new Date(5)],
      ],
    ]
    for (const [filter, text, values] of cases)
      assert.deepEqual(conditionsOf(branchOf(filter, everything)), { text, values })
    const { text, values } = conditionsOf(
      branchOf({ kind: 'lt', path: pathOf('a'), value: 2.5 }, everything),
    )
    assert.equal(text, 'query_dbl_values[?] < ?')
    assert.deepEqual(values.map(String), ['a', '2.5'])
  })

  test('are not selected by a condition that could exclude a match', () => {
    const unsure: Filter[] = [
      // The index entry "a Sb Sc" is ambiguous: it means the path "a" with the text "b Sc", or the
      // path "a Sb" with the text "c".
      { kind: 'ne', path: pathOf('a'), value: 'b Sc' },
      { kind: 'ne', path: pathOf('a'), value: ['x'] },
      { kind: 'notAll', path: pathOf('a'), values: [1] },
      { kind: 'or', of: [year, { kind: 'ne', path: pathOf('a'), value: ['x'] }] },
      { kind: 'ne', path: pathOf('_id'), value: 1 },
    ]
    for (const filter of unsure) assert.deepEqual(branchOf(filter, everything), [])
    const text: Filter = { kind: 'gt', path: pathOf('a'), value: 'x' }
    assert.deepEqual(branchOf(text, everything), [{ kind: 'exists', path: 'a' }])
  })

  test('are ranked by BM25 of their text', () => {
    assert.deepEqual(selectRanked(books, branchOf(year), 'Owls', 30), {
      text: `${start} WHERE array_contains CONTAINS ? ORDER BY query_lexical_value BM25 OF ? LIMIT 30`,
      values: ['year N1961', 'Owls'],
    })
    const { text } = selectRanked(books, [], 'Owls', 30)
    assert.equal(text, `${start} ORDER BY query_lexical_value BM25 OF ? LIMIT 30`)
  })

  test('are ranked by their similarity to a vector', () => {
    assert.deepEqual(selectNearest(books, [], Float32Array.of(1, -0.5), 30), {
      text: `${start} ORDER BY query_vector_value ANN OF ? LIMIT 30`,
      values: [Buffer.from([0x3f, 0x80, 0, 0, 0xbf, 0, 0, 0])],
    })
  })
})

describe('a ranked search', () => {
  const by = { kind: 'lexical', terms: ['owl'], text: 'owl', having: 'all' } as const
  /** Searches a cluster that ranks `count` documents. The filter rejects every third document. */
  const search = (count: number, limit: number, after?: SearchPlace) => {
    const asked: number[] = []
    const ask = (most: number) => {
      asked.push(most)
      const ranked = Array.from({ length: Math.min(count, most) }, (_, rank) =>
        rank % 3 === 2 ? undefined : rank,
      )
      return Promise.resolve(ranked)
    }
    const found = searchRanked({ by, limit, after }, ask, () => 1, ownCaller())
    return { asked, found }
  }

  test('continues after the previous page', async () => {
    const seen: number[] = []
    let after: SearchPlace | undefined
    for (;;) {
      const { hits } = await search(50, 10, after).found
      seen.push(...hits.map(({ record }) => record))
      if (hits.length < 10) break
      after = { score: hits.at(-1)!.score, id: 'any' }
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 50 }, (_, rank) => rank).filter((rank) => rank % 3 !== 2),
    )
  })

  test('requests more documents when the filter leaves too few', async () => {
    const { asked, found } = search(5_000, 400)
    assert.equal((await found).hits.length, 400)
    assert.deepEqual(asked, [800])
    const wide = search(5_000, 600)
    assert.equal((await wide.found).hits.length, 600)
    assert.deepEqual(wide.asked, [1_000])
  })

  test('fails when the cluster ranks no further documents', async () => {
    await assert.rejects(
      search(5_000, 700).found,
      (error) => error instanceof EngineError && error.kind === 'unsupported',
    )
  })
})
