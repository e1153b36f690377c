/**
 * Measures of ranked results, as trec_eval defines them: the grade of a judgement is its gain, and
 * documents without a judgement have none.
 */

/** Grades of the judged documents of a query, by document id. Greater is more relevant. */
export type Judgements = ReadonlyMap<string, number>

export interface Quality {
  /** Mean of nDCG at 10. */
  readonly ndcg: number
  /** Mean share of the relevant documents that are among the first 100 results. */
  readonly recall: number
  /** Share of queries without any result. */
  readonly empty: number
}

const ndcgDepth = 10
export const recallDepth = 100

/** Means over all queries. `ranked` has the ids that each query found, best first. */
export function measureQuality(
  ranked: readonly (readonly string[])[],
  judgements: readonly Judgements[],
): Quality {
  const mean = (of: (ids: readonly string[], judged: Judgements) => number) =>
    ranked.reduce((sum, ids, i) => sum + of(ids, judgements[i]!), 0) / ranked.length
  return {
    ndcg: mean(ndcgOf),
    recall: mean(recallOf),
    empty: mean((ids) => (ids.length === 0 ? 1 : 0)),
  }
}

/**
 * Normalized discounted cumulative gain, after Järvelin and Kekäläinen (2002):
 *
 *   DCG = sum over ranks r of gain(r) / log2(1 + r),   nDCG = DCG / DCG of the best order
 */
export function ndcgOf(ids: readonly string[], judged: Judgements): number {
  const gains = ids.map((id) => judged.get(id) ?? 0)
  const best = [...judged.values()].sort((a, b) => b - a)
  return discounted(gains) / discounted(best)
}

export function recallOf(ids: readonly string[], judged: Judgements): number {
  const relevant = [...judged].filter(([, grade]) => grade > 0)
  const found = new Set(ids.slice(0, recallDepth))
  return relevant.filter(([id]) => found.has(id)).length / relevant.length
}

function discounted(gains: readonly number[]): number {
  return gains
    .slice(0, ndcgDepth)
    .reduce((sum, gain, i) => sum + Math.max(0, gain) / Math.log2(i + 2), 0)
}
