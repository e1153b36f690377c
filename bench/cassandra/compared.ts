/**
 * Commands over HTTP, the same statements by the driver alone, and by the driver behind a bare
 * HTTP server; they take turns.
 */
import type {
  RawCassandraAnswer,
  RawCassandraQuestion,
} from '../baselines/raw-cassandra.ts'
import { Client, requestBytes } from '../client.ts'
import { token, type Baseline, type Stela } from '../processes.ts'
import { askEach } from '../served.ts'
import { ratePerSecond, takeTurns, type Contender } from '../turns.ts'
import type { ClusterCommand } from './commands.ts'
import type { ClusterPicks } from './documents.ts'
import type { MeasuredNode } from './node.ts'

export type RawCassandra = Baseline<RawCassandraQuestion, RawCassandraAnswer>

export interface ComparedCommand {
  readonly command: ClusterCommand
  readonly connections: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly driverPerSecond: number
  /** Of the driver behind a bare HTTP server. */
  readonly barePerSecond: number
  /** Time of processors for one request, where the system tells. */
  readonly serverMs: number | undefined
  readonly nodeMs: number | undefined
  /** The same for the driver's. */
  readonly driverNodeMs: number | undefined
}

export interface Contest {
  readonly server: Stela
  readonly node: MeasuredNode
  readonly raw: RawCassandra
  /** Of the driver's HTTP server. */
  readonly rawPort: number
  readonly picks: ClusterPicks
  readonly path: string
  readonly seconds: number
}

/** Fewer than elsewhere: at the end of a turn all requests are waited for, and some take long. */
const rounds = 5

export async function compareCommand(
  command: ClusterCommand,
  connections: number,
  contest: Contest,
): Promise<ComparedCommand> {
  const { server, node, seconds } = contest
  const { served, alone, bare, close } = await contendersFor(command, connections, contest)
  try {
    const ours = new Metered(served, [() => server.processorMs(), node.processorMs])
    const theirs = new Metered(alone, [node.processorMs])
    const contenders = [ours, theirs, bare]
    const [own, other, behindHttp] = await takeTurns(contenders, seconds, rounds)
    const [serverMs, nodeMs] = ours.perRequest()
    return {
      command,
      connections,
      requestsPerSecond: ratePerSecond(own!),
      p50Ms: own!.latencies.quantile(0.5),
      p99Ms: own!.latencies.quantile(0.99),
      driverPerSecond: ratePerSecond(other!),
      barePerSecond: ratePerSecond(behindHttp!),
      serverMs,
      nodeMs,
      driverNodeMs: theirs.perRequest()[0],
    }
  } finally {
    close()
  }
}

/** Requests after which what they run has been compiled, and compiled again with what was learned. */
const warmRequests = 20_000

/**
 * A server has more code than the driver, and is slower for longer after its start. What is
 * compared is how they are from then on.
 */
export async function warmUp(
  command: ClusterCommand,
  connections: number,
  contest: Contest,
): Promise<void> {
  const { served, alone, bare, close } = await contendersFor(command, connections, contest)
  const sliceMs = contest.seconds * 1000
  try {
    for (const contender of [served, alone, bare]) {
      const endsAt = performance.now() + warmSlicesMax * sliceMs
      let requests = 0
      while (requests < warmRequests && performance.now() < endsAt)
        requests += (await contender.run(sliceMs)).requests
    }
  } finally {
    close()
  }
}

/** On slow machines it ends earlier. */
const warmSlicesMax = 20

async function contendersFor(
  command: ClusterCommand,
  connections: number,
  { server, raw, rawPort, picks, path }: Contest,
) {
  const served = await serving(command, connections, server.port, picks, path)
  const bare = await serving(command, connections, rawPort, picks, `/${command.kind}`)
  const alone: Contender = {
    name: 'cassandra-driver',
    run: (forMs) => raw.ask({ run: command.kind, connections, forMs }),
  }
  const close = () => {
    served.close()
    bare.close()
  }
  return { served, alone, bare, close }
}

type Meter = () => number | undefined

/** Somebody whose requests are counted, and what they move meters by. */
export class Metered implements Contender {
  readonly name: string
  readonly #inner: Contender
  readonly #meters: readonly Meter[]
  readonly #spent: (number | undefined)[]
  #requests = 0

  constructor(inner: Contender, meters: readonly Meter[]) {
    this.name = inner.name
    this.#inner = inner
    this.#meters = meters
    this.#spent = meters.map(() => 0)
  }

  readonly run: Contender['run'] = async (forMs, latencies) => {
    const before = this.#meters.map((meter) => meter())
    const tally = await this.#inner.run(forMs, latencies)
    this.#requests += tally.requests
    for (const [i, meter] of this.#meters.entries()) {
      const [sum, from, to] = [this.#spent[i], before[i], meter()]
      this.#spent[i] =
        sum === undefined || from === undefined || to === undefined
          ? undefined
          : sum + to - from
    }
    return tally
  }

  perRequest(): (number | undefined)[] {
    return this.#spent.map((spent) => spent && spent / this.#requests)
  }
}

/** Different requests that are sent over and over. */
const ringSize = 4_096
/** Replies that are read whole, to know that a request does what it says. */
const sampleSize = 5

async function serving(
  { requests: repeated, body }: ClusterCommand,
  connections: number,
  port: number,
  picks: ClusterPicks,
  path: string,
): Promise<Contender & { close(): void }> {
  const make = (count: number) =>
    Array.from({ length: count }, () => requestBytes(path, token, body(picks)))
  await askEach(port, make(sampleSize))
  const client = await Client.connect(port, connections)
  const ring = repeated === 'repeat' ? make(ringSize) : []
  let at = 0
  let requestsPerMs = 1
  return {
    name: path,
    async run(forMs, latencies) {
      const isRing = ring.length > 0
      // Made before the clock starts.
      const once = isRing ? [] : make(Math.ceil(requestsPerMs * forMs * 1.5) + connections)
      const next = () => (isRing ? ring[at++ % ringSize] : once.pop())
      const tally = await client.drive({ next, forMs, latencies })
      requestsPerMs = tally.requests / tally.elapsedMs
      return tally
    },
    close: () => client.close(),
  }
}
