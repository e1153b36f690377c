/**
 * Combines the results of two searches, and defines the order of reranked documents.
 *
 * Reciprocal rank fusion is by Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms
 * Condorcet and individual rank learning methods" (SIGIR 2009). Ranks start at 1, and greater
 * scores are better:
 *
 *   rrf(d) = sum of 1 / (60 + rank of d), over the searches that found d
 *
 * The reranker's score determines the order; rrf only breaks ties.
 */
import { printJson } from '../../json/print.ts'
import { jsonTypeOf, type JsonType, type Value } from '../../json/value.ts'

/** A result of one or both searches. The rank is null for a search that did not find it. */
export interface Fused<Item> {
  /**
   * The item of the vector search, or of the term search if the vector search did not find the
   * document.
   */
  readonly item: Item
  readonly vectorRank: number | null
  readonly bm25Rank: number | null
  readonly rrf: number
}

/**
 * The union of two lists, each of which is ordered best first. Equal keys identify the same
 * document. The result is not ordered by rrf.
 */
export function fuse<Item>(
  lists: { readonly vector: readonly Item[]; readonly bm25: readonly Item[] },
  keyOf: (item: Item) => string,
): readonly Fused<Item>[] {
  const fused = new Map<string, Fused<Item>>()
  for (const [i, item] of lists.vector.entries()) {
    const vectorRank = i + 1
    fused.set(keyOf(item), { item, vectorRank, bm25Rank: null, rrf: rrfOf(vectorRank) })
  }
  for (const [i, item] of lists.bm25.entries()) {
    const bm25Rank = i + 1
    const key = keyOf(item)
    const found = fused.get(key) ?? { item, vectorRank: null, rrf: 0 }
    fused.set(key, { ...found, bm25Rank, rrf: found.rrf + rrfOf(bm25Rank) })
  }
  return [...fused.values()]
}

/** Limits the influence of the first few ranks. */
const rankConstant = 60

function rrfOf(rank: number): number {
  return 1 / (rankConstant + rank)
}

export interface Reranked {
  readonly id: Value
  /** The reranker's score; greater is more relevant. */
  readonly rerank: number
  readonly rrf: number
}

/** Best first; ties in both scores are ordered by the type of the id, then by its text. */
export function compareReranked(a: Reranked, b: Reranked): number {
  return b.rerank - a.rerank || b.rrf - a.rrf || compareIds(a.id, b.id)
}

function compareIds(a: Value, b: Value): number {
  return (
    idTypes.indexOf(jsonTypeOf(a)) - idTypes.indexOf(jsonTypeOf(b)) ||
    compareTexts(textOf(a), textOf(b))
  )
}

const idTypes: readonly JsonType[] = ['Boolean', 'Null', 'Number', 'Object', 'String']

function textOf(id: Value): string {
  return typeof id === 'string' ? id : printJson(id)
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
