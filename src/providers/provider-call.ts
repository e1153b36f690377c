/**
 * Sends a request to a provider over HTTP, with retries.
 *
 * Only timeouts are retried (HTTP 408, 504, or no reply in time): retries do not help if a provider
 * limits requests or fails. Redirects are not followed, because they would send keys and texts to
 * an unconfigured address.
 *
 * Clients that can name a host must not learn from errors what exists in the server's network.
 * Every failure to get a reply from such a host gives the same error. Errors about other hosts
 * contain no host or address, either; these are only logged.
 */
import { once } from 'node:events'
import type { Agent, IncomingMessage } from 'node:http'
import { Agent as SecureAgent, request as requestSecurely } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { fixedLimits } from '../limits.ts'
import { http } from '../runtime/node-http.ts'
import type { ProviderAddress } from './provider-url.ts'
import { isPrivateHost, lookupPublic } from './public-address.ts'

export interface ProviderCall {
  readonly address: ProviderAddress
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Maximum bytes of a reply; larger replies are rejected. */
  readonly replySizeMax: number
}

/** Timeout and retries of a provider. */
export interface RetryPolicy {
  readonly timeoutMs: number
  readonly retriesMax: number
  /** Pause before the first retry; each further pause is twice as long as the previous one. */
  readonly firstPauseMs: number
  readonly pauseMaxMs: number
  /** Random share of a pause, so that clients do not retry at the same time. */
  readonly jitter: number
}

export const defaultRetryPolicy: RetryPolicy = {
  timeoutMs: 5_000,
  retriesMax: 3,
  firstPauseMs: 100,
  pauseMaxMs: 500,
  jitter: 0.5,
}

export type ProviderOutcome =
  | {
      readonly kind: 'reply'
      readonly status: number
      readonly contentType: string
      readonly text: string
    }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | { readonly kind: 'too large'; readonly sizeMax: number }
  | { readonly kind: 'bad host'; readonly problem: string }
  | { readonly kind: 'no reply'; readonly problem: string }
  /** The request contains characters that HTTP does not allow. */
  | { readonly kind: 'not sent'; readonly problem: string }

/** Minimum interval in milliseconds between log lines about a host. */
const loggedMs = 60_000

export class ProviderCaller {
  readonly #log: (level: 'warn', message: string) => void
  /** Time of the last log line per host. */
  readonly #loggedAt = new Map<string, number>()
  /** Separate pools, so that no request to a guarded host reuses a connection to a trusted host. */
  readonly #agents = {
    trusted: { 'http:': agent(http.Agent), 'https:': agent(SecureAgent) },
    guarded: { 'http:': agent(http.Agent), 'https:': agent(SecureAgent) },
  }

  constructor(log: (level: 'warn', message: string) => void = () => undefined) {
    this.#log = log
  }

  /** Sends a request, with retries. Rejects only when the signal is aborted. */
  async call(
    call: ProviderCall,
    retryPolicy: RetryPolicy,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> {
    const outcome = await this.#callWithRetries(call, retryPolicy, signal)
    if (call.address.isChosen && isSilence(outcome)) return noAnswerAt(call.address)
    return outcome
  }

  async #callWithRetries(
    call: ProviderCall,
    retryPolicy: RetryPolicy,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> {
    for (let retry = 0; ; retry++) {
      signal.throwIfAborted()
      const outcome = await this.#attempt(call, retryPolicy.timeoutMs, signal)
      signal.throwIfAborted()
      if (retry >= retryPolicy.retriesMax || !isTimeout(outcome)) return outcome
      await pause(pauseMs(retryPolicy, retry), undefined, { signal }).catch(() => undefined)
    }
  }

  close(): void {
    for (const agents of Object.values(this.#agents))
      for (const kept of Object.values(agents)) kept.destroy()
  }

  async #attempt(
    call: ProviderCall,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> {
    const fail = (error: Error) => this.#logFailure(call.address, error)
    const outcome = await send(call, this.#agentFor(call.address), timeoutMs, signal, fail)
    // The provider closed a kept-alive connection just when it was reused. The request itself did
    // not fail, so it is sent once more on a new connection.
    return outcome === 'stale' ? await sendAnew(call, timeoutMs, signal, fail) : outcome
  }

  /**
   * Logs a failure if the server's configuration contains the host. Failures of other hosts are not
   * logged, because collections can name any number of hosts.
   */
  #logFailure({ url, isChosen }: ProviderAddress, { message }: Error): void {
    const now = performance.now()
    if (isChosen || now - (this.#loggedAt.get(url.host) ?? -Infinity) < loggedMs) return
    this.#loggedAt.set(url.host, now)
    this.#log('warn', `The provider at ${url.host} cannot be reached: ${message}`)
  }

  #agentFor({ url, isGuarded }: ProviderAddress): Agent {
    const agents = isGuarded ? this.#agents.guarded : this.#agents.trusted
    return agents[url.protocol as 'http:' | 'https:']
  }
}

function agent<A extends Agent>(kind: new (options: object) => A): A {
  return new kind({
    keepAlive: true,
    maxSockets: fixedLimits.providerConnectionsMax,
    maxFreeSockets: 4,
  })
}

function isTimeout(outcome: ProviderOutcome): boolean {
  return outcome.kind === 'reply'
    ? outcome.status === 408 || outcome.status === 504
    : outcome.kind === 'timeout'
}

/** Whether no HTTP reply was received. */
function isSilence({ kind }: ProviderOutcome): boolean {
  return kind === 'timeout' || kind === 'bad host' || kind === 'no reply'
}

/**
 * The outcome when a host that a client chose does not answer. It does not reveal whether the host
 * exists.
 */
function noAnswerAt({ url }: ProviderAddress): ProviderOutcome {
  return {
    kind: 'bad host',
    problem:
      `${url.host} does not answer. Possible causes: the name is wrong, no service ` +
      'listens there, or the address is private, which requires --private-providers on',
  }
}

function pauseMs({ firstPauseMs, pauseMaxMs, jitter }: RetryPolicy, retry: number): number {
  const whole = Math.min(firstPauseMs * 2 ** retry, pauseMaxMs)
  return whole * (1 + jitter * (2 * Math.random() - 1))
}

async function sendAnew(
  call: ProviderCall,
  timeoutMs: number,
  signal: AbortSignal,
  fail: (error: Error) => void,
) {
  const outcome = await send(call, false, timeoutMs, signal, fail)
  return outcome === 'stale' ? connectionEnded : outcome
}

const connectionEnded: ProviderOutcome = {
  kind: 'no reply',
  problem: 'the connection was closed before a reply arrived',
}

async function send(
  { address, headers, body, replySizeMax }: ProviderCall,
  agent: Agent | false,
  timeoutMs: number,
  signal: AbortSignal,
  fail: (error: Error) => void,
): Promise<ProviderOutcome | 'stale'> {
  const { url, isChosen, isGuarded } = address
  if (isGuarded && isPrivateHost(url.hostname)) return noAnswerAt(address)
  let timer: NodeJS.Timeout | undefined
  const seen = { late: false, reused: false, connected: false }
  try {
    const request = url.protocol === 'https:' ? requestSecurely : http.request
    const outgoing = request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'stela',
        ...headers,
      },
      agent,
      signal,
      ...(isGuarded && { lookup: lookupPublic }),
    })
    // Errors after the start of the response also reach the reader of the response body, so they
    // are ignored here.
    outgoing.on('error', () => undefined)
    // The timeout starts when the request gets a socket, because waiting for a free connection is
    // not the provider's fault.
    outgoing.once('socket', (socket) => {
      seen.reused = outgoing.reusedSocket
      seen.connected = !socket.connecting
      // A kept-alive connection gets no listener, because listeners would accumulate on it.
      if (socket.connecting) socket.once('connect', () => (seen.connected = true))
      timer = setTimeout(() => {
        seen.late = true
        outgoing.destroy(new Error('late'))
      }, timeoutMs)
    })
    outgoing.end(body)
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const text = await textOf(incoming, replySizeMax)
    if (text === undefined) {
      outgoing.destroy()
      return { kind: 'too large', sizeMax: replySizeMax }
    }
    const contentType = incoming.headers['content-type'] ?? ''
    return { kind: 'reply', status: incoming.statusCode!, contentType, text }
  } catch (error) {
    // An unreachable host that a client chose is not retried. The client gets the same error as
    // for a host without an address, or with a private address.
    if (seen.late && isChosen && !seen.connected) return noAnswerAt(address)
    if (seen.late) return { kind: 'timeout', timeoutMs }
    const { code } = error as NodeJS.ErrnoException
    if (seen.reused && (code === 'ECONNRESET' || code === 'EPIPE')) return 'stale'
    if (!signal.aborted && code !== 'ERR_INVALID_CHAR') fail(error as Error)
    return explain(error as NodeJS.ErrnoException, isChosen, timeoutMs)
  } finally {
    clearTimeout(timer)
  }
}

async function textOf(incoming: IncomingMessage, sizeMax: number) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > sizeMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The part of the error that clients may see. The log contains the whole error. */
function explain(
  error: NodeJS.ErrnoException,
  isChosen: boolean,
  timeoutMs: number,
): ProviderOutcome {
  switch (error.code) {
    case 'ETIMEDOUT':
      return isChosen ? unreached : { kind: 'timeout', timeoutMs }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { kind: 'bad host', problem: 'its host name cannot be resolved' }
    case 'ERR_INVALID_CHAR':
      return { kind: 'not sent', problem: error.message }
    case 'ECONNRESET':
    case 'EPIPE':
      return connectionEnded
    default:
      return unreached
  }
}

const unreached: ProviderOutcome = {
  kind: 'no reply',
  problem: 'it cannot be reached. See the log of the server',
}
