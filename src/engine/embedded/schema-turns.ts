/**
 * Turns of schema changes, round-robin by principal.
 *
 * Only one change at a time is committed to the catalog. Longer work, such as building an index or
 * closing the store of a dropped target, locks only its targets, so changes of other targets do not
 * wait for it.
 */
import type { Caller } from '../../caller/caller.ts'
import { FairQueue } from '../../caller/fair-queue.ts'
import { fixedLimits } from '../../limits.ts'
import { EngineError } from '../errors.ts'

export class SchemaTurns {
  readonly #catalog = oneAtATime()
  /** Queues of the changes that hold a target or wait for it, by uid of the target. */
  readonly #targets = new Map<string, FairQueue>()
  readonly #running = new Set<Promise<unknown>>()

  /** Runs `act` while no other caller changes the catalog. `act` must be short. */
  inTurn<T>(caller: Caller, act: () => T | Promise<T>): Promise<T> {
    return this.#run(this.#catalog.run(caller, act))
  }

  /** Runs `act` while no other caller changes these targets. */
  holding<T>(uids: readonly string[], caller: Caller, act: () => Promise<T>): Promise<T> {
    // All callers lock in the same order, to avoid deadlock.
    const holdAll = uids
      .toSorted()
      .reduceRight((inner, uid) => () => this.#hold(uid, caller, inner), act)
    return this.#run(holdAll())
  }

  /** Resolves when all changes requested so far have settled. */
  async end(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  async #hold<T>(uid: string, caller: Caller, act: () => Promise<T>): Promise<T> {
    let queue = this.#targets.get(uid)
    if (queue === undefined) this.#targets.set(uid, (queue = oneAtATime()))
    try {
      return await queue.run(caller, act)
    } finally {
      if (queue.isIdle) this.#targets.delete(uid)
    }
  }

  async #run<T>(running: Promise<T>): Promise<T> {
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }
}

function oneAtATime(): FairQueue {
  return new FairQueue({
    capacity: 1,
    waitingMax: fixedLimits.waitingWorkMax,
    refuse: (waitingMax) =>
      new EngineError(
        'overloaded',
        `${waitingMax} schema changes of this token are already waiting`,
      ),
  })
}
