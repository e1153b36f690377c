/**
 * A worker thread that searches an index while another thread changes it. It runs until that thread
 * stops it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { VectorView, type SharedIndex } from '../../../src/search/vector/vector-index.ts'
import { vectorsFrom } from './vectors.ts'

const { index, thread, flag, seed } = workerData as {
  index: SharedIndex
  thread: number
  flag: Int32Array
  seed: number
}
const view = new VectorView(index, thread)
const make = vectorsFrom(seed, 32)
const odd: string[] = []
let searches = 0
Atomics.add(flag, 1, 1)
while (Atomics.load(flag, 0) === 0 && odd.length < 5) {
  // Alternates between walks of the graph, walks with a filter, and scans.
  const query = make()
  const isEven = (n: number) => n % 2 === 0
  const name = `half ${searches}`
  let found =
    searches % 3 === 0
      ? view.search(query, 64)
      : searches % 3 === 1
        ? view.searchMatching(query, 64, isEven, name)
        : view.scan(
            query,
            64,
            Float64Array.from({ length: 1500 }, (_, i) => i + 1),
          )
  // A walk with a filter may end with too few results. Then the search scans all vectors.
  if (searches % 3 === 1 && found.length < 30)
    found = view.scanMatching(query, 64, isEven, name)
  searches++
  // 1 500 documents never change, so every search must find at least 30 results.
  if (found.length < 30) odd.push(`only ${found.length} found by search ${searches - 1}`)
  for (const { document, distance } of found)
    if (!(document >= 1 && document <= 3000) || !Number.isFinite(distance))
      odd.push(`found ${document} at ${distance}`)
}
parentPort!.postMessage({ searches, odd })
