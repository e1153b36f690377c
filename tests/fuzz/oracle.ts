/**
 * Invariants of every reply, whatever was sent: the reply is valid HTTP, and has a documented
 * status and an envelope with known and explained errors.
 */
import { readFileSync } from 'node:fs'
import {
  brotliDecompressSync,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import { catalog } from '../../src/errors/catalog.ts'
import type { CatalogEntry } from '../../src/errors/catalog-entry.ts'
import { parseJson } from '../../src/json/parse.ts'
import type { CommandInput, RawInput } from './input.ts'
import { readResponses, type Response } from './responses.ts'
import type { Exchange } from './wire.ts'

/** A violated invariant. Findings of the same kind are assumed to have one cause. */
export interface Finding {
  readonly kind: string
  readonly detail: string
}

/** Statuses of replies to valid HTTP requests. */
const commandStatuses = [200, 401, 404, 405, 413, 415, 429, 503]

/** Statuses with which Node itself replies to invalid HTTP. */
const brokenStatuses = [100, 400, 408, 417, 431]

/** The status of a preflight reply. */
const preflightStatus = 204

/** Error codes that occurred in replies. */
export type Codes = Set<string>

export function judgeCommand(
  input: CommandInput,
  response: Response,
  codes: Codes,
): Finding | undefined {
  const { status, body } = response
  if (!commandStatuses.includes(status))
    return { kind: `status ${status}`, detail: body.toString().slice(0, 500) }
  // Only a reply with status 200 must have a body.
  if (status !== 200 && body.length === 0) return undefined
  return judgeEnvelope(response, input.body, codes)
}

export function judgeRaw(
  input: RawInput,
  { bytes, end }: Exchange,
  codes: Codes,
): Finding | undefined {
  if (end === 'late') return { kind: 'the connection stays open', detail: shown(bytes) }
  // On other connections, the reply may be truncated: the client disconnected, or was still sending
  // when the server reset the connection.
  if (end !== 'closed') return undefined
  const sent = Buffer.concat(input.parts)
  const isBare = sent.includes('HEAD ')
  const responses = readResponses(bytes, isBare)
  if (typeof responses === 'string')
    return { kind: 'no HTTP response', detail: `${responses}: ${shown(bytes)}` }
  for (const response of responses) {
    const { status, headers, body } = response
    if (![...commandStatuses, ...brokenStatuses, preflightStatus].includes(status))
      return { kind: `status ${status}`, detail: shown(bytes) }
    if (isBare && body.length === 0) continue
    const isJson = headers.get('content-type')?.startsWith('application/json') === true
    // Health checks, the root and replies to invalid HTTP have other formats.
    const isPage = body.includes('"checks"') || body.includes('"openapi"')
    if (!isJson || isPage || brokenStatuses.includes(status)) continue
    const finding = judgeEnvelope(response, sent, codes)
    if (finding !== undefined) return finding
  }
  return undefined
}

/** Codes of errors whose cause is the server. No request may cause them. */
const ourMistakes = [
  'UNEXPECTED_SERVER_ERROR',
  'INTERNAL_SERVER_ERROR',
  'STORED_DATA_DAMAGED',
  'FAILED_READ_REQUEST',
  'FAILED_WRITE_REQUEST',
]

const members = ['data', 'status', 'errors']

function judgeEnvelope(
  response: Response,
  sent: Buffer,
  codes: Codes,
): Finding | undefined {
  const body = inflated(response)
  const text = body.toString('utf8')
  const wrong = (kind: string, detail = text): Finding => {
    return { kind, detail: detail.slice(0, 2_000) }
  }
  if (!Buffer.from(text).equals(body)) return wrong('the answer is not UTF-8')
  let envelope: unknown
  try {
    // parseJson rejects duplicate keys and all other deviations from strict JSON.
    parseJson(text, { depthMax: 500, numeralLengthMax: 1_100 })
    envelope = JSON.parse(text)
  } catch (error) {
    return wrong('the answer is not JSON', `${String(error)}: ${text}`)
  }
  if (!isObject(envelope)) return wrong('the answer is no envelope')
  const names = Object.keys(envelope)
  if (names.length === 0 || !names.every((name) => members.includes(name)))
    return wrong('the answer is no envelope')
  const { data, status, errors } = envelope
  if (status !== undefined && !isObject(status)) return wrong('status is no object')
  if (data !== undefined && !isData(data)) return wrong('data is of no known form')
  if (errors === undefined) {
    if (response.status !== 200) return wrong('a status of failure without errors')
  } else {
    if (!Array.isArray(errors) || errors.length === 0) return wrong('errors is no list')
    if (data !== undefined) return wrong('errors come with data')
  }
  const warnings = isObject(status) ? (status['warnings'] ?? []) : []
  if (!Array.isArray(warnings)) return wrong('warnings is no list')
  for (const error of [...((errors ?? []) as unknown[]), ...(warnings as unknown[])]) {
    const finding = judgeError(error, sent, codes)
    if (finding !== undefined) return { ...finding, detail: finding.detail.slice(0, 2_000) }
  }
  return undefined
}

/** The decompressed body; empty when it is broken or its encoding is unknown. */
function inflated({ headers, body }: Response): Buffer {
  try {
    switch (headers.get('content-encoding')) {
      case undefined:
        return body
      case 'gzip':
        return gunzipSync(body)
      case 'deflate':
        return inflateSync(body)
      case 'br':
        return brotliDecompressSync(body)
      case 'zstd':
        return zstdDecompressSync(body)
    }
  } catch {
    // A broken body counts as empty.
  }
  return Buffer.alloc(0)
}

function isData(data: unknown): boolean {
  if (!isObject(data)) return false
  const { document, documents, nextPageState } = data
  return document === undefined
    ? Array.isArray(documents) &&
        documents.every(isObject) &&
        (nextPageState === null || typeof nextPageState === 'string')
    : document === null || isObject(document)
}

const errorMembers = ['id', 'family', 'scope', 'errorCode', 'title', 'message'] as const

/** Maximum length of a message. Messages quote part of the input, and must stay readable. */
const messageLengthMax = 5_000

/** Patterns of values that were formatted into a message by mistake. */
const slips = [
  /\bundefined\b/,
  /\[object /,
  // NaN may be a name in the input, or an element of a vector in the input.
  /(?<!vector )\b(?:is|are|of|to|has|have|than|over|most|least|holds?) NaN\b/,
  /\n\s+at \S+/,
  /\bnode:internal\b/,
  /\bAssertionError\b/,
  /\bSQLITE_/,
  /\.ts:\d+/,
]

function judgeError(error: unknown, sent: Buffer, codes: Codes): Finding | undefined {
  const told = JSON.stringify(error)
  if (!isObject(error)) return { kind: 'an error is no object', detail: told }
  for (const member of errorMembers)
    if (typeof error[member] !== 'string')
      return { kind: `an error without ${member}`, detail: told }
  const { family, scope, errorCode, title, message } = error as Record<
    (typeof errorMembers)[number],
    string
  >
  if (ourMistakes.includes(errorCode)) return { kind: errorCode, detail: message }
  codes.add(errorCode)
  if (!known.has([family, scope, errorCode, title].join()))
    return { kind: `${errorCode} is not in the catalog as such`, detail: told }
  if (!documented.has(errorCode))
    return { kind: `${errorCode} is not documented`, detail: told }
  if (title === '' || message === '') return { kind: 'an empty message', detail: told }
  if (message.length > messageLengthMax)
    return { kind: 'a message without end', detail: told }
  for (const slip of slips) {
    const found = slip.exec(message)?.[0]
    // Messages may quote what the client sent.
    if (found !== undefined && !sent.includes(found))
      return { kind: `a message with ${found.trim()}`, detail: message }
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(bytes: Buffer): string {
  return bytes.toString('latin1').slice(0, 1_000)
}

const entries = Object.entries<CatalogEntry>(catalog)

/** Entries of the error catalog in the form of replies. */
const known: ReadonlySet<string> = new Set(
  entries.map(([name, entry]) =>
    [entry.family, entry.scope, entry.code ?? name, entry.title].join(),
  ),
)

export const catalogCodes: ReadonlySet<string> = new Set(
  entries.map(([name, entry]) => entry.code ?? name),
)

const reference = new URL('../../docs/reference/errors.md', import.meta.url)
const documented: ReadonlySet<string> = new Set(
  [...readFileSync(reference, 'utf8').matchAll(/^\| `([A-Z_]+)`/gm)].map(
    ([, code]) => code!,
  ),
)
