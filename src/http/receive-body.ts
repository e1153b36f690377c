/**
 * Receives bodies into memory. Bytes are charged to the principal before they are read. If the
 * request has a Content-Length header, as many bytes as it states are charged.
 */
import type { IncomingMessage } from 'node:http'
import { Unpacking, type Packing } from './compression.ts'
import { isDisconnected, isMultiplexed, streamOf } from './connection.ts'
import { Charge } from './charge.ts'
import type { FairShare, MemoryHolder } from './fair-share.ts'
import { canReadWhole, type Incoming } from './incoming.ts'
import { readInTurns } from './read-in-turns.ts'

/**
 * Bytes that are reserved for a body of unknown length. If the body is longer, the maximum is
 * reserved at once: two bodies whose reservations grew step by step could deadlock.
 */
const firstSize = 65_536

/** Up to this many bytes of bodies, a connection with several requests is not limited. */
export const bodyLittleMax = firstSize

export interface ReceivedBody {
  /** Returns the decompressed bytes. May be called only once, because the bytes are not kept. */
  takeBytes(): Buffer
  /**
   * Releases the reservation. Called when neither the bytes nor the values parsed from them are
   * needed any more.
   */
  release(): void
}

/**
 * `no room`: memory did not become available in time. `damaged`: decompression failed.
 * `broken`: the client disconnected before the end.
 */
export type NotReceived = 'too large' | 'no room' | 'damaged' | 'broken'

export class BodyReceiver {
  readonly room: FairShare
  readonly #unpacking = new Unpacking()

  /**
   * `room`: limits the bytes of bodies, from their reservation until the end of their command.
   */
  constructor(room: FairShare) {
    this.room = room
  }

  /**
   * Receives the body of a message. `begin` is called after memory was reserved; it may send "100
   * Continue".
   */
  receive(
    message: IncomingMessage,
    taker: MemoryHolder,
    sizeMax: number,
    packing: Packing | undefined,
    begin?: () => void,
  ): Promise<ReceivedBody | NotReceived> {
    const announced = lengthOf(message)
    const first = announced ?? Math.min(firstSize, sizeMax)
    if (first > sizeMax) return Promise.resolve('too large')
    const charge = new Charge(this.room, taker)
    const taken = charge.take(first)
    const isShort = announced !== undefined && announced <= firstSize
    if (taken === true && isShort && packing === undefined && canReadWhole(message)) {
      begin?.()
      return takeWhole(message, announced, charge)
    }
    return this.#receiveStream(message, announced, charge, taken, sizeMax, packing, begin)
  }

  async #receiveStream(
    message: IncomingMessage,
    announced: number | undefined,
    charge: Charge,
    taken: boolean | Promise<boolean>,
    sizeMax: number,
    packing: Packing | undefined,
    begin: (() => void) | undefined,
  ): Promise<ReceivedBody | NotReceived> {
    let received: Received | undefined
    try {
      const first = announced ?? Math.min(firstSize, sizeMax)
      const isTaken = (await taken) || (await raise(charge, first, message))
      // A disconnected message emits no further events, so waiting for them would never end.
      if (isDisconnected(message)) return 'broken'
      if (!isTaken) return 'no room'
      begin?.()
      let bytes: Buffer | NotReceived = await (announced === undefined
        ? collect(message, charge, sizeMax)
        : collectAnnounced(message, announced))
      if (packing !== undefined && typeof bytes !== 'string') {
        charge.lowerTo(bytes.length)
        // The size after decompression is unknown, so the maximum is reserved.
        bytes = (await raise(charge, sizeMax, message))
          ? await this.#unpacking.unpack(bytes, packing, sizeMax)
          : 'no room'
      }
      if (typeof bytes === 'string') return bytes
      charge.lowerTo(bytes.length)
      return (received = new Received(bytes, charge))
    } finally {
      if (received === undefined) charge.end()
    }
  }
}

class Received implements ReceivedBody {
  #bytes: Buffer | undefined
  readonly #charge: Charge

  constructor(bytes: Buffer, charge: Charge) {
    this.#bytes = bytes
    this.#charge = charge
  }

  takeBytes(): Buffer {
    const bytes = this.#bytes!
    this.#bytes = undefined
    return bytes
  }

  release(): void {
    this.#charge.end()
  }
}

/** Captures a short body without a stream (incoming.ts). */
function takeWhole(
  message: Incoming,
  length: number,
  charge: Charge,
): Promise<ReceivedBody | NotReceived> {
  return new Promise((resolve) => {
    message.takeWhole(length, (bytes) => {
      if (bytes !== 'broken') {
        resolve(new Received(bytes, charge))
        return
      }
      charge.end()
      resolve(bytes)
    })
  })
}

/** Raises the reservation to `size`; false when memory did not become available in time. */
async function raise(
  charge: Charge,
  size: number,
  message: IncomingMessage,
): Promise<boolean> {
  if (size <= charge.held) return true
  const left = new AbortController()
  const abort = () => left.abort()
  if (isDisconnected(message)) abort()
  message.once('close', abort)
  try {
    return await charge.takeWithin(size - charge.held, left.signal)
  } finally {
    message.removeListener('close', abort)
  }
}

/** Reads a body of known length into one buffer, so that its bytes are copied at most once. */
function collectAnnounced(
  message: IncomingMessage,
  length: number,
): Promise<Buffer | 'broken'> {
  return new Promise((resolve) => {
    let bytes: Buffer | undefined
    let size = 0
    readInTurns(message, (chunk) => {
      if (chunk.length === length) bytes = chunk
      else chunk.copy((bytes ??= Buffer.allocUnsafeSlow(length)), size)
      size += chunk.length
    })
    message.on('end', () => resolve(size === length ? (bytes ?? noBytes) : 'broken'))
    message.on('close', () => resolve('broken'))
  })
}

const noBytes = Buffer.alloc(0)

/** Reads a body of unknown length. If it exceeds the first reservation, reserves the maximum. */
function collect(
  message: IncomingMessage,
  charge: Charge,
  sizeMax: number,
): Promise<Buffer | NotReceived> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    const drop = () => {
      chunks = []
      size = Infinity
    }
    const fail = (reason: NotReceived) => {
      drop()
      resolve(reason)
    }
    const grow = async (taken: false | Promise<boolean>) => {
      try {
        const isTaken = (await taken) || (await raise(charge, sizeMax, message))
        if (!isTaken) fail('no room')
      } catch (failure) {
        drop()
        throw failure
      } finally {
        message.resume()
      }
    }
    readInTurns(message, (chunk) => {
      // The rest of a rejected body is dropped.
      if (size === Infinity) return
      size += chunk.length
      chunks.push(chunk)
      if (size > sizeMax) {
        fail('too large')
        return
      }
      if (size <= charge.held) return
      const taken = charge.take(sizeMax - charge.held)
      if (taken === true) return
      message.pause()
      grow(taken).catch(reject)
    })
    message.on('end', () => {
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    message.on('close', () => resolve('broken'))
  })
}

/** The length of the body in bytes; undefined: the headers do not announce it. */
export function lengthOf(request: IncomingMessage): number | undefined {
  const { headers } = request
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  const hasBody = isMultiplexed(request)
    ? !streamOf(request).endAfterHeaders
    : headers['transfer-encoding'] !== undefined
  return hasBody ? undefined : 0
}
