/** Reads a segment: entries of terms, posting lists, and lengths of texts. */
import { blockSize } from './blocks.ts'
import { DocumentList, floorIndex } from './document-list.ts'
import { keep } from './list-cache.ts'
import { decodeCounts, decodePlaces, decodeTail, Skips, type Postings } from './postings.ts'
import {
  emptyEntry,
  rowsMax,
  rowSize,
  takeEntry,
  type TermEntry,
  type TextSegmentRow,
} from './segment-layout.ts'
import { VarintReader } from './varints.ts'

/** Reads a row of the table `posting`. */
export type ReadRow = (id: number) => Uint8Array

/** Posting list of a term in a segment. */
export interface List {
  readonly size: number
  /** Skip data of the whole blocks, if there are any. */
  readonly skips: Skips | undefined
  /** Words of the whole blocks; undefined when they have to be read from the segment. */
  readonly words: Uint32Array | undefined
  /** Position of the words in the segment. */
  readonly wordStart: number
  readonly tail: Uint8Array
}

export class TextSegment {
  readonly id: number
  readonly newest: number
  readonly postings: number
  readonly documents: DocumentList
  /** Ascending documents whose postings in earlier segments are void. */
  readonly replaced: Float64Array
  readonly #readRow: ReadRow
  /** First term, position and size of each group. */
  readonly #terms: Float64Array
  readonly #starts: Float64Array
  readonly #sizes: Uint32Array
  readonly #lengthStart: number
  readonly #lengthWidth: number
  readonly #rows = new Map<number, Row>()
  readonly #lists = new Map<number, List>()
  #lengths: Uint16Array | undefined
  /** Lengths that do not fit into `#lengths`, by place. */
  readonly #longLengths = new Map<number, number>()

  constructor(
    row: Omit<TextSegmentRow, 'state' | 'sources' | 'progress'>,
    readRow: ReadRow,
  ) {
    this.id = row.id
    this.newest = row.newest
    this.postings = row.postings
    this.#readRow = readRow
    const directory = readDirectory(row.directory)
    this.#terms = directory.terms
    this.#starts = directory.starts
    this.#sizes = directory.sizes
    const documents = new VarintReader(row.documents)
    this.#lengthStart = documents.take()
    this.#lengthWidth = documents.take()
    this.documents = DocumentList.decode(documents)
    this.replaced = readNumbers(row.replaced)
  }

  /** Posting list of a term; undefined when the segment does not have it. */
  list(term: number): List | undefined {
    const known = this.#lists.get(term)
    if (known !== undefined) return known
    const group = floorIndex(this.#terms, term)
    if (group < 0) return undefined
    const reader = new VarintReader(this.#bytes(this.#starts[group]!, this.#sizes[group]!))
    let before = 0
    while (!reader.isAtEnd) {
      takeEntry(reader, before, entry)
      if (entry.term >= term) break
      before = entry.term
      if (entry.wordStart < 0) reader.at += entry.restSize
    }
    if (entry.term !== term) return undefined
    // The bytes are copied, so that the cached list does not keep the whole row in memory.
    const list = this.#open(entry, this.#restOf(entry, reader).slice())
    keep(this.#lists, term, list, sizeOf(list))
    return list
  }

  /** Whether this segment makes the postings of a document in earlier segments void. */
  replaces(seq: number): boolean {
    const { replaced } = this
    return replaced[firstFrom(replaced, replaced.length, seq)] === seq
  }

  /**
   * All terms greater than `after`, ascending. An entry is valid until the next entry is requested.
   */
  *entries(after = 0): Generator<{ readonly entry: TermEntry; readonly list: List }> {
    for (
      let group = Math.max(0, floorIndex(this.#terms, after));
      group < this.#terms.length;
      group++
    ) {
      const reader = new VarintReader(
        this.#bytes(this.#starts[group]!, this.#sizes[group]!),
      )
      const own = emptyEntry()
      let before = 0
      while (!reader.isAtEnd) {
        takeEntry(reader, before, own)
        before = own.term
        if (own.term > after)
          yield { entry: own, list: this.#open(own, this.#restOf(own, reader)) }
        else if (own.wordStart < 0) reader.at += own.restSize
      }
    }
  }

  /** Appends all postings of a list. */
  decode(list: List, into: Postings): void {
    const { size, skips } = list
    const start = into.size
    into.reserve(start + size + blockSize)
    const whole = skips?.lasts.length ?? 0
    let at = start
    for (let block = 0; block < whole; block++, at += blockSize)
      this.decodeBlock(list, block, into.places.subarray(at), into.counts.subarray(at))
    this.decodeBlock(list, whole, into.places.subarray(at), into.counts.subarray(at))
    into.size = start + size
  }

  /** Decodes a block of a list; the last block may be incomplete. */
  decodeBlock(list: List, block: number, places: Uint32Array, counts: Uint32Array): void {
    const { size, skips, tail } = list
    if (skips !== undefined && block < skips.lasts.length) {
      this.decodePlaces(list, skips, block, places)
      this.decodeCounts(list, skips, block, counts)
      return
    }
    const before = block === 0 ? -1 : skips!.lasts[block - 1]!
    decodeTail(tail, size - block * blockSize, before, places, counts)
  }

  /** Decodes the places of a whole block. */
  decodePlaces(list: List, skips: Skips, block: number, places: Uint32Array): void {
    const words = this.#wordsOf(list, skips, block)
    const before = block === 0 ? -1 : skips.lasts[block - 1]!
    decodePlaces(words, wordsAt, skips.widths[block]!, before, places)
  }

  /** Decodes the counts of a whole block. */
  decodeCounts(list: List, skips: Skips, block: number, counts: Uint32Array): void {
    const words = this.#wordsOf(list, skips, block)
    decodeCounts(words, wordsAt, skips.widths[block]!, counts)
  }

  /** Words that contain a whole block, which starts at index `wordsAt`. */
  #wordsOf({ words, wordStart }: List, { starts }: Skips, block: number): Uint32Array {
    const start = starts[block]!
    wordsAt = start
    if (words !== undefined) return words
    const from = wordStart + start
    const row = Math.floor(from / rowWords)
    wordsAt = from - row * rowWords
    const count = starts[block + 1]! - start
    if (wordsAt + count <= rowWords) return this.#row(row).words
    wordsAt = 0
    return alignedWords(this.#bytes(from * 4, count * 4))
  }

  /** Whether the document at a place has the term of a list. */
  has(list: List, place: number): boolean {
    const lasts = list.skips?.lasts ?? noPlaces
    const block = firstFrom(lasts, lasts.length, place)
    if (looked.list !== list || looked.block !== block) {
      looked.list = undefined
      this.decodeBlock(list, block, looked.places, looked.counts)
      looked.list = list
      looked.block = block
    }
    const size = Math.min(blockSize, list.size - block * blockSize)
    const at = firstFrom(looked.places, size, place)
    return at < size && looked.places[at] === place
  }

  /**
   * Length of each document's text by place; `tooLong` for lengths that do not fit into 16 bits.
   */
  get lengths(): Uint16Array {
    return (this.#lengths ??= this.#readLengths())
  }

  lengthAt(place: number): number {
    const length = this.lengths[place]!
    return length === tooLong ? (this.#longLengths.get(place) ?? tooLong) : length
  }

  /** Exact lengths of all texts, by place. */
  allLengths(): Uint32Array {
    const lengths = Uint32Array.from(this.lengths)
    for (const [place, length] of this.#longLengths) lengths[place] = length
    return lengths
  }

  #readLengths(): Uint16Array {
    const { size } = this.documents
    const width = this.#lengthWidth
    const bytes = this.#bytes(this.#lengthStart, size * width)
    const lengths = new Uint16Array(size)
    for (let i = 0; i < size; i++) {
      let length = 0
      for (let j = width - 1; j >= 0; j--) length = length * 256 + bytes[i * width + j]!
      lengths[i] = Math.min(length, tooLong)
      if (length > tooLong) this.#longLengths.set(i, length)
    }
    return lengths
  }

  /** The bytes of a list, without the words that are stored outside of the group. */
  #restOf({ wordStart, wordCount, restSize }: TermEntry, reader: VarintReader): Uint8Array {
    if (wordStart < 0) return reader.takeBytes(restSize)
    return this.#bytes(wordStart * 4 + wordCount * 4, restSize)
  }

  #open({ size, wordStart }: TermEntry, rest: Uint8Array): List {
    const whole = Math.floor(size / blockSize)
    if (whole === 0)
      return { size, skips: undefined, words: undefined, wordStart, tail: rest }
    const parts = new VarintReader(rest)
    const skipSize = parts.take()
    const skips = new Skips(parts.takeBytes(skipSize), whole)
    const words =
      wordStart >= 0 ? undefined : alignedWords(parts.takeBytes(skips.starts[whole]! * 4))
    return { size, skips, words, wordStart, tail: rest.subarray(parts.at) }
  }

  /** Bytes of the segment, which may be shared and must not be changed. */
  #bytes(start: number, size: number): Uint8Array {
    // A segment that only has deletions has no rows.
    if (size === 0) return noBytes
    let row = Math.floor(start / rowSize)
    const at = start - row * rowSize
    if (at + size <= rowSize) return this.#row(row).bytes.subarray(at, at + size)
    const bytes = new Uint8Array(size)
    let done = 0
    for (let from = at; done < size; from = 0, row++) {
      const piece = this.#row(row).bytes.subarray(from, from + size - done)
      bytes.set(piece, done)
      done += piece.length
    }
    return bytes
  }

  #row(row: number): Row {
    const known = this.#rows.get(row)
    if (known !== undefined) return known
    const read = this.#readRow(this.id * rowsMax + row)
    const bytes = read.byteOffset % 4 === 0 ? read : read.slice()
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
    const found = { bytes, words }
    keep(this.#rows, row, found, bytes.length + 300)
    return found
  }
}

/** A row of the table `posting`, as bytes and as words. */
interface Row {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
}

/** Start of the block in the result of the latest `#wordsOf`. */
let wordsAt = 0

/** Marks a text length that does not fit into two bytes. */
const tooLong = 0xffff

/** Cached block of the latest call of `has`: the next call often needs the same block. */
const looked = {
  list: undefined as List | undefined,
  block: -1,
  places: new Uint32Array(blockSize),
  counts: new Uint32Array(blockSize),
}
const noPlaces = new Uint32Array(0)
const noBytes = new Uint8Array(0)

const rowWords = rowSize / 4
const entry = emptyEntry()

/** Index of the first number that is at least `from`. */
export function firstFrom(
  ascending: Uint32Array | Float64Array,
  size: number,
  from: number,
): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < from) low = middle + 1
    else high = middle
  }
  return low
}

function alignedWords(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer)
}

function sizeOf({ skips, words, tail }: List): number {
  return 300 + (skips?.size ?? 0) + (words?.byteLength ?? 0) + tail.length
}

/** Groups of a segment: first terms, positions and sizes. */
export interface Directory {
  readonly terms: Float64Array
  readonly starts: Float64Array
  readonly sizes: Uint32Array
}

/**
 * Decodes the groups; terms are stored as differences from the previous term, and positions as
 * distances from the end of the previous group.
 */
export function readDirectory(bytes: Uint8Array): Directory {
  const reader = new VarintReader(bytes)
  const terms: number[] = []
  const starts: number[] = []
  const sizes: number[] = []
  let term = 0
  let at = 0
  while (!reader.isAtEnd) {
    terms.push((term += reader.take()))
    starts.push((at += reader.take()))
    const size = reader.take()
    sizes.push(size)
    at += size
  }
  return {
    terms: Float64Array.from(terms),
    starts: Float64Array.from(starts),
    sizes: Uint32Array.from(sizes),
  }
}

function readNumbers(bytes: Uint8Array): Float64Array {
  const reader = new VarintReader(bytes)
  const numbers: number[] = []
  let number = 0
  while (!reader.isAtEnd) numbers.push((number += reader.take()))
  return Float64Array.from(numbers)
}
