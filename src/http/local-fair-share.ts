/**
 * Fair share within one server process.
 *
 * A principal may hold up to three times the free amount. A single principal can therefore hold
 * three quarters of the total, although the server does not know how many principals will follow.
 * The next principal finds a quarter of the total free, and may hold three quarters of that
 * quarter. (Choudhury and Hahne, Dynamic Queue Length Thresholds for Shared-Memory Packet Switches,
 * 1998.) Held amounts are never revoked.
 *
 * A connection that carries several concurrent requests may hold an eighth of the total. A
 * connection that holds at most `littleMax` may exceed this limit, so that the largest body can
 * arrive.
 */

import { fixedLimits } from '../limits.ts'
import type { FairShare, MemoryHolder } from './fair-share.ts'

/** Limit of a principal, in multiples of the free amount. */
const freeMultiple = 3

/** A shared connection may hold the total divided by this number. */
const connectionParts = 8

/**
 * Fractions of the total. An amount above `largePart` is large. If the principal holds more than
 * `besideLargePart`, its limit depends on what remains free after a large amount.
 */
const largePart = 1 / 64
const besideLargePart = 1 / 4

interface Held {
  held: number
}

interface Principal extends Held {
  waiting: number
}

export interface FairShareOptions {
  /** A shared connection that holds at most this amount is not limited. */
  readonly littleMax?: number
  /** Maximum waiting requests of one principal. */
  readonly waitersMax?: number
}

interface Waiter {
  readonly holder: MemoryHolder
  readonly amount: number
  readonly resolve: (isTaken: boolean) => void
}

export class LocalFairShare implements FairShare {
  readonly total: number
  #held = 0
  readonly #littleMax: number
  readonly #waitersMax: number
  readonly #principals = new Map<string, Principal>()
  readonly #connections = new WeakMap<object, Held>()
  /** Waiting requests in order of arrival. */
  readonly #waiters = new Set<Waiter>()

  constructor(total: number, options: FairShareOptions = {}) {
    const { littleMax = 0, waitersMax = fixedLimits.roomWaitersMax } = options
    this.total = total
    this.#littleMax = littleMax
    this.#waitersMax = waitersMax
  }

  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiters.size
  }

  heldBy(principalName: string): number {
    return this.#principals.get(principalName)?.held ?? 0
  }

  hasRoom(holder: MemoryHolder, amount: number): boolean {
    return (
      this.#fitsPrincipal(this.#principal(holder.principalName), amount, 0) &&
      this.#fitsConnection(this.#connection(holder), amount, 0)
    )
  }

  take(holder: MemoryHolder, amount: number, before = 0): boolean {
    const principal = this.#principal(holder.principalName)
    const connection = this.#connection(holder)
    if (!this.#fitsPrincipal(principal, amount, before)) return false
    if (!this.#fitsConnection(connection, amount, before)) return false
    this.#hold(principal, connection, amount)
    return true
  }

  takeInTurn(holder: MemoryHolder, amount: number, before = 0): boolean {
    const waiting = this.#principals.get(holder.principalName)?.waiting ?? 0
    return waiting === 0 && this.take(holder, amount, before)
  }

  force(holder: MemoryHolder, amount: number): void {
    this.#hold(this.#principal(holder.principalName), this.#connection(holder), amount)
  }

  release(holder: MemoryHolder, amount: number): void {
    this.#hold(this.#principal(holder.principalName), this.#connection(holder), -amount)
    if (this.#waiters.size > 0) this.#serveWaiters()
  }

  #hold(principal: Held, connection: Held | undefined, amount: number): void {
    this.#held += amount
    principal.held += amount
    if (connection !== undefined) connection.held += amount
  }

  async takeWithin(
    holder: MemoryHolder,
    amount: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.takeInTurn(holder, amount)) return true
    const principal = this.#principal(holder.principalName)
    if (principal.waiting >= this.#waitersMax || signal.aborted) return false
    return new Promise((resolve) => {
      const settle = (isTaken: boolean) => {
        if (this.#waiters.delete(waiter)) principal.waiting--
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const giveUp = () => settle(false)
      const waiter: Waiter = { holder, amount, resolve: settle }
      const timer = waitMs === Infinity ? undefined : setTimeout(giveUp, waitMs)
      signal.addEventListener('abort', giveUp)
      this.#waiters.add(waiter)
      principal.waiting++
      // Earlier requests may wait only because of the limits of their own principals or
      // connections, so the new request may be served at once.
      this.#serveWaiters()
    })
  }

  /**
   * Serves waiting requests in order of arrival. While the limit of a principal blocks one of its
   * requests, the principal's later requests wait too, even smaller ones.
   */
  #serveWaiters(): void {
    const passed = new Set<string>()
    for (const waiter of this.#waiters) {
      const { holder, amount } = waiter
      if (passed.has(holder.principalName)) continue
      if (this.take(holder, amount)) waiter.resolve(true)
      else if (!this.#fitsPrincipal(this.#principal(holder.principalName), amount, 0))
        passed.add(holder.principalName)
    }
  }

  /**
   * Whether the limit of the principal permits the amount. Usually the limit depends on the amount
   * that is free before, so that small amounts can use the whole resource. For a large amount, the
   * limit depends on what remains free afterwards, unless the principal holds little.
   */
  #fitsPrincipal({ held }: Held, amount: number, before: number): boolean {
    const free = this.total - this.#held
    if (amount > free) return false
    const isLarge = amount > Math.max(1, largePart * this.total)
    const mustLeave = isLarge && held - before > besideLargePart * this.total
    return held + amount <= freeMultiple * (mustLeave ? free - amount : free)
  }

  #fitsConnection(connection: Held | undefined, amount: number, before: number): boolean {
    if (connection === undefined || connection.held - before <= this.#littleMax) return true
    return connection.held + amount <= this.total / connectionParts
  }

  #principal(name: string): Principal {
    let principal = this.#principals.get(name)
    if (principal === undefined)
      this.#principals.set(name, (principal = { held: 0, waiting: 0 }))
    return principal
  }

  #connection({ sharedConnection }: MemoryHolder): Held | undefined {
    if (sharedConnection === undefined) return undefined
    let held = this.#connections.get(sharedConnection)
    if (held === undefined) this.#connections.set(sharedConnection, (held = { held: 0 }))
    return held
  }
}
