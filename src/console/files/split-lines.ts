/** Splits JSON lines: one record per line; empty lines are skipped. */
import { refuseIfEndless, type SourceRecord, type Splitter } from './source-record.ts'

export class LineSplitter implements Splitter {
  #line = 1
  #left = ''

  push(piece: string): readonly SourceRecord[] {
    const lines = (this.#left + piece).split('\n')
    this.#left = lines.pop()!
    refuseIfEndless(this.#left.length, this.#line + lines.length)
    return lines.flatMap((line) => this.#take(line))
  }

  end(): readonly SourceRecord[] {
    return this.#take(this.#left)
  }

  #take(text: string): readonly SourceRecord[] {
    const line = this.#line++
    const record = text.trim()
    return record === '' ? [] : [{ line, text: record }]
  }
}
