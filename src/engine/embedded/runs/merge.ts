/**
 * Merges runs into one: combines all changes of each entry.
 *
 * Adjacent keys share most of their bytes. Runs store for each key the number of bytes shared with
 * the previous key. The queue of sources keeps this number for each pair of adjacent sources. Of
 * two keys that are greater than a third key, the key that shares more bytes with the third is
 * less. So bytes are compared only when both keys share the same number of bytes with the third,
 * and only the bytes after these.
 */
import { combineStates, oldestState, type State } from './change.ts'
import type { Tie } from '../format/entry-key.ts'
import {
  orderBehind,
  sharedBy,
  type ChangeSource,
  type PackedKey,
} from './packed-change.ts'

export interface RunMergeOptions {
  readonly tie: Tie
  /** Whether no run is older than the merged runs. */
  readonly isOldest: boolean
}

interface Merged {
  readonly source: ChangeSource
  /** Number of newer sources. */
  readonly newer: number
  /**
   * Number of bytes that the key shares with the previous key in the queue or, for the first
   * source, with the last key that the merge passed.
   */
  shared: number
}

/** Combined changes of several sources, which are given newest first. */
export class MergedChanges implements ChangeSource {
  readonly #options: RunMergeOptions
  /**
   * Sources in the order of their current keys. Among equal keys, the oldest source comes first.
   */
  readonly #live: Merged[] = []
  /** Whether the first source is at the current change, so that `next` has to advance it. */
  #isShown = false
  /** Copy of a key that several sources have, valid while they advance. */
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
    // Number of bytes that the current key shares with the previous result: the minimum over all
    // keys passed since.
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

  /** Combines the changes of a key that several sources have; false when they cancel out. */
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
          : combineStates(state, source.state, this.#options.tie)
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
    return this.#options.isOldest ? oldestState(state) : state
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

  /** Moves the first source to its place in the queue. */
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

/** Whether the key equals the previous key in the queue, which has `size` bytes. */
function isSameAs({ source, shared }: Merged, size: number): boolean {
  return shared === size && source.size === size
}
