/** The interface of an attack, and helpers for sending one. */
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { HostileServer, ServerOptions } from './hostile-server.ts'
import { requestOf } from './requests.ts'

export interface Attack {
  /** Name for `--only`. */
  readonly name: string
  /** A short description of the request. */
  readonly request: string
  readonly server?: ServerOptions
  prepare?(server: HostileServer): Promise<void>
  /** Sends the attack. Resolves when it is over. */
  run(server: HostileServer, pace: Pace): Promise<Answers>
}

export interface Pace {
  /** Seconds for which attacks keep idle or unfinished connections open. */
  readonly holdSeconds: number
}

/** Number of answers per status. 'none': the connection was closed without an answer. */
export type Answers = ReadonlyMap<number | 'none' | 'unread', number>

export function answersOf(statuses: readonly (number | 'none' | 'unread')[]): Answers {
  const counted = new Map<number | 'none' | 'unread', number>()
  for (const status of statuses) counted.set(status, (counted.get(status) ?? 0) + 1)
  return counted
}

/** Sends bytes; resolves when all were accepted, or when the connection was closed. */
export async function write(socket: Socket, bytes: Buffer): Promise<void> {
  if (socket.destroyed) return
  await new Promise<void>((resolve) => {
    socket.once('close', resolve)
    socket.write(bytes, () => {
      socket.off('close', resolve)
      resolve()
    })
  })
}

/**
 * The first `count` statuses that a connection receives, in order. If the connection closes or the
 * wait ends too early, the missing statuses are 'none'.
 */
export async function statusesOn(
  socket: Socket,
  count: number,
): Promise<(number | 'none')[]> {
  const statuses: number[] = []
  let tail = ''
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, answerMsMax)
    const settle = () => {
      clearTimeout(timer)
      resolve()
    }
    if (socket.destroyed) settle()
    socket.on('data', (chunk: Buffer) => {
      const text = tail + chunk.toString('latin1')
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g))
        statuses.push(Number(status))
      // A status line may be split between chunks, so the last 12 characters are searched again.
      tail = text.slice(-12)
      if (statuses.length >= count) settle()
    })
    socket.on('close', settle)
  })
  const missing = Math.max(0, count - statuses.length)
  return [...statuses, ...Array<'none'>(missing).fill('none')]
}

/** Sends one request on a separate connection. */
export async function single(
  server: HostileServer,
  token: string,
  path: string,
  body: Buffer,
  headers: readonly string[] = [],
): Promise<Answers> {
  const socket = await server.connect()
  const statuses = statusesOn(socket, 1)
  await write(socket, requestOf(token, path, body, headers))
  const answers = answersOf(await statuses)
  socket.destroy()
  return answers
}

/** Maximum wait for the answers to an attack, in milliseconds. */
const answerMsMax = 110_000

export function seconds(count: number): Promise<void> {
  return pause(count * 1_000)
}

/** Inserts documents, as many per command as the server permits. */
export async function load(
  server: HostileServer,
  name: string,
  count: number,
  document: (n: number) => object,
  atATime = 100,
): Promise<void> {
  for (let from = 0; from < count; from += atATime)
    await server.command(`/default_keyspace/${name}`, {
      insertMany: {
        documents: Array.from({ length: Math.min(atATime, count - from) }, (_, n) =>
          document(from + n),
        ),
      },
    })
}
