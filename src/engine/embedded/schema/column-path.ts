/**
 * The paths under which the store knows the columns of a table. They are made of the column's
 * id, so that a column which comes back under an old name is another one, and no name can be
 * taken for `_id` or a search field.
 */
import type { ColumnPart } from '../../../language/columns/column.ts'
import type { Path } from '../../../language/values/path.ts'

/** `folded`: as an index with options for texts makes them comparable. */
export function columnPath(id: number, part: ColumnPart = 'value', folded = false): Path {
  const text = `c${id}${letters[part]}${folded ? 'n' : ''}`
  return { text, segments: [text] }
}

const letters: Readonly<Record<ColumnPart, string>> = { value: '', keys: 'k', values: 'v' }
