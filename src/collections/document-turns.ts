/**
 * Turns among requests that change the same documents.
 *
 * Once the work was done its outcome is the outcome, whatever becomes of the turn. A failure
 * before that fails the request, and nothing was done. A turn may be lost while the work goes
 * on, as to a server that was given up for dead: changes are kept apart by the versions of
 * records all the same, but two upserts could both insert.
 */
import type { Caller } from '../caller/caller.ts'
import type { NewRecord } from '../engine/contract.ts'

/**
 * Implementations need no timeouts: `waitForTurn` waits no longer than its caller.
 */
export interface DocumentTurns {
  /**
   * Runs `work` exclusively among all calls that share one of its keys. `waited` tells whether another
   * call ran first: then earlier reads are stale.
   */
  holding<T>(keys: readonly string[], work: (waited: boolean) => Promise<T>): Promise<T>
  /**
   * Does the work, which inserts the record into the collection of that uid, unless others
   * are about to insert what would be found. Then it waits for one of them and returns
   * undefined: look again.
   */
  inserting<T>(
    uid: string,
    record: NewRecord,
    wouldFind: (record: NewRecord) => boolean | Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T | undefined>
}

/**
 * Asks for a turn, and waits for it no longer than the caller does: it may never come. Work
 * that has begun is not left alone, and looks at the caller's time itself.
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
  // Mostly at once, and then no signal has to be made.
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
