/** Texts that one statement has joined by line feeds, which no stored text contains. */
import { crc32 } from 'node:zlib'

/**
 * Replaces the line feeds between texts with commas. False when the number of texts differs from
 * `count`, or the sum of their CRCs from `sum`.
 */
export function joinVerified(joined: Buffer, count: number, sum: number | null): boolean {
  let left = sum ?? 0
  let lines = 1
  for (let start = 0; ; lines++) {
    const found = joined.indexOf(lineFeed, start)
    const end = found < 0 ? joined.length : found
    if (sum !== null) left -= crc32(joined.subarray(start, end))
    if (found < 0) break
    joined[found] = comma
    start = found + 1
  }
  return lines === count && left === 0
}

const lineFeed = 0x0a
const comma = 0x2c
