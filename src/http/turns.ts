/**
 * Turns of the event loop, shared among all requests.
 *
 * A turn has one slice for all requests together. All work of a request counts toward the slice:
 * its start, its later steps, and work that continues after a read or a write. While the slice has
 * time left, requests run at once, without a promise. After the slice, requests wait in line, and
 * the next turn starts with the waiting ones: principals take turns (round-robin), and so do the
 * connections of each principal. Between two turns, the event loop reads what has arrived. With P
 * principals, a request thus waits for about P slices, however many requests the other principals
 * send.
 *
 * The event loop accepts one connection per iteration, in order of arrival. Therefore a turn
 * continues for several iterations while connections arrive, and their requests wait in line
 * instead of running in the order of the connections. The gate (connection-gate.ts) cannot reorder
 * these requests: it delays only connections whose first bytes have not arrived, and no requests of
 * open connections. tests/http/scheduling.test.ts sends 700 requests and then a request of another
 * client. If a turn is a single iteration, 580 to 670 of the 700 are answered before the other
 * client's request; with several iterations, 10 are.
 */
import { sliceMs, type Caller } from '../caller/caller.ts'

type Asker = Pick<Caller, 'principalName' | 'connection'>

/** Maximum iterations of the event loop per turn; accepting a connection takes 0.1 ms. */
const iterationsMax = 64

/** Waiting requests of a connection, oldest first. */
type Line = (() => void)[]

export class Turns {
  readonly #now: () => number
  /** Waiting requests by principal and connection, in the order of their turns. */
  readonly #waiting = new Map<string, Map<object, Line>>()
  /** Whether the end of this turn is scheduled. */
  #isOpen = false
  #turnStartedAt = 0
  /** Start of the running slice, in milliseconds. */
  #sliceStartedAt = 0
  /** Whether a connection was accepted in this iteration of the event loop. */
  #hasAccepted = false
  #iterations = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Called before work starts and between its steps. If the result is undefined, the caller
   * continues. Otherwise it continues when the promise resolves.
   */
  pause(asker: Asker): Promise<void> | undefined {
    const now = this.#now()
    if (!this.#isOpen) {
      this.#isOpen = true
      this.#turnStartedAt = this.#sliceStartedAt = now
      setImmediate(this.#next)
      return undefined
    }
    return now - this.#sliceStartedAt < sliceMs ? undefined : this.#wait(asker)
  }

  /** Notes that a connection was accepted. */
  noteConnection(): void {
    this.#hasAccepted = true
  }

  #wait({ principalName, connection }: Asker): Promise<void> {
    return new Promise((resolve) => {
      const lines = this.#waiting.get(principalName) ?? new Map<object, Line>()
      this.#waiting.set(principalName, lines)
      const line = lines.get(connection)
      if (line === undefined) lines.set(connection, [resolve])
      else line.push(resolve)
    })
  }

  readonly #next = (): void => {
    if (this.#hasAccepted && ++this.#iterations < iterationsMax) {
      this.#hasAccepted = false
      setImmediate(this.#next)
      return
    }
    this.#iterations = 0
    this.#isOpen = this.#waiting.size > 0
    if (!this.#isOpen) return
    this.#turnStartedAt = this.#now()
    this.#goOn()
  }

  /** Continues waiting requests one by one while the turn has time left. */
  readonly #goOn = (): void => {
    const now = this.#now()
    if (this.#waiting.size > 0 && now - this.#turnStartedAt < sliceMs) {
      this.#sliceStartedAt = now
      this.#takeFirst()()
      // A microtask schedules #goOnLater, so that it runs after the microtasks and ticks of the
      // request.
      queueMicrotask(this.#goOnLater)
      return
    }
    // New requests may use the remaining time of this turn.
    this.#sliceStartedAt = this.#turnStartedAt
    setImmediate(this.#next)
  }

  readonly #goOnLater = (): void => process.nextTick(this.#goOn)

  #takeFirst(): () => void {
    const [[name, lines]] = this.#waiting as unknown as [[string, Map<object, Line>]]
    const [[connection, line]] = lines as unknown as [[object, Line]]
    const goOn = line.shift()!
    this.#waiting.delete(name)
    lines.delete(connection)
    if (line.length > 0) lines.set(connection, line)
    if (lines.size > 0) this.#waiting.set(name, lines)
    return goOn
  }
}
