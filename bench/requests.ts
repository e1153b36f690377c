/** The requests of a workload, and checks of their replies. */
import { Client, requestBytes } from './client.ts'
import { collectionPath } from './dataset.ts'
import type { Picks } from './documents.ts'
import { token } from './processes.ts'
import type { Workload } from './workloads/workload.ts'

/** Number of distinct requests, which are repeated in rotation if the workload permits it. */
const ringSize = 16_384

/** Requests of a workload, created before the clock starts. */
export class Requests {
  readonly #workload: Workload
  readonly #picks: Picks
  readonly #ready: Buffer[] = []
  #at = 0

  constructor(workload: Workload, picks: Picks) {
    this.#workload = workload
    this.#picks = picks
  }

  /** Makes sure that `count` requests are available. */
  prepare(count: number): void {
    const once = this.#workload.requests === 'once'
    if (once) {
      this.#ready.splice(0, this.#at)
      this.#at = 0
    }
    const wanted = once ? count : ringSize
    while (this.#ready.length < wanted)
      this.#ready.push(
        requestBytes(collectionPath, token, this.#workload.body(this.#picks)),
      )
  }

  next(): Buffer | undefined {
    if (this.#at === this.#ready.length) {
      if (this.#workload.requests === 'once') return undefined
      this.#at = 0
    }
    return this.#ready[this.#at++]
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
