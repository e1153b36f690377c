/**
 * One request to a provider over HTTP, and again where waiting may help.
 *
 * Only what took too long is tried again (HTTP 408, 504, or no answer in time): a provider
 * that limits or fails is not helped by more of the same. Redirects are not followed, since
 * they would carry keys and texts to a place that nobody named.
 */
import { once } from 'node:events'
import { Agent, request as requestPlainly, type IncomingMessage } from 'node:http'
import { Agent as SecureAgent, request as requestSecurely } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import type { Place } from './provider-url.ts'
import { isPrivateHost, lookupPublic, privateAddressCode } from './public-address.ts'

export interface Call {
  readonly place: Place
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Bytes of a reply; what is larger is no sensible one. */
  readonly replySizeMax: number
}

/** How long to wait, and how often to try again. */
export interface Patience {
  readonly timeoutMs: number
  readonly retriesMax: number
  /** Before the first retry; each pause is twice as long as the one before. */
  readonly firstPauseMs: number
  readonly pauseMaxMs: number
  /** Share of a pause that is left to chance, so that callers do not return together. */
  readonly jitter: number
}

export const defaultPatience: Patience = {
  timeoutMs: 5_000,
  retriesMax: 3,
  firstPauseMs: 100,
  pauseMaxMs: 500,
  jitter: 0.5,
}

export type Outcome =
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
  /** Something in it cannot be said in HTTP. */
  | { readonly kind: 'not sent'; readonly problem: string }

/** Connections to one host at a time; what comes on top waits for one to be free. */
const socketsMax = 16

export class ProviderCaller {
  /** Kept apart, so that no connection to a trusted place serves one that is not. */
  readonly #agents = {
    trusted: { 'http:': agent(Agent), 'https:': agent(SecureAgent) },
    guarded: { 'http:': agent(Agent), 'https:': agent(SecureAgent) },
  }

  /** Throws only when the signal ends it. */
  async call(call: Call, patience: Patience, signal: AbortSignal): Promise<Outcome> {
    for (let retry = 0; ; retry++) {
      signal.throwIfAborted()
      const outcome = await this.#attempt(call, patience.timeoutMs, signal)
      signal.throwIfAborted()
      if (retry >= patience.retriesMax || !isTimeout(outcome)) return outcome
      await pause(pauseMs(patience, retry), undefined, { signal }).catch(() => undefined)
    }
  }

  close(): void {
    for (const agents of Object.values(this.#agents))
      for (const kept of Object.values(agents)) kept.destroy()
  }

  async #attempt(call: Call, timeoutMs: number, signal: AbortSignal): Promise<Outcome> {
    const outcome = await send(call, this.#agentFor(call.place), timeoutMs, signal)
    // The provider closed a kept connection just as it was used again: that says nothing
    // about the request, which goes out once more on a connection of its own.
    return outcome === 'stale' ? await sendAnew(call, timeoutMs, signal) : outcome
  }

  #agentFor({ url, isGuarded }: Place): Agent {
    const agents = isGuarded ? this.#agents.guarded : this.#agents.trusted
    return agents[url.protocol as 'http:' | 'https:']
  }
}

function agent<A extends Agent>(kind: new (options: object) => A): A {
  return new kind({ keepAlive: true, maxSockets: socketsMax, maxFreeSockets: 4 })
}

function isTimeout(outcome: Outcome): boolean {
  return outcome.kind === 'reply'
    ? outcome.status === 408 || outcome.status === 504
    : outcome.kind === 'timeout'
}

function pauseMs({ firstPauseMs, pauseMaxMs, jitter }: Patience, retry: number): number {
  const whole = Math.min(firstPauseMs * 2 ** retry, pauseMaxMs)
  return whole * (1 + jitter * (2 * Math.random() - 1))
}

async function sendAnew(call: Call, timeoutMs: number, signal: AbortSignal) {
  const outcome = await send(call, false, timeoutMs, signal)
  return outcome === 'stale' ? connectionEnded : outcome
}

const connectionEnded: Outcome = {
  kind: 'no reply',
  problem: 'the connection ended before an answer came',
}

async function send(
  { place: { url, isGuarded }, headers, body, replySizeMax }: Call,
  agent: Agent | false,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Outcome | 'stale'> {
  if (isGuarded && isPrivateHost(url.hostname))
    return { kind: 'bad host', problem: notPublic(url) }
  let timer: NodeJS.Timeout | undefined
  const seen = { late: false, reused: false }
  try {
    const request = url.protocol === 'https:' ? requestSecurely : requestPlainly
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
    // Errors that come after the response has begun reach its reader as well.
    outgoing.on('error', () => undefined)
    // Not before: waiting for a free connection is no fault of the provider.
    outgoing.once('socket', () => {
      seen.reused = outgoing.reusedSocket
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
    if (seen.late) return { kind: 'timeout', timeoutMs }
    const { code } = error as NodeJS.ErrnoException
    if (seen.reused && (code === 'ECONNRESET' || code === 'EPIPE')) return 'stale'
    return explain(error as NodeJS.ErrnoException, url, timeoutMs)
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

function explain(error: NodeJS.ErrnoException, url: URL, timeoutMs: number): Outcome {
  switch (error.code) {
    case 'ETIMEDOUT':
      return { kind: 'timeout', timeoutMs }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { kind: 'bad host', problem: `no address is known for ${url.hostname}` }
    case privateAddressCode:
      return { kind: 'bad host', problem: notPublic(url) }
    case 'ERR_INVALID_CHAR':
      return { kind: 'not sent', problem: error.message }
    case 'ECONNREFUSED':
      return { kind: 'no reply', problem: `${url.host} refused the connection` }
    case 'ECONNRESET':
    case 'EPIPE':
      return connectionEnded
    default:
      return { kind: 'no reply', problem: error.message }
  }
}

function notPublic(url: URL): string {
  return (
    `${url.hostname} leads to no public address. ` +
    'The operator can allow that: --private-providers on'
  )
}
