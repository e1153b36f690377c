/**
 * Answers to requests whose bodies are not wanted, before they have arrived.
 *
 * The answer goes out at once. A client that is still sending may read it only when it is
 * done, and would never see it if the connection were closed under it. So what it sends is
 * read and dropped, up to a bound. A short rest is dropped and the connection stays in use;
 * otherwise it is closed afterwards.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from '../commands/dispatch/define.ts'
import { fixedLimits } from '../limits.ts'
import { isMultiplexed } from './connection.ts'
import { readInTurns } from './read-in-turns.ts'
import { lengthOf } from './receive-body.ts'
import { send, type BodyWriter } from './reply.ts'

/** Bytes of a body that are drained to keep the connection of an unauthenticated client. */
export const keepMaxUnknown = 65_536

export interface Drain {
  /** Bytes of a body after which the connection stays in use. */
  readonly keepMax: number
  /** Bytes that are read of any other. */
  readonly drainMax: number
}

export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  requestId: string | undefined,
  bounds: Drain,
): void {
  refuseBy((writer) => send(response, reply, requestId, writer), request, response, bounds)
}

/** The same, with an answer that is sent in another form. */
export function refuseBy(
  sendAnswer: (writer?: BodyWriter) => void,
  request: IncomingMessage,
  response: ServerResponse,
  { keepMax, drainMax }: Drain,
): void {
  // A stream of HTTP/2 ends by itself, and the others of its connection go on.
  if (isMultiplexed(request) || isShort(request, keepMax)) {
    sendAnswer()
    return
  }
  response.setHeader('Connection', 'close')
  // Node closes the connection when the response ends, so the end is what waits.
  sendAnswer(writeWithoutEnd)
  drain(request, drainMax, () => response.end())
}

const writeWithoutEnd: BodyWriter = {
  write: (response, body, encoding) => response.write(body, encoding),
}

/** Whether the body is short enough to be drained. */
function isShort(request: IncomingMessage, sizeMax: number): boolean {
  if (request.complete) return true
  // A client that sent `Expect: 100-continue` may omit the body after this reply.
  if (request.headers.expect !== undefined) return false
  const length = lengthOf(request)
  return length !== undefined && length <= sizeMax
}

function drain(request: IncomingMessage, sizeMax: number, done: () => void): void {
  let size = 0
  let isOver = false
  const timer = setTimeout(end, fixedLimits.refusedBodyMsMax)
  function end(): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    done()
  }
  readInTurns(request, (chunk) => {
    size += chunk.length
    if (size > sizeMax) end()
  })
  request.once('end', end).once('close', end)
}
