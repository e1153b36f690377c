/**
 * Answers invalid HTTP requests, for which Node creates no response object. The
 * connection is closed afterwards.
 */
import type { Socket } from 'node:net'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { wholeText } from '../json/long-text.ts'
import { http } from '../runtime/node-http.ts'
import { printReply } from './reply.ts'

/** The error that Node reports. */
type ConnectionProblem = Error & { readonly code?: string }

export function answerUnreadable(problem: ConnectionProblem, socket: Socket): void {
  const wasSilent = socket.bytesRead === 0
  // A client that has sent nothing expects no response, and would mistake it for the response
  // to its next request.
  if (problem.code === 'ECONNRESET' || wasSilent || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = refusalOf(problem)
  const body = wholeText(printReply({ errors: [refusal] }))
  const { status } = refusal
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    // The socket is destroyed, because a client that never reads would keep the connection open.
    () => socket.destroy(),
  )
}

function refusalOf({ code, message }: ConnectionProblem): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return apiError('REQUEST_TOO_SLOW')
    case 'HPE_HEADER_OVERFLOW':
      return apiError('HEADERS_TOO_LARGE', { max: http.maxHeaderSize })
    default:
      return apiError('REQUEST_NOT_HTTP', { problem: message })
  }
}
