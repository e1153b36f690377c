/**
 * Entries in order, packed into some kilobytes.
 *
 *   count u16, added less removed i16, the same without elements i16   the header
 *   entries          suffix size and state, shared size: as varints; then the suffix
 *   restarts u32 …   where every 16th entry starts, which shares nothing
 *
 * An entry shares the start of its key with the one before it. To find one, the restarts are
 * halved and at most 16 entries are read. Entries of rows have their document's number behind
 * the suffix, as a varint; in documents' entries it is the end of the key. Numbers are
 * little-endian.
 */
import { countIn, kindOf, kinds, stateBits, valuesIn, type Change } from './change.ts'
import { docIn, docSize, type Tie } from './entry-key.ts'

const headerSize = 6
const interval = 16
/** Entries that a block has at most: its sums must fit 16 bits. */
export const blockEntriesMax = 32_000

/** Of some entries: how many they make, in all and without elements. */
export interface Sums {
  readonly sum: number
  readonly values: number
}

/** Packs entries that come in order. */
export class BlockWriter {
  readonly #tie: Tie
  #bytes = Buffer.alloc(8192)
  #size = headerSize
  #restarts: number[] = []
  #sum = 0
  #values = 0
  #last = ''
  count = 0
  /** How much of its key the latest entry shares with the one before it in the block. */
  shared = 0

  constructor(tie: Tie) {
    this.#tie = tie
  }

  /** Bytes of the block if it ended here. */
  get size(): number {
    return this.#size + 4 * this.#restarts.length
  }

  /** Bytes of the block with another entry, at most. */
  sizeWith(key: string): number {
    const shared = this.count % interval === 0 ? 0 : sharedSize(this.#last, key)
    return this.size + key.length - shared + 16
  }

  add({ key, state, doc }: Change): void {
    const { length } = key
    if (this.#size + length + 32 > this.#bytes.length) this.#grow(length + 32)
    this.shared = sharedSize(this.#last, key)
    let from = this.shared
    if (this.count % interval === 0) {
      from = 0
      this.#restarts.push(this.#size)
    }
    this.#varint((length - from) * 2 ** stateBits + state)
    this.#varint(from)
    const bytes = this.#bytes
    let at = this.#size
    for (let i = from; i < length; i++) bytes[at++] = key.charCodeAt(i)
    this.#size = at
    if (this.#tie === 'id' && kindOf(state) !== kinds.remove) this.#varint(doc)
    this.#last = key
    this.#sum += countIn(state)
    this.#values += valuesIn(state)
    this.count++
  }

  /** The block; the writer begins the next one. */
  finish(): { readonly bytes: Buffer; readonly sums: Sums; readonly count: number } {
    const { count } = this
    const sums = { sum: this.#sum, values: this.#values }
    const bytes = Buffer.alloc(this.size)
    this.#bytes.copy(bytes, 0, 0, this.#size)
    bytes.writeUInt16LE(count, 0)
    bytes.writeInt16LE(sums.sum, 2)
    bytes.writeInt16LE(sums.values, 4)
    for (const [i, restart] of this.#restarts.entries())
      bytes.writeUInt32LE(restart, this.#size + 4 * i)
    this.#size = headerSize
    this.#restarts = []
    this.#sum = this.#values = this.count = this.shared = 0
    this.#last = ''
    return { bytes, sums, count }
  }

  #varint(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.#bytes[this.#size++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#size++] = rest
  }

  #grow(size: number): void {
    const grown = Buffer.alloc(2 * (this.#bytes.length + size))
    this.#bytes.copy(grown, 0, 0, this.#size)
    this.#bytes = grown
  }
}

function sharedSize(a: string, b: string): number {
  const max = Math.min(a.length, b.length)
  let size = 0
  while (size < max && a.charCodeAt(size) === b.charCodeAt(size)) size++
  return size
}

/** Stands at an entry of a block, or behind its last one. */
export class BlockCursor {
  readonly #tie: Tie
  #block: Uint8Array = new Uint8Array(headerSize)
  #restarts = headerSize
  /** The entry's key, and how much of it holds. */
  #bytes = Buffer.allocUnsafe(256)
  #size = 0
  #text: string | undefined
  #doc = 0
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
    return this.position < this.count
  }

  get key(): string {
    return (this.#text ??= this.#bytes.toString('latin1', 0, this.#size))
  }

  get doc(): number {
    if (this.#tie === 'id') return this.#doc
    let doc = 0
    for (let i = this.#size - docSize; i < this.#size; i++)
      doc = doc * 256 + this.#bytes[i]!
    return doc
  }

  /** Stands at the first entry of a block. */
  open(block: Uint8Array): void {
    this.#block = block
    this.count = block[0]! + block[1]! * 256
    this.#restarts = block.length - 4 * Math.ceil(this.count / interval)
    this.#toRestart(0)
  }

  /** Goes to the first entry that is not before a key. */
  seek(target: Uint8Array): void {
    let low = 0
    let high = Math.ceil(this.count / interval) - 1
    // The last restart that is before the target, or the first one.
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#isRestartBefore(middle, target)) low = middle
      else high = middle - 1
    }
    this.#toRestart(low)
    while (this.isAt && compare(this.#bytes, this.#size, target) < 0) this.next()
  }

  next(): void {
    this.position++
    if (this.isAt) this.#read()
  }

  /** Whether there was one before. */
  previous(): boolean {
    if (this.position === 0) return false
    const target = this.position - 1
    this.#toRestart(Math.floor(target / interval))
    while (this.position < target) this.next()
    return true
  }

  /** Behind the last entry. */
  toEnd(): void {
    this.position = this.count
  }

  /** What the entries from here up to another make. */
  sumUpTo(end: number): Sums {
    let sum = 0
    let values = 0
    if (this.position >= end) return { sum, values }
    sum += countIn(this.state)
    values += valuesIn(this.state)
    this.#at = this.#next
    for (let i = this.position + 1; i < end; i++) {
      const head = this.#varint()
      const state = head & (2 ** stateBits - 1)
      this.#varint()
      this.#at += Math.floor(head / 2 ** stateBits)
      if (this.#tie === 'id' && kindOf(state) !== kinds.remove) this.#varint()
      sum += countIn(state)
      values += valuesIn(state)
    }
    return { sum, values }
  }

  #toRestart(number: number): void {
    this.position = number * interval
    this.#next = this.#offset(number)
    if (this.isAt) this.#read()
  }

  #offset(restart: number): number {
    const block = this.#block
    const at = this.#restarts + 4 * restart
    const low = block[at]! + block[at + 1]! * 2 ** 8
    return low + (block[at + 2]! + block[at + 3]! * 2 ** 8) * 2 ** 16
  }

  #isRestartBefore(restart: number, target: Uint8Array): boolean {
    const block = this.#block
    this.#at = this.#offset(restart)
    const size = Math.floor(this.#varint() / 2 ** stateBits)
    // It shares nothing.
    const start = this.#at + 1
    const both = Math.min(size, target.length)
    for (let i = 0; i < both; i++) {
      const order = block[start + i]! - target[i]!
      if (order !== 0) return order < 0
    }
    return size < target.length
  }

  #read(): void {
    this.#at = this.#next
    const block = this.#block
    const head = this.#varint()
    const shared = this.#varint()
    this.state = head & (2 ** stateBits - 1)
    const size = shared + Math.floor(head / 2 ** stateBits)
    if (size > this.#bytes.length) this.#grow(size)
    const bytes = this.#bytes
    let at = this.#at
    for (let i = shared; i < size; i++) bytes[i] = block[at++]!
    this.#at = at
    this.#size = size
    this.#text = undefined
    if (this.#tie === 'id')
      this.#doc = kindOf(this.state) === kinds.remove ? 0 : this.#varint()
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
    const grown = Buffer.alloc(2 * size)
    this.#bytes.copy(grown)
    this.#bytes = grown
  }
}

/** Whether bytes are before others, equal or behind them. */
function compare(bytes: Uint8Array, size: number, target: Uint8Array): number {
  const both = Math.min(size, target.length)
  for (let i = 0; i < both; i++) {
    const order = bytes[i]! - target[i]!
    if (order !== 0) return order
  }
  return size - target.length
}

/** All entries of a block. */
export function changesIn(block: Uint8Array, tie: Tie): Change[] {
  const cursor = new BlockCursor(tie)
  const changes: Change[] = []
  for (cursor.open(block); cursor.isAt; cursor.next()) {
    const { key, state } = cursor
    changes.push({ key, state, doc: tie === 'doc' ? docIn(key) : cursor.doc })
  }
  return changes
}
