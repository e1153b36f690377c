/**
 * Replies on their way out.
 *
 * A large one is written in parts, each when the one before has gone out, so that a client
 * that reads slowly keeps one text in memory and no copies of it. Who reads nothing for too
 * long loses the connection.
 *
 * When several short replies are ready in one turn of the loop, the first is sent at once and the
 * others together at the end of the turn: consecutive writes cost the system half as much.
 */
import type { ServerResponse } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { LongText } from '../json/long-text.ts'
import { isGone } from './connection.ts'
import type { TurnTaker } from './reply.ts'

/** Characters or bytes that are written at a time. */
const sliceSize = 65_536

/** Replies per batch; printing this many takes 1 to 2 ms. */
const batchSize = 16

interface ReadyReply {
  readonly response: ServerResponse
  readonly body: string | Buffer
  readonly encoding: BufferEncoding
}

export class ReplyWriter {
  #timeoutMs: number
  readonly #onUnread: () => void
  /** Responses that wait for their clients to read, by when one last did. */
  readonly #waiting = new Map<ServerResponse, number>()
  /** Replies to send at the end of this turn. */
  #ready: ReadyReply[] = []
  #isFirstOut = false
  #timer: NodeJS.Timeout | undefined

  /** 0 ms: any time. `onUnread` is called for each connection that is closed. */
  constructor(timeoutMs: number, onUnread: () => void) {
    this.#timeoutMs = timeoutMs || Infinity
    this.#onUnread = onUnread
  }

  /** The server stops: from now on clients may read nothing for no longer than this. */
  hurry(timeoutMs: number): void {
    this.#timeoutMs = Math.min(this.#timeoutMs, timeoutMs)
    const now = performance.now()
    for (const response of this.#waiting.keys()) this.#waiting.set(response, now)
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#keepLooking()
  }

  /** Writes the body of a response whose head is written. */
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
    // Mostly the system has taken all of it by now.
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

/** No character is cut in two. */
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
