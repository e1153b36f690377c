/** Parsed sorts. */
import type { SortKey } from '../values/sort-key.ts'

export type Sort =
  /** A sort by values at paths. No keys: the order is unspecified. */
  | { readonly kind: 'values'; readonly keys: readonly SortKey[] }
  | { readonly kind: 'vector'; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly text: string }
  /** Terms are distinct; there is at least one. */
  | { readonly kind: 'lexical'; readonly terms: readonly string[]; readonly text: string }
