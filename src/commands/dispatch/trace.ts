/**
 * Trace of a request, shown in its reply: events with elapsed times.
 *
 * Most requests have no trace, so callers write `trace?.note(…)`. Messages contain names, counts
 * and times, but no stored or sent values. The data of an event may contain sent values, but never
 * tokens or keys. Only a full trace shows the data.
 */
import { fromPlain } from '../../json/plain.ts'
import { printJson } from '../../json/print.ts'
import { isObject, type Value } from '../../json/value.ts'
import { fixedLimits } from '../../limits.ts'

export interface TracedRequest {
  readonly requestId: string
  /** Id of the database. */
  readonly tenantId: string
  readonly isFull: boolean
}

interface Event {
  readonly message: string
  readonly elapsedMs: number
  readonly data: object | undefined
}

const { traceEventsMax, traceCommandLengthMax } = fixedLimits

export class Trace {
  readonly #request: TracedRequest
  readonly #startedAt = Date.now()
  readonly #start = performance.now()
  readonly #events: Event[] = []
  #leftOut = 0
  #hasBegun = false

  constructor(request: TracedRequest) {
    this.#request = request
  }

  /** Adds an event. Calls `data` only if the trace is a full one. */
  note(message: string, data?: () => object): void {
    if (this.#events.length >= traceEventsMax) {
      this.#leftOut++
      return
    }
    const elapsedMs = performance.now() - this.#start
    this.#events.push({
      message,
      elapsedMs,
      data: this.#request.isFull ? data?.() : undefined,
    })
  }

  /** Adds the event "Checked all clauses and documents" at the first access to the target. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.note('Checked all clauses and documents')
  }

  /** The member `trace` of the reply's status. */
  show(): Value {
    const { requestId, tenantId } = this.#request
    const elapsedMs = performance.now() - this.#start
    const last: Event = {
      message:
        this.#leftOut === 0
          ? 'Completed the reply'
          : `Completed the reply, after ${this.#leftOut} more events`,
      elapsedMs,
      data: undefined,
    }
    return fromPlain({
      requestId,
      tenantId,
      startedAt: timeOf(this.#startedAt),
      durationMicroseconds: microseconds(elapsedMs),
      events: [...this.#events, last].map((event, i) => ({
        eventId: String(i + 1),
        timestamp: timeOf(this.#startedAt + event.elapsedMs),
        elapsedMicroseconds: microseconds(event.elapsedMs),
        message: event.message,
        data: event.data,
      })),
    })
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000)
}

/** The command as the client sent it, truncated, without values that may be secrets. */
export function showCommand(name: string, fields: Value): string {
  const text = printJson(new Map([[name, withoutKeys(fields)]]))
  return text.length <= traceCommandLengthMax
    ? text
    : `${text.slice(0, traceCommandLengthMax)}… (${text.length} characters in total)`
}

/** Removes authentication members: they name keys of services, and may contain keys. */
function withoutKeys(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutKeys)
  if (!isObject(value)) return value
  return new Map(
    [...value].map(([name, member]) => [
      name,
      name === 'authentication' ? '(not shown)' : withoutKeys(member),
    ]),
  )
}
