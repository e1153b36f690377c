/**
 * Splits a byte stream into records: lines, the elements of a JSON array, or the records of a CSV
 * file. Inputs may have any size, because at most one record is buffered. Bytes are not decoded.
 */
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from '../../json/char-codes.ts'
import { CommandFailure } from './failure.ts'

/** A record as unchanged bytes, and the number of its first line, counted from 1. */
export interface RawRecord {
  readonly line: number
  /** The bytes of the record; empty when the record is empty or too long to buffer. */
  readonly bytes: Buffer
  /** Why the record is invalid, if the splitter can tell. */
  readonly problem?: string
}

export interface Splitter {
  /** Returns the records that end in this chunk. */
  push(chunk: Buffer): RawRecord[]
  /** Returns the last record if the end of the input completes a record. */
  end(): RawRecord[]
}

export const formats = ['jsonl', 'json', 'csv'] as const

export type Format = (typeof formats)[number]

/**
 * The splitter of a format. Records longer than `sizeMax` bytes are reported but not
 * buffered.
 */
export function splitterFor(format: Format, sizeMax: number): Splitter {
  switch (format) {
    case 'jsonl':
      return new LineSplitter(sizeMax)
    case 'json':
      return new ArraySplitter(sizeMax)
    case 'csv':
      return new CsvSplitter(sizeMax)
  }
}

/** JSON lines; empty lines are skipped. */
class LineSplitter implements Splitter {
  readonly #gathered: Gathered
  #line = 1

  constructor(sizeMax: number) {
    this.#gathered = new Gathered(sizeMax)
  }

  push(chunk: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let from = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      this.#gathered.add(chunk.subarray(from, at))
      records.push(...this.end())
      this.#line++
      from = at + 1
    }
    this.#gathered.add(chunk.subarray(from))
    return records
  }

  end(): RawRecord[] {
    const record = this.#gathered.take(this.#line)
    return record.problem === undefined && isBlank(record.bytes) ? [] : [record]
  }
}

/** Splits one array into its elements. Recognizes only strings, brackets and commas. */
class ArraySplitter implements Splitter {
  readonly #gathered: Gathered
  #state: 'before' | 'within' | 'after' | 'beyond' = 'before'
  #depth = 0
  #isInString = false
  #isEscaped = false
  #line = 1
  /** First line of the element; 0 until a byte other than white space arrives. */
  #startLine = 0
  #commas = 0

  constructor(sizeMax: number) {
    this.#gathered = new Gathered(sizeMax)
  }

  push(chunk: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === LINE_FEED) this.#line++
      if (this.#state !== 'within') {
        if (isSpace(byte)) continue
        if (this.#state === 'before') this.#open(byte)
        else if (this.#state === 'after') records.push(this.#goBeyond())
        from = at + 1
        continue
      }
      if (this.#startLine === 0 && !isSpace(byte)) this.#startLine = this.#line
      if (!this.#endsElement(byte)) continue
      this.#gathered.add(chunk.subarray(from, at))
      from = at + 1
      records.push(...this.#takeElement(byte))
    }
    if (this.#state === 'within') this.#gathered.add(chunk.subarray(from))
    return records
  }

  end(): RawRecord[] {
    if (this.#state === 'after' || this.#state === 'beyond') return []
    const problem = 'the input ends inside the array'
    return [{ ...this.#gathered.take(this.#startLine || this.#line), problem }]
  }

  #open(byte: number): void {
    if (byte !== OPEN_BRACKET)
      throw new CommandFailure(
        'the input is not a JSON array: it does not begin with [. If it has one ' +
          'document per line, pass --format jsonl.',
      )
    this.#state = 'within'
  }

  #goBeyond(): RawRecord {
    this.#state = 'beyond'
    const problem = 'text follows the array; it is ignored'
    return { line: this.#line, bytes: Buffer.alloc(0), problem }
  }

  #endsElement(byte: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#isInString = false
      return false
    }
    switch (byte) {
      case QUOTE:
        this.#isInString = true
        return false
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#depth++
        return false
      case CLOSE_BRACE:
        this.#depth = Math.max(0, this.#depth - 1)
        return false
      case CLOSE_BRACKET:
        if (this.#depth === 0) return true
        this.#depth--
        return false
      default:
        return byte === COMMA && this.#depth === 0
    }
  }

  #takeElement(endedBy: number): RawRecord[] {
    const record = this.#gathered.take(this.#startLine || this.#line)
    this.#startLine = 0
    const isEmptyArray = endedBy === CLOSE_BRACKET && this.#commas === 0
    if (endedBy === COMMA) this.#commas++
    else this.#state = 'after'
    if (record.problem !== undefined || !isBlank(record.bytes)) return [record]
    return isEmptyArray
      ? []
      : [{ ...record, problem: 'a value is missing before or after a comma' }]
  }
}

/**
 * Splits a CSV file into records. A record ends at a line break outside quotes. A quote opens a
 * quoted cell only at the start of the cell.
 */
class CsvSplitter implements Splitter {
  readonly #gathered: Gathered
  #isQuoted = false
  #isAtStart = true
  /**
   * Whether the previous byte was a quote inside a quoted cell. The quote ends the cell, or is the
   * first of an escaped pair.
   */
  #hasClosed = false
  #line = 1
  #startLine = 1

  constructor(sizeMax: number) {
    this.#gathered = new Gathered(sizeMax)
  }

  push(chunk: Buffer): RawRecord[] {
    const records: RawRecord[] = []
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === LINE_FEED) this.#line++
      if (this.#isQuoted) {
        if (byte === QUOTE) {
          this.#isQuoted = false
          this.#hasClosed = true
        }
        continue
      }
      this.#isQuoted = byte === QUOTE && (this.#isAtStart || this.#hasClosed)
      this.#hasClosed = false
      this.#isAtStart = byte === COMMA || byte === LINE_FEED
      if (byte !== LINE_FEED) continue
      this.#gathered.add(chunk.subarray(from, at))
      from = at + 1
      records.push(...this.#take())
    }
    this.#gathered.add(chunk.subarray(from))
    return records
  }

  end(): RawRecord[] {
    if (!this.#isQuoted) return this.#take()
    return [
      {
        ...this.#gathered.take(this.#startLine),
        problem: 'a quoted cell has no closing quote',
      },
    ]
  }

  #take(): RawRecord[] {
    const record = this.#gathered.take(this.#startLine)
    this.#startLine = this.#line
    return record.problem === undefined && record.bytes.length === 0 ? [] : [record]
  }
}

/** The bytes of one record, which may span many chunks. */
class Gathered {
  readonly #sizeMax: number
  #parts: Buffer[] = []
  #size = 0

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  add(part: Buffer): void {
    this.#size += part.length
    if (this.#size > this.#sizeMax) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  /** Returns the gathered record without a trailing carriage return, and starts the next record. */
  take(line: number): RawRecord {
    const size = this.#size
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    if (size > this.#sizeMax) {
      const problem = `the record has ${size} bytes; the maximum of a request is ${this.#sizeMax}`
      return { line, bytes: Buffer.alloc(0), problem }
    }
    return { line, bytes: bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes }
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => isSpace(byte))
}

function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= 0x09 && byte <= CARRIAGE_RETURN)
}
