/**
 * The hand that writes inputs. A steady one writes what the API takes; a shaky one slips now
 * and then, in any place, and writes something else there.
 */
import type { Random } from '../faults/random.ts'
import { oddKeys, oddValue } from './odd-values.ts'

export type Make = () => unknown

/** Asked at every place where something else could be written. */
export type Slipping = () => boolean

export const never: Slipping = () => false

export function oneIn(times: number, random: Random): Slipping {
  return () => random.oneIn(times)
}

export class Hand {
  readonly random: Random
  readonly slips: Slipping
  /** Page states that the server gave out lately. */
  readonly pageStates: readonly string[]

  constructor(random: Random, slips: Slipping, pageStates: readonly string[] = []) {
    this.random = random
    this.slips = slips
    this.pageStates = pageStates
  }

  /** What belongs here, or something odd. */
  write(make: Make): unknown {
    return this.slips() ? oddValue(this.random) : make()
  }

  pick<T>(choices: readonly T[]): T {
    return this.random.pick(choices)
  }

  /** One of those that fit, or, where the hand slips, one of those that do not. */
  choose<T>(fitting: readonly T[], others: readonly T[]): T {
    return this.random.pick(this.slips() ? others : fitting)
  }

  /** One of the choices, each of which is a way to make it. */
  oneOf(...choices: readonly Make[]): unknown {
    return this.write(this.pick(choices))
  }

  list(length: number, make: Make): unknown[] {
    return Array.from({ length }, () => this.write(make))
  }

  /** A few: from `min` on, seldom more than three more. */
  few(min: number, make: Make): unknown[] {
    return this.list(min + this.random.below(4), make)
  }

  /** An object that has all of `needed` and any of `optional`. */
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

  /** An object of names from a list, each with what is made for it. */
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

  /** A number at or next to a limit. */
  edge(limit: number): number {
    return limit + this.pick([-1, 0, 1])
  }
}
