/** Runs one request on both servers, in turns. */
import type { Tally } from '../drive.ts'
import { settle } from '../processes.ts'
import { driving, Requests } from '../requests.ts'
import { takeTurns, type Contender } from '../turns.ts'
import type { CustomerPicks } from './documents.ts'
import type { ComparedRequest } from './requests.ts'
import type { Contestant, Running } from './servers.ts'

/** A contestant that runs, and the source of its requests. */
export interface Participant {
  readonly contestant: Contestant
  readonly running: Running
  readonly picks: CustomerPicks
}

/** Both participants: Stela first. */
export type Pair<T = Participant> = readonly [stela: T, postgres: T]

/** Results of one server. */
export interface Measured {
  readonly requestsPerSecond: number
  /** Milliseconds of CPU time of all its processes per request. */
  readonly processorMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Bytes of memory of all its processes, with the connections of the request. */
  readonly memory: number
}

export interface Compared {
  readonly measured: Pair<Measured>
  /** Stela's rate relative to PostgreSQL's: in total, and in the rounds with the extremes. */
  readonly ratio: number
  readonly low: number
  readonly high: number
}

export async function compareRequest(
  request: ComparedRequest,
  connections: number,
  participants: Pair,
  seconds: number,
  rounds: number,
): Promise<Compared> {
  const turns = participants.map((one) => new Turns(one, request, connections))
  try {
    const standings = await takeTurns(turns, seconds, rounds)
    const measured = standings.map(({ contender, latencies }): Measured => {
      const { requests, elapsedMs, processorMs } = contender.total()
      return {
        requestsPerSecond: (requests / elapsedMs) * 1000,
        processorMs: processorMs / requests,
        p50Ms: latencies.quantile(0.5),
        p99Ms: latencies.quantile(0.99),
        memory: contender.memory(),
      }
    })
    const [ours, theirs] = measured as [Measured, Measured]
    const [ourRates, theirRates] = turns.map((one) => one.rates()) as [number[], number[]]
    const ratios = ourRates.map((rate, i) => rate / theirRates[i]!)
    return {
      measured: [ours, theirs],
      ratio: ours.requestsPerSecond / theirs.requestsPerSecond,
      low: Math.min(...ratios),
      high: Math.max(...ratios),
    }
  } finally {
    for (const one of turns) one.close()
  }
}

interface Turn extends Tally {
  readonly processorMs: number
}

/** The turns of a participant, with their CPU time. */
class Turns implements Contender {
  readonly name: string
  readonly #participant: Participant
  readonly #writes: boolean
  readonly #driving: ReturnType<typeof driving>
  readonly #turns: Turn[] = []

  constructor(participant: Participant, request: ComparedRequest, connections: number) {
    const { contestant, running, picks } = participant
    const make = () => contestant.bytesOf(request.make(picks))
    this.name = contestant.name
    this.#participant = participant
    this.#writes = request.answer === 'one write'
    this.#driving = driving(
      this.name,
      new Requests(request.requests, make),
      connections,
      () => contestant.connect(running.port, connections),
    )
  }

  readonly run: Contender['run'] = async (forMs, latencies) => {
    const { processorMs } = this.#participant.running.tree
    const before = processorMs() ?? NaN
    const tally = await this.#driving.run(forMs, latencies)
    // The work after writes, such as merges and checkpoints, counts, and must not disturb the other
    // server.
    if (this.#writes) await settle(processorMs)
    this.#turns.push({ ...tally, processorMs: (processorMs() ?? NaN) - before })
    return tally
  }

  /** The sums of all turns after the warm-up. */
  total(): Turn {
    const sum = (of: (turn: Turn) => number) =>
      this.#measured.reduce((total, turn) => total + of(turn), 0)
    return {
      requests: sum(({ requests }) => requests),
      elapsedMs: sum(({ elapsedMs }) => elapsedMs),
      processorMs: sum(({ processorMs }) => processorMs),
    }
  }

  /** Requests per second of each turn. */
  rates(): number[] {
    return this.#measured.map(({ requests, elapsedMs }) => (requests / elapsedMs) * 1000)
  }

  memory(): number {
    return this.#participant.running.tree.memory() ?? NaN
  }

  close(): void {
    this.#driving.close()
  }

  /** The first turn is the warm-up. */
  get #measured(): readonly Turn[] {
    return this.#turns.slice(1)
  }
}
