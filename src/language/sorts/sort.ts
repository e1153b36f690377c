/** Parsed sorts. */
import type { SortKey } from '../values/sort-key.ts'

export type Sort =
  /** A sort by values at paths. Without keys, the order is unspecified. */
  | { readonly kind: 'values'; readonly keys: readonly SortKey[] }
  | { readonly kind: 'vector'; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly text: string }
  | ({ readonly kind: 'lexical' } & LexicalSort)

/** A sort by terms. The terms are distinct, and there is at least one. */
export interface LexicalSort {
  readonly terms: readonly string[]
  /** The text from which the terms were analyzed. */
  readonly text: string
  readonly operator: LexicalOperator
}

/**
 * Records that a sort by terms returns: those with all terms, or those with any of them. Records
 * with all terms come first.
 */
export type LexicalOperator = (typeof lexicalOperators)[number]

export const lexicalOperators = ['any', 'all'] as const

/** The operator of a sort by terms. Other sorts have no operator: the result is `all`. */
export function operatorOf(sort: Sort): LexicalOperator {
  return sort.kind === 'lexical' ? sort.operator : 'all'
}
