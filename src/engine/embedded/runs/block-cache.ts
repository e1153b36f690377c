/**
 * Cache of blocks and segment details. Blocks never change and their numbers are never reused, so
 * entries are never invalidated.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { areBytesSound, type RowChecksum } from '../format/checksums.ts'
import { damagedIndex, valueIndex } from '../format/damage.ts'
import { decodeDetail, type SegmentDetail } from './segment.ts'

export class BlockCache {
  readonly #block: StatementSync
  readonly #detail: StatementSync
  /**
   * Maximum size in bytes. The cache has two generations, each of at most half this size. The young
   * generation has the entries used since it was last full. When it is full again, it replaces the
   * old generation.
   */
  sizeMax: number
  /** Blocks by number, and details by the negated number of the segment's first block. */
  #young = new Map<number, Uint8Array | SegmentDetail>()
  #old = new Map<number, Uint8Array | SegmentDetail>()
  #youngSize = 0

  constructor(database: DatabaseSync, sizeMax: number) {
    this.#block = database.prepare('SELECT bytes, checksum FROM block WHERE id = ?')
    this.#block.setReturnArrays(true)
    this.#detail = database.prepare(
      'SELECT detail, detail_checksum FROM segment WHERE run = ? AND block = ?',
    )
    this.#detail.setReturnArrays(true)
    this.sizeMax = sizeMax
  }

  block(id: number): Uint8Array {
    const known = this.#find(id)
    if (known !== undefined) return known as Uint8Array
    const bytes = this.read(id)
    this.#keep(id, bytes, bytes.length)
    return bytes
  }

  /** Reads a block without caching it: a merge reads every block once. */
  read(id: number): Uint8Array {
    const found = this.#block.get(id) as unknown as StoredBytes
    return verified(found, id, 'block')
  }

  /** Detail of the segment whose first block is `block`. */
  detail(run: number, block: number): SegmentDetail {
    const known = this.#find(-block)
    if (known !== undefined) return known as SegmentDetail
    const found = this.#detail.get(run, block) as unknown as StoredBytes
    const detail = decodeDetail(verified(found, block, 'segment'))
    this.#keep(-block, detail, detail.size)
    return detail
  }

  #find(number: number): Uint8Array | SegmentDetail | undefined {
    const young = this.#young.get(number)
    if (young !== undefined) return young
    const old = this.#old.get(number)
    if (old !== undefined) this.#keep(number, old, sizeOf(old))
    return old
  }

  #keep(number: number, value: Uint8Array | SegmentDetail, size: number): void {
    this.#young.set(number, value)
    this.#youngSize += size
    if (this.#youngSize <= this.sizeMax / 2) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngSize = 0
  }
}

type StoredBytes = readonly [bytes: Uint8Array, checksum: RowChecksum] | undefined

/**
 * The bytes of a stored block or detail. Throws when they are damaged, or missing although the
 * index refers to them.
 */
function verified(found: StoredBytes, number: number, what: string): Uint8Array {
  if (found === undefined || !areBytesSound(found[0], number, found[1]))
    throw damagedIndex(valueIndex, `${what} ${number}`)
  return found[0]
}

function sizeOf(value: Uint8Array | SegmentDetail): number {
  return value instanceof Uint8Array ? value.length : value.size
}
