/** Writes CSV (RFC 4180). */
import { printJson } from '../json/print-json.ts'
import { Numeral, type Value } from '../json/value.ts'

export function writeRow(cells: readonly string[]): string {
  return `${cells.map(writeCell).join(',')}\r\n`
}

function writeCell(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** A value as the text of a cell: nested values as JSON, null and absent values as empty text. */
export function csvCell(value: Value | undefined): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Numeral) return value.text
  return typeof value === 'string' ? value : printJson(value)
}
