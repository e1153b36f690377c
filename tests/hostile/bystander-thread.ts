/**
 * A well-behaved client in a separate thread, so that the thread of the attack does not delay it.
 * It sends one request after the other and records the longest wait.
 */
import { Agent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { setTimeout as pause } from 'node:timers/promises'
import type { BystanderData, Seen } from './bystander.ts'
import type { Operation } from './operations.ts'

const { url, ca, restMs, operations } = workerData as BystanderData

/** Milliseconds between two parts of an upload. */
const partRestMs = 30

/** Milliseconds after which a request without an answer counts as failed. */
const patienceMs = 120_000

class Asking {
  readonly #operation: Operation
  readonly #bodies: readonly Buffer[]
  readonly #agent =
    ca === undefined
      ? new Agent({ keepAlive: true, maxSockets: 1 })
      : new TlsAgent({ keepAlive: true, maxSockets: 1, ca })
  #waits: number[] = []
  #failed = 0
  #firstFailure = ''
  #sent = 0
  #askedAt = 0
  #isOver = false

  constructor(operation: Operation) {
    this.#operation = operation
    this.#bodies = operation.commands.map((command) => Buffer.from(JSON.stringify(command)))
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      this.#askedAt = performance.now()
      try {
        await this.#ask()
      } catch (error) {
        this.#failed++
        this.#firstFailure ||= String(error)
      }
      this.#waits.push(performance.now() - this.#askedAt - this.#operation.ownMs)
      this.#askedAt = 0
      await pause(restMs * this.#operation.rests)
    }
    this.#agent.destroy()
  }

  async #ask(): Promise<void> {
    if (this.#operation.path === '') {
      await pause(this.#operation.ownMs)
      return
    }
    const send = ca === undefined ? plainRequest : tlsRequest
    const { path, token, parts } = this.#operation
    const body = this.#bodies[this.#sent++ % this.#bodies.length]
    const request = send(url + path, {
      agent: this.#agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Token: token,
        'Content-Type': 'application/json',
        'Content-Length': body?.length ?? 0,
      },
      signal: AbortSignal.timeout(patienceMs),
    })
    const responded = once(request, 'response') as Promise<[IncomingMessage]>
    responded.catch(() => undefined)
    if (body !== undefined && parts > 1) await this.#sendSlowly(request, body, parts)
    else request.end(body)
    const [response] = await responded
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    if (![200, 204].includes(response.statusCode!) || text.includes('"errors"'))
      throw new Error(text)
  }

  async #sendSlowly(request: ClientRequest, body: Buffer, parts: number): Promise<void> {
    const size = Math.ceil(body.length / parts)
    for (let from = 0; from < body.length; from += size) {
      request.write(body.subarray(from, from + size))
      await pause(partRestMs)
    }
    request.end()
  }

  /**
   * Results since the last call. A pending request counts with the time that it has waited so far.
   */
  take(): Seen {
    const waiting = this.#askedAt === 0 ? [] : [performance.now() - this.#askedAt]
    const waits = [...this.#waits, ...waiting].sort((a, b) => a - b)
    const seen: Seen = {
      name: this.#operation.name,
      answered: this.#waits.length - this.#failed,
      failed: this.#failed,
      firstFailure: this.#firstFailure,
      usualMs: waits[Math.floor(waits.length / 2)] ?? 0,
      longestMs: waits.at(-1) ?? 0,
    }
    this.#waits = []
    this.#failed = 0
    this.#firstFailure = ''
    return seen
  }

  stop(): void {
    this.#isOver = true
  }
}

const all = operations.map((operation) => new Asking(operation))
for (const asking of all) void asking.run()

parentPort!.on('message', (message: 'take' | 'stop') => {
  parentPort!.postMessage(all.map((asking) => asking.take()))
  if (message !== 'stop') return
  for (const asking of all) asking.stop()
  parentPort!.close()
})
