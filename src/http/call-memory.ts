/**
 * The memory that a command holds besides its body: for its reply, for what it reads, and for
 * the values that it makes of texts. All is charged to the principal before it is there.
 */
import type { Effect } from '../auth/principal.ts'
import type { Caller } from '../caller/caller.ts'
import { fixedLimits, type Limits } from '../limits.ts'
import { Charge } from './charge.ts'
import type { FairShare, MemoryHolder } from './fair-share.ts'

/** Bytes that are kept free for the reply of a command before it runs. */
const replySizeUsual = 16_384

/** A connection that holds no more than this has nothing large under way. */
export const replyLittleMax = fixedLimits.requestsPerConnectionMax * replySizeUsual

export interface MemoryPools {
  /** Bytes of replies, reserved before a command runs and held until its reply is sent. */
  readonly replyRoom: FairShare
  /** Bytes of the parsed values of large bodies and documents, until their command ends. */
  readonly valueRoom: FairShare
  readonly limits: Limits
}

/** The request that is charged. */
interface ChargedCall extends MemoryHolder, Pick<Caller, 'signal' | 'check'> {
  /** Whether nothing that it does has to be answered. */
  readonly onlyReads: boolean
  /** The error that says that there was no room in time. */
  noRoomFor(what: 'body' | 'reply'): Error
}

export class CallMemory {
  readonly #holder: ChargedCall
  readonly #pools: MemoryPools
  readonly #reply: Charge
  /** What the values of the body take; undefined: it is small. */
  #body: Charge | undefined
  /** Reads that asked for room. */
  #reads = 0

  constructor(holder: ChargedCall, pools: MemoryPools) {
    this.#holder = holder
    this.#pools = pools
    this.#reply = new Charge(pools.replyRoom, holder)
  }

  /** For the values of the body, until `endBody`. */
  takeForBody(size: number): Promise<void> {
    this.#body = new Charge(this.#pools.valueRoom, this.#holder)
    return this.#takeValues(this.#body, size, 'body')
  }

  endBody(): void {
    this.#body?.end()
  }

  reserveReply(effect: Effect): Promise<void> | undefined {
    const { limits, replyRoom } = this.#pools
    // A document that is changed and returned has been written before its size is known.
    const size = effect === 'change' ? limits.documentLengthMax : replySizeUsual
    const amount = withinHalf(size, replyRoom)
    const taken = this.#reply.take(amount)
    return taken === true ? undefined : this.#takeReply(taken, amount, 0)
  }

  /** See Caller. */
  reserve(size: number, before: number): Promise<void> | undefined {
    const { replyRoom } = this.#pools
    const held = withinHalf(before, replyRoom)
    const amount = withinHalf(size, replyRoom) - held
    if (before === 0) this.#reads++
    // What reads again may have written already, and that has to be answered.
    if (!this.#holder.onlyReads && this.#reads > 1) {
      this.#reply.force(amount)
      return undefined
    }
    const taken = this.#reply.takeInTurn(amount)
    return taken === true ? undefined : this.#takeReply(taken, amount, held)
  }

  /** Releases the earlier reservation before it waits for the whole amount, to avoid deadlock. */
  async #takeReply(
    taken: false | Promise<boolean>,
    amount: number,
    held: number,
  ): Promise<void> {
    if (taken !== false && (await taken)) return
    this.#reply.lowerTo(this.#reply.held - held)
    await this.#take(this.#reply, amount + held, 'reply')
  }

  /** See Caller. */
  async borrow(size: number): Promise<() => void> {
    const { valueRoom } = this.#pools
    const charge = new Charge(valueRoom, this.#holder)
    // Two that hold some and need more would wait for each other.
    if (this.#body !== undefined && this.#body.held > 0)
      charge.force(withinHalf(size, valueRoom))
    else
      try {
        await this.#takeValues(charge, size, 'reply')
      } catch (error) {
        charge.end()
        throw error
      }
    return () => charge.end()
  }

  /**
   * Whether there is room to keep the reply until it was read. For what only reads there may
   * be none: nothing was done. What was written is always answered.
   */
  holdReply(length: number, size: number): boolean | Promise<boolean> {
    // In memory a text takes one byte for each character where all are ASCII, or else two.
    const needed = size === length ? length : 2 * length
    const more = needed - this.#reply.held
    if (more <= 0) this.#reply.lowerTo(needed)
    else if (this.#holder.onlyReads) return this.#reply.take(more)
    else this.#reply.force(more)
    return true
  }

  end(): void {
    this.endBody()
    this.#reply.end()
  }

  /** No client holds these up, so it is only a question of time until there is room. */
  #takeValues(charge: Charge, size: number, what: 'body' | 'reply'): Promise<void> {
    return this.#take(charge, withinHalf(size, this.#pools.valueRoom), what, Infinity)
  }

  async #take(
    charge: Charge,
    amount: number,
    what: 'body' | 'reply',
    waitMs?: number,
  ): Promise<void> {
    const isTaken = await charge.takeWithin(amount, this.#holder.signal, waitMs)
    this.#holder.check()
    if (!isTaken) throw this.#holder.noRoomFor(what)
  }
}

/** Caps a reservation, so that any allowed size fits when no other request holds memory. */
function withinHalf(size: number, room: FairShare): number {
  return Math.min(size, room.total / 2)
}
