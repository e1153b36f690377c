/** Requests over HTTP, compared with a bare Fastify route that sends the same bytes. */
import type { FastifyAnswer, FastifyQuestion } from './baselines/bare-fastify.ts'
import { Client, requestBytes } from './client.ts'
import type { Histogram } from './histogram.ts'
import { Baseline, token, type Stela } from './processes.ts'
import { decimal, short, whole } from './report.ts'
import { ratePerSecond, takeTurns, type Contender } from './turns.ts'

export interface Asked {
  readonly path: string
  /** Request bodies, which are repeated in rotation. */
  readonly bodies: readonly string[]
  readonly connections: number
  readonly seconds: number
}

export interface Served {
  /** One reply per body. */
  readonly replies: readonly string[]
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The rate relative to the rate of a bare Fastify route. */
  readonly ofFastify: number
}

export type BareFastify = Baseline<FastifyQuestion, FastifyAnswer>

export function startBareFastify(): BareFastify {
  return new Baseline(new URL('baselines/bare-fastify.ts', import.meta.url))
}

export async function measureServed(
  server: Stela,
  fastify: BareFastify,
  { path, bodies, connections, seconds }: Asked,
): Promise<Served> {
  const requests = bodies.map((body) => requestBytes(path, token, body))
  const replies = await askEach(server.port, requests)
  const { port } = await fastify.ask({ replies })
  const ours = await overHttp('Stela', server.port, connections, requests)
  const theirs = await overHttp('bare Fastify', port, connections, requests)
  try {
    const [own, bare] = await takeTurns([ours, theirs], seconds)
    return {
      replies,
      requestsPerSecond: ratePerSecond(own!),
      p50Ms: own!.latencies.quantile(0.5),
      p99Ms: own!.latencies.quantile(0.99),
      ofFastify: ratePerSecond(own!) / ratePerSecond(bare!),
    }
  } finally {
    ours.close()
    theirs.close()
  }
}

export const servedHead = ['requests/s', 'p50 ms', 'p99 ms', 'of bare Fastify']

export function servedCells(served: Served): string[] {
  const { requestsPerSecond, p50Ms, p99Ms, ofFastify } = served
  return [whole(requestsPerSecond), short(p50Ms), short(p99Ms), decimal(ofFastify)]
}

/** Sends each request once and returns the replies. */
export async function askEach(
  port: number,
  requests: readonly Buffer[],
): Promise<readonly string[]> {
  const client = await Client.connect(port, 1)
  try {
    const replies: string[] = []
    for (const request of requests) replies.push(await client.ask(request))
    const refused = replies.find((reply) => reply.includes('"errors":['))
    if (refused !== undefined) throw new Error(`a request was refused: ${refused}`)
    return replies
  } finally {
    client.close()
  }
}

/** A contender that repeats requests over several connections. */
export async function overHttp(
  name: string,
  port: number,
  connections: number,
  requests: readonly Buffer[],
): Promise<Contender & { close(): void }> {
  const client = await Client.connect(port, connections)
  let at = 0
  const next = () => requests[at++ % requests.length]
  return {
    name,
    run: (forMs: number, latencies?: Histogram) => client.drive({ next, forMs, latencies }),
    close: () => client.close(),
  }
}
