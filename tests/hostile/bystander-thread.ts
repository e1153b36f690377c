/**
 * A client that does nothing wrong, on a thread of its own, so that it is not held up by the
 * attack that another thread makes. It asks for one thing after the other, and notes how long
 * the longest answer took.
 */
import { Agent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { setTimeout as pause } from 'node:timers/promises'
import { goodToken } from './hostile-server.ts'
import type { BystanderData, Seen } from './bystander.ts'

const { url, ca, restMs } = workerData as BystanderData

/** Between two parts of an upload. */
const partRestMs = 30

/** Nobody waits for longer; the request counts as not answered. */
const patienceMs = 120_000

class Asking {
  readonly #name: string
  readonly #path: string
  readonly #body: Buffer | undefined
  /** In how many parts the body is sent, with a rest in between. */
  readonly #parts: number
  readonly #agent =
    ca === undefined
      ? new Agent({ keepAlive: true, maxSockets: 1 })
      : new TlsAgent({ keepAlive: true, maxSockets: 1, ca })
  #waits: number[] = []
  #failed = 0
  #askedAt = 0
  #isOver = false

  constructor(name: string, path: string, command?: object, parts = 1) {
    this.#name = name
    this.#path = path
    this.#parts = parts
    this.#body = command && Buffer.from(JSON.stringify(command))
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      this.#askedAt = performance.now()
      try {
        await this.#ask()
      } catch {
        this.#failed++
      }
      this.#waits.push(performance.now() - this.#askedAt)
      this.#askedAt = 0
      await pause(restMs)
    }
    this.#agent.destroy()
  }

  async #ask(): Promise<void> {
    const send = ca === undefined ? plainRequest : tlsRequest
    const request = send(url + this.#path, {
      agent: this.#agent,
      method: this.#body === undefined ? 'GET' : 'POST',
      headers: {
        Token: goodToken,
        'Content-Type': 'application/json',
        'Content-Length': this.#body?.length ?? 0,
      },
      signal: AbortSignal.timeout(patienceMs),
    })
    const responded = once(request, 'response') as Promise<[IncomingMessage]>
    responded.catch(() => undefined)
    if (this.#parts > 1) await this.#sendSlowly(request)
    else request.end(this.#body)
    const [response] = await responded
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    if (![200, 204].includes(response.statusCode!) || text.includes('"errors"'))
      throw new Error(text)
  }

  async #sendSlowly(request: ClientRequest): Promise<void> {
    const body = this.#body!
    const size = Math.ceil(body.length / this.#parts)
    for (let from = 0; from < body.length; from += size) {
      request.write(body.subarray(from, from + size))
      await pause(partRestMs)
    }
    request.end()
  }

  /** Since the last call. What is still waited for counts with the time so far. */
  take(): Seen {
    const waiting = this.#askedAt === 0 ? [] : [performance.now() - this.#askedAt]
    const waits = [...this.#waits, ...waiting].sort((a, b) => a - b)
    const seen: Seen = {
      name: this.#name,
      answered: this.#waits.length - this.#failed,
      failed: this.#failed,
      usualMs: waits[Math.floor(waits.length / 2)] ?? 0,
      longestMs: waits.at(-1) ?? 0,
    }
    this.#waits = []
    this.#failed = 0
    return seen
  }

  stop(): void {
    this.#isOver = true
  }
}

const ready = '/v1/default_keyspace/bystander'
const upload = {
  updateOne: {
    filter: { _id: 'upload' },
    update: { $set: { more: Array<string>(150).fill('y'.repeat(7_000)) } },
  },
}
const all = [
  new Asking('health', '/stargate/health'),
  new Asking('findOne', ready, { findOne: { filter: { _id: 7 } } }),
  new Asking('search', ready, {
    find: { sort: { $vector: [3, 1, 2] }, options: { limit: 5 } },
  }),
  new Asking('upload', ready, upload, 6),
]
for (const asking of all) void asking.run()

parentPort!.on('message', (message: 'take' | 'stop') => {
  parentPort!.postMessage(all.map((asking) => asking.take()))
  if (message !== 'stop') return
  for (const asking of all) asking.stop()
  parentPort!.close()
})
