/**
 * Fair queue for work of unidentified clients: TLS handshakes, and requests of connections that
 * have not sent a valid token yet.
 *
 * Thousands of handshakes and requests may arrive in one turn of the event loop, before anything
 * can be charged to a principal. Each turn starts this work for a few milliseconds. The remaining
 * work waits for later turns, in round-robin order of client addresses. An address with too many
 * recent rejections waits longer.
 */
import { networkOf } from '../auth/network-of.ts'
import { fixedLimits } from '../limits.ts'
import { LocalRateLimit } from './local-rate-limit.ts'

const { arrivalsMsPerTurn, rejectedWaitMs } = fixedLimits

type Begin = () => void

export class ArrivalQueue {
  /** Waiting work by network, in the order in which the next turns start it. */
  readonly #waiting = new Map<string, Begin[]>()
  /** Work of networks with too many rejections, until their next attempt. */
  #held: [network: string, line: Begin[]][] = []
  readonly #rejections: LocalRateLimit | undefined
  /** Time of the first start in this turn; undefined: no work has started in this turn. */
  #turnStartedAt: number | undefined
  #isScheduled = false
  /** Number of arrivals that had to wait, since the server started. */
  delayed = 0

  /**
   * `rejectionRate`: maximum rejections per second and address before its work waits; 0: unlimited.
   */
  constructor(rejectionRate: number) {
    this.#rejections = rejectionRate === 0 ? undefined : new LocalRateLimit(rejectionRate)
  }

  /**
   * Calls `begin` at once if this turn has time left and no work waits, and queues it otherwise.
   */
  add(address: string, begin: Begin): void {
    const network = networkOf(address)
    if (!this.#isScheduled && this.#hasTime() && !this.#isHeld(network)) {
      begin()
      return
    }
    this.delayed++
    const line = this.#waiting.get(network)
    if (line === undefined) this.#waiting.set(network, [begin])
    else line.push(begin)
    this.#schedule()
  }

  /** Counts a rejected request of the address. */
  noteRejected(address: string): void {
    this.#rejections?.take(networkOf(address))
  }

  #isHeld(network: string): boolean {
    return this.#rejections !== undefined && this.#rejections.secondsUntilRoom(network) > 0
  }

  #hasTime(): boolean {
    const now = performance.now()
    if (this.#turnStartedAt === undefined) {
      this.#turnStartedAt = now
      setImmediate(this.#endTurn)
    }
    return now - this.#turnStartedAt < arrivalsMsPerTurn
  }

  readonly #endTurn = (): void => {
    this.#turnStartedAt = undefined
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#begin)
  }

  /**
   * Starts the next work. Runs again after the synchronous part of that work, so that the time of
   * the turn includes it.
   */
  readonly #begin = (): void => {
    const begin = this.#hasTime() ? this.#takeNext() : undefined
    if (begin !== undefined) {
      // A tick that a microtask schedules runs after all microtasks of the started work.
      queueMicrotask(() => process.nextTick(this.#begin))
      begin()
      return
    }
    this.#isScheduled = false
    if (this.#waiting.size > 0) this.#schedule()
  }

  #takeNext(): Begin | undefined {
    for (const [network, line] of this.#waiting) {
      this.#waiting.delete(network)
      if (this.#isHeld(network)) {
        this.#hold(network, line)
        continue
      }
      const begin = line.shift()!
      if (line.length > 0) this.#waiting.set(network, line)
      return begin
    }
    return undefined
  }

  #hold(network: string, line: Begin[]): void {
    if (this.#held.length === 0) setTimeout(this.#release, rejectedWaitMs)
    this.#held.push([network, line])
  }

  readonly #release = (): void => {
    const held = this.#held
    this.#held = []
    for (const [network, line] of held) {
      const newer = this.#waiting.get(network) ?? []
      this.#waiting.set(network, [...line, ...newer])
    }
    this.#schedule()
  }
}
