/** A record of a file, before anything is made of it. */
export interface SourceRecord {
  /** The line of the file that it begins in, from 1 on. */
  readonly line: number
  /** As it stands in the file. */
  readonly text: string
  /** Of CSV: what stands between the commas. */
  readonly cells?: readonly string[]
}

/** Takes a text in pieces, and gives the records that are whole by then. */
export interface Splitter {
  push(piece: string): readonly SourceRecord[]
  /** What is left when there are no more pieces. */
  end(): readonly SourceRecord[]
}

/** The file cannot be read any further. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/**
 * Characters: documents have at most half as many. A file that is not what it seems has no
 * ends of records, and must not end up in memory.
 */
export const recordLengthMax = 8_000_000

export function refuseIfEndless(length: number, line: number): void {
  if (length > recordLengthMax)
    throw new FileError(
      `The record that begins in line ${line} is longer than any document may be. ` +
        'Is the file in the format that was chosen?',
    )
}

export function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
