/**
 * Coordinates upserts that found no document and are about to insert one.
 *
 * Without coordination, two concurrent upserts could both insert. In sequence, the second upsert
 * would find the document of the first one. Each upsert therefore registers the record that it
 * inserts. An upsert waits for registered records that its own filter matches, and then reads
 * again. Filters are evaluated on the records, not compared as texts: {a: 1} waits for
 * {a: {$eq: 1}}, and for {b: 2} if that upsert sets a to 1. An upsert does not wait for a record
 * that its filter does not match: the outcome is the same as if it had come first.
 *
 * During its turn an upsert waits only for the engine, so upserts cannot deadlock.
 */
import type { NewRecord } from '../engine/contract.ts'

interface Turn {
  /** Uid of the collection. */
  readonly uid: string
  readonly record: NewRecord
  /** Resolves when the turn ends, even after a failure. */
  readonly over: Promise<void>
}

export class Upserts {
  /** Running upserts of all collections. */
  readonly #turns = new Set<Turn>()

  /** Number of running upserts. */
  get size(): number {
    return this.#turns.size
  }

  /**
   * Runs `work`, unless a running upsert inserts a record that the filter matches. In that case,
   * waits for that upsert and returns undefined; the caller must read again.
   */
  async inTurn<T>(
    uid: string,
    record: NewRecord,
    wouldFind: (record: NewRecord) => boolean | Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    // The loop also visits turns that start during it, because a Set appends them.
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
