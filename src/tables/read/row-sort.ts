/** Sorts of rows, parsed. */
import type { Column } from '../../language/columns/column.ts'
import type { RowSortKey } from '../../language/columns/row-filter.ts'

export type RowSort =
  /** A sort by columns. No keys: the stored order. */
  | { readonly kind: 'values'; readonly keys: readonly RowSortKey[] }
  | { readonly kind: 'vector'; readonly column: Column; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly column: Column; readonly text: string }
  /** Terms are distinct and not empty. */
  | {
      readonly kind: 'lexical'
      readonly column: Column
      readonly terms: readonly string[]
      readonly text: string
    }
