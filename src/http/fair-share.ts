/**
 * A limited resource that all clients share, such as bytes of bodies, bytes of replies, or
 * concurrent commands. Each principal and each connection has a limit.
 *
 * A call may answer synchronously or later. If it fails, the request is rejected and nothing was
 * taken. `release` is not awaited and cannot fail: an implementation that informs other servers
 * retries until it succeeds. Calls take effect in the order in which they are made, so a released
 * amount is available to the next call.
 */

/** Who holds an amount: a principal, through one of its connections. */
export interface MemoryHolder {
  readonly principalName: string
  /**
   * The connection, if it carries several requests at a time; otherwise undefined. A connection
   * with one request at a time needs no limit of its own.
   */
  readonly sharedConnection: object | undefined
}

export interface FairShare {
  /** The capacity of the resource. */
  readonly total: number
  /** The amount that this server has taken and not released. */
  readonly held: number
  /** Whether `take` would succeed now. */
  hasRoom(holder: MemoryHolder, amount: number): boolean | Promise<boolean>
  /**
   * Takes the amount if it is available; the caller must release it later. `before` is the amount
   * that the request already holds.
   */
  take(holder: MemoryHolder, amount: number, before?: number): boolean | Promise<boolean>
  /** Like `take`, but fails while another request of the principal waits. */
  takeInTurn(
    holder: MemoryHolder,
    amount: number,
    before?: number,
  ): boolean | Promise<boolean>
  /**
   * Waits until the amount is available. Resolves to false after `waitMs`, when too many requests
   * of the principal are already waiting, or when the signal aborts. With Infinity, only the signal ends the wait.
   */
  takeWithin(
    holder: MemoryHolder,
    amount: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean>
  /** Takes the amount even beyond the limits, for data that exists already. Not awaited. */
  force(holder: MemoryHolder, amount: number): void
  /** Releases the amount. Not awaited. */
  release(holder: MemoryHolder, amount: number): void
}
