/**
 * Upserts that found nothing, and are about to insert.
 *
 * Two of them at the same time would both insert where, one after the other, the second
 * would have found the document of the first. So each says what it inserts, and waits for
 * those whose documents its own filter matches; then it looks again. What counts is what a
 * filter matches, not how it is spelled: {a: 1} waits for {a: {$eq: 1}}, and for {b: 2} if
 * that is about to set a to 1. An upsert does not wait for a document that its filter does not match: then
 * the outcome is the same as if it had come first.
 *
 * While its turn lasts an upsert waits for nothing but the engine, so that no two can wait
 * for each other.
 */
import type { NewRecord } from '../engine/contract.ts'

interface Turn {
  /** Uid of the collection. */
  readonly uid: string
  readonly record: NewRecord
  /** Settles when it is over, however it ended. */
  readonly over: Promise<void>
}

export class Upserts {
  /** Turns of all collections. */
  readonly #turns = new Set<Turn>()

  /** Upserts whose turn it is. */
  get size(): number {
    return this.#turns.size
  }

  /**
   * Does the work unless others are about to insert what would be found. Then it waits for
   * one of them and returns undefined: look again.
   */
  async inTurn<T>(
    uid: string,
    record: NewRecord,
    wouldFind: (record: NewRecord) => boolean | Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    // Turns that begin while another is looked at are visited as well, after it.
    for (const other of this.#turns) {
      if (other.uid !== uid) continue
      const isFound = wouldFind(other.record)
      if (isFound instanceof Promise ? await isFound : isFound) {
        await other.over
        return undefined
      }
    }
    let end!: () => void
    const turn = { uid, record, over: new Promise<void>((resolve) => (end = resolve)) }
    this.#turns.add(turn)
    try {
      return await work()
    } finally {
      this.#turns.delete(turn)
      end()
    }
  }
}
