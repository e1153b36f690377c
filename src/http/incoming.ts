/**
 * Requests whose short bodies are handed over whole.
 *
 * A stream passes a hundred bytes through a buffer, three events and several turns of the loop,
 * which takes longer than reading them as JSON. Node pushes what it has parsed into the request;
 * when the whole body is awaited, it is captured there, and the stream never starts.
 */
import type { IncomingMessage } from 'node:http'
import { http } from '../runtime/node-http.ts'

/** Whether nothing of the body has been read as a stream. HTTP/2 knows only streams. */
export function canReadWhole(message: IncomingMessage): message is Incoming {
  return message instanceof Incoming && message.mayTakeWhole
}

type BytesListener = (bytes: Buffer | 'broken') => void

export class Incoming extends http.IncomingMessage {
  #take: BytesListener | undefined
  #bytes: Buffer | undefined
  /** Expected and received bytes. */
  #length = 0
  #size = 0
  /** Whether any of the body went into the stream. */
  #isStream = false

  get mayTakeWhole(): boolean {
    return !this.#isStream && !this.destroyed
  }

  /** Calls back once, when so many bytes have arrived, or will never. */
  takeWhole(length: number, take: BytesListener): void {
    this.#take = take
    this.#length = length
    // Keeps Node from dumping an unread body after the response.
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
