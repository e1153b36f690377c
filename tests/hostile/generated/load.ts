/** The requests that one group of hostile connections sends during an episode. */
import type { Answers } from '../attack.ts'
import type { Arena } from './arena.ts'
import { targets } from './targets.ts'

/** The principal whose token a request carries; 'nobody': an unknown token. */
export type Sender = 'writer' | 'reader' | 'nobody'

export interface HostileRequest {
  readonly method: 'POST' | 'GET' | 'OPTIONS'
  readonly path: string
  readonly sender: Sender
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

/** Requests that each connection sends one after the other, repeatedly. */
export interface RequestLoad {
  readonly says: string
  readonly requests: readonly HostileRequest[]
}

/**
 * Connections that do not send normal requests. `run` ends at the latest when `signal` is aborted.
 */
export interface ConnectionLoad {
  readonly says: string
  run(arena: Arena, connections: number, signal: AbortSignal): Promise<Answers>
}

export type Load = RequestLoad | ConnectionLoad

const jsonHeaders = { 'Content-Type': 'application/json' }

/** A POST request with any bytes as its body. `path` follows `/v1`. */
export function bodyTo(
  path: string,
  body: Buffer,
  sender: Sender = 'writer',
): HostileRequest {
  return { method: 'POST', path: `/v1${path}`, sender, headers: jsonHeaders, body }
}

export function commandTo(
  path: string,
  command: object,
  sender: Sender = 'writer',
): HostileRequest {
  return bodyTo(path, Buffer.from(JSON.stringify(command)), sender)
}

export function get(path: string, sender: Sender = 'writer'): HostileRequest {
  return { method: 'GET', path, sender, headers: {}, body: undefined }
}

/** An MCP message to the server. */
export function messageOf(
  method: string,
  params: object,
  sender: Sender = 'writer',
): HostileRequest {
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return bodyTo('/mcp', Buffer.from(message), sender)
}

/** The same command as an MCP tool call; undefined when it is not a command on a collection. */
export function asToolCall(request: HostileRequest): HostileRequest | undefined {
  const [, keyspace, target] = /^\/v1\/([^/]+)\/([^/]+)$/.exec(request.path) ?? []
  if (target === undefined || !targets.collections.includes(target)) return undefined
  const text = request.body?.toString() ?? ''
  const [start, name] = /^\{"(\w+)":\{/.exec(text) ?? []
  if (start === undefined) return undefined
  const given = `"keyspace":"${keyspace}","collection":"${target}"`
  const rest = text.slice(start.length, -1)
  const fields = rest === '}' ? rest : `,${rest}`
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{${given}${fields}}}`
  return bodyTo('/mcp', Buffer.from(message), request.sender)
}
