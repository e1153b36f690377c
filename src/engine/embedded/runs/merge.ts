/**
 * Merges runs: what became of each entry, seen over all of them.
 *
 * Keys that stand next to each other share most of their bytes. How many is known of every key
 * and the one before it in its run, and kept for the runs that wait beside each other here. Of
 * two keys that come behind a third one, the one that shares more with it comes first. So bytes
 * are compared only where both share the same, and behind those.
 */
import { statesTogether, withoutPast, type State } from './change.ts'
import type { Tie } from '../format/entry-key.ts'
import {
  orderBehind,
  sharedBy,
  type ChangeSource,
  type PackedKey,
} from './packed-change.ts'

export interface RunMergeOptions {
  readonly tie: Tie
  /** Whether nothing is older than what is merged. */
  readonly isOldest: boolean
}

interface Merged {
  readonly source: ChangeSource
  /** Sources that are newer. */
  readonly newer: number
  /** Bytes that its key shares with the one before it here; of the first, with the last one passed. */
  shared: number
}

/** All changes of some sources, of which the newest comes first. */
export class MergedChanges implements ChangeSource {
  readonly #options: RunMergeOptions
  /** In the order of their keys. Of those with the same key the oldest comes first. */
  readonly #live: Merged[] = []
  /** Whether the first of them stands at what is shown here, and has to go on. */
  #isShown = false
  /** A key that several had, while they go on. */
  #common = new Uint8Array(256)
  isAt = true
  bytes: Uint8Array = this.#common
  start = 0
  size = 0
  shared = 0
  state: State = 0
  doc = 0

  constructor(sources: readonly ChangeSource[], options: RunMergeOptions) {
    this.#options = options
    for (const [newer, source] of sources.entries()) {
      if (!source.isAt) continue
      this.#live.unshift({ source, newer, shared: 0 })
      this.#sink()
    }
    this.#settle()
  }

  next(): void {
    if (this.#isShown) this.#advance()
    this.#settle()
  }

  #settle(): void {
    const live = this.#live
    // What is shown shares with what was shown before as much as all that were passed between do.
    let shared = live[0]?.shared ?? 0
    while (live.length > 0) {
      const first = live[0]!
      const { source } = first
      if (first.shared < shared) shared = first.shared
      this.#isShown = live.length === 1 || !isSameAs(live[1]!, source.size)
      if (!this.#isShown) {
        if (this.#takeCommon(shared)) return
        continue
      }
      const state = this.#ended(source.state)
      if (state !== undefined) {
        this.#show(source, shared, state, source.doc)
        return
      }
      this.#advance()
    }
    this.isAt = false
  }

  /** Takes the changes of one key from all that have it: whether anything is left of them. */
  #takeCommon(shared: number): boolean {
    const live = this.#live
    const key = this.#copyKey(live[0]!.source)
    let state: State | undefined
    let doc = 0
    do {
      const { source } = live[0]!
      state =
        state === undefined
          ? source.state
          : statesTogether(state, source.state, this.#options.tie)
      doc = source.doc
      this.#advance()
    } while (live.length > 0 && isSameAs(live[0]!, key.size))
    const left = state === undefined ? undefined : this.#ended(state)
    if (left === undefined) return false
    this.#show(key, shared, left, doc)
    return true
  }

  #copyKey({ bytes, start, size }: ChangeSource): PackedKey {
    if (size > this.#common.length) this.#common = new Uint8Array(2 * size)
    this.#common.set(bytes.subarray(start, start + size))
    return { bytes: this.#common, start: 0, size }
  }

  #show(key: PackedKey, shared: number, state: State, doc: number): void {
    this.bytes = key.bytes
    this.start = key.start
    this.size = key.size
    this.shared = shared
    this.state = state
    this.doc = doc
  }

  #ended(state: State): State | undefined {
    return this.#options.isOldest ? withoutPast(state) : state
  }

  #advance(): void {
    const first = this.#live[0]!
    const { source } = first
    source.next()
    if (!source.isAt) {
      this.#live.shift()
      return
    }
    first.shared = source.shared
    this.#sink()
  }

  /** Moves the first of them to where its key belongs. */
  #sink(): void {
    const live = this.#live
    const first = live[0]!
    let { shared } = first
    let at = 0
    for (; at + 1 < live.length; at++) {
      const other = live[at + 1]!
      if (shared > other.shared) break
      if (shared === other.shared) {
        const both = sharedBy(first.source, other.source, shared)
        const order = orderBehind(first.source, other.source, both)
        if (order < 0 || (order === 0 && first.newer > other.newer)) {
          other.shared = both
          break
        }
        shared = both
      }
      live[at] = other
    }
    first.shared = shared
    live[at] = first
  }
}

/** Whether its key is the one before it, which has so many bytes. */
function isSameAs({ source, shared }: Merged, size: number): boolean {
  return shared === size && source.size === size
}
