/**
 * A queue in front of a resource with limited capacity, such as a thread, a lock or a model.
 * Principals take turns (round-robin), and the entries of one principal are served in order of
 * arrival, so a principal that sends many entries delays only itself.
 *
 * Every entry has a size. Entries are admitted while the total size of admitted entries stays
 * within the capacity; a single entry is always admitted. A new principal therefore waits for
 * admitted entries, and then for one entry of each other principal.
 *
 * An entry whose signal is aborted leaves the queue. Admitted work is not cancelled.
 */
import { AbortActions } from './abort-actions.ts'
import type { Caller } from './caller.ts'

/** The caller of an entry. Its signal is accessed only when the entry must wait. */
export type Entrant = Pick<Caller, 'principalName' | 'signal'>

export interface FairQueueOptions {
  /** Maximum total size of admitted entries. */
  readonly capacity: number
  /** Maximum waiting entries per principal. */
  readonly waitingMax: number
  /** Creates the error for a principal that exceeds `waitingMax`. */
  readonly refuse: (waitingMax: number) => Error
}

interface Entry {
  readonly size: number
  readonly admit: () => void
}

export class FairQueue {
  readonly #options: FairQueueOptions
  /** Principals with waiting entries, in the order of their turns. */
  readonly #waiting = new Map<string, Set<Entry>>()
  readonly #aborts = new AbortActions()
  #entries = 0
  #size = 0
  #drained: PromiseWithResolvers<undefined> | undefined

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** Number of waiting entries. */
  get waiting(): number {
    let count = 0
    for (const entries of this.#waiting.values()) count += entries.size
    return count
  }

  /** Whether no entry waits or is admitted. */
  get isIdle(): boolean {
    return this.#entries === 0
  }

  /**
   * Returns undefined if the entry is admitted at once. Otherwise the promise resolves on
   * admission, and rejects with the signal's reason on abort. Every admitted entry must `leave`.
   */
  enter(entrant: Entrant, size = 1): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#fits(size)) {
      this.#admit(size)
      return undefined
    }
    return this.#wait(entrant, size)
  }

  /** Ends an admitted entry. */
  leave(size = 1): void {
    this.#entries--
    this.#size -= size
    this.#serve()
  }

  /** Runs work when it is the entrant's turn. */
  async run<T>(entrant: Entrant, work: () => T | Promise<T>): Promise<T> {
    await this.enter(entrant)
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Resolves when no entry waits or is admitted. */
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
      // The entry may have been admitted just before it was aborted.
      if (!entries.delete(entry)) return
      if (entries.size === 0) this.#waiting.delete(principalName)
      reject(signal.reason as Error)
      // The removed entry may have blocked smaller entries that were queued after it.
      this.#serve()
    }
    this.#aborts.add(signal, giveUp)
    try {
      await promise
    } finally {
      this.#aborts.remove(signal, giveUp)
    }
  }

  #serve(): void {
    for (const [principalName, entries] of this.#waiting) {
      const next = entries.values().next().value!
      if (!this.#fits(next.size)) return
      entries.delete(next)
      // A principal with further entries moves to the end of the order of turns.
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
