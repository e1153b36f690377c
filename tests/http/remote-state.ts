/**
 * Shared state of several servers. It answers asynchronously, as state in another thread or on
 * another machine would, and tests can make it unreachable.
 */
import { LocalLockout } from '../../src/auth/local-lockout.ts'
import type { Lockout } from '../../src/auth/lockout.ts'
import type { DocumentTurns } from '../../src/collections/document-turns.ts'
import type { FairShare, MemoryHolder } from '../../src/http/fair-share.ts'
import type { RateLimit } from '../../src/http/rate-limit.ts'
import type { Config } from '../../src/settings/config.ts'
import { localState, type SharedState } from '../../src/shared-state.ts'

/**
 * The channel to the shared state. Requests arrive in the order of sending, in a later turn of the
 * event loop.
 */
export class Way {
  /** Number of requests sent. */
  asked = 0
  /** Whether a request has failed since the last call of `failAfter`. */
  hasFailed = false
  /** Whether requests get lost and are never answered. */
  isDeaf = false
  #failure: Error | undefined
  #left = Infinity

  /** The next `count` requests succeed. All later ones fail without an effect. */
  failAfter(count: number, failure?: Error): void {
    this.#left = count
    this.#failure = failure
    this.hasFailed = false
  }

  ask<T>(answer: () => T): Promise<Awaited<T>> {
    this.asked++
    const failure = this.#left-- > 0 ? undefined : this.#failure
    if (failure !== undefined) this.hasFailed = true
    if (this.isDeaf) return new Promise(() => undefined)
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        if (failure === undefined) resolve(answer() as Awaited<T>)
        else reject(failure)
      })
    })
  }

  tell(act: () => void): void {
    setImmediate(act)
  }
}

class RemoteLockout implements Lockout {
  readonly #way: Way
  readonly #kept: LocalLockout

  constructor(way: Way, kept: LocalLockout) {
    this.#way = way
    this.#kept = kept
  }

  lockedFor(address: string, digest: string): Promise<number> {
    return this.#way.ask(() => this.#kept.lockedFor(address, digest))
  }

  noteBad(address: string): Promise<void> {
    return this.#way.ask(() => this.#kept.noteBad(address))
  }

  noteGood(address: string, digest: string): Promise<void> {
    return this.#way.ask(() => this.#kept.noteGood(address, digest))
  }
}

class RemoteRateLimit implements RateLimit {
  readonly #way: Way
  readonly #kept: RateLimit

  constructor(way: Way, kept: RateLimit) {
    this.#way = way
    this.#kept = kept
  }

  get perSecond(): number {
    return this.#kept.perSecond
  }

  take(principalName: string): Promise<number> {
    return this.#way.ask(() => this.#kept.take(principalName))
  }
}

class RemoteFairShare implements FairShare {
  readonly #way: Way
  readonly #kept: FairShare

  constructor(way: Way, kept: FairShare) {
    this.#way = way
    this.#kept = kept
  }

  get total(): number {
    return this.#kept.total
  }

  get held(): number {
    return this.#kept.held
  }

  hasRoom(taker: MemoryHolder, amount: number): Promise<boolean> {
    return this.#way.ask(() => this.#kept.hasRoom(taker, amount))
  }

  take(taker: MemoryHolder, amount: number, before?: number): Promise<boolean> {
    return this.#way.ask(() => this.#kept.take(taker, amount, before))
  }

  takeInTurn(taker: MemoryHolder, amount: number, before?: number): Promise<boolean> {
    return this.#way.ask(() => this.#kept.takeInTurn(taker, amount, before))
  }

  takeWithin(
    taker: MemoryHolder,
    amount: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    return this.#way.ask(() => this.#kept.takeWithin(taker, amount, waitMs, signal))
  }

  force(taker: MemoryHolder, amount: number): void {
    this.#way.tell(() => this.#kept.force(taker, amount))
  }

  release(taker: MemoryHolder, amount: number): void {
    this.#way.tell(() => this.#kept.release(taker, amount))
  }
}

/**
 * Turns on documents, requested over the channel. They begin with a delay, and servers learn with a
 * delay that they have ended.
 */
function remoteTurns(way: Way, kept: DocumentTurns): DocumentTurns {
  const passOn =
    <A extends readonly unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      try {
        return await work(...given)
      } finally {
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  return {
    holding: (keys, work) => way.ask(() => kept.holding(keys, passOn(work))),
    inserting: (uid, record, wouldFind, work) =>
      way.ask(() => kept.inserting(uid, record, wouldFind, passOn(work))),
  }
}

/** The parts of the shared state, each with the channel to it. */
export class RemoteState implements SharedState {
  readonly ways = {
    lockout: new Way(),
    documentTurns: new Way(),
    rateLimit: new Way(),
    commandRoom: new Way(),
    bodyRoom: new Way(),
    replyRoom: new Way(),
    valueRoom: new Way(),
  }
  readonly lockout: Lockout
  readonly documentTurns: DocumentTurns
  readonly rateLimit: RateLimit | undefined
  readonly commandRoom: FairShare
  readonly bodyRoom: FairShare
  readonly replyRoom: FairShare
  readonly valueRoom: FairShare

  constructor(config: Config) {
    const { ways } = this
    const kept = localState(config)
    this.lockout = new RemoteLockout(
      ways.lockout,
      new LocalLockout(config.badCredentialsMax),
    )
    this.documentTurns = remoteTurns(ways.documentTurns, kept.documentTurns)
    this.rateLimit = kept.rateLimit && new RemoteRateLimit(ways.rateLimit, kept.rateLimit)
    this.commandRoom = new RemoteFairShare(ways.commandRoom, kept.commandRoom)
    this.bodyRoom = new RemoteFairShare(ways.bodyRoom, kept.bodyRoom)
    this.replyRoom = new RemoteFairShare(ways.replyRoom, kept.replyRoom)
    this.valueRoom = new RemoteFairShare(ways.valueRoom, kept.valueRoom)
  }

  /**
   * The sum of all held amounts, in commands and in bytes. It is 0 exactly when nothing is held.
   */
  get heldSum(): number {
    const rooms = [this.commandRoom, this.bodyRoom, this.replyRoom, this.valueRoom]
    return rooms.reduce((sum, { held }) => sum + held, 0)
  }
}
