/** Random choices that a seed reproduces. */

/** The seed of random choices. SEED repeats a run; tests print their seed. */
export const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

export class Random {
  #state: number

  constructor(from: number) {
    this.#state = from >>> 0
  }

  /** An integer from 0 to `end` - 1. */
  below(end: number): number {
    // A Weyl sequence with a mixing function. Its quality suffices to choose among alternatives.
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return Math.floor((((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32) * end)
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }

  /** True with a probability of 1 / `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  /**
   * An independent sequence of random choices. So additional choices in one part of a test do not
   * change those in other parts.
   */
  fork(): Random {
    return new Random(this.below(2 ** 32))
  }
}
