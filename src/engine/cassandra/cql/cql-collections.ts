/**
 * Encodes lists, sets and maps in the native protocol.
 *
 * The driver encodes all values of a statement in one turn of the event loop, but accepts bytes for
 * a value of any type. Long collections are therefore encoded here, in steps.
 */
import { Pace, type Steps } from '../../../runtime/steps.ts'

/**
 * Encodes a collection. `partsOf` returns the bytes of an element, or of a key and its value. If it
 * returns an empty list, the item is skipped.
 */
export function* bytesOfCollection<T>(
  items: Iterable<T>,
  partsOf: (item: T) => readonly Buffer[],
): Steps<Buffer> {
  const pace = new Pace()
  const bytes = new GrowingBytes()
  let count = 0
  for (const item of items) {
    if (pace.isDue()) yield
    const parts = partsOf(item)
    if (parts.length > 0) count++
    for (const part of parts) bytes.addWithLength(part)
  }
  return bytes.whole(count)
}

/** Buffer for a count and parts, each preceded by its length. */
class GrowingBytes {
  /**
   * Memory for the bytes. Its size at least doubles when it is full, so that the cost of appending
   * is linear in total.
   */
  #bytes = Buffer.allocUnsafe(256)
  #size = countSize

  addWithLength(part: Buffer): void {
    this.#reserve(lengthSize + part.length)
    this.#size = this.#bytes.writeInt32BE(part.length, this.#size)
    this.#size += part.copy(this.#bytes, this.#size)
  }

  whole(count: number): Buffer {
    this.#bytes.writeInt32BE(count, 0)
    return this.#bytes.subarray(0, this.#size)
  }

  #reserve(more: number): void {
    if (this.#size + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#size + more))
    this.#bytes.copy(larger, 0, 0, this.#size)
    this.#bytes = larger
  }
}

const countSize = 4
const lengthSize = 4
