/**
 * Storage of a segment: its bytes in rows of the table `posting`, and its metadata in a row of
 * `textsegment`.
 *
 *   groups   entries of terms by ascending number, some hundred per group
 *   lists    long posting lists, each before the group that has its entry
 *   lengths  length of each document's text in tokens, at the end
 */
import { areBytesSound, partsChecksum, type RowChecksum } from '../format/checksums.ts'
import { damagedIndex, termIndex } from '../format/damage.ts'
import type { VarintReader } from './varints.ts'

/**
 * Size of a row in bytes. SQLite stores such a row in four pages and an eighth of a page, without
 * unused space. The size is a multiple of 16, like that of a block of postings.
 */
export const rowSize = 16_848

/**
 * Maximum rows of a segment. The ids of its rows start at the id of the segment times this number.
 */
export const rowsMax = 2 ** 24

/**
 * State of a segment. Only segments in the state `made` are read; `dropped` segments were merged.
 */
export type SegmentState = 'made' | 'making' | 'dropped'

export interface TextSegmentRow {
  readonly id: number
  /** Orders segments by age: a greater number means later texts. */
  readonly newest: number
  readonly state: SegmentState
  /** For a segment that a merge is writing: ids of the merged segments, as JSON. */
  readonly sources: string
  /** For a segment that a merge is writing: the last term that was written. */
  readonly progress: number
  /** Size of all rows of the segment in bytes. */
  readonly size: number
  readonly postings: number
  /** Position, size and first term of each group. */
  readonly directory: Uint8Array
  /** Position and width of the lengths, and the ranges of document numbers. */
  readonly documents: Uint8Array
  /** Documents whose postings in earlier segments are void. */
  readonly replaced: Uint8Array
}

/** Checksum of all columns but `state`, which is updated alone. */
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

/** Position of a term's posting list. */
export interface TermEntry {
  term: number
  /** Number of postings in the segment. */
  size: number
  /**
   * Position and number of the words of a list outside the group. The position is -1 when the list
   * is inside the group.
   */
  wordStart: number
  wordCount: number
  /**
   * Number of bytes after the 32-bit words of the list. For a list inside the group: size of the
   * whole list, which follows the entry.
   */
  restSize: number
}

/**
 * Reads the next entry of a group. The caller has to read or skip the bytes that follow the entry.
 */
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

/**
 * Verifies a row of `posting`. A segment determines which rows exist, so a missing row is damage.
 */
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
