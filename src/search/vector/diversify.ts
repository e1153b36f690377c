/**
 * Chooses diverse results of a search by vector: maximal marginal relevance (Carbonell and
 * Goldstein, 1998, doi:10.1145/290941.291025). Results are chosen one after the other. The next one
 * has the highest value of
 *
 *     (1 - diversity) * similarity(query, d) - diversity * max over chosen s of similarity(d, s)
 *
 * For equal values, the candidate that is more similar to the query comes first. The first result
 * is the most similar one, because no other is chosen yet.
 */
import { Pace, type Steps } from '../../runtime/steps.ts'
import { similarityAmong, type Metric } from './similarity.ts'

export interface Similar {
  /** Similarity to the query. */
  readonly similarity: number
  readonly vector: Float32Array
}

export interface Diversity {
  readonly metric: Metric
  /** Weight of the similarity to chosen results, from 0 to 1. */
  readonly diversity: number
  /** Number of results. */
  readonly count: number
}

/**
 * Positions of the chosen candidates, in the order of the choice. Candidates must be sorted by
 * similarity, best first. Each candidate is compared once with each chosen one, so the time is
 * O(`count` · candidates).
 */
export function* diversify(
  candidates: readonly Similar[],
  { metric, diversity, count }: Diversity,
): Steps<number[]> {
  const similarityOf = similarityAmong(
    metric,
    candidates.map(({ vector }) => vector),
  )
  const pace = new Pace()
  /** Similarity of each candidate to the nearest chosen one. */
  const nearest = new Float64Array(candidates.length).fill(-Infinity)
  const left = [...candidates.keys()]
  const chosen = left.splice(0, 1)
  while (chosen.length < count && left.length > 0) {
    const last = chosen.at(-1)!
    let best = 0
    let bestValue = -Infinity
    for (const [place, position] of left.entries()) {
      const { similarity, vector } = candidates[position]!
      const toChosen = Math.max(nearest[position]!, similarityOf(position, last))
      nearest[position] = toChosen
      const value = (1 - diversity) * similarity - diversity * toChosen
      if (value > bestValue) [best, bestValue] = [place, value]
      pace.spend(Math.ceil(vector.length / numbersPerValue))
      if (pace.isDue()) yield
    }
    chosen.push(...left.splice(best, 1))
  }
  return chosen
}

/** Numbers of two vectors that are multiplied in the time in which a walk visits one value. */
const numbersPerValue = 512
