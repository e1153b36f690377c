/**
 * Metrics for operators in the Prometheus text format: commands and their durations, requests and
 * connections, the engine, and the process.
 *
 * Command labels contain only names of existing commands. So metrics do not reveal stored data, and
 * their number does not grow with requests.
 */
import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { Reply } from '../commands/dispatch/define.ts'
import type { Engine } from '../engine/contract.ts'
import type { ArrivalQueue } from './arrival-queue.ts'
import type { ClosedReason, ConnectionCounter } from './connection-gate.ts'
import type { FairShare } from './fair-share.ts'
import type { BodyReceiver } from './receive-body.ts'
import type { RequestCounter } from './request-queue.ts'

export type CommandOutcome = 'ok' | 'request_error' | 'server_error' | 'client_left'

/** The reason why a command was rejected before it ran. */
export type CommandRefusal =
  | 'unauthenticated'
  | 'overloaded'
  | 'rate_limited'
  | 'no_room_for_body'
  | 'no_room_for_reply'
  | 'no_room_for_values'

/** Counters of one command. They are plain numbers, because each request increments them. */
export interface Tally extends Record<CommandOutcome, number> {
  seconds: number
  /**
   * Number of commands per duration bucket. A bucket includes its upper bound, but not the bound of
   * the previous bucket. An additional last bucket counts all longer durations.
   */
  readonly durations: Float64Array
}

/** Upper bounds of the duration buckets in seconds. */
export const durationBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Sources of metrics that this class does not count itself. */
export interface MetricSources {
  readonly engine: Engine
  readonly arrivals: ArrivalQueue
  readonly bodies: BodyReceiver
  readonly replyRoom: FairShare
  readonly valueRoom: FairShare
}

/** What the server counts. Maps and numbers without labels are cheap to increment. */
export interface MetricCounts {
  readonly version: string
  readonly commands: ReadonlyMap<string, Tally>
  readonly statuses: ReadonlyMap<number | 'none', number>
  readonly refused: ReadonlyMap<CommandRefusal, number>
  readonly closed: ReadonlyMap<ClosedReason, number>
  readonly inFlight: number
  readonly unread: number
}

export class Metrics implements RequestCounter, ConnectionCounter {
  readonly #commands = new Map<string, Tally>()
  readonly #statuses = new Map<number | 'none', number>()
  readonly #refused = new Map<CommandRefusal, number>()
  readonly #closed = new Map<ClosedReason, number>()
  readonly #version = readVersion()
  #inFlight = 0
  #unread = 0
  readonly #cacheMs: number
  readonly #now: () => number
  #printed: { readonly text: Promise<string>; readonly at: number } | undefined

  /** `cacheMs`: milliseconds for which the printed metrics are cached. */
  constructor(cacheMs: number, now: () => number = () => performance.now()) {
    this.#cacheMs = cacheMs
    this.#now = now
  }

  beginRequest(): void {
    this.#inFlight++
  }

  endRequest({ headersSent, statusCode }: ServerResponse): void {
    this.#inFlight--
    const status = headersSent ? statusCode : 'none'
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
  }

  /** `command` must be the name of an existing command, or undefined. */
  countCommand(
    command = 'unknown',
    reply: Reply,
    elapsedMs: number,
    clientLeft: boolean,
  ): void {
    let tally = this.#commands.get(command)
    if (tally === undefined) this.#commands.set(command, (tally = emptyTally()))
    const seconds = elapsedMs / 1000
    tally[outcomeOf(reply, clientLeft)]++
    tally.seconds += seconds
    let bucket = 0
    while (bucket < durationBounds.length && seconds > durationBounds[bucket]!) bucket++
    tally.durations[bucket]!++
  }

  /**
   * Counts a rejected command by reason only: the name of the command is unknown or was not
   * checked.
   */
  countRefused(reason: CommandRefusal): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1)
  }

  countClosed(reason: ClosedReason): void {
    this.#closed.set(reason, (this.#closed.get(reason) ?? 0) + 1)
  }

  /** Counts a connection that was closed because its client did not read. */
  countUnread(): void {
    this.#unread++
  }

  /** All metrics, at most `cacheMs` old, because printing takes milliseconds. */
  print(services: MetricSources, server: Server): Promise<string> {
    const now = this.#now()
    if (this.#printed === undefined || now - this.#printed.at >= this.#cacheMs)
      this.#printed = { text: this.#print(services, server), at: now }
    return this.#printed.text
  }

  async #print(services: MetricSources, server: Server): Promise<string> {
    const { printMetrics } = await import('./metrics-page.ts')
    const counts: MetricCounts = {
      version: this.#version,
      commands: this.#commands,
      statuses: this.#statuses,
      refused: this.#refused,
      closed: this.#closed,
      inFlight: this.#inFlight,
      unread: this.#unread,
    }
    return printMetrics(counts, services, server)
  }
}

function emptyTally(): Tally {
  const durations = new Float64Array(durationBounds.length + 1)
  return { ok: 0, request_error: 0, server_error: 0, client_left: 0, seconds: 0, durations }
}

/**
 * The outcome of a command, for its counter. If the client disconnected, the command ended with an
 * error that is not sent.
 */
function outcomeOf({ errors }: Reply, clientLeft: boolean): CommandOutcome {
  const first = errors?.[0]
  if (first === undefined) return 'ok'
  if (first.family === 'REQUEST') return 'request_error'
  return clientLeft ? 'client_left' : 'server_error'
}

export function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
