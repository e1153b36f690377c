/** The requests of a workload, and checks of their replies. */
import { Client, requestBytes } from './client.ts'
import { collectionPath } from './dataset.ts'
import type { Picks } from './documents.ts'
import type { Drive, Tally } from './drive.ts'
import { token } from './processes.ts'
import type { Contender } from './turns.ts'
import type { Workload } from './workloads/workload.ts'

/** Number of distinct requests, which are repeated in rotation if the workload permits it. */
const ringSize = 16_384

/** Requests of a workload, created before the clock starts. */
export class Requests {
  readonly #once: boolean
  readonly #make: () => Buffer
  readonly #ready: Buffer[] = []
  #at = 0

  constructor(requests: Workload['requests'], make: () => Buffer) {
    this.#once = requests === 'once'
    this.#make = make
  }

  /** The commands of a workload over HTTP. */
  static of({ requests, body }: Workload, picks: Picks): Requests {
    return new Requests(requests, () => requestBytes(collectionPath, token, body(picks)))
  }

  /** Makes sure that `count` requests are available. */
  prepare(count: number): void {
    if (this.#once) {
      this.#ready.splice(0, this.#at)
      this.#at = 0
    }
    const wanted = this.#once ? count : ringSize
    while (this.#ready.length < wanted) this.#ready.push(this.#make())
  }

  next(): Buffer | undefined {
    if (this.#at === this.#ready.length) {
      if (this.#once) return undefined
      this.#at = 0
    }
    return this.#ready[this.#at++]
  }
}

interface Driver {
  drive(drive: Drive): Promise<Tally>
  close(): void
}

/** A contender that sends requests over connections, which it opens in its first turn. */
export function driving(
  name: string,
  requests: Requests,
  connections: number,
  connect: () => Promise<Driver>,
): Contender & { close(): void } {
  let driver: Driver | undefined
  let requestsPerMs = 1
  return {
    name,
    async run(forMs, latencies) {
      requests.prepare(Math.ceil(requestsPerMs * forMs * 1.5) + connections)
      // Connects when the first turn starts, because servers close idle connections.
      driver ??= await connect()
      const tally = await driver.drive({ next: () => requests.next(), forMs, latencies })
      requestsPerMs = tally.requests / tally.elapsedMs
      return tally
    },
    close: () => driver?.close(),
  }
}

/** Number of replies that are parsed to verify that requests succeed. */
const sampleSize = 32

export async function sample(requests: Requests, port: number): Promise<string[]> {
  const client = await Client.connect(port, 1)
  try {
    requests.prepare(sampleSize)
    const replies: string[] = []
    while (replies.length < sampleSize) replies.push(await client.ask(requests.next()!))
    return replies
  } finally {
    client.close()
  }
}

/** Number of documents that a reply reports as found, inserted or updated. */
export function documentsIn(text: string): number {
  const { data, status, errors } = JSON.parse(text) as {
    data?: { document?: object | null; documents?: readonly object[] }
    status?: { insertedIds?: readonly unknown[]; modifiedCount?: number }
    errors?: readonly object[]
  }
  if (errors !== undefined) throw new Error(`a request was refused: ${text}`)
  if (data?.documents !== undefined) return data.documents.length
  if (data?.document) return 1
  return status?.insertedIds?.length ?? status?.modifiedCount ?? 0
}
