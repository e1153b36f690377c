/** Well-behaved clients of the server under attack. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { goodToken, type HostileServer } from './hostile-server.ts'
import { makeFewOperations, type Operation } from './operations.ts'

/** Results of the requests of one kind. */
export interface Seen {
  readonly name: string
  readonly answered: number
  readonly failed: number
  /** Message of the first failure; empty if nothing failed. */
  readonly firstFailure: string
  /** Median wait. */
  readonly usualMs: number
  readonly longestMs: number
}

export interface BystanderData {
  readonly url: string
  readonly ca: string | undefined
  /** Milliseconds between an answer and the next request. */
  readonly restMs: number
  readonly operations: readonly Operation[]
}

export class Bystander {
  readonly #worker: Worker

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  /** Starts a bystander. By default it requests health, documents, searches and uploads. */
  static async start(
    server: HostileServer,
    restMs: number,
    operations?: readonly Operation[],
  ): Promise<Bystander> {
    operations ??= await makeFewOperations(server, goodToken)
    const { url, ca } = server
    return new Bystander(
      new Worker(new URL('bystander-thread.ts', import.meta.url), {
        workerData: { url, ca, restMs, operations } satisfies BystanderData,
      }),
    )
  }

  /** Results since the last call. Waits until at least one request of each kind was answered. */
  async takeWhenAnswered(): Promise<readonly Seen[]> {
    let seen = await this.take()
    while (seen.some(({ answered }) => answered === 0)) {
      await pause(20)
      const more = await this.take()
      seen = seen.map((one, i) => ({
        ...more[i]!,
        answered: one.answered + more[i]!.answered,
        failed: one.failed + more[i]!.failed,
        firstFailure: one.firstFailure || more[i]!.firstFailure,
      }))
    }
    return seen
  }

  /** Results since the last call. */
  async take(): Promise<readonly Seen[]> {
    return this.#ask('take')
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }

  async #ask(message: 'take' | 'stop'): Promise<readonly Seen[]> {
    const answer = once(this.#worker, 'message')
    this.#worker.postMessage(message)
    const [seen] = (await answer) as [readonly Seen[]]
    return seen
  }
}
