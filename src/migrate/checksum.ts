/**
 * A checksum of records that does not depend on their order: the sum of their digests. Two stores
 * with equal records have equal checksums.
 */
import { hash } from 'node:crypto'

export class Checksum {
  #sum = 0n
  #count = 0

  add(canonical: string): void {
    this.#sum += BigInt(`0x${hash('sha256', canonical).slice(0, digits)}`)
    this.#count++
  }

  get result(): ChecksumTotal {
    const sum = BigInt.asUintN(digits * 4, this.#sum)
    return { count: this.#count, sum: sum.toString(16).padStart(digits, '0') }
  }
}

export interface ChecksumTotal {
  readonly count: number
  readonly sum: string
}

export function areSame(a: ChecksumTotal, b: ChecksumTotal): boolean {
  return a.count === b.count && a.sum === b.sum
}

/** Hexadecimal digits of a checksum: 64 bits, and short enough for a person to compare. */
const digits = 16
