/** Reads the entries of blocks in stored order, as input of flushes and merges. */
import { countOf, headerSize } from './block.ts'
import { kindOf, kinds, sizeIn, stateIn, type State } from './change.ts'
import { numberAt, docSize, type Tie } from '../format/entry-key.ts'
import type { ChangeSource } from './packed-change.ts'

export class BlockScan implements ChangeSource {
  readonly #tie: Tie
  readonly #blocks: Iterator<Uint8Array>
  #block: Uint8Array = new Uint8Array()
  #at = 0
  /** Number of entries left in the current block. */
  #left = 0
  readonly start = 0
  bytes = new Uint8Array(256)
  size = 0
  shared = 0
  state: State = 0
  doc = 0
  isAt = true

  constructor(tie: Tie, blocks: Iterable<Uint8Array>) {
    this.#tie = tie
    this.#blocks = blocks[Symbol.iterator]()
    this.next()
  }

  next(): void {
    if (this.#left === 0 && !this.#openNext()) return
    this.#left--
    const head = this.#varint()
    const kept = this.#varint()
    const size = kept + sizeIn(head)
    if (size > this.bytes.length) this.#grow(size)
    // A restart stores its whole key, so the number of bytes shared with the previous key is
    // computed.
    this.shared = kept === 0 ? this.#sharedAhead(size) : kept
    const block = this.#block
    const { bytes } = this
    let at = this.#at
    for (let i = kept; i < size; i++) bytes[i] = block[at++]!
    this.#at = at
    this.size = size
    this.state = stateIn(head)
    if (this.#tie === 'doc') this.doc = numberAt(bytes, size - docSize)
    else this.doc = kindOf(this.state) === kinds.remove ? 0 : this.#varint()
  }

  /** Opens the next block with entries; false at the end. */
  #openNext(): boolean {
    while (this.#left === 0) {
      const next = this.#blocks.next()
      if (next.done === true) {
        this.isAt = false
        return false
      }
      this.#block = next.value
      this.#at = headerSize
      this.#left = countOf(next.value)
    }
    return true
  }

  /** Number of bytes that a key stored as a whole shares with the previous key. */
  #sharedAhead(size: number): number {
    const { bytes } = this
    const block = this.#block
    const end = size < this.size ? size : this.size
    let shared = 0
    for (let at = this.#at; shared < end && bytes[shared] === block[at]; at++) shared++
    return shared
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
    const larger = new Uint8Array(2 * size)
    larger.set(this.bytes)
    this.bytes = larger
  }
}
