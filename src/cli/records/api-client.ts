/**
 * Sends commands to a running server over a few persistent connections.
 *
 * Requests are retried with growing pauses when the server is unreachable or reports a temporary
 * error. Until the server has sent its first reply, requests are not retried, because a wrong
 * address is the more likely cause.
 */
import type { Agent } from 'node:http'
import * as https from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { JsonProblem, parseAsWritten } from '../../json/parse.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { http } from '../../runtime/node-http.ts'
import { CommandFailure } from './failure.ts'

export interface ApiClientOptions {
  readonly url: string
  readonly token: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly connections: number
  /** Milliseconds for which a request is retried after its first failure. */
  readonly retryForMs: number
}

export interface ApiAnswer {
  readonly status: number
  readonly body: JsonObject
  readonly errors: readonly AnswerError[]
  /**
   * Whether an earlier attempt of this request failed in a way that does not show whether the
   * server executed it.
   */
  readonly isRepeated: boolean
}

export interface AnswerError {
  readonly code: string
  readonly family: string
  readonly message: string
}

const pauseMsMin = 100
const pauseMsMax = 10_000
/**
 * Milliseconds without a byte after which a connection counts as dead. The value exceeds the time
 * that embedding services take.
 */
const silenceMsMax = 300_000

/** Server errors that a retry cannot fix. */
const permanent = [
  'ANALYZER_TOO_LARGE',
  'COLLECTION_SCHEMA_VERSION_INVALID',
  'CORRUPTED_COLLECTION_SCHEMA',
  'DOCUMENT_FROM_DB_UNPARSEABLE',
  'STORED_DATA_DAMAGED',
  'EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED',
  'EMBEDDING_PROVIDER_UNAVAILABLE',
]

export class ApiClient {
  readonly #options: ApiClientOptions
  readonly #agent: Agent
  readonly #closed = new AbortController()
  #wasReached = false

  constructor(options: ApiClientOptions) {
    this.#options = options
    const { connections: maxSockets } = options
    const { Agent: Kind } = options.url.startsWith('https:') ? https : http
    this.#agent = new Kind({ keepAlive: true, maxSockets })
  }

  /**
   * Sends a command as JSON text to a path below /v1. Returns errors of the reply, except errors
   * after which no command can succeed: these are thrown.
   */
  async send(path: string, command: string): Promise<ApiAnswer> {
    const givesUpAt = Date.now() + this.#options.retryForMs
    let isRepeated = false
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      const tried = await this.#try(path, command)
      if (!('away' in tried)) {
        this.#wasReached = true
        return { ...tried, isRepeated }
      }
      if (!this.#wasReached) throw new CommandFailure(tried.away)
      if (Date.now() + pauseMs > givesUpAt)
        throw new CommandFailure(`${tried.away} (retried for ${this.#patience()}).`)
      isRepeated ||= tried.mayBeDone
      await pause(pauseMs, undefined, { signal: this.#closed.signal })
    }
  }

  /** Aborts all requests in flight. */
  close(): void {
    this.#closed.abort()
    this.#agent.destroy()
  }

  async #try(path: string, command: string): Promise<Omit<ApiAnswer, 'isRepeated'> | Away> {
    const { url } = this.#options
    let reply: { readonly status: number; readonly text: string }
    try {
      reply = await this.#post(path, command)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const mayBeDone = code !== 'ECONNREFUSED' && code !== 'ENOTFOUND'
      // If several addresses of a host refuse the connection, the error has a code but no message.
      const reason = message === '' ? (code ?? 'no connection') : message
      const hint = this.#wasReached ? '' : '. Check --url.'
      return { away: `cannot reach the server at ${url}: ${reason}${hint}`, mayBeDone }
    }
    const { status, text } = reply
    if (status === 429 || status >= 500)
      return { away: `${url} answered with HTTP status ${status}`, mayBeDone: true }
    const body = this.#readBody(status, text)
    const errors = errorsIn(body)
    if (status === 401)
      throw new CommandFailure(
        `${url} does not accept the token. ${errors[0]?.message ?? ''} ` +
          'Set STELA_TOKEN to a token of that server.',
      )
    const own = errors.find(({ family }) => family === 'SERVER')
    if (own !== undefined && permanent.includes(own.code))
      throw new CommandFailure(`${own.code}: ${own.message}`)
    if (own !== undefined && own.code !== 'EMBEDDING_PROVIDER_CLIENT_ERROR')
      return { away: `the server reported ${own.code}: ${own.message}`, mayBeDone: true }
    return { status, body, errors }
  }

  #post(path: string, command: string): Promise<{ status: number; text: string }> {
    const { url, token, headers } = this.#options
    const bytes = Buffer.from(command)
    return new Promise((resolve, reject) => {
      const { request } = url.startsWith('https:') ? https : http
      const sent = request(`${url}/v1${path}`, {
        method: 'POST',
        agent: this.#agent,
        signal: this.#closed.signal,
        timeout: silenceMsMax,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': bytes.length,
          ...(token !== undefined && { Token: token }),
          ...headers,
        },
      })
      sent.on('error', reject)
      sent.on('timeout', () => sent.destroy(new Error('no answer arrived in time')))
      sent.on('response', (response) => {
        const status = response.statusCode ?? 0
        text(response).then((body) => resolve({ status, text: body }), reject)
      })
      sent.end(bytes)
    })
  }

  #readBody(status: number, text: string): JsonObject {
    if (status === 413) return new Map()
    try {
      const body = parseAsWritten(text)
      if (isObject(body)) return body
    } catch (error) {
      if (!(error instanceof JsonProblem)) throw error
    }
    throw new CommandFailure(
      `${this.#options.url} is not a Data API server: it answered HTTP status ` +
        `${status} without a JSON object. Check --url.`,
    )
  }

  #patience(): string {
    return `${this.#options.retryForMs / 1000} s`
  }
}

interface Away {
  readonly away: string
  readonly mayBeDone: boolean
}

function errorsIn(body: JsonObject): AnswerError[] {
  const errors = body.get('errors')
  if (!Array.isArray(errors)) return []
  return errors.map((error) => ({
    code: textAt(error, 'errorCode'),
    family: textAt(error, 'family'),
    message: textAt(error, 'message'),
  }))
}

function textAt(value: Value, name: string): string {
  const member = isObject(value) ? value.get(name) : undefined
  return typeof member === 'string' ? member : ''
}

/**
 * The value that is reached by following these member names; undefined when a member is missing.
 */
export function memberAt(value: Value, ...names: readonly string[]): Value | undefined {
  let at: Value | undefined = value
  for (const name of names) at = isObject(at) ? at.get(name) : undefined
  return at
}
