/** Writes a segment term by term. Writing can continue later, also after a restart. */
import { blockSize } from './blocks.ts'
import type { DocumentList } from './document-list.ts'
import { encodePostings, putShortList, type Postings } from './postings.ts'
import { readDirectory } from './segment.ts'
import { rowsMax, rowSize } from './segment-layout.ts'
import { VarintWriter } from './varints.ts'

/** Reads and writes rows of the table `posting`. */
export interface PostingRows {
  read(id: number): Uint8Array
  put(id: number, bytes: Uint8Array): void
}

/** Approximate size of a group in bytes. A lookup of a term scans its group. */
const groupSize = 2048
/** Maximum size in bytes of a list inside a group. Longer lists are stored before the group. */
const listSizeMax = 1024

export class SegmentWriter {
  readonly #id: number
  readonly #rows: PostingRows
  readonly #row = new Uint8Array(rowSize)
  /** Bytes written so far, including the incomplete row. */
  #size: number
  readonly #directory = new VarintWriter()
  readonly #group = new VarintWriter()
  /** First and last term of the current group. */
  #firstTerm = 0
  #lastTerm = 0
  /** First term and end position of the previous group. */
  #groupBefore = { term: 0, end: 0 }
  #postings: number

  /** Starts a segment, or continues a segment that was written in part. */
  constructor(
    id: number,
    rows: PostingRows,
    { size, postings, directory }: SegmentStart = newSegment,
  ) {
    this.#id = id
    this.#rows = rows
    this.#size = size
    this.#postings = postings
    const { terms, starts, sizes } = readDirectory(directory)
    this.#directory.putBytes(directory)
    const last = terms.length - 1
    if (last >= 0)
      this.#groupBefore = { term: terms[last]!, end: starts[last]! + sizes[last]! }
    const begun = size % rowSize
    if (begun > 0) this.#row.set(rows.read(this.#rowId()).subarray(0, begun))
  }

  get size(): number {
    return this.#size
  }

  get postings(): number {
    return this.#postings
  }

  get directory(): Uint8Array {
    return this.#directory.bytes
  }

  /** Adds the posting list of a term. Terms must be added in ascending order. */
  add(term: number, postings: Postings, lengths: Uint32Array): void {
    if (this.#group.size > groupSize) this.#endGroup()
    const { size } = postings
    this.#postings += size
    if (size < blockSize) {
      this.#putEntry(term, size * 2)
      putShortList(postings, this.#group)
      return
    }
    const { words, skips, tail } = encodePostings(postings, lengths)
    const wordBytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
    const isLong = skips.length + wordBytes.length + tail.length > listSizeMax
    parts.put(skips.length)
    parts.putBytes(skips)
    if (!isLong) parts.putBytes(wordBytes)
    parts.putBytes(tail)
    const rest = parts.finish()
    if (!isLong) {
      this.#putEntry(term, size * 2)
      this.#group.put(rest.length)
      this.#group.putBytes(rest)
      return
    }
    this.#align()
    const start = this.#size
    this.#write(wordBytes)
    this.#write(rest)
    this.#putEntry(term, size * 2 + 1)
    this.#group.put(start / 16)
    this.#group.put(words.length / 4)
    this.#group.put(rest.length)
  }

  #putEntry(term: number, size: number): void {
    if (this.#group.size === 0) this.#firstTerm = term
    this.#group.put(this.#group.size === 0 ? term : term - this.#lastTerm)
    this.#group.put(size)
    this.#lastTerm = term
  }

  /** Writes the incomplete row, so that writing can continue after a restart. */
  flush(): void {
    if (this.#group.size > 0) this.#endGroup()
    const begun = this.#size % rowSize
    if (begun > 0) this.#rows.put(this.#rowId(), this.#row.slice(0, begun))
  }

  /** Completes the segment with its documents; returns the column `documents`. */
  finish(documents: DocumentList, lengths: Uint32Array): Uint8Array {
    if (this.#group.size > 0) this.#endGroup()
    const longest = lengths.reduce((most, length) => Math.max(most, length), 0)
    const width = longest < 2 ** 8 ? 1 : longest < 2 ** 16 ? 2 : 4
    parts.put(this.#size)
    parts.put(width)
    documents.encode(parts)
    const bytes = new Uint8Array(lengths.length * width)
    for (let i = 0; i < lengths.length; i++)
      for (let j = 0; j < width; j++) bytes[i * width + j] = lengths[i]! >>> (8 * j)
    this.#write(bytes)
    this.flush()
    return parts.finish()
  }

  #endGroup(): void {
    const { term, end } = this.#groupBefore
    const bytes = this.#group.finish()
    this.#directory.put(this.#firstTerm - term)
    this.#directory.put(this.#size - end)
    this.#directory.put(bytes.length)
    this.#write(bytes)
    this.#groupBefore = { term: this.#firstTerm, end: this.#size }
  }

  #align(): void {
    const over = this.#size % 16
    if (over > 0) this.#write(zeros.subarray(over))
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const at = this.#size % rowSize
      const piece = bytes.subarray(done, done + rowSize - at)
      this.#row.set(piece, at)
      done += piece.length
      const id = this.#rowId()
      this.#size += piece.length
      if (at + piece.length === rowSize) this.#rows.put(id, this.#row)
    }
  }

  #rowId(): number {
    return this.#id * rowsMax + Math.floor(this.#size / rowSize)
  }
}

/** State of a segment that was written in part. */
export interface SegmentStart {
  readonly size: number
  readonly postings: number
  readonly directory: Uint8Array
}

const newSegment: SegmentStart = { size: 0, postings: 0, directory: new Uint8Array(0) }
const zeros = new Uint8Array(16)
const parts = new VarintWriter()

/** Encodes ascending numbers for the column `replaced`. */
export function encodeNumbers(numbers: Iterable<number>): Uint8Array {
  let before = 0
  for (const number of numbers) {
    parts.put(number - before)
    before = number
  }
  return parts.finish()
}
