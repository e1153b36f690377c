/**
 * Paths of table columns in the store. They contain the column's id, so a column that reuses the
 * name of a dropped column has another path, and no name collides with `_id` or a search field.
 */
import type { ColumnPart } from '../../../language/columns/column.ts'
import type { Path } from '../../../language/values/path.ts'

/**
 * Path of a column or a part of it. `folded`: the path of the folded values, which an index with
 * text options compares.
 */
export function columnPath(id: number, part: ColumnPart = 'value', folded = false): Path {
  const text = `c${id}${letters[part]}${folded ? 'n' : ''}`
  return { text, segments: [text] }
}

const letters: Readonly<Record<ColumnPart, string>> = { value: '', keys: 'k', values: 'v' }
