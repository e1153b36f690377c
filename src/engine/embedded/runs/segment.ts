/**
 * A segment is a list of consecutive blocks of a run, written by one step of a merge. Its detail
 * has the first key and the net counts of each block, and a Bloom filter over the values of the
 * segment:
 *
 *   blocks u16, for each block: sum i16, values i16, size of its first key u32, that key
 *   the filter, optional
 */
import { filterOf, hashesIn } from './bloom-filter.ts'
import { BlockCursor, BlockWriter } from './block.ts'
import { docSize, tieStartIn, type Tie } from '../format/entry-key.ts'
import type { ChangeSource, PackedChange } from './packed-change.ts'

/**
 * Size of a block in bytes. SQLite keeps 489 bytes of a row of this size in the B-tree and the rest
 * on one overflow page, which it frees without rewriting.
 */
const defaultBlockSize = 4_570
/** Maximum number of blocks of a segment: some thousand entries, written in a few milliseconds. */
const defaultBlocksMax = 16

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

/** Encodes the next sorted changes as a segment, as many as fit; undefined when none are left. */
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
    // Bytes shared with the previous key; 0 for the first key of a block, which is stored as a
    // whole and always goes into the filter.
    let shared = 0
    while (isLeft() && writer.add(changes, shared, blockSize)) {
      if (withFilter) {
        const size = valueSize(changes, tie)
        // If the key shares its whole value with the previous key, that value is in the filter
        // already.
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

/** Size in bytes of a key without its tie. */
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
  /** First key of each block. */
  readonly firsts: readonly string[]
  /** Per block: net counts of all blocks before it. The last element is the total. */
  readonly sums: readonly number[]
  readonly values: readonly number[]
  readonly filter: Uint8Array | undefined
  /** Approximate size in memory, in bytes. */
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
