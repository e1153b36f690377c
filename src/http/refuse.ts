/**
 * Rejects requests before their bodies have arrived.
 *
 * The response is sent at once. However, many clients read the response only after they have sent
 * the whole body. If the server closed the connection earlier, such a client would never see the
 * response. So the server reads and drops the body, up to a bound. After a short body the
 * connection stays open; otherwise it is closed.
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
  /** Maximum bytes of a body that are drained to keep the connection. */
  readonly keepMax: number
  /** Maximum bytes of other bodies that are drained before the connection is closed. */
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

/** Like `refuse`, but calls `sendAnswer` to send the response. */
export function refuseBy(
  sendAnswer: (writer?: BodyWriter) => void,
  request: IncomingMessage,
  response: ServerResponse,
  { keepMax, drainMax }: Drain,
): void {
  // Ending an HTTP/2 stream does not affect other streams of the connection.
  if (isMultiplexed(request) || isShort(request, keepMax)) {
    sendAnswer()
    return
  }
  response.setHeader('Connection', 'close')
  // Node closes the connection when the response ends, so the response ends only after the body was
  // drained.
  sendAnswer(writeWithoutEnd)
  drain(request, drainMax, () => response.end())
}

const writeWithoutEnd: BodyWriter = {
  write: (response, body, encoding) => response.write(body, encoding),
}

/** Whether the body is short enough to be drained. */
function isShort(request: IncomingMessage, sizeMax: number): boolean {
  if (request.complete) return true
  // A client that sent `Expect: 100-continue` may omit the body after this response, so the server
  // does not wait for the body.
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
