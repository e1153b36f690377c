/** Selections of documents in a grid. A selection is a set of keys of documents. */

export type Selection = ReadonlySet<string>

export const nothingSelected: Selection = new Set()

export function toggleKey(selected: Selection, key: string): Selection {
  const changed = new Set(selected)
  if (!changed.delete(key)) changed.add(key)
  return changed
}

/**
 * Adds the rows from `anchor` to `row` to the selection, in either direction. Without an anchor,
 * adds only `row`.
 */
export function selectRange(
  selected: Selection,
  keys: readonly string[],
  anchor: number | undefined,
  row: number,
): Selection {
  const from = Math.min(anchor ?? row, row)
  const to = Math.max(anchor ?? row, row)
  return new Set([...selected, ...keys.slice(from, to + 1)])
}

/** Selects all rows of the page, or none if all are selected. */
export function togglePage(selected: Selection, keys: readonly string[]): Selection {
  return isPageSelected(selected, keys) ? nothingSelected : new Set(keys)
}

export function isPageSelected(selected: Selection, keys: readonly string[]): boolean {
  return keys.length > 0 && keys.every((key) => selected.has(key))
}
