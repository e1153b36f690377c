/** Merges runs: what became of each entry, seen over all of them. */
import { statesTogether, withoutPast, type State } from './change.ts'
import type { Tie } from './entry-key.ts'
import { compareKeys, isSameKey, type ChangeSource } from './packed-change.ts'

export interface RunMergeOptions {
  readonly tie: Tie
  /** Whether nothing is older than what is merged. */
  readonly isOldest: boolean
}

interface Merged {
  readonly source: ChangeSource
  /** Sources that are newer. */
  readonly newer: number
}

/** All changes of some sources, of which the newest comes first. */
export class MergedChanges implements ChangeSource {
  readonly #options: RunMergeOptions
  /** The first is where the lowest key is. Of those with the same key the oldest comes first. */
  readonly #live: Merged[] = []
  /** Whether the first of them stands at what is shown here, and has to go on. */
  #isShown = false
  /** A key that several had, while they go on. */
  #shared = Buffer.alloc(256)
  isAt = true
  bytes: Uint8Array = this.#shared
  start = 0
  size = 0
  state: State = 0
  doc = 0

  constructor(sources: readonly ChangeSource[], options: RunMergeOptions) {
    this.#options = options
    for (const [newer, source] of sources.entries()) {
      if (!source.isAt) continue
      this.#live.unshift({ source, newer })
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
    while (live.length > 0) {
      const { source } = live[0]!
      this.#isShown = live.length === 1 || !isSameKey(source, live[1]!.source)
      if (!this.#isShown) {
        if (this.#takeShared()) return
        continue
      }
      const state = this.#ended(source.state)
      if (state !== undefined) {
        this.#show(source, state, source.doc)
        return
      }
      this.#advance()
    }
    this.isAt = false
  }

  /** Takes the changes of one key from all that have it: whether anything is left of them. */
  #takeShared(): boolean {
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
    } while (live.length > 0 && isSameKey(live[0]!.source, key))
    const left = state === undefined ? undefined : this.#ended(state)
    if (left === undefined) return false
    this.#show(key, left, doc)
    return true
  }

  #copyKey({ bytes, start, size }: ChangeSource) {
    if (size > this.#shared.length) this.#shared = Buffer.alloc(2 * size)
    this.#shared.set(bytes.subarray(start, start + size))
    return { bytes: this.#shared, start: 0, size }
  }

  #show(
    key: Pick<ChangeSource, 'bytes' | 'start' | 'size'>,
    state: State,
    doc: number,
  ): void {
    this.bytes = key.bytes
    this.start = key.start
    this.size = key.size
    this.state = state
    this.doc = doc
  }

  #ended(state: State): State | undefined {
    return this.#options.isOldest ? withoutPast(state) : state
  }

  #advance(): void {
    const { source } = this.#live[0]!
    source.next()
    if (source.isAt) this.#sink()
    else this.#live.shift()
  }

  /** Moves the first of them to where its key belongs. */
  #sink(): void {
    const live = this.#live
    const first = live[0]!
    let at = 0
    for (; at + 1 < live.length; at++) {
      const other = live[at + 1]!
      const order = compareKeys(first.source, other.source)
      if (order < 0 || (order === 0 && first.newer > other.newer)) break
      live[at] = other
    }
    live[at] = first
  }
}
