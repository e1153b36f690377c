/** Columns of a table of documents: names, widths and positions. */
import { keyColumns, type Place } from '../api/place.ts'
import { cutName, shortText } from '../json/value-text.ts'
import { Numeral, type JsonObject } from '../json/value.ts'
import { canOpen } from './document-lines.ts'

export interface ShownColumn {
  readonly name: string
  readonly width: number
  /** Distance from the left edge, in pixels. */
  readonly left: number
  /** Whether the values are numbers, which are aligned on the right. */
  readonly isNumeric: boolean
}

const widthMin = 72
const widthMax = 320
const letterWidth = 7.8
const padding = 30

export const narrowest = 48
export const widest = 1200

/**
 * All fields of the documents: the key and the similarity, then the other fields in order of
 * appearance.
 */
export function listFields(
  place: Place,
  documents: readonly JsonObject[],
): readonly string[] {
  const names = new Set<string>(place.kind === 'table' ? keyColumns(place) : ['_id'])
  if (documents.some((document) => document.has('$similarity'))) names.add('$similarity')
  for (const name of place.table.columns.keys()) names.add(name)
  for (const document of documents) for (const name of document.keys()) names.add(name)
  return [...names]
}

/** Guessed widths and alignments of columns by name. */
export type ColumnGuesses = Map<string, Pick<ShownColumn, 'width' | 'isNumeric'>>

/**
 * Positions of the visible columns. Widths that the user has set take precedence over guesses.
 * Guesses are kept in `guesses`, so that columns do not move when another page has other values.
 */
export function layOut(
  names: readonly string[],
  documents: readonly JsonObject[],
  widths: ReadonlyMap<string, number>,
  guesses: ColumnGuesses,
  start: number,
): readonly ShownColumn[] {
  let left = start
  return names.map((name) => {
    const { isNumeric, ...guess } = guesses.get(name) ?? guessColumn(name, documents)
    guesses.set(name, { ...guess, isNumeric })
    const width = widths.get(name) ?? guess.width
    const column = { name, width, left, isNumeric }
    left += width
    return column
  })
}

function guessColumn(name: string, documents: readonly JsonObject[]) {
  const values = documents
    .map((document) => document.get(name))
    .filter((value) => value !== undefined && value !== null)
  const isNumeric = values.length > 0 && values.every((value) => value instanceof Numeral)
  return { width: guessWidth(name, documents), isNumeric }
}

/** Estimates a width from the name and the first values. */
function guessWidth(name: string, documents: readonly JsonObject[]): number {
  let letters = cutName(name).length + 2
  for (const document of documents.slice(0, 12)) {
    const value = document.get(name)
    if (value === undefined) continue
    const mark = canOpen(value) ? 3 : 0
    letters = Math.max(letters, shortText(value).length + mark)
  }
  return Math.round(Math.min(widthMax, Math.max(widthMin, letters * letterWidth + padding)))
}

/**
 * The columns within a horizontal range, after the first column, which is frozen. Only these columns
 * are rendered, because a table may have thousands.
 */
export function columnsBetween(
  columns: readonly ShownColumn[],
  from: number,
  to: number,
): readonly { readonly column: ShownColumn; readonly position: number }[] {
  const shown: { column: ShownColumn; position: number }[] = []
  columns.forEach((column, position) => {
    if (position > 0 && column.left + column.width > from && column.left < to)
      shown.push({ column, position })
  })
  return shown
}
