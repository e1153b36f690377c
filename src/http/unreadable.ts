/**
 * Answers to what arrives on a connection and is no request, so that there is no response to
 * write to. The connection is closed with them.
 */
import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { wholeText } from '../json/long-text.ts'
import { printReply } from './reply.ts'

/** What Node says of it. */
type ConnectionProblem = Error & { readonly code?: string }

export function answerUnreadable(problem: ConnectionProblem, socket: Socket): void {
  const wasSilent = socket.bytesRead === 0
  // Who has sent nothing waits for nothing, and would take it for the answer to what is sent next.
  if (problem.code === 'ECONNRESET' || wasSilent || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = refusalOf(problem)
  const body = wholeText(printReply({ errors: [refusal] }))
  const { status } = refusal
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    // Else who never reads keeps it open.
    () => socket.destroy(),
  )
}

function refusalOf({ code, message }: ConnectionProblem): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return apiError('REQUEST_TOO_SLOW')
    case 'HPE_HEADER_OVERFLOW':
      return apiError('HEADERS_TOO_LARGE', { max: maxHeaderSize })
    default:
      return apiError('REQUEST_NOT_HTTP', { problem: message })
  }
}
