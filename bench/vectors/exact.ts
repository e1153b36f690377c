/** Exact results, from which recall is computed: compares every vector with every query. */
import { groupOf, shares, type Share, type VectorSet } from './clusters.ts'

/** Number of neighbours that every search returns; recall@10 refers to it. */
export const wanted = 10

export interface Truth {
  /** Nearest neighbours of each query. */
  readonly all: readonly (readonly number[])[]
  /** Nearest neighbours among the documents that match a share. */
  readonly matching: ReadonlyMap<Share, readonly (readonly number[])[]>
}

export function findTruth({ vectors, queries, dimension }: VectorSet): Truth {
  const all = queries.map(() => new Best())
  const matching = shares.map((share) => ({
    share,
    bests: queries.map(() => new Best()),
  }))
  const fours = inFours(queries, dimension)
  const near = new Float64Array(4)
  for (const [i, vector] of vectors.entries()) {
    const bests = [
      all,
      ...matching.filter(({ share }) => groupOf(i, share) === 0).map(({ bests }) => bests),
    ]
    for (const [f, four] of fours.entries()) {
      compareFour(four, vector, near)
      const end = Math.min(4, queries.length - f * 4)
      for (const best of bests)
        for (let k = 0; k < end; k++) best[f * 4 + k]!.offer(i, near[k]!)
    }
  }
  const numbersOf = (bests: readonly Best[]) => bests.map(({ numbers }) => numbers)
  return {
    all: numbersOf(all),
    matching: new Map(matching.map(({ share, bests }) => [share, numbersOf(bests)])),
  }
}

/** Share of the exact neighbours that `find` returns. */
export function recallOf(
  truth: readonly (readonly number[])[],
  find: (query: number) => ArrayLike<number>,
): number {
  let found = 0
  let expected = 0
  for (const [query, nearest] of truth.entries()) {
    const got = new Set(Array.from(find(query)))
    expected += nearest.length
    for (const number of nearest) if (got.has(number)) found++
  }
  return expected === 0 ? 1 : found / expected
}

/** Keeps the `wanted` best vectors, in descending order of score. */
class Best {
  readonly numbers: number[] = []
  readonly #scores: number[] = []

  offer(number: number, score: number): void {
    let at = this.numbers.length
    if (at === wanted && score <= this.#scores[wanted - 1]!) return
    while (at > 0 && this.#scores[at - 1]! < score) at--
    this.numbers.splice(at, 0, number)
    this.#scores.splice(at, 0, score)
    if (this.numbers.length > wanted) {
      this.numbers.pop()
      this.#scores.pop()
    }
  }
}

/**
 * Interleaves four queries component by component. Comparing them together takes half the time of
 * comparing each.
 */
function inFours(queries: readonly Float32Array[], dimension: number): Float64Array[] {
  return Array.from({ length: Math.ceil(queries.length / 4) }, (_, f) =>
    Float64Array.from(
      { length: dimension * 4 },
      (_, j) => queries[f * 4 + (j % 4)]?.[j >> 2] ?? 0,
    ),
  )
}

/**
 * Compares a vector with four queries. All vectors are normalized, so the dot product is the
 * similarity.
 */
function compareFour(four: Float64Array, vector: Float32Array, near: Float64Array): void {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let i = 0, j = 0; i < vector.length; i++, j += 4) {
    const number = vector[i]!
    a += number * four[j]!
    b += number * four[j + 1]!
    c += number * four[j + 2]!
    d += number * four[j + 3]!
  }
  near[0] = a
  near[1] = b
  near[2] = c
  near[3] = d
}
