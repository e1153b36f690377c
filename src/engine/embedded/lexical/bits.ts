/** Bit streams: numbers without gaps between them, the lowest bit of a byte first. */
import type { VarintWriter } from './varints.ts'

export class BitWriter {
  #bytes = new Uint8Array(256)
  #size = 0
  /** Bits that do not fill a byte yet. */
  #held = 0
  #heldBits = 0

  /** Writes a number in `width` bits, at most 32. */
  put(value: number, width: number): void {
    if (width > 16) {
      this.#put(value & 0xffff, 16)
      this.#put(value >>> 16, width - 16)
    } else this.#put(value, width)
  }

  /** Writes a number in unary: `zeros` 0 bits and a 1 bit. */
  putUnary(zeros: number): void {
    let left = zeros
    for (; left > 15; left -= 16) this.#put(0, 16)
    this.#put(1 << left, left + 1)
  }

  /**
   * Writes an exponential Golomb code: numbers below 2 ** order take order + 1 bits, and every
   * doubling adds two bits. For numbers up to 2 ** 32 - 2 and orders up to 28.
   */
  putGolomb(value: number, order: number): void {
    const high = (value >>> order) + 1
    const bits = 31 - Math.clz32(high)
    this.putUnary(bits)
    this.put(high & ((1 << bits) - 1), bits)
    this.put(value & ((1 << order) - 1), order)
  }

  /** Returns the bytes so far, the last byte padded with zeros, and empties the writer. */
  finish(): Uint8Array {
    this.#fillByte()
    const bytes = this.#bytes.slice(0, this.#size)
    this.#size = 0
    return bytes
  }

  /** Writes the number of bytes and the bytes to `writer`, and empties this writer. */
  finishInto(writer: VarintWriter): void {
    this.#fillByte()
    writer.put(this.#size)
    writer.putBytes(this.#bytes, this.#size)
    this.#size = 0
  }

  #fillByte(): void {
    if (this.#heldBits > 0) this.#put(0, 8 - this.#heldBits)
  }

  #put(value: number, width: number): void {
    this.#held |= value << this.#heldBits
    this.#heldBits += width
    if (this.#size + 4 > this.#bytes.length) this.#grow()
    while (this.#heldBits >= 8) {
      this.#bytes[this.#size++] = this.#held
      this.#held >>>= 8
      this.#heldBits -= 8
    }
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bytes.length * 2)
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}

export class BitReader {
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #end = 0

  /** Starts reading other bytes. */
  read(bytes: Uint8Array): this {
    this.#bytes = bytes
    this.#at = 0
    this.#end = bytes.length * 8
    return this
  }

  take(width: number): number {
    if (width > 16) return this.#take(16) + this.#take(width - 16) * 0x10000
    return this.#take(width)
  }

  /** Number of 0 bits before the next 1 bit; -1 when no 1 bit follows. */
  takeUnary(): number {
    let zeros = 0
    while (this.#at < this.#end) {
      const start = this.#at & 7
      const rest = this.#bytes[this.#at >>> 3]! >>> start
      if (rest !== 0) {
        const found = 31 - Math.clz32(rest & -rest)
        this.#at += found + 1
        return zeros + found
      }
      zeros += 8 - start
      this.#at += 8 - start
    }
    return -1
  }

  /** Reads a number that `putGolomb` wrote; -1 if only padding follows. */
  takeGolomb(order: number): number {
    const bits = this.takeUnary()
    if (bits <= 0) return bits === 0 ? this.take(order) : -1
    const high = ((1 << bits) | this.take(bits)) >>> 0
    return (((high - 1) << order) | this.take(order)) >>> 0
  }

  #take(width: number): number {
    const bytes = this.#bytes
    const from = this.#at >>> 3
    // Bytes beyond the end read as zeros.
    const word = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16)
    const value = (word >>> (this.#at & 7)) & ((1 << width) - 1)
    this.#at += width
    return value
  }
}
