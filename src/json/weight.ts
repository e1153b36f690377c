/**
 * Estimates the number of values in a JSON text, and their memory, without parsing the text. The
 * length of the text is a poor measure: an empty object has 2 characters but takes 200 bytes.
 */
import type { Steps } from '../runtime/steps.ts'
import { BACKSLASH, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './char-codes.ts'

/** Bytes of an object, of an array, and of each further member or element. */
const objectSize = 200
const arraySize = 64
const memberSize = 40

/** Bytes that are scanned per step. */
const stepLength = 262_144

export interface Weight {
  /** Upper bound of the memory, in bytes. */
  readonly size: number
  /** Lower bound of the number of values. */
  readonly values: number
}

/** Estimates the memory of the values of a text, given as UTF-8 bytes. */
export function* measureValues(bytes: Uint8Array): Steps<Weight> {
  const scale = new Scale(bytes)
  while (scale.weighPart()) yield
  return scale
}

class Scale implements Weight {
  size = 0
  values = 1
  readonly #bytes: Uint8Array
  #at = 0
  #isInString = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Scans the next part of the text. Returns whether more text follows. */
  weighPart(): boolean {
    const { length } = this.#bytes
    const to = Math.min(this.#at + stepLength, length)
    while (this.#at < to)
      if (this.#isInString) this.#skipString(to)
      else this.#countValues(to)
    return to < length
  }

  #skipString(to: number): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < to && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
    this.#isInString = at >= to
    this.#at = at + (this.#isInString ? 0 : 1)
  }

  #countValues(to: number): void {
    const bytes = this.#bytes
    let members = 0
    let containersSize = 0
    let at = this.#at
    while (at < to) {
      const byte = bytes[at++]
      if (byte === COMMA) members++
      else if (byte === OPEN_BRACE) containersSize += objectSize
      else if (byte === OPEN_BRACKET) containersSize += arraySize
      else if (byte === QUOTE) {
        this.#isInString = true
        break
      }
    }
    this.#at = at
    this.values += members
    this.size += members * memberSize + containersSize
  }
}
