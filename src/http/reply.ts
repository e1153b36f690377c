/**
 * The response envelope: {"data": …, "status": …, "errors": […]}, absent members left out.
 *
 * It is put together as text, because documents come as the texts that were stored.
 */
import type { ServerResponse } from 'node:http'
import type { Reply } from '../commands/define.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { printJson } from '../json/print.ts'
import { encodingOf, pack, packedSizeMin, type Encoding } from './compression.ts'
import { isGone } from './connection.ts'

export function send(response: ServerResponse, reply: Reply, requestId?: string): void {
  sendText(response, statusOf(reply), 'application/json', printReply(reply), requestId)
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  sendText(response, status, 'application/json', body)
}

export function sendText(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  requestId?: string,
): void {
  // Nobody is left to read it, and Node takes writing to a closed response for a mistake.
  if (isGone(response)) return
  const size = Buffer.byteLength(body)
  const headers = {
    'Content-Type': contentType,
    'Content-Length': size,
    ...(requestId !== undefined && { 'X-Request-Id': requestId }),
  }
  const encoding = size < packedSizeMin ? undefined : encodingOf(response)
  if (encoding !== undefined) {
    void sendPacked(response, status, headers, body, encoding)
    return
  }
  response.writeHead(status, headers)
  // As many bytes as characters: all is ASCII, which Latin-1 says in the same bytes, faster.
  response.end(body, size === body.length ? 'latin1' : 'utf8')
}

async function sendPacked(
  response: ServerResponse,
  status: number,
  headers: object,
  body: string,
  encoding: Encoding,
): Promise<void> {
  const packed = await pack(Buffer.from(body), encoding)
  if (isGone(response)) return
  response.writeHead(status, {
    ...headers,
    'Content-Encoding': encoding,
    'Content-Length': packed.length,
  })
  response.end(packed)
}

export function sendEmpty(
  response: ServerResponse,
  status: number,
  requestId?: string,
): void {
  response.writeHead(status, {
    'Content-Length': 0,
    ...(requestId !== undefined && { 'X-Request-Id': requestId }),
  })
  response.end()
}

export function missingToken(): Reply {
  return { errors: [apiError('MISSING_AUTHENTICATION_TOKEN')] }
}

/** The body that carries a reply. */
export function printReply(reply: Reply): string {
  const errors = reply.errors ?? []
  const members: string[] = []
  // A failed command has no result, even if it got as far as having one.
  if (reply.data !== undefined && errors.length === 0)
    members.push(`"data":${printData(reply.data)}`)
  const status = printStatus(reply)
  if (status !== '') members.push(`"status":{${status}}`)
  if (errors.length > 0) members.push(`"errors":[${errors.map(printError).join(',')}]`)
  return `{${members.join(',')}}`
}

/** 200 but for a few errors; the first of them decides. */
export function statusOf(reply: Reply): number {
  if (reply.errors === undefined) return 200
  return reply.errors.find((error) => error.status !== 200)?.status ?? 200
}

function printData(data: NonNullable<Reply['data']>): string {
  if ('document' in data) return `{"document":${data.document ?? 'null'}}`
  const { documents, nextPageState } = data
  return `{"documents":[${documents}],"nextPageState":${printJson(nextPageState)}}`
}

function printStatus({ status, warnings }: Reply): string {
  const members: string[] = []
  for (const [name, value] of Object.entries(status ?? {}))
    if (value !== undefined) members.push(`"${name}":${printJson(value)}`)
  if (warnings !== undefined && warnings.length > 0)
    members.push(`"warnings":[${warnings.map(printError).join(',')}]`)
  return members.join(',')
}

function printError(error: ApiError): string {
  const { id, family, scope, code, title, message, documentIds } = error
  const text = JSON.stringify({ id, family, scope, errorCode: code, title, message })
  if (documentIds.length === 0) return text
  return `${text.slice(0, -1)},"documentIds":[${documentIds.map(printJson).join(',')}]}`
}
