/**
 * Turns among requests that change the same documents.
 *
 * Once the work was done its outcome is the outcome, whatever becomes of the turn. A failure
 * before that fails the request, and nothing was done. A turn may be lost while the work goes
 * on, as to a server that was given up for dead: changes are kept apart by the versions of
 * records all the same, but two upserts could both insert.
 */
import type { Caller } from '../caller.ts'
import type { NewRecord } from '../engine/contract.ts'

export interface DocumentTurns {
  /**
   * Runs the work alone among all that name one of its keys. It learns whether others had
   * their turn first: then what was read before is old.
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
    wouldFind: (record: NewRecord) => boolean,
    work: () => Promise<T>,
    caller: Caller,
  ): Promise<T | undefined>
}
