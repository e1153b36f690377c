/**
 * The paths under which filters, sorts and indexes know the columns of a table. They are
 * made of the column's id, so that a column which comes back under an old name is another
 * one, and no name can be taken for `_id` or a search field.
 */
import type { Path } from '../values/path.ts'

/** A column's value, or of a map its entries (`value` as well), keys or values. */
export type ColumnPart = 'value' | 'keys' | 'values'

/** `folded`: as an index with options for texts makes them comparable. */
export function columnPath(id: number, part: ColumnPart = 'value', folded = false): Path {
  const text = `c${id}${letters[part]}${folded ? 'n' : ''}`
  return { text, segments: [text] }
}

const letters: Readonly<Record<ColumnPart, string>> = { value: '', keys: 'k', values: 'v' }
