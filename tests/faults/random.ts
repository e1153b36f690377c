/** Random choices that a seed repeats. */

/** Set SEED to repeat a run; tests that use it say which seed they had. */
export const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

export class Random {
  #state: number

  constructor(from: number) {
    this.#state = from >>> 0
  }

  /** From 0 up to, but not including, `end`. */
  below(end: number): number {
    // Weyl steps through a mixer: the quality that picking among choices needs.
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

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  /** Another stream of choices, so that what one party takes does not shift the other's. */
  fork(): Random {
    return new Random(this.below(2 ** 32))
  }
}
