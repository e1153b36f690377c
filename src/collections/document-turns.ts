/**
 * Locks that serialize requests for the same documents.
 *
 * A turn is the right to change a document. A request that does not get its turn fails before any
 * write. A turn can be lost while the request writes, for example when other servers consider this
 * one dead. Versions of records then still detect conflicting changes, but two upserts could both
 * insert. A request whose writes succeeded gets its result, even if its turn was lost or cannot be
 * ended.
 */
import type { Caller } from '../caller/caller.ts'
import type { NewRecord } from '../engine/contract.ts'

/**
 * Grants turns. Implementations need no timeouts: `waitForTurn` waits no longer than its caller.
 */
export interface DocumentTurns {
  /**
   * Runs `work` while no other call with one of the keys runs. `waited` is true when another
   * call ran first, so earlier reads may be stale.
   */
  holding<T>(keys: readonly string[], work: (waited: boolean) => Promise<T>): Promise<T>
  /**
   * Runs `work`, which inserts `record` into the collection with this uid. If a concurrent
   * upsert is about to insert a record that `wouldFind` matches, waits for that upsert and
   * returns undefined; the caller must then read again.
   */
  inserting<T>(
    uid: string,
    record: NewRecord,
    wouldFind: (record: NewRecord) => boolean | Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T | undefined>
}

/**
 * Requests a turn, and stops waiting when the caller's signal aborts. Work that has started is
 * not interrupted; it checks the deadline itself.
 */
export function waitForTurn<Given extends readonly unknown[], T, Outcome>(
  work: (...given: Given) => Promise<T>,
  ask: (work: (...given: Given) => Promise<T>) => Promise<Outcome>,
  caller: Caller,
): Promise<Outcome> {
  const turn = { hasBegun: false, isGivenUp: false }
  const asked = ask((...given) => {
    if (turn.isGivenUp) return Promise.reject(new Error('The turn came too late'))
    turn.hasBegun = true
    return work(...given)
  })
  // The turn has usually started by now. `caller.signal`, which is expensive to create, is then
  // not needed.
  if (turn.hasBegun) return asked
  const { signal } = caller
  return new Promise((resolve, reject) => {
    const leave = () => {
      if (turn.hasBegun) return
      turn.isGivenUp = true
      reject(signal.reason as Error)
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    void asked
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', leave))
  })
}
