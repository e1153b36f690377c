/** The results of a run of episodes. */
import type { Seen } from '../bystander.ts'
import { turnMsMax } from '../measure.ts'
import type { EpisodeResult } from './run-episode.ts'

export class Summary {
  #episodes = 0
  #requests = 0
  #longest = { ms: 0, episode: 0 }
  #memoryMost = 0
  readonly #slow: number[] = []
  readonly #failed: number[] = []
  readonly #outcomes = new Map<string, number>()
  readonly #waits = new Map<string, Waits>()

  noteIdle(idle: readonly Seen[]): void {
    for (const { name, longestMs } of idle) {
      const waits = this.#waitsOf(name)
      waits.idleMs = Math.max(waits.idleMs, longestMs)
    }
  }

  note(number: number, result: EpisodeResult, problems: readonly string[]): void {
    this.#episodes++
    this.#requests += result.requests
    if (problems.length > 0) this.#failed.push(number)
    for (const [outcome, count] of result.counts) {
      const status = outcome.split(' ')[0]!
      this.#outcomes.set(status, (this.#outcomes.get(status) ?? 0) + count)
    }
    const ms = result.turns?.longestMs ?? 0
    if (ms > this.#longest.ms) this.#longest = { ms, episode: number }
    if (ms > turnMsMax) this.#slow.push(number)
    this.#memoryMost = Math.max(this.#memoryMost, result.memory ?? 0)
    for (const { name, longestMs, answered, failed } of result.seen) {
      const waits = this.#waitsOf(name)
      if (longestMs > waits.longestMs) Object.assign(waits, { longestMs, episode: number })
      waits.answered += answered
      waits.failed += failed
    }
  }

  /** Episodes in which a bound was exceeded. */
  get failed(): number {
    return this.#failed.length
  }

  lines(): string[] {
    const statuses = [...this.#outcomes]
      .sort()
      .map(([status, count]) => `${status} ${count}`)
    const listed = (numbers: readonly number[]) =>
      numbers.length === 0 ? 'none' : `${numbers.length}: ${numbers.join(', ')}`
    return [
      '',
      `episodes        ${this.#episodes}`,
      `requests        ${this.#requests}`,
      `answers         ${statuses.join(', ')}`,
      `longest turn    ${this.#longest.ms.toFixed(0)} ms, episode ${this.#longest.episode}`,
      `turns > ${turnMsMax} ms  ${listed(this.#slow)}`,
      `memory          ${(this.#memoryMost / 1_000_000).toFixed(0)} MB at most after an episode`,
      `failed          ${listed(this.#failed)}`,
      '',
      '| operation | answered | failed | longest wait idle | during | episode |',
      '|---|---|---|---|---|---|',
      ...[...this.#waits].map(
        ([name, { answered, failed, idleMs, longestMs, episode }]) =>
          `| ${name} | ${answered} | ${failed} | ${idleMs.toFixed(0)} ms | ${longestMs.toFixed(0)} ms | ${episode} |`,
      ),
    ]
  }

  #waitsOf(name: string): Waits {
    let waits = this.#waits.get(name)
    if (waits === undefined) {
      waits = { answered: 0, failed: 0, idleMs: 0, longestMs: 0, episode: 0 }
      this.#waits.set(name, waits)
    }
    return waits
  }
}

interface Waits {
  answered: number
  failed: number
  idleMs: number
  longestMs: number
  episode: number
}
