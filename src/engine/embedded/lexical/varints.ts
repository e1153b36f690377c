/**
 * Varints: seven bits per byte, the lowest bits first; the high bit is set when another byte
 * follows.
 */

export class VarintWriter {
  #bytes = new Uint8Array(1024)
  #size = 0

  get size(): number {
    return this.#size
  }

  put(value: number): void {
    this.#makeRoom(8)
    let rest = value
    // Shifts are much faster, but are limited to 32 bits.
    while (rest >= 2 ** 31) {
      this.#bytes[this.#size++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    while (rest >= 0x80) {
      this.#bytes[this.#size++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.#size++] = rest
  }

  /** Writes the first `size` bytes. */
  putBytes(bytes: Uint8Array, size = bytes.length): void {
    this.#makeRoom(size)
    if (size === bytes.length) this.#bytes.set(bytes, this.#size)
    else for (let i = 0; i < size; i++) this.#bytes[this.#size + i] = bytes[i]!
    this.#size += size
  }

  /** A copy of the bytes so far. */
  get bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#size)
  }

  /** Returns the bytes so far and empties the writer. */
  finish(): Uint8Array {
    const { bytes } = this
    this.#size = 0
    return bytes
  }

  #makeRoom(size: number): void {
    if (this.#size + size <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#size + size))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}

export class VarintReader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length
  }

  take(): number {
    const { bytes } = this
    let byte = bytes[this.at++]!
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let unit = 0x80; byte >= 0x80; unit *= 0x80) {
      byte = bytes[this.at++]!
      value += (byte & 0x7f) * unit
    }
    return value
  }

  takeBytes(size: number): Uint8Array {
    return this.bytes.subarray(this.at, (this.at += size))
  }
}
