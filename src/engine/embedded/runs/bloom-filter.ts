/**
 * Bloom filter over the values of a segment, to skip segments that cannot match (Bloom, "Space/time
 * trade-offs in hash coding with allowable errors", 1970). Bit positions are derived from two
 * hashes (Kirsch and Mitzenmacher, "Less hashing, same performance", 2006).
 */

/** 10 bits per key and 6 hashes: a false-positive rate of 0.8 %. */
const bitsPerKey = 10
const positions = 6

/** Both hashes of the first `size` characters of a text, each of which is one byte. */
export function hashesOf(text: string, size: number): readonly [number, number] {
  return hashesIn(Buffer.from(text, 'latin1'), 0, size)
}

/** Both hashes of the bytes from `start` to `end`. */
export function hashesIn(
  bytes: Uint8Array,
  start: number,
  end: number,
): readonly [number, number] {
  // FNV-1a, and a variant with another start value, multiplier and a shift.
  let one = 0x811c9dc5
  let other = 0x9747b28c
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    one = Math.imul(one ^ byte, 0x01000193)
    other = Math.imul(other ^ byte, 0x85ebca6b)
    other ^= other >>> 15
  }
  one ^= one >>> 16
  return [Math.imul(one, 0x7feb352d) >>> 0, (other | 1) >>> 0]
}

/** Builds a filter from the hashes of its values: two consecutive numbers per value. */
export function filterOf(hashes: readonly number[]): Uint8Array {
  const bits = Math.max(64, (hashes.length / 2) * bitsPerKey)
  const filter = new Uint8Array(Math.ceil(bits / 8))
  for (let i = 0; i < hashes.length; i += 2)
    for (let n = 0; n < positions; n++) {
      const bit = ((hashes[i]! + Math.imul(n, hashes[i + 1]!)) >>> 0) % (filter.length * 8)
      filter[bit >>> 3]! |= 1 << (bit & 7)
    }
  return filter
}

/** Whether a value may be in the filter. False means that it is certainly absent. */
export function mayHave(filter: Uint8Array, hashes: readonly [number, number]): boolean {
  const [one, other] = hashes
  const bits = filter.length * 8
  for (let n = 0; n < positions; n++) {
    const bit = ((one + Math.imul(n, other)) >>> 0) % bits
    if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return false
  }
  return true
}
