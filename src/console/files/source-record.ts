/** A record as read from a file, before its fields are mapped. */
export interface SourceRecord {
  /** The line of the file in which the record begins, from 1. */
  readonly line: number
  /** The record as written in the file. */
  readonly text: string
  /** Cells of a CSV row. */
  readonly cells?: readonly string[]
}

/** Splits text that arrives in pieces, and returns the records that are complete. */
export interface Splitter {
  push(piece: string): readonly SourceRecord[]
  /** Returns the remaining records after the last piece. */
  end(): readonly SourceRecord[]
}

/** Thrown when the rest of the file cannot be read. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/**
 * Maximum characters of a record: twice the longest document. Without this limit, a file in another
 * format could count as one endless record, and the whole file would be buffered.
 */
export const recordLengthMax = 8_000_000

export function refuseIfEndless(length: number, line: number): void {
  if (length > recordLengthMax)
    throw new FileError(
      `The record that starts in line ${line} exceeds the maximum size of a ` +
        'document. Check the format of the file.',
    )
}

export function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
