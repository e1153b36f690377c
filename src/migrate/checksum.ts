/**
 * A checksum of records in any order: the sum of their digests. Two stores that hold the same
 * records have the same, whichever order they read them in.
 */
import { hash } from 'node:crypto'

export class Checksum {
  #sum = 0n
  #count = 0

  add(canonical: string): void {
    this.#sum += BigInt(`0x${hash('sha256', canonical).slice(0, digits)}`)
    this.#count++
  }

  get result(): Summed {
    const sum = BigInt.asUintN(digits * 4, this.#sum)
    return { count: this.#count, sum: sum.toString(16).padStart(digits, '0') }
  }
}

export interface Summed {
  readonly count: number
  readonly sum: string
}

export function areSame(a: Summed, b: Summed): boolean {
  return a.count === b.count && a.sum === b.sum
}

/** Hexadecimal ones, of which a person can compare as many: 64 bits. */
const digits = 16
