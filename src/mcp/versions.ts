/**
 * Determines the protocol revision of a request.
 *
 * Since revision 2026-07-28, each request states its revision in its metadata and in headers. In
 * older revisions, clients first send `initialize`, and later requests may state the revision in a
 * header. The server supports both forms without state.
 */
import { isObject, type JsonObject } from '../json/value.ts'
import { invalidParams, RpcError, type Request } from './message.ts'

/** The current revision, and the supported older ones, newest first. */
const currentVersion = '2026-07-28'
export const olderVersions = ['2025-11-25', '2025-06-18']
export const versions = [currentVersion, ...olderVersions]

export interface ProtocolRevision {
  readonly version: string
  /** Whether each request carries the revision and the client's capabilities. */
  readonly isSelfContained: boolean
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

const headerMismatch = -32020
const unsupportedVersion = -32022

/** The revision of a request; throws an RpcError when its headers contradict its metadata. */
export function revisionOf(
  { method, params }: Request,
  headers: Headers,
): ProtocolRevision {
  const meta = params.get('_meta')
  const members = isObject(meta) ? meta : undefined
  const inHeader = textOf(headers['mcp-protocol-version'])
  const inBody = members?.get(versionKey)
  if (inBody === undefined) return olderRevision(method, inHeader)
  if (typeof inBody !== 'string') throw missing(versionKey, 'a string')
  if (inHeader !== inBody)
    throw mismatch(`MCP-Protocol-Version is ${shown(inHeader)}, but the body has ${inBody}`)
  checkVersion(inBody)
  if (inBody !== currentVersion) return { version: inBody, isSelfContained: false }
  if (!isObject(members!.get(capabilitiesKey))) throw missing(capabilitiesKey, 'an object')
  checkHeaders(method, params, headers)
  return { version: inBody, isSelfContained: true }
}

/** The revision of a request that does not state one in its body. */
function olderRevision(method: string, inHeader: string | undefined): ProtocolRevision {
  if (inHeader === undefined || method === 'initialize')
    return { version: olderVersions[0]!, isSelfContained: false }
  checkVersion(inHeader)
  if (inHeader === currentVersion) throw missing(versionKey, 'a string')
  return { version: inHeader, isSelfContained: false }
}

function checkVersion(version: string): void {
  if (versions.includes(version)) return
  throw new RpcError(
    unsupportedVersion,
    `Revision ${version.slice(0, 100)} of the protocol is not supported.`,
    400,
    JSON.stringify({ supported: versions, requested: version.slice(0, 100) }),
  )
}

/** The parameter that the header Mcp-Name repeats, for each method that has such a parameter. */
const namedBy: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

function checkHeaders(method: string, params: JsonObject, headers: Headers): void {
  const inHeader = textOf(headers['mcp-method'])
  if (inHeader !== method)
    throw mismatch(`Mcp-Method is ${shown(inHeader)}, but the body has ${shown(method)}`)
  const member = Object.hasOwn(namedBy, method) ? namedBy[method]! : undefined
  if (member === undefined) return
  const name = params.get(member)
  const nameInHeader = decodeHeader(textOf(headers['mcp-name']))
  if (typeof name === 'string' && nameInHeader !== name)
    throw mismatch(`Mcp-Name is ${shown(nameInHeader)}, but the body has ${shown(name)}`)
}

/** Form of values that a header cannot contain literally: Base64 between two delimiters. */
const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/

function decodeHeader(value: string | undefined): string | undefined {
  const base64 = value === undefined ? undefined : encoded.exec(value)?.[1]
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString('utf8')
}

/** The headers that a client sends with a message of this method. */
export function headersFor(method: string, params: unknown): Record<string, string> {
  const given = (typeof params === 'object' ? params : null) as Record<
    string,
    unknown
  > | null
  const meta = given?.['_meta'] as Record<string, unknown> | null | undefined
  const version = meta?.[versionKey]
  if (typeof version !== 'string') return {}
  const name = given![Object.hasOwn(namedBy, method) ? namedBy[method]! : '']
  return {
    'MCP-Protocol-Version': encodeHeader(version),
    'Mcp-Method': encodeHeader(method),
    ...(typeof name === 'string' && { 'Mcp-Name': encodeHeader(name) }),
  }
}

function encodeHeader(value: string): string {
  const isPlain = /^(?! )[ -~]*(?<! )$/.test(value) && !encoded.test(value)
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.join(', ')
}

function shown(value: string | undefined): string {
  return value === undefined ? 'absent' : JSON.stringify(value.slice(0, 200))
}

function mismatch(problem: string): RpcError {
  return new RpcError(headerMismatch, `Headers and body differ: ${problem}.`, 400)
}

function missing(key: string, what: string): RpcError {
  return new RpcError(invalidParams, `params._meta must contain ${key}, ${what}.`, 400)
}
