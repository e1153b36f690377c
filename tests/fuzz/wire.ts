/** Connections to the server as plain byte streams, without an HTTP library. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { RawInput } from './input.ts'
import { readResponse, type Response } from './responses.ts'

/** Milliseconds after which a missing reply is a finding. */
export const patienceMs = 120_000

/** Milliseconds for which a client waits if it does not know whether a reply will come. */
const listenMs = 120

/** The error when a connection delivers no reply, or an invalid one. */
export class NoAnswer extends Error {}

/** A keep-alive connection that sends one request at a time. */
export class Wire {
  readonly #socket: Socket
  #isOpen = true

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.on('close', () => (this.#isOpen = false))
  }

  static async open(port: number, localAddress = '127.0.0.1'): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    try {
      await once(socket, 'connect')
    } catch (error) {
      throw new NoAnswer(`no connection: ${(error as Error).message}`)
    }
    return new Wire(socket)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends one request and resolves with its response; rejects with NoAnswer. */
  ask(request: Buffer): Promise<Response> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      let needed = 1
      const settle = (outcome: Response | string) => {
        clearTimeout(timer)
        this.#socket.off('data', take).off('close', closed)
        if (typeof outcome !== 'string') {
          if (outcome.headers.get('connection') === 'close') this.close()
          resolve(outcome)
        } else {
          this.close()
          reject(new NoAnswer(outcome))
        }
      }
      const take = (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size >= needed) look(false)
      }
      const look = (isWhole: boolean) => {
        const bytes = Buffer.concat(chunks)
        const read = readResponse(bytes, isWhole)
        if (read.kind === 'broken') settle(`no HTTP response: ${read.problem}`)
        else if (read.kind === 'more') needed = read.size
        else if (read.size < size) settle('more bytes than one response')
        else settle(read.response)
      }
      const closed = () => {
        if (size === 0) settle('the connection was closed without an answer')
        else look(true)
      }
      const timer = setTimeout(() => settle(`no answer in ${patienceMs} ms`), patienceMs)
      this.#socket.on('data', take).on('close', closed)
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#isOpen = false
    this.#socket.destroy()
  }
}

/** The bytes received on a connection, and how it ended. */
export interface Exchange {
  readonly bytes: Buffer
  readonly end: 'closed' | 'reset' | 'left' | 'late'
}

let exchanges = 0

/**
 * The local address for the next connection. Addresses rotate, because an address that sends many
 * invalid tokens is locked out for a while.
 */
function nextAddress(): string {
  return `127.0.0.${2 + (exchanges++ % 200)}`
}

export async function exchange(port: number, input: RawInput): Promise<Exchange> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    localAddress: nextAddress(),
    noDelay: true,
    allowHalfOpen: true,
  })
  const chunks: Buffer[] = []
  const heard = new Promise((resolve) => socket.once('data', resolve))
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // The server may close the connection instead of answering.
  let failure: Error | undefined
  socket.on('error', (error) => (failure = error))
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)))
  // Closes the client's half of the connection as soon as the server has closed its own half.
  socket.on('end', () => socket.end())

  for (const [position, part] of input.parts.entries()) {
    if (position > 0) await Promise.race([pause(10), closed])
    if (socket.destroyed) break
    socket.write(part)
  }
  const given = () => Buffer.concat(chunks)
  if (input.ending === 'leave') {
    await Promise.race([pause(5), closed])
    socket.destroy()
    return { bytes: given(), end: 'left' }
  }
  if (input.ending === 'wait') {
    await Promise.race([heard, closed, pause(listenMs, undefined, { ref: false })])
  }
  socket.end()
  const late = pause(patienceMs, false, { ref: false })
  const isClosed = await Promise.race([closed, late])
  socket.destroy()
  if (!isClosed) return { bytes: given(), end: 'late' }
  return { bytes: given(), end: failure === undefined ? 'closed' : 'reset' }
}
