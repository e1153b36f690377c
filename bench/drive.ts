/** The loop of the load generator: one request at a time per connection, for any protocol. */
import type { Histogram } from './histogram.ts'

/** Number of requests or documents, and the time that they took. */
export interface Tally {
  readonly requests: number
  readonly elapsedMs: number
}

export interface Drive {
  /** Returns the bytes of the next request; undefined when no request is left. */
  readonly next: () => Buffer | undefined
  /** Milliseconds after which no request starts. */
  readonly forMs: number
  readonly latencies?: Histogram | undefined
}

/** A connection that sends prepared bytes and recognizes the end of a reply. */
export interface Line<Reply> {
  send(request: Buffer, take: (reply: Reply) => void, fail: (reason: Error) => void): void
}

/**
 * Keeps all connections busy. Resolves after the last reply. Rejects at the first reply for which
 * `problemOf` returns an error.
 */
export function driveAll<Reply>(
  connections: readonly Line<Reply>[],
  problemOf: (reply: Reply) => string | undefined,
  { next, forMs, latencies }: Drive,
): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const endsAt = startedAt + forMs
    let requests = 0
    let busy = connections.length

    for (const connection of connections) {
      let sentAt = 0
      const sendNext = (now: number) => {
        const request = now < endsAt ? next() : undefined
        if (request === undefined) {
          if (--busy === 0) resolve({ requests, elapsedMs: now - startedAt })
          return
        }
        sentAt = performance.now()
        connection.send(request, take, reject)
      }
      const take = (reply: Reply) => {
        const now = performance.now()
        const problem = problemOf(reply)
        if (problem !== undefined) {
          reject(new Error(`a request was refused: ${problem.slice(0, 2000)}`))
          return
        }
        requests++
        latencies?.add(now - sentAt)
        sendNext(now)
      }
      sendNext(startedAt)
    }
  })
}
