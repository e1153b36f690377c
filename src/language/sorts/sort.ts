/** Sorts, parsed. */
import type { SortKey } from '../values/sort-key.ts'

export type Sort =
  /** No keys: any order. */
  | { readonly kind: 'values'; readonly keys: readonly SortKey[] }
  | { readonly kind: 'vector'; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly text: string }
  /** Terms are distinct, and at least one. */
  | { readonly kind: 'lexical'; readonly terms: readonly string[]; readonly text: string }
