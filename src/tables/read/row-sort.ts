/** Parsed sorts of rows. */
import type { Column } from '../../language/columns/column.ts'
import type { RowSortKey } from '../../language/columns/row-filter.ts'
import type { LexicalSort } from '../../language/sorts/sort.ts'

export type RowSort =
  /** A sort by columns. No keys: the stored order. */
  | { readonly kind: 'values'; readonly keys: readonly RowSortKey[] }
  | { readonly kind: 'vector'; readonly column: Column; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly column: Column; readonly text: string }
  | ({ readonly kind: 'lexical'; readonly column: Column } & LexicalSort)
