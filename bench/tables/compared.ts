/** Compares a request at several sizes with its baselines. All of them run in turns. */
import type { Figure } from '../run.ts'
import { decimal, short, whole } from '../report.ts'
import { ratePerSecond, takeTurns, type Contender, type Standing } from '../turns.ts'

/** A request at one size. */
export interface Trial {
  readonly size: number
  readonly rowsPerRequest: number
  /** Creates the contender that sends the request to the server over this number of connections. */
  readonly serve: (connections: number) => Promise<Closable>
  /**
   * The contender that does the same work without a server. It runs in one loop, so the number of
   * connections does not affect it.
   */
  readonly raw: Contender
}

export interface Closable extends Contender {
  close(): void
}

export interface Comparison {
  readonly says: string
  readonly trials: readonly Trial[]
  /**
   * Creates the contender that sends requests to a bare Fastify route, which replies with the same
   * bytes.
   */
  readonly bare?: ((connections: number) => Promise<Closable>) | undefined
}

/** Results of a trial over a number of connections. */
export interface Compared {
  readonly says: string
  readonly size: number
  readonly connections: number
  readonly requestsPerSecond: number
  readonly rowsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly against: readonly { readonly name: string; readonly requestsPerSecond: number }[]
}

export async function compare(
  { says, trials, bare }: Comparison,
  connections: readonly number[],
  seconds: number,
): Promise<Compared[]> {
  const lines: Line[] = []
  const bares: Closable[] = []
  try {
    for (const count of connections) {
      const bareOne = await bare?.(count)
      if (bareOne !== undefined) bares.push(bareOne)
      for (const trial of trials)
        lines.push({
          trial,
          connections: count,
          served: await trial.serve(count),
          against: bareOne === undefined ? [trial.raw] : [trial.raw, bareOne],
        })
    }
    const served = lines.map((line) => line.served)
    const raws = trials.map(({ raw }) => raw)
    const standings = await takeTurns([...served, ...raws, ...bares], seconds)
    return lines.map((line) => comparedOf(says, line, standings))
  } finally {
    for (const { served } of lines) served.close()
    for (const one of bares) one.close()
  }
}

/** A line of the table and its contenders. */
interface Line {
  readonly trial: Trial
  readonly connections: number
  readonly served: Closable
  readonly against: readonly Contender[]
}

function comparedOf(
  says: string,
  { trial, connections, served, against }: Line,
  standings: readonly Standing[],
): Compared {
  const standingOf = (one: Contender) =>
    standings.find(({ contender }) => contender === one)!
  const own = standingOf(served)
  return {
    says,
    size: trial.size,
    connections,
    requestsPerSecond: ratePerSecond(own),
    rowsPerSecond: ratePerSecond(own) * trial.rowsPerRequest,
    p50Ms: own.latencies.quantile(0.5),
    p99Ms: own.latencies.quantile(0.99),
    against: against.map((one) => ({
      name: one.name,
      requestsPerSecond: ratePerSecond(standingOf(one)),
    })),
  }
}

export const comparedHead = [
  'request',
  'rows',
  'connections',
  'requests/s',
  'rows/s',
  'p50 ms',
  'p99 ms',
  'against',
  'its requests/s',
  'ratio',
]

/** Returns one table line per baseline. */
export function comparedCells(compared: Compared): string[][] {
  const { says, size, connections, requestsPerSecond, rowsPerSecond } = compared
  return compared.against.map((baseline) => [
    says,
    whole(size),
    whole(connections),
    whole(requestsPerSecond),
    whole(rowsPerSecond),
    short(compared.p50Ms),
    short(compared.p99Ms),
    baseline.name,
    whole(baseline.requestsPerSecond),
    decimal(requestsPerSecond / baseline.requestsPerSecond),
  ])
}

/** Growth of the time per request from the smallest size to each larger size. */
export function growthOf(all: readonly Compared[], growthMax: number): Figure[] {
  const smallest = Math.min(...all.map(({ size }) => size))
  return all.flatMap((large): Figure[] => {
    if (large.size === smallest) return []
    const small = all.find(
      ({ size, connections }) => size === smallest && connections === large.connections,
    )!
    return [
      {
        what:
          `${large.says}, connections: ${large.connections}: time with ` +
          `${whole(large.size)} rows over time with ${whole(smallest)}`,
        value: small.requestsPerSecond / large.requestsPerSecond,
        unit: 'times',
        // `growthMax` applies to ten times the rows, so it is scaled to the actual growth.
        max: growthMax ** Math.log10(large.size / smallest),
      },
    ]
  })
}
