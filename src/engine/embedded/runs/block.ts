/**
 * Packs index entries into blocks of a few kilobytes. Blocks of runs are sorted. Blocks that a
 * commit writes to `recent` keep the order of the changes and are only scanned.
 *
 *   header     count of entries u16, sum i16, values i16 (see Sums)
 *   entries    suffix size and state, shared size: as varints; then the suffix
 *   restarts   per 16 entries: offset of the first entry u32; sum, values before it: i16 each
 *
 * An entry omits the bytes that its key shares with the previous key. The first of every 16
 * entries, a restart, has its whole key, so a search bisects the restarts and then reads at most 16
 * entries. In entries of rows the document number follows the suffix as a varint, except in
 * tombstones; in entries of documents it is the end of the key. Numbers are little-endian.
 */
import {
  countIn,
  headOf,
  kindOf,
  kinds,
  sizeIn,
  stateIn,
  valuesIn,
  type Change,
  type State,
} from './change.ts'
import { docSize, numberAt, type Tie } from '../format/entry-key.ts'
import type { Documents } from './document-set.ts'
import type { PackedChange } from './packed-change.ts'

export const headerSize = 6
const interval = 16
const restartSize = 8
/** Maximum number of entries of a block: its sums must fit into 16 bits. */
export const blockEntriesMax = 32_000

/**
 * Net counts of changes, additions minus removals: of all entries, and of all but array elements.
 */
export interface Sums {
  readonly sum: number
  readonly values: number
}

export class BlockWriter {
  readonly #tie: Tie
  #bytes = Buffer.alloc(8192)
  #size = headerSize
  /** Three numbers per restart: its offset, and the sum and values before it. */
  #restarts: number[] = []
  #sum = 0
  #values = 0
  count = 0

  constructor(tie: Tie) {
    this.#tie = tie
  }

  /** Size of the block in bytes, if no further entries are added. */
  get #sizeNow(): number {
    return this.#size + restartSize * Math.ceil(this.count / interval)
  }

  /**
   * Appends an entry whose first `shared` key bytes are those of the previous key. Returns false
   * when the block would exceed `sizeMax`; the first entry always fits.
   */
  add(change: PackedChange, shared: number, sizeMax: number): boolean {
    const { bytes: key, start, size: length, state } = change
    const isRestart = this.count % interval === 0
    const from = isRestart ? 0 : shared
    // 20 bytes are enough for a restart and the varints of an entry.
    const size = this.#sizeNow + length - from + 20
    if (size > sizeMax && this.count > 0) return false
    if (size + restartSize > this.#bytes.length) this.#grow(size)
    if (isRestart) this.#restarts.push(this.#size, this.#sum, this.#values)
    this.#varint(headOf(length - from, state))
    this.#varint(from)
    const bytes = this.#bytes
    let at = this.#size
    for (let i = start + from; i < start + length; i++) bytes[at++] = key[i]!
    this.#size = at
    if (this.#tie === 'id' && kindOf(state) !== kinds.remove) this.#varint(change.doc)
    this.#sum += countIn(state)
    this.#values += valuesIn(state)
    this.count++
    return true
  }

  /** Returns the block and starts the next block. */
  finish(): { readonly bytes: Buffer; readonly sums: Sums; readonly count: number } {
    const { count } = this
    const sums = { sum: this.#sum, values: this.#values }
    const bytes = Buffer.alloc(this.#sizeNow)
    this.#bytes.copy(bytes, 0, 0, this.#size)
    bytes.writeUInt16LE(count, 0)
    bytes.writeInt16LE(sums.sum, 2)
    bytes.writeInt16LE(sums.values, 4)
    let at = this.#size
    for (let i = 0; i < this.#restarts.length; i += 3) {
      at = bytes.writeUInt32LE(this.#restarts[i]!, at)
      at = bytes.writeInt16LE(this.#restarts[i + 1]!, at)
      at = bytes.writeInt16LE(this.#restarts[i + 2]!, at)
    }
    this.#size = headerSize
    this.#restarts = []
    this.#sum = this.#values = this.count = 0
    return { bytes, sums, count }
  }

  #varint(value: number): void {
    if (value < 128) {
      this.#bytes[this.#size++] = value
      return
    }
    let rest = value
    for (; rest >= 0x8000_0000; rest = Math.floor(rest / 128))
      this.#bytes[this.#size++] = (rest % 128) | 128
    for (; rest >= 128; rest >>>= 7) this.#bytes[this.#size++] = (rest & 127) | 128
    this.#bytes[this.#size++] = rest
  }

  #grow(size: number): void {
    this.#bytes = grown(this.#bytes, this.#size, 2 * (this.#bytes.length + size))
  }
}

/** Copies the first `size` bytes to a larger buffer. */
function grown(bytes: Buffer, size: number, capacity: number): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(capacity)
  bytes.copy(larger, 0, 0, size)
  return larger
}

interface LaidEntry extends Change {
  readonly position: number
}

/**
 * Cursor over the entries of a block. After `previous`, `next` may not be called until the next
 * seek.
 */
export class BlockCursor {
  readonly #tie: Tie
  #block: Uint8Array = new Uint8Array(headerSize)
  #restarts = headerSize
  /** Key of the current entry; its first `#size` bytes are valid. */
  #bytes = Buffer.allocUnsafe(256)
  #size = 0
  #text: string | undefined
  /** Document number of the current entry; negative until it is decoded from the key. */
  #doc = 0
  /** For `previous`: decoded entries before the current entry, back to a restart. */
  readonly #trail: LaidEntry[] = []
  /** Offsets in the block: of the next entry, and of the next byte to read. */
  #next = 0
  #at = 0
  count = 0
  /** Index of the current entry: `count` after the last one, -1 before the first. */
  position = 0
  state = 0

  constructor(tie: Tie) {
    this.#tie = tie
  }

  get isAt(): boolean {
    return this.position >= 0 && this.position < this.count
  }

  get key(): string {
    return (this.#text ??= this.#bytes.toString('latin1', 0, this.#size))
  }

  get doc(): number {
    return this.#doc < 0 ? (this.#doc = this.#docRead()) : this.#doc
  }

  #docRead(): number {
    return this.#tie === 'id' ? this.#doc : numberAt(this.#bytes, this.#size - docSize)
  }

  /** Opens a block. The position is undefined until the next seek. */
  load(block: Uint8Array): void {
    this.#block = block
    this.#trail.length = 0
    this.count = countOf(block)
    this.#restarts = block.length - restartSize * Math.ceil(this.count / interval)
  }

  toFirst(): void {
    this.#toRestart(0)
  }

  /** Whether the current key equals `target`. */
  isAtKey(target: Uint8Array): boolean {
    if (!this.isAt || this.#size !== target.length) return false
    for (let i = this.#size - 1; i >= 0; i--) if (this.#bytes[i] !== target[i]) return false
    return true
  }

  startsWith(start: Uint8Array): boolean {
    if (this.#size < start.length) return false
    for (let i = start.length - 1; i >= 0; i--)
      if (this.#bytes[i] !== start[i]) return false
    return true
  }

  /** Moves to the first entry whose key is not less than `target`. */
  seek(target: Uint8Array): void {
    this.seekBefore(target)
    this.next()
  }

  /**
   * Moves to the last entry whose key is less than `target`, or to position -1 when all keys are
   * greater or equal.
   */
  seekBefore(target: Uint8Array): void {
    let low = -1
    let high = Math.ceil(this.count / interval) - 1
    // Numbers of bytes that the target shares with the nearest known keys before and after it. Any
    // key between these two shares at least the lesser number of bytes with the target.
    let same = 0
    let sameHigh = 0
    while (low < high) {
      const middle = (low + high + 1) >> 1
      this.#at = this.#offset(middle)
      const size = sizeIn(this.#varint())
      // The shared size is skipped: it is 0 in a restart and takes one byte.
      this.#at++
      const known = Math.min(same, sameHigh)
      const found = this.#sameSize(known, size - known, this.#at + known, target)
      if (this.#isBefore(found, size, this.#at + found, target)) {
        low = middle
        same = found
      } else {
        high = middle - 1
        sameHigh = found
      }
    }
    if (low === -1) {
      this.position = -1
      this.#next = this.#offset(0)
      return
    }
    this.#toRestart(low)
    const end = Math.min(this.count, (low + 1) * interval)
    while (this.position + 1 < end) {
      this.#at = this.#next
      const head = this.#varint()
      const shared = this.#varint()
      // The current key is less than the target and shares `same` bytes with it. A next key that
      // shares fewer bytes with the current key is greater than the target.
      if (shared < same) return
      if (shared === same) {
        const size = shared + sizeIn(head)
        const found = this.#sameSize(same, size - same, this.#at, target)
        if (!this.#isBefore(found, size, this.#at + found - shared, target)) return
        same = found
      }
      this.position++
      this.#take(head, shared)
    }
  }

  next(): void {
    this.position++
    if (this.isAt) this.#read()
  }

  /**
   * Moves to the next entry of one of the documents; returns the number of skipped entries.
   * Requires document numbers as ties.
   */
  nextOf(documents: Documents): number {
    const block = this.#block
    const { count, position } = this
    let doc = this.isAt ? this.doc : 0
    let next = this.#next
    let at = position
    while (++at < count) {
      // The keys of skipped entries are not decoded, only their document numbers.
      this.#at = next
      const suffix = sizeIn(this.#varint())
      this.#varint()
      next = this.#at + suffix
      doc =
        suffix < docSize
          ? this.#docBefore(next, suffix, doc)
          : numberAt(block, next - docSize)
      if (documents.has(doc)) break
    }
    if (at < count) this.#moveTo(at)
    else this.position = count
    return at - position - 1
  }

  /**
   * The document number of a key whose suffix of `size` bytes ends at `end`. The suffix is a part of
   * the number, so the previous key has the same value, and its document number starts with the
   * bytes that the suffix omits.
   */
  #docBefore(end: number, size: number, previous: number): number {
    let low = 0
    let unit = 1
    for (let at = end - size; at < end; at++) {
      low = low * 256 + this.#block[at]!
      unit *= 256
    }
    return previous - (previous % unit) + low
  }

  /** Moves to a later entry, from the current entry or from a restart between the two. */
  #moveTo(position: number): void {
    const restart = Math.floor(position / interval)
    if (this.position < restart * interval) this.#toRestart(restart)
    while (this.position < position) this.next()
  }

  /**
   * Calls `tell` for the current entry and the following entries while their keys have the prefix
   * `start`, which the current key must have. Returns whether the last entry of the block has the
   * prefix, too. Requires document numbers as ties.
   */
  tellOf(start: Uint8Array, tell: (state: State, doc: number) => void): boolean {
    const block = this.#block
    const { count } = this
    const tieAt = start.length
    const end = tieAt + docSize
    let bytes = this.#bytes
    let { state, position } = this
    let next = this.#next
    for (;;) {
      tell(state, numberAt(bytes, tieAt))
      if (++position === count) break
      const head = block[next]!
      const shared = block[next + 1]!
      if (head < 128 && shared >= tieAt && shared < 128) {
        // The key has the same value as the previous key, so its suffix is the end of the document
        // number.
        state = stateIn(head)
        next += 2
        for (let i = shared; i < end; i++) bytes[i] = block[next++]!
        continue
      }
      this.#next = next
      this.#read()
      bytes = this.#bytes
      state = this.state
      next = this.#next
      if (!this.startsWith(start)) break
    }
    this.position = position
    return position === count
  }

  /**
   * Calls `tell` for the current entry and the following ones while their keys are less than `end`.
   * Returns whether the key of the last entry of the block is less, too.
   */
  tellBefore(end: Uint8Array, tell: (state: State, doc: number) => void): boolean {
    /** Number of bytes that the current key shares with `end`. */
    let same = this.#sameInKey(0, end)
    while (this.#isKeyBefore(same, end)) {
      tell(this.state, this.doc)
      if (++this.position === this.count) return true
      this.#at = this.#next
      const head = this.#varint()
      const shared = this.#varint()
      this.#take(head, shared)
      // A key that shares more bytes with the previous key is on the same side of `end`.
      if (shared <= same) same = this.#sameInKey(shared, end)
    }
    return false
  }

  /** Bytes that the current key shares with a target, of which `known` are known. */
  #sameInKey(known: number, target: Uint8Array): number {
    const bytes = this.#bytes
    const end = Math.min(this.#size, target.length)
    let same = known
    while (same < end && bytes[same] === target[same]) same++
    return same
  }

  /** Whether the current key, which shares `same` bytes with a target, is less than it. */
  #isKeyBefore(same: number, target: Uint8Array): boolean {
    if (same === target.length) return false
    return same === this.#size || this.#bytes[same]! < target[same]!
  }

  /**
   * Moves to the previous entry, or to the previous entry of one of `documents`; false at the start
   * of the block.
   */
  previous(documents?: Documents): boolean {
    let before = this.position
    while (this.#trail.length === 0) {
      if (before <= 0) return false
      before = this.#lay(before - 1, documents)
    }
    const { position, key, state, doc } = this.#trail.pop()!
    this.position = position
    this.#text = key
    this.state = state
    this.#doc = doc
    return true
  }

  /**
   * Pushes the entries from the last restart up to `end` to the trail; returns the position of the
   * restart.
   */
  #lay(end: number, documents: Documents | undefined): number {
    const start = Math.floor(end / interval)
    this.#toRestart(start)
    for (;;) {
      const { position, state } = this
      const doc = this.#docRead()
      if (documents === undefined || documents.has(doc))
        this.#trail.push({ position, key: this.key, state, doc })
      if (position === end) return start * interval
      this.next()
    }
  }

  toLast(): void {
    const last = this.count - 1
    this.#toRestart(Math.floor(last / interval))
    while (this.position < last) this.next()
  }

  /** Net counts of the entries before the current entry. */
  sumsBefore(): Sums {
    const end = this.position
    const restart = Math.floor(Math.min(end, this.count - 1) / interval)
    const at = this.#restarts + restartSize * restart + 4
    let sum = this.#int16(at)
    let values = this.#int16(at + 2)
    this.#at = this.#offset(restart)
    for (let i = restart * interval; i < end; i++) {
      const head = this.#varint()
      const state = stateIn(head)
      this.#varint()
      this.#at += sizeIn(head)
      if (this.#tie === 'id' && kindOf(state) !== kinds.remove) this.#varint()
      sum += countIn(state)
      values += valuesIn(state)
    }
    return { sum, values }
  }

  #int16(at: number): number {
    return ((this.#block[at]! | (this.#block[at + 1]! << 8)) << 16) >> 16
  }

  #toRestart(number: number): void {
    this.position = number * interval
    this.#next = this.#offset(number)
    if (this.isAt) this.#read()
  }

  #offset(restart: number): number {
    const block = this.#block
    const at = this.#restarts + restartSize * restart
    const low = block[at]! | (block[at + 1]! << 8)
    return low | (block[at + 2]! << 16) | (block[at + 3]! << 24)
  }

  /**
   * Number of bytes that a key shares with a target. The first `known` bytes are equal; `rest` more
   * bytes of the key start at `at`.
   */
  #sameSize(known: number, rest: number, at: number, target: Uint8Array): number {
    const block = this.#block
    const end = Math.min(known + rest, target.length)
    let same = known
    for (let i = at; same < end && block[i] === target[same]; i++) same++
    return same
  }

  /**
   * Whether a key of `size` bytes is less than a target with which it shares `same` bytes. The next
   * byte of the key is at `at`.
   */
  #isBefore(same: number, size: number, at: number, target: Uint8Array): boolean {
    if (same === target.length) return false
    return same === size || this.#block[at]! < target[same]!
  }

  #read(): void {
    this.#at = this.#next
    this.#take(this.#varint(), this.#varint())
  }

  /** Reads the rest of an entry, after its head and shared size. */
  #take(head: number, shared: number): void {
    const block = this.#block
    this.state = stateIn(head)
    const size = shared + sizeIn(head)
    if (size > this.#bytes.length) this.#grow(size)
    const bytes = this.#bytes
    let at = this.#at
    for (let i = shared; i < size; i++) bytes[i] = block[at++]!
    this.#at = at
    this.#size = size
    this.#text = undefined
    if (this.#tie === 'doc') this.#doc = -1
    else this.#doc = kindOf(this.state) === kinds.remove ? 0 : this.#varint()
    this.#next = this.#at
  }

  #varint(): number {
    const block = this.#block
    let byte = block[this.#at++]!
    if (byte < 128) return byte
    let value = byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = block[this.#at++]!
      value += (byte & 127) * scale
    }
    return value
  }

  #grow(size: number): void {
    this.#bytes = grown(this.#bytes, this.#bytes.length, 2 * size)
  }
}

export function changesIn(block: Uint8Array, tie: Tie): Change[] {
  const cursor = new BlockCursor(tie)
  const changes: Change[] = []
  cursor.load(block)
  cursor.toFirst()
  while (cursor.isAt) {
    const { key, state, doc } = cursor
    changes.push({ key, state, doc })
    cursor.next()
  }
  return changes
}

/** Number of entries in a block. */
export function countOf(block: Uint8Array): number {
  return block[0]! + block[1]! * 256
}
