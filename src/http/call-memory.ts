/**
 * Accounts for the memory of a command in addition to its body: the reply, the records that the
 * command reads, and parsed values. All of it is charged to the principal before it is allocated.
 */
import type { Effect } from '../auth/principal.ts'
import type { Caller } from '../caller/caller.ts'
import { fixedLimits, type Limits } from '../limits.ts'
import { Charge } from './charge.ts'
import type { FairShare, MemoryHolder } from './fair-share.ts'

/** Bytes that are reserved for the reply before a command runs. */
const replySizeUsual = 16_384

/** Up to this many bytes of replies, a connection with several requests is not limited. */
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
  /** Whether the command only reads, so that it may be rejected at any time. */
  readonly onlyReads: boolean
  /** The error when no memory became available in time. */
  noRoomFor(what: 'reply' | 'values'): Error
}

export class CallMemory {
  readonly #holder: ChargedCall
  readonly #pools: MemoryPools
  readonly #reply: Charge
  /** Memory for the parsed values of the body; undefined: the body is small. */
  #body: Charge | undefined
  /** Number of reads that have reserved memory. */
  #reads = 0

  constructor(holder: ChargedCall, pools: MemoryPools) {
    this.#holder = holder
    this.#pools = pools
    this.#reply = new Charge(pools.replyRoom, holder)
  }

  /** Reserves memory for the parsed values of the body, until `endBody`. */
  takeForBody(size: number): Promise<void> {
    this.#body = new Charge(this.#pools.valueRoom, this.#holder)
    return this.#takeValues(this.#body, size)
  }

  endBody(): void {
    this.#body?.end()
  }

  reserveReply(effect: Effect): Promise<void> | undefined {
    const { limits, replyRoom } = this.#pools
    // A command with the effect `change` returns a document. It writes before the size of its reply
    // is known, so the maximum size is reserved.
    const size = effect === 'change' ? limits.documentLengthMax : replySizeUsual
    const amount = withinHalf(size, replyRoom)
    const taken = this.#reply.take(amount)
    return taken === true ? undefined : this.#takeReply(taken, amount, 0)
  }

  /** Implements Caller.reserve. */
  reserve(size: number, before: number): Promise<void> | undefined {
    const { replyRoom } = this.#pools
    const held = withinHalf(before, replyRoom)
    const amount = withinHalf(size, replyRoom) - held
    if (before === 0) this.#reads++
    // A command that reads again may already have written, so a lack of memory must not make it
    // fail.
    if (!this.#holder.onlyReads && this.#reads > 1) {
      this.#reply.force(amount)
      return undefined
    }
    const taken = this.#reply.takeInTurn(amount)
    return taken === true ? undefined : this.#takeReply(taken, amount, held)
  }

  /**
   * Waits for memory for the reply. To avoid deadlock, it first releases the earlier reservation
   * and then waits for the whole amount.
   */
  async #takeReply(
    taken: false | Promise<boolean>,
    amount: number,
    held: number,
  ): Promise<void> {
    if (taken !== false && (await taken)) return
    this.#reply.lowerTo(this.#reply.held - held)
    await this.#take(this.#reply, amount + held, 'reply')
  }

  /** Implements Caller.borrow. */
  async borrow(size: number): Promise<() => void> {
    const { valueRoom } = this.#pools
    const charge = new Charge(valueRoom, this.#holder)
    // The memory is taken without waiting: a request that waits while its body holds memory could
    // deadlock with another such request.
    if (this.#body !== undefined && this.#body.held > 0)
      charge.force(withinHalf(size, valueRoom))
    else
      try {
        await this.#takeValues(charge, size)
      } catch (error) {
        charge.end()
        throw error
      }
    return () => charge.end()
  }

  /**
   * Reserves memory for the reply until the client has read it. False: no memory is available. A
   * command that only reads may then be rejected. A command that has written must be answered, so
   * its memory is taken even beyond the limit.
   */
  holdReply(length: number, size: number): boolean | Promise<boolean> {
    // V8 stores Latin-1 texts with one byte per character, and other texts with two.
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

  /**
   * Waits for memory for parsed values, without a time limit: clients cannot delay the release of
   * such memory, so it becomes available.
   */
  #takeValues(charge: Charge, size: number): Promise<void> {
    return this.#take(charge, withinHalf(size, this.#pools.valueRoom), 'values', Infinity)
  }

  async #take(
    charge: Charge,
    amount: number,
    what: 'reply' | 'values',
    waitMs?: number,
  ): Promise<void> {
    const isTaken = await charge.takeWithin(amount, this.#holder.signal, waitMs)
    this.#holder.check()
    if (!isTaken) throw this.#holder.noRoomFor(what)
  }
}

/**
 * Caps a reservation at half of the total, so that every allowed size can be reserved when no other
 * request holds memory.
 */
function withinHalf(size: number, room: FairShare): number {
  return Math.min(size, room.total / 2)
}
