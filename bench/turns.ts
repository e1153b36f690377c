/**
 * Machines are noisy, so what is compared takes turns, slice by slice: what disturbs one
 * disturbs the others, and their ratio holds still.
 */
import type { Tally } from './client.ts'
import { Histogram } from './histogram.ts'

/** Somebody who takes turns. */
export interface Contender {
  readonly name: string
  run(forMs: number, latencies?: Histogram): Tally | Promise<Tally>
}

/** A contender and what it has done so far. */
export interface Standing<C extends Contender = Contender> {
  readonly contender: C
  readonly latencies: Histogram
  requests: number
  elapsedMs: number
}

/** A server that was idle for a turn takes some of the next to come to speed: so turns are long. */
const usualRounds = 10

/** Each has `seconds` in all, after as long for warming up: code that is not compiled yet is slow. */
export async function takeTurns<C extends Contender>(
  contenders: readonly C[],
  seconds: number,
  rounds = usualRounds,
): Promise<Standing<C>[]> {
  const sliceMs = (seconds * 1000) / rounds
  const standings = contenders.map((contender): Standing<C> => ({
    contender,
    latencies: new Histogram(),
    requests: 0,
    elapsedMs: 0,
  }))
  for (const contender of contenders) await contender.run(seconds * 1000)
  for (let round = 0; round < rounds; round++)
    for (const standing of standings) {
      const tally = await standing.contender.run(sliceMs, standing.latencies)
      standing.requests += tally.requests
      standing.elapsedMs += tally.elapsedMs
    }
  return standings
}

export function ratePerSecond({ requests, elapsedMs }: Tally): number {
  return (requests / elapsedMs) * 1000
}

/** A contender in this thread: asks its questions over and over, one at a time. */
export function repeating(
  name: string,
  questions: number,
  ask: (question: number) => unknown,
): Contender {
  let next = 0
  return {
    name,
    async run(forMs, latencies) {
      const startedAt = performance.now()
      let requests = 0
      let now = startedAt
      do {
        const askedAt = now
        const answer = ask(next)
        // Waiting for what is there already would cost more than many an answer.
        if (answer instanceof Promise) await answer
        next = (next + 1) % questions
        requests++
        now = performance.now()
        latencies?.add(now - askedAt)
      } while (now - startedAt < forMs)
      return { requests, elapsedMs: now - startedAt }
    },
  }
}
