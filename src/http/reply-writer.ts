/**
 * Writes replies to connections.
 *
 * A large reply is written in slices. Each slice is written when the previous one has been sent, so
 * that the reply to a slow client is in memory only once. A client that reads nothing for too long
 * is disconnected.
 *
 * When several short replies are ready in one turn of the event loop, the first is sent at once.
 * The others are sent together at the end of the turn: consecutive writes halve the cost of the
 * system calls.
 */
import type { ServerResponse } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { LongText } from '../json/long-text.ts'
import { isGone } from './connection.ts'
import type { TurnTaker } from './reply.ts'

/** Characters or bytes per slice. */
const sliceSize = 65_536

/** Replies that are sent together; printing this many takes 1 to 2 ms. */
const batchSize = 16

interface ReadyReply {
  readonly response: ServerResponse
  readonly body: string | Buffer
  readonly encoding: BufferEncoding
}

export class ReplyWriter {
  #timeoutMs: number
  readonly #onUnread: () => void
  /** Responses whose clients have not read all bytes yet, with the time of the last progress. */
  readonly #waiting = new Map<ServerResponse, number>()
  /** Short replies to send at the end of this turn. */
  #ready: ReadyReply[] = []
  #isFirstOut = false
  #timer: NodeJS.Timeout | undefined

  /**
   * `timeoutMs` 0 means no limit. `onUnread` is called for each connection that is closed at the
   * timeout.
   */
  constructor(timeoutMs: number, onUnread: () => void) {
    this.#timeoutMs = timeoutMs || Infinity
    this.#onUnread = onUnread
  }

  /** Shortens the timeout, when the server stops. */
  hurry(timeoutMs: number): void {
    this.#timeoutMs = Math.min(this.#timeoutMs, timeoutMs)
    const now = performance.now()
    for (const response of this.#waiting.keys()) this.#waiting.set(response, now)
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#keepLooking()
  }

  /** Writes the body of a response whose headers were written. */
  write(
    response: ServerResponse,
    body: LongText | Buffer,
    encoding: BufferEncoding,
    taker: TurnTaker,
  ): void {
    const isWhole = typeof body === 'string' || Buffer.isBuffer(body)
    if (!isWhole || body.length > sliceSize) {
      this.#watch(response)
      void this.#writeParts(response, isWhole ? [body] : body, encoding, taker)
      return
    }
    if (this.#isFirstOut) {
      if (this.#ready.push({ response, body, encoding }) >= batchSize) this.#writeReady()
      return
    }
    this.#isFirstOut = true
    setImmediate(this.#endTurn)
    this.#writeWhole({ response, body, encoding })
  }

  readonly #endTurn = (): void => {
    this.#isFirstOut = false
    if (this.#ready.length > 0) this.#writeReady()
  }

  #writeReady(): void {
    const ready = this.#ready
    this.#ready = []
    for (const reply of ready) if (!isGone(reply.response)) this.#writeWhole(reply)
  }

  #writeWhole({ response, body, encoding }: ReadyReply): void {
    response.end(body, encoding)
    // Usually the operating system has accepted all bytes already, so there is nothing to watch.
    if (response.writableLength !== 0) this.#watch(response)
  }

  async #writeParts(
    response: ServerResponse,
    parts: readonly (string | Buffer)[],
    encoding: BufferEncoding,
    taker: TurnTaker,
  ): Promise<void> {
    for (const slice of slicesOf(parts)) {
      if (!response.write(slice, encoding)) await drained(response)
      const turn = taker.yieldTurn()
      if (turn !== undefined) await turn
      if (isGone(response)) return
      this.#waiting.set(response, performance.now())
    }
    response.end()
  }

  #watch(response: ServerResponse): void {
    this.#waiting.set(response, performance.now())
    response.once('close', () => this.#waiting.delete(response))
    this.#keepLooking()
  }

  #keepLooking(): void {
    if (this.#waiting.size === 0 || this.#timeoutMs === Infinity) return
    this.#timer ??= setInterval(this.#look, Math.min(this.#timeoutMs / 4, 1_000)).unref()
  }

  readonly #look = (): void => {
    const now = performance.now()
    for (const [response, at] of this.#waiting) {
      if (now - at < this.#timeoutMs) continue
      this.#waiting.delete(response)
      this.#onUnread()
      cutOff(response)
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function* slicesOf(parts: readonly (string | Buffer)[]): Generator<string | Buffer> {
  for (const part of parts)
    for (let from = 0; from < part.length;) {
      const to = endOfSlice(part, from)
      yield typeof part === 'string' ? part.slice(from, to) : part.subarray(from, to)
      from = to
    }
}

/** The end of the slice. It is chosen so that no surrogate pair is split. */
function endOfSlice(body: string | Buffer, from: number): number {
  const to = from + sliceSize
  if (typeof body !== 'string' || to >= body.length) return to
  const last = body.charCodeAt(to - 1)
  return last >= 0xd800 && last < 0xdc00 ? to - 1 : to
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.removeListener('drain', go)
      response.removeListener('close', go)
      resolve()
    }
    response.once('drain', go).once('close', go)
  })
}

function cutOff(response: ServerResponse): void {
  const { stream } = response as { stream?: ServerHttp2Stream }
  if (stream === undefined) response.destroy()
  else stream.close(constants.NGHTTP2_CANCEL)
}
