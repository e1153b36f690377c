/**
 * Aborts commands when their client disconnects or their deadline expires.
 *
 * An AbortSignal and a timer cost microseconds each, and most commands need neither. So each
 * connection has one signal for its commands, and all commands share one timer.
 */
import type { IncomingMessage } from 'node:http'
import { isMultiplexed, streamOf } from './connection.ts'

/** A running command. */
export interface Waiting {
  /** In milliseconds of performance.now(). */
  readonly startedAt: number
  /** Neighbours in the list of waiting commands, in order of start. Owned by CommandTimeouts. */
  before: Waiting | undefined
  after: Waiting | undefined
  /** Called when the deadline has expired. */
  timeOut(): void
}

/**
 * Maximum commands that are aborted in one turn of the event loop, because the reply to each of
 * them is written in the same turn.
 */
const timedOutAtATime = 64

/**
 * Aborts commands at their deadline. All commands have the same timeout, so the oldest one expires
 * first.
 */
export class CommandTimeouts {
  readonly timeoutMs: number
  #oldest: Waiting | undefined
  #newest: Waiting | undefined
  #timer: NodeJS.Timeout | undefined

  /** `timeoutMs` 0: no limit. */
  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs
  }

  begin(waiting: Waiting): void {
    if (this.timeoutMs === 0) return
    waiting.before = this.#newest
    if (this.#newest === undefined) this.#oldest = waiting
    else this.#newest.after = waiting
    this.#newest = waiting
    this.#timer ??= setTimeout(this.#look, this.timeoutMs).unref()
  }

  /** Removes a command that has ended. Further calls have no effect. */
  end(waiting: Waiting): void {
    const { before, after } = waiting
    if (before !== undefined) before.after = after
    else if (this.#oldest === waiting) this.#oldest = after
    if (after !== undefined) after.before = before
    else if (this.#newest === waiting) this.#newest = before
    waiting.before = waiting.after = undefined
  }

  readonly #look = (): void => {
    this.#timer = undefined
    const now = performance.now()
    let left = timedOutAtATime
    for (let waiting = this.#oldest; waiting !== undefined; waiting = this.#oldest) {
      const leftMs = waiting.startedAt + this.timeoutMs - now
      if (leftMs > 0 || left-- === 0) {
        this.#timer = setTimeout(this.#look, Math.max(1, Math.ceil(leftMs))).unref()
        return
      }
      this.end(waiting)
      waiting.timeOut()
    }
  }
}

/** An AbortSignal that aborts when the client disconnects or `end` is called. */
export class AbortSource {
  readonly #abort = new AbortController()
  readonly #source: Emitter
  readonly #clientLeft = (): void => this.#abort.abort()
  isTaken = true

  constructor(source: Emitter) {
    this.#source = source
    if (source.destroyed) this.#abort.abort()
    else source.once('close', this.#clientLeft)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  end(reason: Error): void {
    this.forget()
    this.#abort.abort(reason)
  }

  forget(): void {
    this.#source.removeListener('close', this.#clientLeft)
  }
}

interface Emitter {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

const sourceOfSocket = new WeakMap<object, AbortSource>()

/** The abort source of one command, which must release the source at its end. */
export function acquireAbortSource(request: IncomingMessage): AbortSource {
  if (isMultiplexed(request)) return new AbortSource(streamOf(request))
  const { socket } = request
  const known = sourceOfSocket.get(socket)
  if (known === undefined || known.signal.aborted) {
    const interest = new AbortSource(socket)
    sourceOfSocket.set(socket, interest)
    return interest
  }
  // Pipelined requests overlap and can time out separately, so each needs its own signal.
  if (known.isTaken) return new AbortSource(socket)
  known.isTaken = true
  return known
}

export function releaseAbortSource(interest: AbortSource, request: IncomingMessage): void {
  interest.isTaken = false
  if (isMultiplexed(request) || sourceOfSocket.get(request.socket) !== interest)
    interest.forget()
}
