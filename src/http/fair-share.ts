/**
 * What all clients hold together, and how much of it each may hold: bytes of bodies, bytes
 * of replies, or commands at work.
 *
 * Some of it is asked, and some told. What is asked may be answered at once or later; where
 * it fails the request is refused, and nothing must have been taken. What is told is not
 * waited for and cannot fail: who has to pass it on to others does so until they know. All
 * calls count in the order in which they are made, so that what was given back before can be
 * taken after.
 */

/** Who takes: the principal by name, and one of its connections. */
export interface Taker {
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
  hasRoom(taker: Taker, amount: number): boolean | Promise<boolean>
  /**
   * Whether there was room for it, beside what the same request holds already. What is taken
   * must be given back.
   */
  take(taker: Taker, amount: number, before?: number): boolean | Promise<boolean>
  /** The same, but nothing is taken while others of the principal wait for room. */
  takeInTurn(taker: Taker, amount: number, before?: number): boolean | Promise<boolean>
  /**
   * Takes it as soon as there is room. False: there was none in time, or too many wait
   * already, or the signal was aborted; for Infinity nothing else ends it.
   */
  takeWithin(
    taker: Taker,
    amount: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean>
  /** Told: takes it although there may be no room, for what exists already. */
  force(taker: Taker, amount: number): void
  /** Told. */
  giveBack(taker: Taker, amount: number): void
}
