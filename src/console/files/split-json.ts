/**
 * Splits JSON text into records: the elements of one array, or a sequence of values. The splitter
 * only finds the ends of records, so that it can read an array of any size in pieces. Syntax errors
 * are found later, when each record is parsed.
 */
import { FileError, refuseIfEndless } from './source-record.ts'
import type { SourceRecord, Splitter } from './source-record.ts'

const stringEnd = /["\\]/g

type State = 'start' | 'between' | 'nested' | 'string' | 'scalar' | 'done'

export class JsonSplitter implements Splitter {
  #state: State = 'start'
  /** Text after the last returned record; `#at` is the end of its scanned part. */
  #text = ''
  #at = 0
  #from = 0
  #depth = 0
  #isArray = false
  #line = 1
  #startLine = 1

  push(piece: string): readonly SourceRecord[] {
    this.#text += piece
    const records: SourceRecord[] = []
    for (; this.#at < this.#text.length; this.#at++) {
      if (this.#state === 'string') this.#skipString()
      if (this.#at >= this.#text.length) break
      const record = this.#step(this.#text[this.#at]!)
      if (record !== undefined) records.push(record)
    }
    const isInside = this.#state !== 'start' && this.#state !== 'between'
    const keep = isInside && this.#state !== 'done' ? this.#from : this.#at
    this.#text = this.#text.slice(keep)
    this.#at -= keep
    this.#from = 0
    refuseIfEndless(this.#text.length, this.#startLine)
    return records
  }

  end(): readonly SourceRecord[] {
    if (this.#state === 'scalar') return [this.#record(this.#text.length)]
    if (this.#state === 'nested' || this.#state === 'string')
      throw new FileError(
        `The file ends inside the record that starts in line ${this.#startLine}.`,
      )
    if (this.#isArray && this.#state !== 'done')
      throw new FileError('The file ends inside the array.')
    return []
  }

  #step(character: string): SourceRecord | undefined {
    if (character === '\n') this.#line++
    switch (this.#state) {
      case 'string':
        this.#stepInString(character)
        return undefined
      case 'nested':
        return this.#stepInside(character)
      case 'scalar':
        return this.#stepInScalar(character)
      case 'start':
      case 'between':
      case 'done':
        this.#stepBetween(character)
        return undefined
    }
  }

  #stepBetween(character: string): void {
    if (isSpace(character)) return
    if (this.#state === 'done')
      throw new FileError(`Text follows the array, in line ${this.#line}.`)
    const isFirst = this.#state === 'start'
    this.#state = 'between'
    if (isFirst && character === '[') {
      this.#isArray = true
      return
    }
    if (character === ']' && this.#isArray) {
      this.#state = 'done'
      return
    }
    if (character === ',') return
    this.#from = this.#at
    this.#startLine = this.#line
    this.#depth = 0
    this.#state = character === '{' || character === '[' ? 'nested' : 'scalar'
    if (this.#state === 'nested') this.#depth = 1
  }

  #stepInside(character: string): SourceRecord | undefined {
    if (character === '"') this.#state = 'string'
    else if (character === '{' || character === '[') this.#depth++
    else if ((character === '}' || character === ']') && --this.#depth === 0) {
      const record = this.#record(this.#at + 1)
      this.#state = 'between'
      return record
    }
    return undefined
  }

  /**
   * Moves to the next quote or backslash. Strings make up most of a file, so a regular
   * expression skips them.
   */
  #skipString(): void {
    stringEnd.lastIndex = this.#at
    this.#at = stringEnd.exec(this.#text)?.index ?? this.#text.length
  }

  #stepInString(character: string): void {
    if (character === '\\') this.#at++
    else if (character === '"') this.#state = 'nested'
  }

  /**
   * A scalar is not a valid record. It is returned as a record, so that the import reports its
   * line.
   */
  #stepInScalar(character: string): SourceRecord | undefined {
    const isEnd = character === '\n' || character === ',' || character === ']'
    if (!isEnd) return undefined
    const record = this.#record(this.#at)
    this.#state = character === ']' && this.#isArray ? 'done' : 'between'
    return record
  }

  #record(to: number): SourceRecord {
    return { line: this.#startLine, text: this.#text.slice(this.#from, to).trim() }
  }
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t'
}
