/** What clusters with an index of terms are asked, which none that tests can start has. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller } from '../../../src/caller.ts'
import { conditionsOf } from '../../../src/engine/cassandra/documents/columns.ts'
import {
  planFilter,
  withWords,
  type Branch,
} from '../../../src/engine/cassandra/documents/filter-plan.ts'
import {
  selectNearest,
  selectRanked,
} from '../../../src/engine/cassandra/documents/search-documents.ts'
import { searchRanked } from '../../../src/engine/cassandra/lexical/search-ranked.ts'
import type { Collection, SearchPlace } from '../../../src/engine/contract.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import type { Filter } from '../../../src/language/filters/filter.ts'
import { pathOf } from '../../model/random.ts'

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
const start = 'SELECT doc_json, tx_id FROM "ks"."Books"'
const match: Filter = {
  kind: 'match',
  path: pathOf('$lexical'),
  terms: ['owl', 'night'],
  text: 'Owls at night',
}
const year: Filter = { kind: 'eq', path: pathOf('year'), value: 1961 }

function branchOf(filter: Filter): Branch {
  const plan = planFilter(filter)
  assert(plan.kind === 'branches')
  const branches = withWords(plan.branches, filter)
  assert.equal(branches.length, 1)
  return branches[0]!
}

describe('documents', () => {
  test('with words are asked for by what the request says', () => {
    assert.deepEqual(conditionsOf(branchOf(match)), {
      text: 'query_lexical_value : ?',
      values: ['Owls at night'],
    })
    assert.deepEqual(conditionsOf(branchOf({ kind: 'and', of: [year, match] })), {
      text: 'array_contains CONTAINS ? AND query_lexical_value : ?',
      values: ['year N1961', 'Owls at night'],
    })
  })

  test('are ranked by words', () => {
    assert.deepEqual(selectRanked(books, branchOf(year), 'Owls', 30), {
      text: `${start} WHERE array_contains CONTAINS ? ORDER BY query_lexical_value BM25 OF ? LIMIT 30`,
      values: ['year N1961', 'Owls'],
    })
    const { text } = selectRanked(books, [], 'Owls', 30)
    assert.equal(text, `${start} ORDER BY query_lexical_value BM25 OF ? LIMIT 30`)
  })

  test('are ranked by a vector', () => {
    assert.deepEqual(selectNearest(books, [], Float32Array.of(1, -0.5), 30), {
      text: `${start} ORDER BY query_vector_value ANN OF ? LIMIT 30`,
      values: [Buffer.from([0x3f, 0x80, 0, 0, 0xbf, 0, 0, 0])],
    })
  })
})

describe('ranks', () => {
  const by = { kind: 'lexical', terms: ['owl'], text: 'owl' } as const
  /** The cluster has so many; every third is left out by the filter. */
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

  test('go on behind the last page', async () => {
    const seen: number[] = []
    let after: SearchPlace | undefined
    for (;;) {
      const { hits, statistics } = await search(50, 10, after).found
      seen.push(...hits.map(({ record }) => record))
      if (hits.length < 10) break
      after = { statistics: statistics!, score: hits.at(-1)!.score, id: 'any' }
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 50 }, (_, rank) => rank).filter((rank) => rank % 3 !== 2),
    )
  })

  test('are asked for in larger numbers where the filter leaves too few', async () => {
    const { asked, found } = search(5_000, 400)
    assert.equal((await found).hits.length, 400)
    assert.deepEqual(asked, [800])
    const wide = search(5_000, 600)
    assert.equal((await wide.found).hits.length, 600)
    assert.deepEqual(wide.asked, [1_000])
  })

  test('end where the cluster ranks no more, and that is said', async () => {
    await assert.rejects(
      search(5_000, 700).found,
      (error) => error instanceof EngineError && error.kind === 'unsupported',
    )
  })
})
