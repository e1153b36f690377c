/**
 * Bodies, from the connection into memory. Their bytes are charged to the sender
 * before they are read: by Content-Length where it is there.
 */
import type { IncomingMessage } from 'node:http'
import { Unpacking, type Packing } from './compression.ts'
import { isDisconnected, isMultiplexed, streamOf } from './connection.ts'
import { Charge } from './charge.ts'
import type { FairShare, MemoryHolder } from './fair-share.ts'
import { canReadWhole, type Incoming } from './incoming.ts'
import { readInTurns } from './read-in-turns.ts'

/**
 * Bytes that a body may have that does not say how long it is, before it takes room for the
 * largest. Growing step by step, two could wait for each other.
 */
const firstSize = 65_536

/** A connection that holds no more than this has no large body under way. */
export const bodyLittleMax = firstSize

export interface ReceivedBody {
  /** Unpacked. To be called once: they are not kept here. */
  takeBytes(): Buffer
  /** Gives the room back, once what was made of the bytes is no longer needed. */
  release(): void
}

/**
 * `no room`: others hold too much, and nothing was read, or not all. `damaged`: the bytes
 * cannot be unpacked. `broken`: the client disconnected before the end.
 */
export type NotReceived = 'too large' | 'no room' | 'damaged' | 'broken'

export class BodyReceiver {
  readonly room: FairShare
  readonly #unpacking = new Unpacking()

  /** `room`: bytes of bodies, reserved before they are read and held until their command ends. */
  constructor(room: FairShare) {
    this.room = room
  }

  /** `begin` is called once there is room: the client may wait for "100 Continue". */
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
      // Who waits for its events now would wait for ever.
      if (isDisconnected(message)) return 'broken'
      if (!isTaken) return 'no room'
      begin?.()
      let bytes: Buffer | NotReceived = await (announced === undefined
        ? collect(message, charge, sizeMax)
        : collectAnnounced(message, announced))
      if (packing !== undefined && typeof bytes !== 'string') {
        charge.lowerTo(bytes.length)
        // Anything may come out of it, up to the largest body.
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

/** The bytes of a short body, without the ways of a stream. */
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

/** Whether there was room for so much in time. */
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

/** The bytes of a body that says how long it is: copied once at most. */
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

/** The bytes of a body that does not: when it grows, it takes room for the largest. */
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
      // The rest of a body that was refused.
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

/** Bytes of a request's body, as it says; undefined: it does not say. */
export function lengthOf(request: IncomingMessage): number | undefined {
  const { headers } = request
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  const hasBody = isMultiplexed(request)
    ? !streamOf(request).endAfterHeaders
    : headers['transfer-encoding'] !== undefined
  return hasBody ? undefined : 0
}
