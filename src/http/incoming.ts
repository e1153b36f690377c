/**
 * Captures short request bodies without a stream.
 *
 * Reading a body of a hundred bytes as a stream takes a buffer, three events and several turns of
 * the event loop, which costs more than parsing the body as JSON. Node's parser calls `push` of the
 * request. If the whole body is awaited, this class captures the bytes in `push`, and the stream
 * never starts.
 */
import type { IncomingMessage } from 'node:http'
import { http } from '../runtime/node-http.ts'

/**
 * Whether the body can be captured: no byte of it has entered the stream. HTTP/2 bodies are always
 * streams.
 */
export function canReadWhole(message: IncomingMessage): message is Incoming {
  return message instanceof Incoming && message.mayTakeWhole
}

type BytesListener = (bytes: Buffer | 'broken') => void

export class Incoming extends http.IncomingMessage {
  #take: BytesListener | undefined
  #bytes: Buffer | undefined
  /** Number of expected bytes. */
  #length = 0
  /** Number of received bytes. */
  #size = 0
  /** Whether any byte of the body has entered the stream. */
  #isStream = false

  get mayTakeWhole(): boolean {
    return !this.#isStream && !this.destroyed
  }

  /** Calls `take` once: when `length` bytes have arrived, or when they can no longer arrive. */
  takeWhole(length: number, take: BytesListener): void {
    this.#take = take
    this.#length = length
    // The flag keeps Node from dumping an unread body after the response.
    ;(this as unknown as { _consuming: boolean })._consuming = true
  }

  override push(chunk: Buffer | null): boolean {
    const take = this.#take
    if (take === undefined) {
      this.#isStream = true
      return super.push(chunk)
    }
    if (chunk === null) {
      this.#take = undefined
      take(this.#size === this.#length ? (this.#bytes ?? noBytes) : 'broken')
    } else {
      if (chunk.length === this.#length) this.#bytes = chunk
      else chunk.copy((this.#bytes ??= Buffer.allocUnsafeSlow(this.#length)), this.#size)
      this.#size += chunk.length
    }
    return true
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#take?.('broken')
    this.#take = undefined
    super._destroy(error, callback)
  }
}

const noBytes = Buffer.alloc(0)
