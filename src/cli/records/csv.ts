/**
 * CSV according to RFC 4180: splits records into cells, and converts cells to values. `csv-parse`
 * cannot be used: after a misplaced quote it skips valid records up to the next quote, while an
 * import must reject only the invalid record.
 */
import { JsonProblem, parseJson } from '../../json/parse.ts'
import { printJson } from '../../json/print.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import { defaultLimits } from '../../limits.ts'
import { CommandFailure } from './failure.ts'

/** A record that cannot be parsed. */
export class BadRecord {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Converts a non-empty cell to a value. */
export type CellReader = (name: string, cell: string) => Value | BadRecord

/** Splits a record into cells. */
export function readCells(text: string): string[] | BadRecord {
  const cells: string[] = []
  let at = 0
  for (;;) {
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1)
      if (end < 0) return new BadRecord('a quoted cell has no closing quote')
      if (end + 1 < text.length && text[end + 1] !== ',')
        return new BadRecord(`cell ${cells.length + 1} has text after its closing quote`)
      cells.push(text.slice(at + 1, end).replaceAll('""', '"'))
      at = end + 1
    } else {
      const comma = text.indexOf(',', at)
      const end = comma < 0 ? text.length : comma
      cells.push(text.slice(at, end))
      at = end
    }
    if (at >= text.length) return cells
    at++
  }
}

/** Position of the quote that ends a cell, or -1. A doubled quote is an escaped quote. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at
  return -1
}

/** Reads the column names from the first record. */
export function readHeader(text: string): readonly string[] {
  const names = readCells(text)
  if (names instanceof BadRecord)
    throw new CommandFailure(`the CSV header is invalid: ${names.reason}.`)
  const seen = new Set<string>()
  for (const [position, name] of names.entries()) {
    if (name === '')
      throw new CommandFailure(
        `cell ${position + 1} of the CSV header is empty. Each cell must name a field.`,
      )
    if (seen.size === seen.add(name).size)
      throw new CommandFailure(
        `the CSV header names ${printJson(name)} twice. Names must differ.`,
      )
  }
  return names
}

/** Converts a record to an object. Empty cells have no member in the object. */
export function readRow(
  names: readonly string[],
  text: string,
  readCell: CellReader,
): JsonObject | BadRecord {
  const cells = readCells(text)
  if (cells instanceof BadRecord) return cells
  if (cells.length !== names.length)
    return new BadRecord(
      `the record has ${cells.length} cells, but the header has ${names.length}`,
    )
  const row: JsonObject = new Map()
  for (const [position, name] of names.entries()) {
    const cell = cells[position]!
    if (cell === '') continue
    const value = readCell(name, cell)
    if (value instanceof BadRecord) return value
    row.set(name, value)
  }
  return row
}

/** Reads cells of documents: every cell is a string, except vectors, which must be JSON. */
export const readText: CellReader = (name, cell) =>
  name === '$vector' ? readJsonCell(name, cell) : cell

/** Reads cells of documents: a JSON number becomes a number, and true or false a boolean. */
export const inferValue: CellReader = (name, cell) => {
  if (cell === 'true') return true
  if (cell === 'false') return false
  const value = isNumeral(cell) ? readJsonCell(name, cell) : readText(name, cell)
  // A number that exceeds the limits of numerals stays a string.
  return value instanceof BadRecord && name !== '$vector' ? cell : value
}

/** Returns a function that converts the cells of a row by the type of their column. */
export function readByType(types: ReadonlyMap<string, string>): CellReader {
  return (name, cell) => {
    switch (types.get(name)) {
      case 'bigint':
      case 'counter':
      case 'decimal':
      case 'double':
      case 'float':
      case 'int':
      case 'smallint':
      case 'tinyint':
      case 'varint':
        return isNumeral(cell) ? readJsonCell(name, cell) : cell
      case 'boolean':
        return cell === 'true' ? true : cell === 'false' ? false : cell
      case 'blob':
        return cell.startsWith('{')
          ? readJsonCell(name, cell)
          : new Map([['$binary', cell]])
      // A vector column accepts a vector as JSON. The server embeds any other text.
      case 'vector':
        return /^[[{]/.test(cell) ? readJsonCell(name, cell) : cell
      case 'list':
      case 'map':
      case 'set':
      case 'userDefined':
        return readJsonCell(name, cell)
      default:
        return cell
    }
  }
}

/**
 * Whether the cell is a JSON number. A cell such as 007 is not a JSON number: it is probably an
 * identifier, so it stays a string.
 */
function isNumeral(cell: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(cell)
}

function readJsonCell(name: string, cell: string): Value | BadRecord {
  try {
    return parseJson(cell, {
      depthMax: defaultLimits.documentDepthMax,
      numeralLengthMax: defaultLimits.numeralLengthMax,
    })
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error
    return new BadRecord(
      `the cell of ${printJson(name)} is not valid JSON: ${error.message}`,
    )
  }
}
