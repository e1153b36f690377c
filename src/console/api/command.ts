/** Client of the command API. The console sends commands in the same way as any other client. */
import { parseJson } from '../json/parse-json.ts'
import { printJson } from '../json/print-json.ts'
import {
  isObject,
  toPlain,
  type JsonObject,
  type Printable,
  type Value,
} from '../json/value.ts'
import { commandPath, type Address } from './place.ts'
import { send } from './send.ts'

/** An error or a warning of the API. */
export interface ApiProblem {
  readonly errorCode: string
  readonly title: string
  readonly message: string
  readonly family?: string
  readonly scope?: string
}

/** The `data` of a reply, as plain objects. */
export interface ReplyData {
  readonly document?: Record<string, unknown> | null
  readonly documents?: readonly Record<string, unknown>[]
  readonly nextPageState?: string | null
}

export type TraceDetail = 'events' | 'full'

export interface CommandOptions {
  readonly signal?: AbortSignal
  /**
   * Requests a trace, which status.trace of the reply contains. A full trace also has the plans of
   * reads.
   */
  readonly trace?: TraceDetail | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The reply of a command. The body is parsed lazily and at most once, because it may be
 * large.
 */
class Reply {
  /** The body of the request. */
  readonly sent: string
  /** The body of the reply as text, with all digits of its numbers. */
  readonly received: string
  /** Milliseconds from the request to the last byte of the reply. */
  readonly elapsedMs: number
  #plain: Plain | undefined
  #exact: JsonObject | undefined

  constructor(sent: string, received: string, elapsedMs: number) {
    this.sent = sent
    this.received = received
    this.elapsedMs = elapsedMs
  }

  /**
   * The data of the reply, parsed by JSON.parse. Numbers may lose digits, so the data must not be
   * sent back to the server. Suitable for counts, names and vectors.
   */
  get data(): ReplyData {
    return this.#read().data ?? {}
  }

  get status(): Readonly<Record<string, unknown>> {
    if (this.#exact === undefined) return this.#read().status ?? {}
    return (toPlain(this.#exact.get('status') ?? null) ?? {}) as Record<string, unknown>
  }

  get errors(): readonly ApiProblem[] {
    return this.#read().errors ?? []
  }

  get warnings(): readonly ApiProblem[] {
    return (this.status['warnings'] as readonly ApiProblem[] | undefined) ?? []
  }

  /** The whole reply, parsed without loss. */
  get exact(): JsonObject {
    this.#exact ??= parseJson(this.received) as JsonObject
    return this.#exact
  }

  /**
   * The documents or rows of a find, or the single document or row of a findOne, parsed without
   * loss.
   */
  get documents(): readonly JsonObject[] {
    const data = this.exact.get('data')
    if (!isObject(data ?? null)) return []
    const many = (data as JsonObject).get('documents')
    const one: Value = (data as JsonObject).get('document') ?? null
    return (Array.isArray(many) ? many : [one]).filter(isObject)
  }

  #read(): Plain {
    this.#plain ??= JSON.parse(this.received) as Plain
    return this.#plain
  }
}

interface Plain {
  readonly data?: ReplyData
  readonly status?: Record<string, unknown>
  readonly errors?: readonly ApiProblem[]
}

/** Thrown when the API rejects a command, in whole or in part. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly errors: readonly ApiProblem[]
  readonly httpStatus: number
  /**
   * The reply, which may contain a partial result, such as the inserted documents of an insertMany.
   */
  readonly reply: Reply

  constructor(errors: readonly ApiProblem[], httpStatus: number, reply: Reply) {
    super(errors[0]?.message ?? `The server answered with HTTP status ${httpStatus}.`)
    this.errors = errors
    this.httpStatus = httpStatus
    this.reply = reply
  }

  get code(): string {
    return this.errors[0]?.errorCode ?? `HTTP ${this.httpStatus}`
  }

  /** Whether the token is valid but lacks the permission. */
  get isForbidden(): boolean {
    return this.code === 'UNAUTHORIZED_ACCESS'
  }
}

/**
 * Sends a command, such as `command(place, 'find', { filter })`. Throws a CommandError when
 * the reply has errors.
 */
export async function command(
  address: Address,
  name: string,
  fields: Printable = {},
  options: CommandOptions = {},
): Promise<Reply> {
  const body = printJson({ [name]: fields })
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    ...(options.trace === 'events' && { 'Feature-Flag-request-tracing': 'true' }),
    ...(options.trace === 'full' && { 'Feature-Flag-request-tracing-full': 'true' }),
    ...options.headers,
  }
  const startedAt = performance.now()
  const response = await send(commandPath(address), {
    method: 'POST',
    headers,
    body,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const received = await response.text()
  const reply = new Reply(body, received, performance.now() - startedAt)
  // A reply that begins with its data has no errors. Such a reply may be large, so it is not parsed
  // here.
  const mayFail =
    !response.ok || received.startsWith('{"errors"') || !received.startsWith('{"data"')
  if (mayFail) {
    const errors = readErrors(reply)
    if (!response.ok || errors.length > 0)
      throw new CommandError(errors, response.status, reply)
  }
  return reply
}

/** The errors of a reply. Empty if the body is not JSON: a proxy may send such a reply. */
function readErrors(reply: Reply): readonly ApiProblem[] {
  try {
    return reply.errors
  } catch {
    return []
  }
}
