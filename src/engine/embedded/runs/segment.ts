/**
 * A segment is some blocks of a run that are written at once: a step of a merge. Its detail
 * says where its blocks start and what they make, and has a filter of the values in them.
 *
 *   blocks u16, for each block: sum i16, values i16, size of its first key u32, that key
 *   the filter, which may be missing
 */
import { filterOf, hashesIn } from './bloom-filter.ts'
import { BlockCursor, BlockWriter } from './block.ts'
import { docSize, tieStartIn, type Tie } from '../format/entry-key.ts'
import type { ChangeSource, PackedChange } from './packed-change.ts'

/**
 * Bytes of a block. SQLite keeps 489 bytes of a row that long in its tree, and the rest on
 * one page beside it, which is given back without being written again.
 */
const defaultBlockSize = 4_570
/** Blocks of a segment: some thousand entries, and a few milliseconds. */
const defaultBlocksMax = 16

/** How segments are made. */
export interface SegmentOptions {
  readonly tie: Tie
  readonly withFilter: boolean
  readonly blockSize?: number | undefined
  readonly blocksMax?: number | undefined
}

export interface EncodedSegment {
  readonly blocks: readonly Buffer[]
  readonly entries: number
  readonly sum: number
  readonly values: number
  readonly docMin: number
  readonly docMax: number
  readonly first: Buffer
  readonly last: Buffer
  readonly detail: Buffer
}

/** Makes a segment of changes that come in order, as many as it holds; undefined of none. */
export function encodeSegment(
  changes: ChangeSource,
  options: SegmentOptions,
): EncodedSegment | undefined {
  const { tie, withFilter } = options
  const { blockSize = defaultBlockSize, blocksMax = defaultBlocksMax } = options
  const isLeft = () => changes.isAt
  if (!isLeft()) return undefined
  const writer = new BlockWriter(tie)
  const blocks: Buffer[] = []
  const heads: Buffer[] = []
  const hashes: number[] = []
  const first = keyIn(changes)
  let [entries, sum, values, docMin, docMax] = [0, 0, 0, Infinity, 0]
  while (blocks.length < blocksMax && isLeft()) {
    const blockFirst = blocks.length === 0 ? first : keyIn(changes)
    // The writer knows no key yet, and neither does the filter.
    let shared = 0
    while (isLeft() && writer.add(changes, shared, blockSize)) {
      if (withFilter) {
        const size = valueSize(changes, tie)
        // A value that the entry before it has is in the filter already.
        if (shared < size) addHashes(hashes, changes, size)
      }
      const { doc } = changes
      if (doc < docMin) docMin = doc
      if (doc > docMax) docMax = doc
      changes.next()
      shared = changes.shared
    }
    const { bytes, sums, count } = writer.finish()
    blocks.push(bytes)
    entries += count
    sum += sums.sum
    values += sums.values
    heads.push(headOf(sums.sum, sums.values, blockFirst))
  }
  const last = lastKeyIn(blocks.at(-1)!, tie)
  const count = Buffer.alloc(2)
  count.writeUInt16LE(blocks.length)
  const filter = withFilter ? [filterOf(hashes)] : []
  const detail = Buffer.concat([count, ...heads, ...filter])
  return { blocks, entries, sum, values, docMin, docMax, first, last, detail }
}

function keyIn({ bytes, start, size }: PackedChange): Buffer {
  return Buffer.from(bytes.subarray(start, start + size))
}

function lastKeyIn(block: Buffer, tie: Tie): Buffer {
  const cursor = new BlockCursor(tie)
  cursor.load(block)
  cursor.toLast()
  return Buffer.from(cursor.key, 'latin1')
}

/** Bytes of a key up to its tie. */
function valueSize({ bytes, start, size }: PackedChange, tie: Tie): number {
  return tie === 'doc' ? size - docSize : tieStartIn(bytes, start) - start
}

function addHashes(hashes: number[], { bytes, start }: PackedChange, size: number): void {
  const [one, other] = hashesIn(bytes, start, start + size)
  hashes.push(one, other)
}

function headOf(sum: number, values: number, first: Buffer): Buffer {
  const head = Buffer.alloc(8 + first.length)
  head.writeInt16LE(sum, 0)
  head.writeInt16LE(values, 2)
  head.writeUInt32LE(first.length, 4)
  head.set(first, 8)
  return head
}

export interface SegmentDetail {
  /** The first keys of the blocks. */
  readonly firsts: readonly string[]
  /** What the blocks before each make, and what all do, last. */
  readonly sums: readonly number[]
  readonly values: readonly number[]
  readonly filter: Uint8Array | undefined
  /** Bytes that it takes in memory, about. */
  readonly size: number
}

export function decodeDetail(bytes: Uint8Array): SegmentDetail {
  const detail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const firsts: string[] = []
  const sums = [0]
  const values = [0]
  let at = 2
  for (let i = detail.readUInt16LE(0); i > 0; i--) {
    sums.push(sums.at(-1)! + detail.readInt16LE(at))
    values.push(values.at(-1)! + detail.readInt16LE(at + 2))
    const end = at + 8 + detail.readUInt32LE(at + 4)
    firsts.push(detail.toString('latin1', at + 8, end))
    at = end
  }
  const filter = at < detail.length ? detail.subarray(at) : undefined
  return { firsts, sums, values, filter, size: 2 * detail.length + 500 }
}
