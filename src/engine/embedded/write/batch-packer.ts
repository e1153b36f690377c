/**
 * Packs index entries and terms of a batch into typed arrays, so that few objects are sent to the
 * writer thread.
 */
import type { Value } from '../../../json/value.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'
import { EntryList, type Entry } from '../format/entries.ts'
import {
  packOperations,
  type Operation,
  type TermSpan,
  type WriteBatch,
} from './write-batch.ts'

export class BatchPacker {
  readonly list = new EntryList()
  readonly #chosen: Entry[] = []
  readonly #terms = new Map<string, number>()
  readonly #termCounts: number[] = []
  /** Position of the latest count of each term in `termCounts`, by number of the term. */
  readonly #countedAt: number[] = []

  addId(id: Value): Pick<Operation, 'idStart' | 'idEnd'> {
    const { bytes } = this.list
    const idStart = bytes.size
    bytes.addValue(id)
    return { idStart, idEnd: bytes.size }
  }

  /** Adds entries of `list` to the batch: first the entries to remove, then the entries to add. */
  addEntries(
    removed: readonly Entry[],
    added: readonly Entry[],
  ): Pick<Operation, 'from' | 'middle' | 'to'> {
    const from = this.#chosen.length
    for (const entry of removed) this.#chosen.push(entry)
    const middle = this.#chosen.length
    for (const entry of added) this.#chosen.push(entry)
    return { from, middle, to: this.#chosen.length }
  }

  /** Counts the terms of a text. Each distinct term of the batch is sent once. */
  addTerms(terms: readonly string[]): TermSpan {
    const counts = this.#termCounts
    const start = counts.length
    for (const term of terms) {
      let position = this.#terms.get(term)
      if (position === undefined) {
        position = this.#countedAt.push(-1) - 1
        this.#terms.set(term, position)
      }
      const at = this.#countedAt[position]!
      if (at >= start) counts[at]!++
      else this.#countedAt[position] = counts.push(position, 1) - 1
    }
    return { from: start / 2, to: counts.length / 2 }
  }

  *pack(
    operations: readonly Operation[],
    ordered: boolean,
  ): Steps<Omit<WriteBatch, 'merges'>> {
    const { bytes } = this.list
    const { paths, entries } = yield* packEntries(this.#chosen)
    return {
      ordered,
      paths,
      entries,
      keys: bytes.view(0, bytes.size),
      terms: [...this.#terms.keys()],
      termCounts: Uint32Array.from(this.#termCounts),
      ...packOperations(operations),
    }
  }
}

function* packEntries(chosen: readonly Entry[]) {
  const pace = new Pace()
  const positions = new Map<string, number>()
  const entries = new Uint32Array(chosen.length * 4)
  let at = 0
  for (const { path, start, end, element } of chosen) {
    if (pace.isDue()) yield
    let position = positions.get(path)
    if (position === undefined) positions.set(path, (position = positions.size))
    entries[at++] = position
    entries[at++] = start
    entries[at++] = end
    entries[at++] = element ? 1 : 0
  }
  return { paths: [...positions.keys()], entries }
}
