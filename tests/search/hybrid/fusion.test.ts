import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Value } from '../../../src/json/value.ts'
import { compareReranked, fuse, type Reranked } from '../../../src/search/hybrid/fusion.ts'
import { seed } from '../../language/documents.ts'

const keyOf = (item: string) => item

describe('fusion', () => {
  test('adds up 1 / (60 + rank) over the searches that found a document', () => {
    const fused = fuse({ vector: ['a', 'b', 'c'], bm25: ['c', 'd'] }, keyOf)
    assert.deepEqual(fused, [
      { item: 'a', vectorRank: 1, bm25Rank: null, rrf: 1 / 61 },
      { item: 'b', vectorRank: 2, bm25Rank: null, rrf: 1 / 62 },
      { item: 'c', vectorRank: 3, bm25Rank: 1, rrf: 1 / 63 + 1 / 61 },
      { item: 'd', vectorRank: null, bm25Rank: 2, rrf: 1 / 62 },
    ])
  })

  test('returns the document of the vector search when both searches found it', () => {
    const vector = [{ id: 1, from: 'vector' }]
    const bm25 = [{ id: 1, from: 'bm25' }]
    const [fused, ...others] = fuse({ vector, bm25 }, ({ id }) => String(id))
    assert.equal(fused!.item.from, 'vector')
    assert.deepEqual(others, [])
  })

  test('returns an empty list for empty lists', () => {
    assert.deepEqual(fuse({ vector: [], bm25: [] }, keyOf), [])
  })

  test('contains every document once, with its rank in each list', () => {
    const found = fc.uniqueArray(fc.string({ maxLength: 2 }), { maxLength: 20 })
    fc.assert(
      fc.property(found, found, (vector, bm25) => {
        const fused = fuse({ vector, bm25 }, keyOf)
        const all = new Set([...vector, ...bm25])
        assert.deepEqual(new Set(fused.map(({ item }) => item)), all)
        assert.equal(fused.length, all.size)
        for (const { item, vectorRank, bm25Rank, rrf } of fused) {
          assert.equal((vectorRank ?? 0) - 1, vector.indexOf(item))
          assert.equal((bm25Rank ?? 0) - 1, bm25.indexOf(item))
          const sum = [vectorRank, bm25Rank]
            .filter((rank) => rank !== null)
            .reduce((total, rank) => total + 1 / (60 + rank), 0)
          assert.equal(rrf, sum)
        }
      }),
      { seed },
    )
  })
})

describe('reranked documents', () => {
  const reranked = (id: Value, rerank = 0, rrf = 0): Reranked => ({ id, rerank, rrf })
  const ordered = (documents: readonly Reranked[]) =>
    documents.toSorted(compareReranked).map(({ id }) => id)

  test('are sorted by the score of the reranker, which may be negative', () => {
    assert.deepEqual(
      ordered([reranked('a', -3.5), reranked('b', 2), reranked('c', -0.5)]),
      ['b', 'c', 'a'],
    )
  })

  test('with equal scores are sorted by their ranks in the searches', () => {
    assert.deepEqual(
      ordered([reranked('a', 1, 1 / 62), reranked('b', 1, 1 / 61), reranked('c', 2, 0)]),
      ['c', 'b', 'a'],
    )
  })

  test('with equal scores and ranks are sorted by the type of their id, then by its text', () => {
    const uuid = new Map([['$uuid', '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f']])
    const big = { decimal: '123456789012345678901' }
    const ascending: Value[] = [false, true, null, 10, big, 9, uuid, 'A', 'a', 'a b', 'b']
    assert.deepEqual(ordered(ascending.toReversed().map((id) => reranked(id))), ascending)
  })

  test('have the order that results from stable sorts by id, then by ranks, then by score', () => {
    const document = fc.record({
      id: fc.oneof(fc.boolean(), fc.constant(null), fc.integer(), fc.string()),
      rerank: fc.integer({ min: -2, max: 2 }),
      rrf: fc.constantFrom(1 / 61, 1 / 62, 2 / 61),
    })
    const types = ['boolean', 'object', 'number', 'string']
    const unequal = (a: unknown, b: unknown) =>
      types.indexOf(typeof a) - types.indexOf(typeof b) ||
      (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0)
    fc.assert(
      fc.property(fc.array(document), (documents) => {
        const expected = documents
          .toSorted((a, b) => unequal(a.id, b.id))
          .toSorted((a, b) => b.rrf - a.rrf)
          .toSorted((a, b) => b.rerank - a.rerank)
        assert.deepEqual(documents.toSorted(compareReranked), expected)
      }),
      { seed },
    )
  })
})
