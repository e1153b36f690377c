/**
 * A queue in front of something that does only so much work at a time: a thread, a lock, a
 * model. Principals take turns (round-robin), and the entries of one principal are served in
 * the order of arrival, so a principal that sends much delays itself.
 *
 * An entry has a size, and entries are admitted while the sizes of those at work stay within
 * the capacity. One entry is always admitted, whatever its size. So a new principal waits for
 * what is at work, and then for one entry of each other principal.
 *
 * An entry whose signal is aborted leaves the queue. Work that was admitted is not withdrawn.
 */
import type { Caller } from './caller.ts'

/** The signal is asked for only where the entry has to wait. */
export type Entrant = Pick<Caller, 'principalName' | 'signal'>

export interface FairQueueOptions {
  /** The total size of the entries that are at work at a time. */
  readonly capacity: number
  /** Entries of one principal that wait. */
  readonly waitingMax: number
  /** The error for a principal that has as many. */
  readonly refuse: (waitingMax: number) => Error
}

interface Entry {
  readonly size: number
  readonly admit: () => void
}

export class FairQueue {
  readonly #options: FairQueueOptions
  /** In the order of their turns. A principal is here while entries of it wait. */
  readonly #waiting = new Map<string, Set<Entry>>()
  #entries = 0
  #size = 0
  #drained: PromiseWithResolvers<undefined> | undefined

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** Entries that wait. */
  get waiting(): number {
    let count = 0
    for (const entries of this.#waiting.values()) count += entries.size
    return count
  }

  /** Whether nothing waits and nothing is at work. */
  get isIdle(): boolean {
    return this.#entries === 0
  }

  /**
   * Returns undefined where the entry is admitted at once. Otherwise resolves when it is, and
   * rejects with the signal's reason once that is aborted. Each entry that was admitted has to
   * `leave`.
   */
  enter(entrant: Entrant, size = 1): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#fits(size)) {
      this.#admit(size)
      return undefined
    }
    return this.#wait(entrant, size)
  }

  /** What was admitted is done. */
  leave(size = 1): void {
    this.#entries--
    this.#size -= size
    this.#serve()
  }

  /** Does work when it is its turn. */
  async run<T>(entrant: Entrant, work: () => T | Promise<T>): Promise<T> {
    await this.enter(entrant)
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Resolves when nothing waits and nothing is at work. */
  async drained(): Promise<void> {
    if (this.isIdle) return
    this.#drained ??= Promise.withResolvers()
    await this.#drained.promise
  }

  #fits(size: number): boolean {
    return this.#entries === 0 || this.#size + size <= this.#options.capacity
  }

  #admit(size: number): void {
    this.#entries++
    this.#size += size
  }

  async #wait({ principalName, signal }: Entrant, size: number): Promise<void> {
    signal.throwIfAborted()
    const { waitingMax, refuse } = this.#options
    const entries = this.#waiting.get(principalName) ?? new Set()
    if (entries.size >= waitingMax) throw refuse(waitingMax)
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const entry: Entry = { size, admit: () => resolve(undefined) }
    this.#waiting.set(principalName, entries.add(entry))
    const giveUp = () => {
      // It may have been admitted a moment ago.
      if (!entries.delete(entry)) return
      if (entries.size === 0) this.#waiting.delete(principalName)
      reject(signal.reason as Error)
      // It may have stood in the way of smaller ones.
      this.#serve()
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #serve(): void {
    for (const [principalName, entries] of this.#waiting) {
      const next = entries.values().next().value!
      if (!this.#fits(next.size)) return
      entries.delete(next)
      // A principal whose entries still wait has its next turn after all others.
      this.#waiting.delete(principalName)
      if (entries.size > 0) this.#waiting.set(principalName, entries)
      this.#admit(next.size)
      next.admit()
    }
    if (this.isIdle) {
      this.#drained?.resolve(undefined)
      this.#drained = undefined
    }
  }
}
