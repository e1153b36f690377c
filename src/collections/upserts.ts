/**
 * Upserts that found nothing, and are about to insert.
 *
 * Two of them at the same time would both insert where, one after the other, the second
 * would have found the document of the first. So each says what it inserts, and waits for
 * those whose documents its own filter matches; then it looks again. What counts is what a
 * filter matches, not how it is spelled: {a: 1} waits for {a: {$eq: 1}}, and for {b: 2} if
 * that is about to set a to 1. Nobody waits for a document that they would not find: then
 * the outcome is that of having come first.
 *
 * While its turn lasts an upsert waits for nothing but the engine, so that no two can wait
 * for each other.
 */
import type { NewRecord } from '../engine/contract.ts'

interface Turn {
  readonly record: NewRecord
  /** Settles when it is over, however it ended. */
  readonly over: Promise<void>
}

export class Upserts {
  /** By the uid of the collection. */
  readonly #turns = new Map<string, Set<Turn>>()

  /** Upserts whose turn it is. */
  get size(): number {
    return [...this.#turns.values()].reduce((sum, turns) => sum + turns.size, 0)
  }

  /**
   * Does the work unless others are about to insert what would be found. Then it waits for
   * one of them and returns undefined: look again.
   */
  async inTurn<T>(
    uid: string,
    record: NewRecord,
    wouldFind: (record: NewRecord) => boolean,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    const turns = this.#turns.get(uid) ?? new Set<Turn>()
    for (const other of turns)
      if (wouldFind(other.record)) {
        await other.over
        return undefined
      }
    let end!: () => void
    const turn = { record, over: new Promise<void>((resolve) => (end = resolve)) }
    this.#turns.set(uid, turns.add(turn))
    try {
      return await work()
    } finally {
      turns.delete(turn)
      if (turns.size === 0) this.#turns.delete(uid)
      end()
    }
  }
}
