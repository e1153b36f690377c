/**
 * A generator of inputs. For each part of an input, `slips` decides whether the generator writes a
 * valid or an invalid part.
 */
import type { Random } from '../faults/random.ts'
import { oddKeys, oddValue } from './odd-values.ts'

export type Make = () => unknown

/** Decides for each part of an input whether the generator writes an invalid part. */
export type Slipping = () => boolean

export const never: Slipping = () => false

export function oneIn(times: number, random: Random): Slipping {
  return () => random.oneIn(times)
}

export class Hand {
  readonly random: Random
  readonly slips: Slipping
  /** Page states that the server issued recently. */
  readonly pageStates: readonly string[]

  constructor(random: Random, slips: Slipping, pageStates: readonly string[] = []) {
    this.random = random
    this.slips = slips
    this.pageStates = pageStates
  }

  /** A valid value, or an invalid one if `slips` returns true. */
  write(make: Make): unknown {
    return this.slips() ? oddValue(this.random) : make()
  }

  pick<T>(choices: readonly T[]): T {
    return this.random.pick(choices)
  }

  /** One of the fitting values, or one of the others if `slips` returns true. */
  choose<T>(fitting: readonly T[], others: readonly T[]): T {
    return this.random.pick(this.slips() ? others : fitting)
  }

  /** A value from one of several functions, or an invalid one if `slips` returns true. */
  oneOf(...choices: readonly Make[]): unknown {
    return this.write(this.pick(choices))
  }

  list(length: number, make: Make): unknown[] {
    return Array.from({ length }, () => this.write(make))
  }

  /** A list of `min` to `min` + 3 elements. */
  few(min: number, make: Make): unknown[] {
    return this.list(min + this.random.below(4), make)
  }

  /** An object with all of `needed` and some of `optional`. */
  members(
    needed: Readonly<Record<string, Make>>,
    optional: Readonly<Record<string, Make>> = {},
  ): object {
    const members: [string, unknown][] = []
    for (const [name, make] of Object.entries(needed))
      if (!this.slips()) members.push([this.#name(name), this.write(make)])
    for (const [name, make] of Object.entries(optional))
      if (this.random.oneIn(2)) members.push([this.#name(name), this.write(make)])
    if (this.slips()) members.push([this.pick(oddKeys), oddValue(this.random)])
    return Object.fromEntries(members)
  }

  /** An object with names from a list and generated values. */
  mapping(
    names: readonly string[],
    count: number,
    make: (name: string) => unknown,
  ): object {
    const members: [string, unknown][] = []
    for (let i = 0; i < count; i++) {
      const name = this.#name(this.pick(names))
      members.push([name, this.write(() => make(name))])
    }
    return Object.fromEntries(members)
  }

  #name(name: string): string {
    return this.slips() ? this.pick([...oddKeys, name.toUpperCase(), `${name} `]) : name
  }

  /** A number at a limit or next to it. */
  edge(limit: number): number {
    return limit + this.pick([-1, 0, 1])
  }
}
