/**
 * Runs contenders in turns, one slice at a time. Other load of the machine affects all contenders
 * alike, so the ratio of their rates is stable.
 */
import type { Tally } from './drive.ts'
import { Histogram } from './histogram.ts'

/** A server or a baseline that runs in turns. */
export interface Contender {
  readonly name: string
  run(forMs: number, latencies?: Histogram): Tally | Promise<Tally>
}

/** A contender and its totals so far. */
export interface Standing<C extends Contender = Contender> {
  readonly contender: C
  readonly latencies: Histogram
  requests: number
  elapsedMs: number
}

/**
 * Number of turns of each contender. Turns are few and long, because a server that was idle needs a
 * part of its turn to reach full speed.
 */
const usualRounds = 10

/** Each contender runs for `seconds` in total, after a warm-up of the same time. */
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

/** A contender in this thread that repeats `questions` questions, one at a time. */
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
        // Does not await a synchronous answer, because awaiting may take longer than computing it.
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
