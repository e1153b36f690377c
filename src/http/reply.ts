/**
 * The response envelope: {"data": …, "status": …, "errors": […]}, absent members left out.
 *
 * It is put together as text, because documents come as the texts that were stored.
 */
import type { ServerResponse } from 'node:http'
import type { Reply } from '../commands/dispatch/define.ts'
import type { ApiError } from '../errors/api-error.ts'
import { nextTurn, sliceMs } from '../caller.ts'
import { wholeText, type LongText } from '../json/long-text.ts'
import { printJson } from '../json/print.ts'
import { encodingOf, pack, packedSizeMin, type Encoding } from './compression.ts'
import { isGone } from './connection.ts'

/** Writes a body after its head. */
export interface BodyWriter {
  write(response: ServerResponse, body: LongText | Buffer, encoding: BufferEncoding): void
}

/** For short bodies. Replies of commands have a writer that waits until the client has read. */
const writeAtOnce: BodyWriter = {
  write: (response, body, encoding) => response.end(body, encoding),
}

export function send(
  response: ServerResponse,
  reply: Reply,
  requestId?: string,
  writer?: BodyWriter,
): void {
  const body = wholeText(printReply(reply))
  sendText(response, statusOf(reply), 'application/json', body, requestId, writer)
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  sendText(response, status, 'application/json', body)
}

export function sendText(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: LongText,
  requestId?: string,
  writer = writeAtOnce,
  size = Buffer.byteLength(wholeText(body)),
): void {
  // Nobody is left to read it, and Node takes writing to a closed response for a mistake.
  if (isGone(response)) return
  const headers = ['Content-Type', contentType]
  if (requestId !== undefined) headers.push('X-Request-Id', requestId)
  if ((status === 429 || status === 503) && !response.hasHeader('Retry-After'))
    response.setHeader('Retry-After', retryAfterSeconds)
  const encoding = size < packedSizeMin ? undefined : encodingOf(response)
  if (encoding !== undefined) {
    void sendPacked(response, status, headers, body, size, encoding, writer)
    return
  }
  headers.push('Content-Length', String(size))
  response.writeHead(status, headers)
  // As many bytes as characters: all is ASCII, which Latin-1 says in the same bytes, faster.
  if (size === lengthOf(body)) writer.write(response, body, 'latin1')
  else if (size > atOnceSize) writer.write(response, body, 'utf8')
  // To encode a text while it is written takes Node longer than to do it before.
  else writer.write(response, Buffer.from(wholeText(body)).toString('latin1'), 'latin1')
}

/** Bytes that are encoded at once. */
const atOnceSize = 65_536

/** When to come back where nothing is known but that there is no room now. */
export const retryAfterSeconds = 1

async function sendPacked(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  body: LongText,
  size: number,
  encoding: Encoding,
  writer: BodyWriter,
): Promise<void> {
  const packed = await pack(await encode(body, size), encoding)
  if (isGone(response)) return
  response.writeHead(status, [
    ...headers,
    ...['Content-Encoding', encoding, 'Content-Length', String(packed.length)],
  ])
  writer.write(response, packed, 'latin1')
}

/** Characters. */
export function lengthOf(body: LongText): number {
  if (typeof body === 'string') return body.length
  return body.reduce((sum, { length }) => sum + length, 0)
}

/** Bytes. While there are many to count, others have their turn. */
export function byteLengthOf(body: LongText): number | Promise<number> {
  return typeof body === 'string' ? Buffer.byteLength(body) : byteLengthInTurns(body)
}

async function byteLengthInTurns(parts: readonly string[]): Promise<number> {
  let size = 0
  await eachInTurns(parts, (part) => (size += Buffer.byteLength(part)))
  return size
}

async function encode(body: LongText, size: number): Promise<Buffer> {
  if (typeof body === 'string') return Buffer.from(body)
  const bytes = Buffer.allocUnsafe(size)
  let end = 0
  await eachInTurns(body, (part) => (end += bytes.write(part, end)))
  return bytes
}

async function eachInTurns(
  parts: readonly string[],
  act: (part: string) => void,
): Promise<void> {
  let sliceStartedAt = performance.now()
  for (const part of parts) {
    act(part)
    if (performance.now() - sliceStartedAt < sliceMs) continue
    await nextTurn()
    sliceStartedAt = performance.now()
  }
}

/** The body that carries a reply. */
export function printReply(reply: Reply): LongText {
  const { data, errors } = reply
  const isFailed = errors !== undefined && errors.length > 0
  const status = printStatus(reply)
  let rest = status === '' ? '' : `"status":{${status}}`
  if (isFailed) rest += `${comma(rest)}"errors":[${errors.map(printError).join(',')}]`
  // A failed command has no result, even if it got as far as having one.
  if (data === undefined || isFailed) return `{${rest}}`
  return printData(data, `${comma(rest)}${rest}}`)
}

/** What comes between members and the next one. */
function comma(members: string): string {
  return members === '' ? '' : ','
}

/** The parts of a reply, each a JSON text by itself; undefined where it has none. */
export interface PrintedParts {
  readonly data: LongText | undefined
  readonly status: string | undefined
  readonly errors: string | undefined
}

export function printParts(reply: Reply): PrintedParts {
  const errors = reply.errors ?? []
  const status = printStatus(reply)
  const isFailed = errors.length > 0
  return {
    data: reply.data === undefined || isFailed ? undefined : printOnlyData(reply.data),
    status: status === '' ? undefined : `{${status}}`,
    errors: isFailed ? `[${errors.map(printError).join(',')}]` : undefined,
  }
}

function printOnlyData(data: NonNullable<Reply['data']>): LongText {
  if ('document' in data) return `{"document":${data.document ?? 'null'}}`
  const { documents, nextPageState } = data
  const end = `],"nextPageState":${printJson(nextPageState)}}`
  return typeof documents === 'string'
    ? `{"documents":[${documents}${end}`
    : ['{"documents":[', ...documents, end]
}

/** 200 but for a few errors; the first of them decides. */
export function statusOf(reply: Reply): number {
  if (reply.errors === undefined) return 200
  return reply.errors.find((error) => error.status !== 200)?.status ?? 200
}

function printData(data: NonNullable<Reply['data']>, rest: string): LongText {
  const printed = printOnlyData(data)
  return typeof printed === 'string'
    ? `{"data":${printed}${rest}`
    : ['{"data":', ...printed, rest]
}

function printStatus({ status, warnings }: Reply): string {
  if (status === undefined && warnings === undefined) return ''
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
