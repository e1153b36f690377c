import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import type { SegmentShape } from '../../../src/search/vector/segment.ts'
import { distanceFrom } from '../../../src/search/vector/similarity.ts'
import { VectorIndex, VectorView } from '../../../src/search/vector/vector-index.ts'
import { nearest, randomFrom, recall, vectorsFrom } from './vectors.ts'

const seed = Number(process.env['SEED'] ?? 4711)

function shapeOf(capacity: number): SegmentShape {
  return { dimension: 32, metric: 'cosine', bits: 8, capacity, breadth: 128, threads: 3 }
}

function viewOf(index: VectorIndex, thread = 1): VectorView {
  return new VectorView(
    index.segments.map(({ shared }) => shared),
    thread,
  )
}

describe(`an index of several segments (seed ${seed})`, () => {
  /** Builds an index with 500 vectors per segment. Some vectors are removed or replaced. */
  function build() {
    const make = vectorsFrom(seed, 32)
    const random = randomFrom(seed)
    const index = VectorIndex.create(shapeOf(500))
    const vectors = new Map<number, Float32Array>()
    const put = (document: number, vector: Float32Array | undefined): void => {
      index.put(document, vector)
      if (vector === undefined) vectors.delete(document)
      else vectors.set(document, vector)
    }
    for (let i = 1; i <= 2200; i++) put(i, make())
    for (let i = 0; i < 300; i++) put(1 + Math.floor(random() * 2200), make())
    for (let i = 0; i < 300; i++) put(1 + Math.floor(random() * 2200), undefined)
    while (index.work());
    return { index, vectors, make }
  }

  test('finds at least 0.95 of the results of a full scan', () => {
    const { index, vectors, make } = build()
    assert(index.segments.length >= 5, `${index.segments.length} segments`)
    assert.equal(index.count, vectors.size)
    const view = viewOf(index)
    const queries = Array.from({ length: 30 }, make)
    const bestOf = (query: Float32Array, documents: readonly number[]) => {
      assert.equal(new Set(documents).size, documents.length, 'found twice')
      const distanceOf = distanceFrom('cosine', query)
      return documents
        .toSorted((a, b) => distanceOf(vectors.get(a)!) - distanceOf(vectors.get(b)!))
        .slice(0, 10)
    }
    const even = (document: number): boolean => document % 2 === 0
    const some = Float64Array.from([...vectors.keys()].filter((n) => n % 7 === 0))
    for (const [matches, find] of [
      [undefined, (query: Float32Array) => view.search(query, 128)],
      [even, (query: Float32Array) => view.searchMatching(query, 128, even, 'even')],
      [(n: number) => n % 7 === 0, (query: Float32Array) => view.scan(query, 128, some)],
    ] as const) {
      const found = queries.map((query) =>
        bestOf(
          query,
          find(query).map(({ document }) => document),
        ),
      )
      const expected = queries.map((query) =>
        nearest('cosine', query, vectors, 10, matches),
      )
      const reached = recall(expected, found)
      assert(reached >= 0.95, `recall ${reached}`)
    }
  })

  test('sorts the candidates of all segments by distance', () => {
    const { index, make } = build()
    const candidates = viewOf(index).search(make(), 200)
    const distances = candidates.map(({ distance }) => distance)
    assert.deepEqual(
      distances,
      distances.toSorted((a, b) => a - b),
    )
  })

  test('holds a document in one segment only, even if its vector moved to another segment', () => {
    const { index, vectors } = build()
    const view = viewOf(index)
    for (const [document, vector] of vectors) {
      const found = view.scan(vector, 10, Float64Array.of(document))
      assert.deepEqual(
        found.map((candidate) => candidate.document),
        [document],
      )
    }
  })
})

test('other threads can search an index while it changes', async () => {
  const make = vectorsFrom(seed, 32)
  const index = VectorIndex.create(shapeOf(20_000))
  for (let i = 1; i <= 3000; i++) index.put(i, make())
  while (index.work());
  const flag = new Int32Array(new SharedArrayBuffer(8))
  const searchers = [1, 2].map(
    (thread) =>
      new Worker(new URL('searching-thread.ts', import.meta.url), {
        execArgv: ['--disable-warning=ExperimentalWarning'],
        workerData: {
          index: index.segments.map(({ shared }) => shared),
          thread,
          flag,
          seed: seed + thread,
        },
      }),
  )
  const results = searchers.map((searcher) => once(searcher, 'message'))
  // Waits until both workers have started.
  while (Atomics.load(flag, 1) < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  // Documents 1 to 1 500 stay. The others are removed and added repeatedly.
  for (let round = 0; round < 6; round++)
    for (let i = 1501; i <= 3000; i++) {
      index.put(i, round % 2 === 0 ? undefined : make())
      if (i % 10 === 0) index.work()
    }
  while (index.work());
  Atomics.store(flag, 0, 1)
  for (const result of results) {
    const [{ searches, odd }] = (await result) as [{ searches: number; odd: string[] }]
    assert.deepEqual(odd, [])
    assert(searches > 0)
  }
})
