/**
 * Compares commands over HTTP with the same statements by the driver alone, and by the driver
 * behind a bare HTTP server. The three run in turns.
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
  /** Requests per second of the driver behind a bare HTTP server. */
  readonly barePerSecond: number
  /**
   * Milliseconds of CPU time of the server per request; undefined if the system does not report it.
   */
  readonly serverMs: number | undefined
  readonly nodeMs: number | undefined
  /** Milliseconds of CPU time of the node per operation of the driver alone. */
  readonly driverNodeMs: number | undefined
}

export interface Contest {
  readonly server: Stela
  readonly node: MeasuredNode
  readonly raw: RawCassandra
  /** Port of the bare HTTP server that uses the driver. */
  readonly rawPort: number
  readonly picks: ClusterPicks
  readonly path: string
  readonly seconds: number
}

/**
 * Number of turns of each contender. Other benchmarks have more turns, but here each turn waits for
 * its last requests, and some requests are slow.
 */
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

/** Number of requests after which the code counts as compiled and optimized. */
const warmRequests = 20_000

/**
 * Runs all contenders until their code is compiled and optimized. The code of a server is larger
 * than that of the driver and takes longer. The measurement starts after the warm-up.
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

/** Maximum length of the warm-up in slices. Slow machines may not reach `warmRequests`. */
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

/** A contender that also measures the CPU time per request. */
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

/** Number of distinct requests, which are repeated in rotation. */
const ringSize = 4_096
/** Number of replies that are parsed to verify that requests succeed. */
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
      // Requests for a single use are created before the clock starts.
      const once = isRing ? [] : make(Math.ceil(requestsPerMs * forMs * 1.5) + connections)
      const next = () => (isRing ? ring[at++ % ringSize] : once.pop())
      const tally = await client.drive({ next, forMs, latencies })
      requestsPerMs = tally.requests / tally.elapsedMs
      return tally
    },
    close: () => client.close(),
  }
}
