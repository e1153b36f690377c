/**
 * Delays new connections until the server has time for them.
 *
 * A connection is passed to HTTP or TLS after its first bytes have arrived. The cost of new
 * connections can then be spread over turns of the event loop and shared fairly among addresses. A
 * TLS handshake takes 1 to 2 ms of processor time once its first message is complete, so the gate
 * waits for the whole message. Without the gate, Node would start all handshakes at once when
 * they arrive.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../auth/network-of.ts'
import { fixedLimits } from '../limits.ts'
import type { ArrivalQueue } from './arrival-queue.ts'
import { hasWholeHello } from './client-hello.ts'
import { LocalRateLimit } from './local-rate-limit.ts'

const { headersMsMax, handshakesPerAddressMax, rejectedWaitMs } = fixedLimits

/** Limits per client address; 0: unlimited. */
export interface AddressLimits {
  /** Maximum open connections; further ones are closed at once. */
  readonly openMax: number
  /** Maximum new connections per second; further ones wait. */
  readonly connectionRate: number
  /**
   * Maximum HTTP/2 streams that clients may reset per second; further resets close the
   * connection.
   */
  readonly resetRate: number
  /** Maximum requests per second without a valid token; further ones wait. */
  readonly rejectionRate: number
}

/** Receives counts of connections. */
export interface ConnectionCounter {
  /** Counts a connection that was closed because its address exceeded a limit. */
  countClosed(reason: ClosedReason): void
}

export type ClosedReason = 'address_connections' | 'stream_resets'

type Listener = (socket: Socket) => void

export class ConnectionGate {
  readonly #arrivals: ArrivalQueue
  readonly #limits: AddressLimits
  readonly #rate: LocalRateLimit | undefined
  readonly #counter: ConnectionCounter | undefined
  /** Open connections, by network. */
  readonly #open = new Map<string, number>()
  /**
   * Number of running TLS handshakes by network, and the connections that wait until one of them
   * ends.
   */
  readonly #handshakes = new Map<string, { count: number; waiting: (() => void)[] }>()
  /** Connections that have not been passed to HTTP or TLS yet. */
  readonly #waiting = new Set<Socket>()
  /** Waiting connections of networks that exceed their rate, in order of arrival. */
  #late: [network: string, socket: Socket, begin: () => void][] = []

  constructor(
    arrivals: ArrivalQueue,
    limits: AddressLimits,
    counter: ConnectionCounter | undefined,
  ) {
    this.#arrivals = arrivals
    this.#limits = limits
    this.#rate =
      limits.connectionRate === 0 ? undefined : new LocalRateLimit(limits.connectionRate)
    this.#counter = counter
  }

  /** Replaces the server's connection listeners, and calls them when a connection may start. */
  guard(server: Server, isTls: boolean): void {
    const listeners = server.listeners('connection') as Listener[]
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      this.#add(socket, isTls, () => {
        for (const listener of listeners) listener.call(server, socket)
      })
    })
    if (isTls)
      server.on('secureConnection', (socket: Socket) => {
        this.#ends.get(peerOf(socket))?.()
      })
    // HTTP/2 servers have no closeIdleConnections.
    if ('closeIdleConnections' in server) {
      const closeIdle = server.closeIdleConnections.bind(server)
      server.closeIdleConnections = () => {
        this.#closeWaiting()
        closeIdle()
      }
    }
    const closeAll = server.closeAllConnections.bind(server)
    server.closeAllConnections = () => {
      this.#closeWaiting()
      closeAll()
    }
  }

  /** Functions to call when a handshake ends, by peer address and port. */
  readonly #ends = new Map<string, () => void>()

  #closeWaiting(): void {
    for (const socket of this.#waiting) socket.destroy()
  }

  #add(socket: Socket, isTls: boolean, handOver: () => void): void {
    const network = networkOf(socket.remoteAddress ?? '')
    if (!this.#count(network, socket)) return
    this.#waiting.add(socket)
    socket.once('close', () => this.#waiting.delete(socket))
    // Node's HTTP server adds its own listener later. Until then, an error without a listener would
    // end the process.
    const ignore = () => undefined
    socket.on('error', ignore)
    socket.setTimeout(headersMsMax, () => socket.destroy())
    const begin = () => {
      if (socket.destroyed) return
      this.#waiting.delete(socket)
      socket.setTimeout(0)
      socket.removeAllListeners('timeout').off('error', ignore)
      handOver()
    }
    const arrived = () => {
      this.#arrivals.add(network, isTls ? () => this.#shake(network, socket, begin) : begin)
    }
    const admit = () => whenReadable(socket, isTls ? hasWholeHello : () => true, arrived)
    if (this.#rate === undefined || this.#rate.take(network) === 0) admit()
    else this.#makeWait(network, socket, admit)
  }

  /** Counts the connection. Closes it and returns false if its network has too many. */
  #count(network: string, socket: Socket): boolean {
    const { openMax } = this.#limits
    const count = (this.#open.get(network) ?? 0) + 1
    if (openMax > 0 && count > openMax) {
      this.#counter?.countClosed('address_connections')
      socket.destroy()
      return false
    }
    this.#open.set(network, count)
    socket.once('close', () => {
      const left = this.#open.get(network)! - 1
      if (left > 0) this.#open.set(network, left)
      else this.#open.delete(network)
    })
    return true
  }

  #makeWait(network: string, socket: Socket, admit: () => void): void {
    if (this.#late.length === 0) setTimeout(this.#admitLate, rejectedWaitMs)
    this.#late.push([network, socket, admit])
  }

  readonly #admitLate = (): void => {
    const late = this.#late
    this.#late = []
    for (const [network, socket, admit] of late) {
      if (socket.destroyed) continue
      if (this.#rate!.take(network) === 0) admit()
      else this.#makeWait(network, socket, admit)
    }
  }

  /** Starts a handshake, or queues it while too many handshakes of the address are running. */
  #shake(network: string, socket: Socket, begin: () => void): void {
    const handshakes = this.#handshakes.get(network) ?? { count: 0, waiting: [] }
    this.#handshakes.set(network, handshakes)
    if (handshakes.count >= handshakesPerAddressMax) {
      handshakes.waiting.push(() => this.#shake(network, socket, begin))
      return
    }
    if (socket.destroyed) {
      this.#shakeNext(network)
      return
    }
    handshakes.count++
    const peer = peerOf(socket)
    const end = () => {
      if (!this.#ends.delete(peer)) return
      handshakes.count--
      this.#shakeNext(network)
    }
    this.#ends.set(peer, end)
    socket.once('close', end)
    begin()
  }

  #shakeNext(network: string): void {
    const handshakes = this.#handshakes.get(network)!
    const next = handshakes.waiting.shift()
    if (next !== undefined) this.#arrivals.add(network, next)
    else if (handshakes.count === 0) this.#handshakes.delete(network)
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Calls `act` when `isEnough` accepts the received bytes. The bytes are not consumed. */
function whenReadable(
  socket: Socket,
  isEnough: (bytes: Buffer) => boolean,
  act: () => void,
): void {
  const look = () => {
    const bytes = socket.read() as Buffer | null
    // If no bytes are readable, `act` is called only at the end of the stream, after which no bytes
    // can arrive.
    if (bytes === null && !socket.readableEnded) return
    if (bytes !== null) socket.unshift(bytes)
    if (bytes !== null && !isEnough(bytes)) return
    socket.off('readable', look)
    act()
  }
  socket.on('readable', look)
}
