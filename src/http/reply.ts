/**
 * The response envelope: {"data": …, "status": …, "errors": […]}, absent members left out.
 *
 * It is put together as text, because documents come as the texts that were stored.
 */
import type { ServerResponse } from 'node:http'
import type { Reply } from '../commands/define.ts'
import type { ApiError } from '../errors/api-error.ts'
import { printJson } from '../json/print.ts'
import { encodingOf, pack, packedSizeMin, type Encoding } from './compression.ts'
import { isGone } from './connection.ts'

/** Writes a body after its head. */
export interface BodyWriter {
  write(response: ServerResponse, body: string | Buffer, encoding: BufferEncoding): void
}

/** For what is short. Replies of commands have a writer that waits for those who read. */
const writeAtOnce: BodyWriter = {
  write: (response, body, encoding) => response.end(body, encoding),
}

export function send(
  response: ServerResponse,
  reply: Reply,
  requestId?: string,
  writer?: BodyWriter,
): void {
  const body = printReply(reply)
  sendText(response, statusOf(reply), 'application/json', body, requestId, writer)
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
  writer = writeAtOnce,
  size = Buffer.byteLength(body),
): void {
  // Nobody is left to read it, and Node takes writing to a closed response for a mistake.
  if (isGone(response)) return
  const headers = {
    'Content-Type': contentType,
    'Content-Length': size,
    ...(requestId !== undefined && { 'X-Request-Id': requestId }),
  }
  if ((status === 429 || status === 503) && !response.hasHeader('Retry-After'))
    response.setHeader('Retry-After', retryAfterSeconds)
  const encoding = size < packedSizeMin ? undefined : encodingOf(response)
  if (encoding !== undefined) {
    void sendPacked(response, status, headers, body, encoding, writer)
    return
  }
  response.writeHead(status, headers)
  // As many bytes as characters: all is ASCII, which Latin-1 says in the same bytes, faster.
  writer.write(response, body, size === body.length ? 'latin1' : 'utf8')
}

/** When to come back where nothing is known but that there is no room now. */
export const retryAfterSeconds = 1

async function sendPacked(
  response: ServerResponse,
  status: number,
  headers: object,
  body: string,
  encoding: Encoding,
  writer: BodyWriter,
): Promise<void> {
  const packed = await pack(Buffer.from(body), encoding)
  if (isGone(response)) return
  response.writeHead(status, {
    ...headers,
    'Content-Encoding': encoding,
    'Content-Length': packed.length,
  })
  writer.write(response, packed, 'latin1')
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
