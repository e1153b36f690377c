/**
 * How a request went, step by step, for its reply to tell.
 *
 * Most requests have none: then there is no object, and noting is `trace?.note(…)`. Messages
 * hold names, counts and times, and nothing of what is stored or sent. What was sent may be
 * in the data of an event, which only a full trace shows; tokens and keys never are.
 */
import { fromPlain } from '../../json/plain.ts'
import { printJson } from '../../json/print.ts'
import { isObject, type Value } from '../../json/value.ts'
import { fixedLimits } from '../../limits.ts'

export interface TracedRequest {
  readonly requestId: string
  /** The database that the request is for. */
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

  /** Says what has just happened. `data` is asked for only where it is shown. */
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

  /** Says once that a target is about to be read or written: all was found to be right. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.note('Checked all clauses and documents')
  }

  /** The member `trace` of a reply's status. */
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

/** A command as it was sent, cut to a length, without what may be a key to elsewhere. */
export function showCommand(name: string, fields: Value): string {
  const text = printJson(new Map([[name, withoutKeys(fields)]]))
  return text.length <= traceCommandLengthMax
    ? text
    : `${text.slice(0, traceCommandLengthMax)}… (${text.length} characters in total)`
}

/** Services name the keys that they are called with, and some say the keys themselves. */
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
