/**
 * Entries, packed into some kilobytes. Those of runs are in order; those that a commit writes
 * are in the order in which they were made, and are read from the first to the last.
 *
 *   count u16, added less removed i16, the same without elements i16   the header
 *   entries          suffix size and state, shared size: as varints; then the suffix
 *   restarts         where every 16th entry starts, which shares nothing: u32; and what those
 *                    before it make, in all and without elements: i16 each
 *
 * An entry shares the start of its key with the one before it. To find one, the restarts are
 * halved and at most 16 entries are read. Entries of rows have their document's number behind
 * the suffix, as a varint; in documents' entries it is the end of the key. Numbers are
 * little-endian.
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
/** Entries that a block has at most: its sums must fit 16 bits. */
export const blockEntriesMax = 32_000

/** Of some entries: how many they make, in all and without elements. */
export interface Sums {
  readonly sum: number
  readonly values: number
}

/** Packs entries. */
export class BlockWriter {
  readonly #tie: Tie
  #bytes = Buffer.alloc(8192)
  #size = headerSize
  /** Three numbers for each. */
  #restarts: number[] = []
  #sum = 0
  #values = 0
  count = 0

  constructor(tie: Tie) {
    this.#tie = tie
  }

  /** Bytes of the block if it ended here. */
  get #sizeNow(): number {
    return this.#size + restartSize * Math.ceil(this.count / interval)
  }

  /**
   * Whether there was room for an entry, of whose key so many bytes are those of the one before
   * it and need not be written; there always is for the first.
   */
  add(change: PackedChange, shared: number, sizeMax: number): boolean {
    const { bytes: key, start, size: length, state } = change
    const isRestart = this.count % interval === 0
    const from = isRestart ? 0 : shared
    // Behind the key there is a restart, three varints and a document's number at most.
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

  /** The block; the writer begins the next one. */
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

/** A larger buffer with what the first bytes of one were. */
function grown(bytes: Buffer, size: number, capacity: number): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(capacity)
  bytes.copy(larger, 0, 0, size)
  return larger
}

interface LaidEntry extends Change {
  readonly position: number
}

/** Stands at an entry of a block, or behind its last one. Once it went back, it cannot turn. */
export class BlockCursor {
  readonly #tie: Tie
  #block: Uint8Array = new Uint8Array(headerSize)
  #restarts = headerSize
  /** The entry's key, and how much of it holds. */
  #bytes = Buffer.allocUnsafe(256)
  #size = 0
  #text: string | undefined
  /** Negative where it is not known yet. */
  #doc = 0
  /** Going back: entries before this one, as far as they were read. */
  readonly #trail: LaidEntry[] = []
  /** Where the next entry starts, and where something was read last. */
  #next = 0
  #at = 0
  count = 0
  /** The number of the entry; `count` behind the last one. */
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

  /** Takes a block; it stands nowhere until something is sought there. */
  load(block: Uint8Array): void {
    this.#block = block
    this.#trail.length = 0
    this.count = countOf(block)
    this.#restarts = block.length - restartSize * Math.ceil(this.count / interval)
  }

  toFirst(): void {
    this.#toRestart(0)
  }

  /** Whether the entry that was sought is there. */
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

  /** Goes to the first entry that is not before a key. */
  seek(target: Uint8Array): void {
    this.seekBefore(target)
    this.next()
  }

  /** Goes to the last entry that is before a key; to -1 where none is. */
  seekBefore(target: Uint8Array): void {
    let low = -1
    let high = Math.ceil(this.count / interval) - 1
    // What the keys at both ends share with the target all between them do.
    let same = 0
    let sameHigh = 0
    while (low < high) {
      const middle = (low + high + 1) >> 1
      this.#at = this.#offset(middle)
      const size = sizeIn(this.#varint())
      // It shares nothing with the one before it, which takes one byte to say.
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
      // The key here is before the target. One that shares less with it than the target is behind.
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

  /** Goes on to an entry of one of some documents; returns how many it passed. */
  nextOf(documents: Documents): number {
    for (let passed = 0; ; passed++) {
      this.next()
      if (!this.isAt || documents.has(this.doc)) return passed
    }
  }

  /**
   * Tells of a document's entry and of those behind it, as long as their keys start so, as that
   * of the first must. Whether they went on up to the end of the block.
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
        // The value is the same, so only the end of a number follows.
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

  /** Whether there was one before, of one of some documents where these are given. */
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

  /** Notes the entries up to a position from the restart before it on, which it returns. */
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

  /** What the entries make that are before this one. */
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

  /** How much a key shares with a target, of which `known`; `rest` bytes of it follow at `at`. */
  #sameSize(known: number, rest: number, at: number, target: Uint8Array): number {
    const block = this.#block
    const end = Math.min(known + rest, target.length)
    let same = known
    for (let i = at; same < end && block[i] === target[same]; i++) same++
    return same
  }

  /** Whether a key that shares `same` bytes with a target is before it; the next one is at `at`. */
  #isBefore(same: number, size: number, at: number, target: Uint8Array): boolean {
    if (same === target.length) return false
    return same === size || this.#block[at]! < target[same]!
  }

  #read(): void {
    this.#at = this.#next
    this.#take(this.#varint(), this.#varint())
  }

  /** Reads the rest of an entry, of which the first numbers are known. */
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

/** All entries of a block. */
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

/** How many entries a block has. */
export function countOf(block: Uint8Array): number {
  return block[0]! + block[1]! * 256
}
