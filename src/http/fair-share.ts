/**
 * A resource that all clients share, with a limit for each: bytes of bodies, bytes
 * of replies, or concurrent commands.
 *
 * Taking may be answered at once or later; when it fails, the request is rejected and nothing was
 * taken. Giving back is not awaited and cannot fail: an implementation that informs other servers
 * retries until they know. Calls take effect in the order in which they are made, so an amount that
 * was given back can be taken by the next call.
 */

/** Who takes: the principal by name, and one of its connections. */
export interface MemoryHolder {
  readonly principalName: string
  /** Undefined: it has one request at a time, which is bound enough. */
  readonly sharedConnection: object | undefined
}

export interface FairShare {
  /** What there is for all. */
  readonly total: number
  /** What was taken here and not given back. */
  readonly held: number
  /** Whether it could be taken now. */
  hasRoom(holder: MemoryHolder, amount: number): boolean | Promise<boolean>
  /**
   * Whether there was room for it, beside what the same request holds already. What is taken
   * must be given back.
   */
  take(holder: MemoryHolder, amount: number, before?: number): boolean | Promise<boolean>
  /** The same, but nothing is taken while others of the principal wait for room. */
  takeInTurn(
    holder: MemoryHolder,
    amount: number,
    before?: number,
  ): boolean | Promise<boolean>
  /**
   * Takes it as soon as there is room. False: there was none in time, or too many wait
   * already, or the signal was aborted; for Infinity nothing else ends it.
   */
  takeWithin(
    holder: MemoryHolder,
    amount: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean>
  /** Told: takes it although there may be no room, for what exists already. */
  force(holder: MemoryHolder, amount: number): void
  /** Told. */
  release(holder: MemoryHolder, amount: number): void
}
