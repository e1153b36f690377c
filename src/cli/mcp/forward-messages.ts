/**
 * Forwards messages of an assistant, one per line, to a server over HTTP, and writes the replies.
 * Several messages are in flight at a time, so their replies may arrive in another order.
 */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { headersFor } from '../../mcp/versions.ts'
import { fixedLimits } from '../../limits.ts'
import { resultSizeHeader } from '../../mcp/result-size.ts'
import { reasonOf } from '../../errors/reason.ts'
import { readLines, tooLong } from './read-lines.ts'

export interface McpEndpoint {
  readonly url: string
  readonly token: string
}

/** Maximum number of messages in flight. When this number is reached, reading pauses. */
const atOnceMax = 64

/**
 * Maximum size of a message in bytes. The server has a lower limit, and its error is more specific.
 */
const lineSizeMax = 64_000_000

/**
 * Forwards messages until `stop` is aborted, the output closes, or all messages of an ended input
 * have their replies.
 */
export async function forwardMessages(
  input: Readable,
  output: Writable,
  endpoint: McpEndpoint,
  stop: AbortSignal,
): Promise<void> {
  const forwarder = new Forwarder(endpoint, output, stop)
  const running = new Set<Promise<void>>()
  const left = new AbortController()
  // An error of the output means that the assistant no longer reads replies.
  output.on('error', () => left.abort())
  const ended = AbortSignal.any([stop, left.signal])
  for await (const line of readLines(input, lineSizeMax, ended)) {
    if (line === tooLong) {
      await forwarder.refuse('The message is too long.')
      continue
    }
    if (running.size >= atOnceMax) await Promise.race(running)
    const work = forwarder.forward(line).finally(() => running.delete(work))
    running.add(work)
  }
  await Promise.all(running)
}

interface Sent {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

class Forwarder {
  readonly #endpoint: McpEndpoint
  readonly #output: Writable
  readonly #stop: AbortSignal
  /** Requests in flight by id, so that they can be cancelled. */
  readonly #requests = new Map<string, AbortController>()

  constructor(endpoint: McpEndpoint, output: Writable, stop: AbortSignal) {
    this.#endpoint = endpoint
    this.#output = output
    this.#stop = stop
  }

  /** Forwards one message and writes the reply. Never rejects: errors become replies. */
  async forward(line: string): Promise<void> {
    const message = readMessage(line)
    const { id, method } = message
    if (method === 'notifications/cancelled') {
      this.#cancel(message.params)
      return
    }
    const cancelled = new AbortController()
    const key = JSON.stringify(id)
    if (id !== undefined) this.#requests.set(key, cancelled)
    try {
      const answer = await this.#send(line, message, cancelled.signal)
      if (!cancelled.signal.aborted) await this.#answer(message, answer)
    } catch (error) {
      if (cancelled.signal.aborted || this.#stop.aborted) return
      const problem = reasonOf((error as Error).cause ?? error)
      const answer = errorAnswer(id, `Cannot reach the server: ${problem}`)
      await this.#answer(message, answer)
    } finally {
      if (this.#requests.get(key) === cancelled) this.#requests.delete(key)
    }
  }

  #cancel(params: unknown): void {
    const { requestId } = objectOf(params)
    this.#requests.get(JSON.stringify(requestId))?.abort()
  }

  async #send(line: string, message: Sent, cancelled: AbortSignal): Promise<string> {
    const { id, method, params } = message
    const { url, token } = this.#endpoint
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Token: token,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        [resultSizeHeader]: String(fixedLimits.assistantResultSizeMax),
        ...(typeof method === 'string' && headersFor(method, params)),
      },
      body: line,
      signal: AbortSignal.any([cancelled, this.#stop]),
    })
    const text = await response.text()
    if (text === '' || text.startsWith('{"jsonrpc"')) return text
    if (response.status === 401) return errorAnswer(id, badToken)
    return errorAnswer(
      id,
      problemIn(text) ?? `The server answered with HTTP status ${response.status}.`,
    )
  }

  async #answer({ id, method }: Sent, answer: string): Promise<void> {
    const isNotification = id === undefined && typeof method === 'string'
    if (isNotification && answer !== '') process.stderr.write(`stela: ${answer}\n`)
    else await this.#write(answer)
  }

  /** Writes an error reply without an id, for a line that could not be read. */
  async refuse(message: string): Promise<void> {
    await this.#write(errorAnswer(undefined, message))
  }

  async #write(answer: string): Promise<void> {
    if (this.#output.destroyed || answer === '') return
    // JSON has line breaks only between tokens, so they can be replaced by spaces.
    if (this.#output.write(`${answer.replace(/[\r\n]+/g, ' ')}\n`)) return
    await Promise.race([once(this.#output, 'drain'), once(this.#output, 'close')])
  }
}

/**
 * Replaces the server's message about an invalid token, which names an HTTP header. Users of this
 * command set the token with --token instead.
 */
const badToken =
  'The server does not accept the token. Set STELA_TOKEN or --token to a valid token ' +
  'of that server. "stela token create" creates one.'

/** Reads only the fields that this module needs; the server validates the message. */
function readMessage(line: string): Sent {
  try {
    return objectOf(JSON.parse(line))
  } catch {
    return {}
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)
    : {}
}

/**
 * The message of an error that the server reports outside the protocol, such as a request that is
 * too large; undefined when the text contains no such error.
 */
function problemIn(text: string): string | undefined {
  const { errors } = readMessage(text) as { readonly errors?: unknown }
  const first = Array.isArray(errors) ? objectOf(errors[0])['message'] : undefined
  return typeof first === 'string' ? first : undefined
}

function errorAnswer(id: unknown, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message } })
}
