/**
 * CSV: rows of cells. A cell is in quotes if it contains a comma, a quote or a line break (RFC
 * 4180).
 */
import { countLines, refuseIfEndless } from './source-record.ts'
import type { SourceRecord, Splitter } from './source-record.ts'

const delimiters = [',', ';', '\t', '|'] as const

export type Delimiter = (typeof delimiters)[number]

export class CsvSplitter implements Splitter {
  readonly #delimiter: Delimiter
  #text = ''
  #line = 1

  constructor(delimiter: Delimiter) {
    this.#delimiter = delimiter
  }

  push(piece: string): readonly SourceRecord[] {
    this.#text += piece
    const records = this.#read(false)
    refuseIfEndless(this.#text.length, this.#line)
    return records
  }

  end(): readonly SourceRecord[] {
    return this.#read(true)
  }

  #read(isEnd: boolean): readonly SourceRecord[] {
    const records: SourceRecord[] = []
    let from = 0
    while (from < this.#text.length) {
      const row = readRow(this.#text, from, this.#delimiter, isEnd)
      if (row === undefined) break
      const text = this.#text.slice(from, row.end)
      const isEmpty = row.cells.length === 1 && row.cells[0] === ''
      if (!isEmpty)
        records.push({
          line: this.#line,
          text: text.replace(/\r?\n$/, ''),
          cells: row.cells,
        })
      this.#line += countLines(text)
      from = row.end
    }
    this.#text = this.#text.slice(from)
    return records
  }
}

interface Row {
  readonly cells: readonly string[]
  /** Offset of the next row. */
  readonly end: number
}

/**
 * Reads the row at `from`. Undefined when the row does not end in this text and more text may
 * arrive.
 */
function readRow(
  text: string,
  from: number,
  delimiter: Delimiter,
  isEnd: boolean,
): Row | undefined {
  const cells: string[] = []
  for (let at = from; ;) {
    const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at, delimiter)
    if (cell.end >= text.length && !isEnd) return undefined
    cells.push(cell.value)
    const next = text[cell.end]
    if (next === delimiter) {
      at = cell.end + 1
      // The text ends after a delimiter: the next cell may be empty, or has not arrived yet.
      if (at >= text.length && !isEnd) return undefined
      continue
    }
    if (next === '\r' && text[cell.end + 1] === '\n') return { cells, end: cell.end + 2 }
    if (next === '\r' && cell.end + 1 >= text.length && !isEnd) return undefined
    if (next === '\n' || next === '\r' || next === undefined)
      return { cells, end: Math.min(cell.end + 1, text.length) }
    // The cell includes the text after its closing quote.
    const rest = plainCell(text, cell.end, delimiter)
    if (rest.end >= text.length && !isEnd) return undefined
    cells.push(cells.pop()! + rest.value)
    at = rest.end
    if (text[at] !== delimiter) {
      const lineEnd = text.startsWith('\r\n', at) ? 2 : 1
      return { cells, end: Math.min(at + lineEnd, text.length) }
    }
    at++
  }
}

interface Cell {
  readonly value: string
  readonly end: number
}

function plainCell(text: string, from: number, delimiter: Delimiter): Cell {
  let end = from
  for (; end < text.length; end++) {
    const character = text[end]
    if (character === delimiter || character === '\n' || character === '\r') break
  }
  return { value: text.slice(from, end), end }
}

function quotedCell(text: string, from: number): Cell {
  let value = ''
  for (let at = from + 1; ;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return { value: value + text.slice(at), end: text.length }
    value += text.slice(at, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    at = quote + 2
  }
}

/** The delimiter that occurs most often in the first line. */
export function findDelimiter(head: string): Delimiter {
  const line = head
    .slice(0, 10_000)
    .split(/\r?\n/, 1)[0]!
    .replace(/"[^"]*"/g, '')
  const counts = delimiters.map((delimiter) => line.split(delimiter).length)
  return delimiters[counts.indexOf(Math.max(...counts))]!
}

/** Unique column names; an empty name is replaced by the column's position. */
export function columnNames(cells: readonly string[]): readonly string[] {
  const names: string[] = []
  for (const [position, cell] of cells.entries()) {
    const wanted = cell.trim() === '' ? `column ${position + 1}` : cell.trim()
    let name = wanted
    for (let more = 2; names.includes(name); more++) name = `${wanted} ${more}`
    names.push(name)
  }
  return names
}
