/**
 * Locks on the schemas of keyspaces. A command that changes kept overtaking takes a shared
 * one: then the next change waits for it. A change takes an exclusive one, for the moment in
 * which it comes into force; changes come one at a time. A request for a shared lock while a
 * change waits comes after it. So every command and every change has its turn.
 */
export class SchemaLocks {
  /** Commands at work, or next, by their keyspaces. */
  readonly #shared = new Map<string, Set<Promise<unknown>>>()
  readonly #exclusive = new Map<string, Promise<unknown>>()

  /** The signal ends waiting for the lock. */
  async share<T>(keyspace: string, act: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#exclusive.get(keyspace)
    const turn = before === undefined ? act() : endOf(before, signal).then(act)
    const holders = this.#shared.get(keyspace) ?? new Set()
    this.#shared.set(keyspace, holders.add(turn))
    try {
      return await turn
    } finally {
      holders.delete(turn)
      if (holders.size === 0) this.#shared.delete(keyspace)
    }
  }

  async exclude<T>(keyspace: string, act: () => Promise<T>): Promise<T> {
    const holders = this.#shared.get(keyspace)
    const turn = holders === undefined ? act() : Promise.allSettled(holders).then(act)
    this.#exclusive.set(keyspace, turn)
    try {
      return await turn
    } finally {
      this.#exclusive.delete(keyspace)
    }
  }
}

/** Resolves when something has ended, well or not; rejects when it is not waited for. */
function endOf(something: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error)
    signal.addEventListener('abort', giveUp, { once: true })
    const end = () => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    something.then(end, end)
  })
}
