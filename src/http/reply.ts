/**
 * Prints and sends the response envelope: {"data": …, "status": …, "errors": […]}. Absent members
 * are omitted.
 *
 * The envelope is assembled as text, because documents are returned as their stored texts.
 */
import type { ServerResponse } from 'node:http'
import type { Reply } from '../commands/dispatch/define.ts'
import type { ApiError } from '../errors/api-error.ts'
import { wholeText, type LongText } from '../json/long-text.ts'
import { printJson } from '../json/print.ts'
import { encodingOf, pack, packedSizeMin, type Encoding } from './compression.ts'
import { isGone } from './connection.ts'

/** Yields to other requests while a long reply is printed and sent. */
export interface TurnTaker {
  /** Called between two parts; returns a promise when other requests should run first. */
  yieldTurn(): Promise<void> | undefined
}

/** Writes a body after its headers. */
export interface BodyWriter extends Partial<TurnTaker> {
  write(response: ServerResponse, body: LongText | Buffer, encoding: BufferEncoding): void
}

/** Writes short bodies only: unlike ReplyWriter, it does not wait until the client has read. */
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
  body: string,
  requestId?: string,
  writer?: BodyWriter,
): void {
  sendEncoded(response, status, contentType, encodeText(body), requestId, writer)
}

export function sendEncoded(
  response: ServerResponse,
  status: number,
  contentType: string,
  encoded: EncodedBody,
  requestId?: string,
  writer = writeAtOnce,
): void {
  // Node treats a write to a closed response as an error.
  if (isGone(response)) return
  const { text, size, encoding } = encoded
  const headers = ['Content-Type', contentType]
  if (requestId !== undefined) headers.push('X-Request-Id', requestId)
  if ((status === 429 || status === 503) && !response.hasHeader('Retry-After'))
    response.setHeader('Retry-After', retryAfterSeconds)
  const packing = size < packedSizeMin ? undefined : encodingOf(response)
  if (packing !== undefined) {
    void sendPacked(response, status, headers, encoded, packing, writer)
    return
  }
  headers.push('Content-Length', String(size))
  response.writeHead(status, headers)
  writer.write(response, text, encoding)
}

/** A text and its encoding, with its size in bytes. */
export interface EncodedBody {
  /**
   * The text to write. If the encoding is Latin-1, each character is one byte of the UTF-8 text.
   */
  readonly text: LongText
  readonly size: number
  readonly encoding: 'latin1' | 'utf8'
}

/** Texts up to this many characters are encoded into a preallocated buffer. */
const shortLength = 65_536
const room = Buffer.allocUnsafeSlow(3 * shortLength)

/**
 * Chooses the encoding of a text. An ASCII text can be written as Latin-1, which is faster. Other
 * short texts are encoded into the buffer. This is faster than counting their bytes first and
 * encoding them while they are written.
 */
function encodeText(text: string): EncodedBody {
  if (text.length > shortLength) return withEncoding(text, Buffer.byteLength(text))
  const size = room.write(text)
  return {
    text: size === text.length ? text : room.toString('latin1', 0, size),
    size,
    encoding: 'latin1',
  }
}

function withEncoding(text: LongText, size: number): EncodedBody {
  return { text, size, encoding: size === lengthOf(text) ? 'latin1' : 'utf8' }
}

/** Encodes a reply; yields to other requests if it is long. */
export function encode(
  text: LongText,
  taker: TurnTaker,
): EncodedBody | Promise<EncodedBody> {
  if (typeof text === 'string') return encodeText(text)
  return byteLengthInTurns(text, taker).then((size) => withEncoding(text, size))
}

/** Seconds in the Retry-After header under overload. How long an overload lasts is unknown. */
export const retryAfterSeconds = 1

async function sendPacked(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  encoded: EncodedBody,
  packing: Encoding,
  writer: BodyWriter,
): Promise<void> {
  const packed = await pack(await bytesOf(encoded, writer), packing)
  if (isGone(response)) return
  response.writeHead(status, [
    ...headers,
    ...['Content-Encoding', packing, 'Content-Length', String(packed.length)],
  ])
  writer.write(response, packed, 'latin1')
}

/** Length in UTF-16 code units. */
export function lengthOf(text: LongText): number {
  if (typeof text === 'string') return text.length
  return text.reduce((sum, { length }) => sum + length, 0)
}

async function byteLengthInTurns(
  parts: readonly string[],
  taker: TurnTaker,
): Promise<number> {
  let size = 0
  await eachInTurns(parts, (part) => (size += Buffer.byteLength(part)), taker)
  return size
}

async function bytesOf(
  { text, size, encoding }: EncodedBody,
  taker: Partial<TurnTaker>,
): Promise<Buffer> {
  if (typeof text === 'string') return Buffer.from(text, encoding)
  const bytes = Buffer.allocUnsafe(size)
  let end = 0
  await eachInTurns(text, (part) => (end += bytes.write(part, end, encoding)), taker)
  return bytes
}

async function eachInTurns(
  parts: readonly string[],
  act: (part: string) => void,
  taker: Partial<TurnTaker>,
): Promise<void> {
  for (const part of parts) {
    act(part)
    const turn = taker.yieldTurn?.()
    if (turn !== undefined) await turn
  }
}

/** The body of a reply as JSON text. */
export function printReply(reply: Reply): LongText {
  const { data, errors } = reply
  const isFailed = errors !== undefined && errors.length > 0
  const { listed } = reply
  if (listed !== undefined && !isFailed) return printListed(reply, listed)
  const status = printStatus(reply)
  let rest = status === '' ? '' : `"status":{${status}}`
  if (isFailed) rest += `${comma(rest)}"errors":[${errors.map(printError).join(',')}]`
  // A failed command returns no data, even if it had produced some.
  if (data === undefined || isFailed) return `{${rest}}`
  return printData(data, `${comma(rest)}${rest}}`)
}

/** A comma unless `members` is empty. */
function comma(members: string): string {
  return members === '' ? '' : ','
}

/** Prints a reply with a long list in its status; such a reply has no data. */
function printListed(reply: Reply, listed: NonNullable<Reply['listed']>): LongText {
  return enclose('{"status":', printListedStatus(reply, listed), '}')
}

function printListedStatus(reply: Reply, listed: NonNullable<Reply['listed']>): LongText {
  const rest = printStatus(reply)
  return enclose(`{"${listed.name}":[`, listed.elements, `]${comma(rest)}${rest}}`)
}

function enclose(start: string, text: LongText, end: string): LongText {
  return typeof text === 'string' ? start + text + end : [start, ...text, end]
}

/** The members of a reply as JSON texts; undefined: absent. */
export interface PrintedParts {
  readonly data: LongText | undefined
  readonly status: LongText | undefined
  readonly errors: string | undefined
}

export function printParts(reply: Reply): PrintedParts {
  const errors = reply.errors ?? []
  const isFailed = errors.length > 0
  const listed = isFailed ? undefined : reply.listed
  const status = listed === undefined ? printStatus(reply) : ''
  return {
    data: reply.data === undefined || isFailed ? undefined : printOnlyData(reply.data),
    status:
      listed !== undefined
        ? printListedStatus(reply, listed)
        : status === ''
          ? undefined
          : `{${status}}`,
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

/** The HTTP status of a reply: 200, unless the first error has a different status. */
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
