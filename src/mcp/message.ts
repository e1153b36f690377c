/** JSON-RPC 2.0 messages; contains only the features that MCP uses. */
import { lengthOf } from '../http/reply.ts'
import type { LongText } from '../json/long-text.ts'
import { printJson } from '../json/print.ts'
import { isDecimal, isObject, type JsonObject, type Value } from '../json/value.ts'

export type Message =
  | Request
  | { readonly kind: 'notification'; readonly method: string }
  /** A response. The server sends no requests, so it ignores responses. */
  | { readonly kind: 'response' }

export interface Request {
  readonly kind: 'request'
  /** The id as JSON text. */
  readonly id: string
  readonly method: string
  readonly params: JsonObject
}

export const parseError = -32700
export const invalidRequest = -32600
export const methodNotFound = -32601
export const invalidParams = -32602
export const internalError = -32603

/** An error of the protocol. Errors of commands are sent as results instead. */
export class RpcError extends Error {
  readonly code: number
  readonly status: number
  readonly data: string | undefined

  /** `status` is the HTTP status, `data` a JSON text. */
  constructor(code: number, message: string, status = 200, data?: string) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

/** Parses a message; throws an RpcError when the body is not a valid message. */
export function readMessage(body: Value): Message {
  if (Array.isArray(body))
    throw malformed('Batches of messages are not supported. Send one message per request.')
  if (!isObject(body)) throw malformed('A message must be a JSON object.')
  if (body.get('jsonrpc') !== '2.0')
    throw malformed('A message must have "jsonrpc": "2.0".')
  const method = body.get('method')
  if (method === undefined && (body.has('result') || body.has('error')))
    return { kind: 'response' }
  if (typeof method !== 'string')
    throw malformed('A message must have a method, which is a string.')
  if (!body.has('id')) return { kind: 'notification', method }
  const id = body.get('id')!
  if (!isId(id)) throw malformed('An id must be a string or a whole number.')
  return { kind: 'request', id: printJson(id), method, params: paramsOf(body, id) }
}

/**
 * The id of a message, which may be malformed, for the error reply; undefined if no id is readable.
 */
export function idOf(body: Value): string | undefined {
  const id = isObject(body) ? body.get('id') : undefined
  return id !== undefined && isId(id) ? printJson(id) : undefined
}

function paramsOf(body: JsonObject, id: Value): JsonObject {
  const params = body.get('params') ?? new Map<string, Value>()
  if (isObject(params)) return params
  throw new RpcError(
    invalidParams,
    `The params of request ${printJson(id)} must be an object.`,
  )
}

function isId(id: Value): boolean {
  if (isDecimal(id)) return /^-?\d+$/.test(id.decimal)
  return typeof id === 'string' || Number.isInteger(id)
}

function malformed(message: string): RpcError {
  return new RpcError(invalidRequest, message, 400)
}

/** Prints a response with a result. `members` is the content of the result as JSON text. */
export function printResult(id: string, members: LongText): LongText {
  const start = `{"jsonrpc":"2.0","id":${id},"result":{`
  if (typeof members === 'string') return `${start}${members}}}`
  return [start, ...members, '}}']
}

/** Prints a response with an error. `id` is undefined if the id of the request was unreadable. */
export function printError(error: RpcError, id: string | undefined): string {
  const data = error.data === undefined ? '' : `,"data":${error.data}`
  return (
    `{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}` +
    `"error":{"code":${error.code},"message":${JSON.stringify(error.message)}${data}}}`
  )
}

/** Escapes a text for a JSON string, without quotes. Lets other requests run between parts. */
export async function escapeText(
  text: LongText,
  pause: () => Promise<void> | undefined,
): Promise<LongText> {
  if (typeof text === 'string') return JSON.stringify(text).slice(1, -1)
  const escaped: string[] = []
  for (const part of text) {
    escaped.push(JSON.stringify(part).slice(1, -1))
    const pausing = pause()
    if (pausing !== undefined) await pausing
  }
  return escaped
}

/**
 * Concatenates texts. The result is one string if all texts are strings and shorter than
 * `joinedMax` together; otherwise it is a list of parts.
 */
export function joinTexts(...texts: readonly LongText[]): LongText {
  if (texts.every((text) => typeof text === 'string')) {
    if (texts.reduce((sum, text) => sum + lengthOf(text), 0) < joinedMax)
      return texts.join('')
  }
  return texts.flat()
}

/** Maximum total characters of texts that are joined into one string. */
const joinedMax = 65_536
