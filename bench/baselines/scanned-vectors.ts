/**
 * Baseline for a search without an index: one loop that compares every vector with the
 * query.
 */
import type { Tally } from '../drive.ts'
import { wanted } from '../vectors/exact.ts'
import { makeVectors, type VectorSet } from '../vectors/clusters.ts'
import { repeating, type Contender } from '../turns.ts'

export type ScanQuestion =
  | { readonly seed: number; readonly dimension: number; readonly size: number }
  | { readonly forMs: number }

export type ScanAnswer = Tally

/** The nearest vectors in descending order of dot product. Vectors are normalized. */
function findNearest({ vectors }: VectorSet, query: Float32Array): Int32Array {
  const numbers = new Int32Array(wanted).fill(-1)
  const scores = new Float64Array(wanted).fill(-Infinity)
  for (let i = 0; i < vectors.length; i++) {
    const score = product(vectors[i]!, query)
    if (score <= scores[wanted - 1]!) continue
    let at = wanted - 1
    for (; at > 0 && scores[at - 1]! < score; at--) {
      scores[at] = scores[at - 1]!
      numbers[at] = numbers[at - 1]!
    }
    scores[at] = score
    numbers[at] = i
  }
  return numbers
}

/** Dot product. Four independent sums avoid waiting for the previous addition. */
function product(a: Float32Array, b: Float32Array): number {
  const { length } = a
  const whole = length - (length % 4)
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = 0; i < whole; i += 4) {
    first += a[i]! * b[i]!
    second += a[i + 1]! * b[i + 1]!
    third += a[i + 2]! * b[i + 2]!
    fourth += a[i + 3]! * b[i + 3]!
  }
  let sum = first + second + third + fourth
  for (let i = whole; i < length; i++) sum += a[i]! * b[i]!
  return sum
}

let scan: Contender | undefined

async function answer(question: ScanQuestion): Promise<ScanAnswer> {
  if ('forMs' in question) return scan!.run(question.forMs)
  const set = makeVectors(question.seed, question.dimension, question.size)
  scan = repeating('scan', set.queries.length, (query) =>
    findNearest(set, set.queries[query]!),
  )
  return { requests: 0, elapsedMs: 0 }
}

process.on('message', (question: ScanQuestion) => {
  void answer(question).then((tally) => process.send!(tally))
})
process.on('disconnect', () => process.exit())
