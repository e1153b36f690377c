/** Sorts of rows, parsed. */
import type { Column } from '../../language/columns/column.ts'
import type { RowSortKey } from '../../language/columns/row-filter.ts'

export type RowSort =
  /** No keys: the order in which rows are stored. */
  | { readonly kind: 'values'; readonly keys: readonly RowSortKey[] }
  | { readonly kind: 'vector'; readonly column: Column; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly column: Column; readonly text: string }
  /** Terms are distinct, and at least one. */
  | {
      readonly kind: 'lexical'
      readonly column: Column
      readonly terms: readonly string[]
      readonly text: string
    }
