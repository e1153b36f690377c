/** Another client of the server that is attacked. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { HostileServer } from './hostile-server.ts'

/** What became of requests of one kind. */
export interface Seen {
  readonly name: string
  readonly answered: number
  readonly failed: number
  /** The median. */
  readonly usualMs: number
  readonly longestMs: number
}

export interface BystanderData {
  readonly url: string
  readonly ca: string | undefined
  /** Between an answer and the next request. */
  readonly restMs: number
}

export class Bystander {
  readonly #worker: Worker

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  static async start(server: HostileServer, restMs: number): Promise<Bystander> {
    const path = '/default_keyspace/bystander'
    await server.command('/default_keyspace', {
      createCollection: {
        name: 'bystander',
        options: { vector: { dimension: 3 }, indexing: { deny: ['more'] } },
      },
    })
    const documents = Array.from({ length: 100 }, (_, n) => ({
      _id: n,
      $vector: [n, 100 - n, 1],
    }))
    await server.command(path, { insertMany: { documents } })
    await server.command(path, { insertOne: { document: { _id: 'upload' } } })
    const { url, ca } = server
    return new Bystander(
      new Worker(new URL('bystander-thread.ts', import.meta.url), {
        workerData: { url, ca, restMs } satisfies BystanderData,
      }),
    )
  }

  /** What happened since the last call, once each kind of request was answered. */
  async takeWhenAnswered(): Promise<readonly Seen[]> {
    let seen = await this.take()
    while (seen.some(({ answered }) => answered === 0)) {
      await pause(20)
      const more = await this.take()
      seen = seen.map((one, i) => ({
        ...more[i]!,
        answered: one.answered + more[i]!.answered,
        failed: one.failed + more[i]!.failed,
      }))
    }
    return seen
  }

  /** What happened since the last call. */
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
