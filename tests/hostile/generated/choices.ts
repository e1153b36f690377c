/** Random choices of an episode, and values of chosen sizes. */
import type { Random } from '../../faults/random.ts'

/** Kinds of values in clauses and documents. */
const fillings = [
  'present numbers',
  'absent numbers',
  'numerals',
  'texts',
  'objects',
] as const
type Filling = (typeof fillings)[number]

export class Choices {
  readonly random: Random

  constructor(random: Random) {
    this.random = random
  }

  pick<T>(choices: readonly T[]): T {
    return this.random.pick(choices)
  }

  /** True with a probability of 1 in `times`. */
  oneIn(times: number): boolean {
    return this.random.oneIn(times)
  }

  /**
   * A random size: `max` in a quarter of the calls. In the others, all orders of magnitude are
   * equally likely.
   */
  size(min: number, max: number): number {
    if (this.oneIn(4)) return max
    const share = this.random.below(1_000_001) / 1_000_000
    return Math.round(min * (max / min) ** share)
  }

  /** Picks one to `countMax` of the choices, without repeats. */
  some<T>(choices: readonly T[], countMax = 3): T[] {
    const count = 1 + this.random.below(countMax)
    return [...new Set(Array.from({ length: count }, () => this.pick(choices)))]
  }

  filling(): Filling {
    return this.pick(fillings)
  }

  /** Values of the given kind: present in documents, absent from documents, or long and deep. */
  values(count: number, filling: Filling): unknown[] {
    const from = this.random.below(1_000)
    return Array.from({ length: count }, (_, n) => valueOf(filling, from + n))
  }

  text(length: number): string {
    return this.pick(letters).repeat(length).slice(0, length)
  }
}

const letters = ['x', 'some words ', 'ä', '東京', '😀 ', '"\\\n', 'ไทย', '\u0301a'] as const

function valueOf(filling: Filling, n: number): unknown {
  switch (filling) {
    case 'present numbers':
      return n % 1_000
    case 'absent numbers':
      return 1_000_000 + n
    case 'numerals':
      return `${n}`.padStart(90, '9')
    case 'texts':
      return `${'text '.repeat(40)}${n}`
    case 'objects':
      return { x: n, y: { z: [n, n + 1] } }
  }
}

/** `{ f0: …, f1: … }` */
export function fields(
  count: number,
  value: (n: number) => unknown,
  name = 'f',
): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`${name}${n}`, value(n)]),
  )
}

export function numbers(count: number, start = 0): number[] {
  return Array.from({ length: count }, (_, n) => start + n)
}
