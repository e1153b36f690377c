/**
 * Locks on the schemas of keyspaces. A command takes a shared lock when schema changes keep
 * invalidating it; the next change then waits for the command. A change takes an exclusive lock to
 * commit. A shared lock that is requested while a change waits is granted after that change, so
 * neither commands nor changes starve.
 */
export class SchemaLocks {
  /** Promises of the holders, and of commands waiting for a change, by keyspace. */
  readonly #shared = new Map<string, Set<Promise<unknown>>>()
  readonly #exclusive = new Map<string, Promise<unknown>>()

  /** Runs `act` with a shared lock on a keyspace. `signal` aborts the wait for the lock. */
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

/** Resolves when `something` has settled; rejects when the signal aborts first. */
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
