/**
 * How a segment is stored: its bytes in rows of the table `posting`, and what is known of them
 * in a row of `textsegment`.
 *
 *   groups   the entries of terms, by ascending number, some hundred in a group
 *   lists    the postings of terms that have many, each before the group with its entry
 *   lengths  how many tokens each document's text has, at the end
 */
import { areBytesSound, partsChecksum, type RowChecksum } from '../format/checksums.ts'
import { damagedIndex, termIndex } from '../format/damage.ts'
import type { VarintReader } from './varints.ts'

/**
 * Bytes of a row. SQLite takes four pages and an eighth for it, which it fills; blocks of
 * postings are multiples of 16 bytes.
 */
export const rowSize = 16_848

/** Rows of a segment have numbers from its own, times this. */
export const rowsMax = 2 ** 24

/** Whether segments are read: once they are made, and until they are merged. */
export type SegmentState = 'made' | 'making' | 'dropped'

export interface TextSegmentRow {
  readonly id: number
  /** Segments with a higher number have later texts. */
  readonly newest: number
  readonly state: SegmentState
  /** While it is made: the numbers of the segments that it is made of, as JSON. */
  readonly sources: string
  /** While it is made: the last term that is in it. */
  readonly progress: number
  /** Bytes in rows. */
  readonly size: number
  readonly postings: number
  /** Where groups stand, and the first term of each. */
  readonly directory: Uint8Array
  /** How many documents there are, where their lengths stand, and their numbers. */
  readonly documents: Uint8Array
  /** The documents whose postings in earlier segments do not count. */
  readonly replaced: Uint8Array
}

/** Of all columns but the state, which changes by itself. */
export function textSegmentChecksum(row: Omit<TextSegmentRow, 'state'>): number {
  const { id, newest, sources, progress, size, postings } = row
  const { directory, documents, replaced } = row
  const numbers = [id, newest, sources, progress, size, postings]
  return partsChecksum(numbers, directory, documents, replaced)
}

export function isTextSegmentSound(
  row: Omit<TextSegmentRow, 'state'>,
  checksum: RowChecksum,
): boolean {
  return checksum === null || textSegmentChecksum(row) === checksum
}

/** Where the postings of a term stand. */
export interface TermEntry {
  term: number
  /** Postings in the segment. */
  size: number
  /** Words of whole blocks, elsewhere in the segment; -1 where all is here. */
  wordStart: number
  wordCount: number
  /** The bytes of all the rest; those that are here follow the entry. */
  restSize: number
}

/** Takes the next entry of a group; what follows it is to be taken, or passed over. */
export function takeEntry(reader: VarintReader, before: number, into: TermEntry): void {
  into.term = before + reader.take()
  const size = reader.take()
  into.size = Math.floor(size / 2)
  into.wordStart = -1
  into.wordCount = 0
  into.restSize = 0
  if (size % 2 === 1) {
    into.wordStart = reader.take() * 4
    into.wordCount = reader.take() * 4
    into.restSize = reader.take()
  } else into.restSize = reader.take()
}

export function emptyEntry(): TermEntry {
  return { term: 0, size: 0, wordStart: -1, wordCount: 0, restSize: 0 }
}

/** The bytes of a row of `posting`. A segment names its rows, so one that is missing is damage. */
export function verifiedPostings(
  bytes: unknown,
  checksum: unknown,
  id: number,
  suffix: string,
): Uint8Array {
  if (bytes instanceof Uint8Array && areBytesSound(bytes, id, checksum as RowChecksum))
    return bytes
  throw damagedIndex(termIndex(suffix), `row ${id} of its postings`)
}
