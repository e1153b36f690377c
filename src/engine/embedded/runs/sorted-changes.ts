/**
 * Puts changes in order that came in any, before they become a run.
 *
 * They are sorted by four bytes of their keys at a time, the first ones first: the bytes and
 * the change's number make one integer, and the platform sorts integers three times as fast
 * as keys are compared by a function. Those that share four bytes are sorted by the next.
 */
import { statesTogether, withoutPast, type State } from './change.ts'
import type { RunMergeOptions } from './merge.ts'
import type { ChangeSource, PackedChange } from './packed-change.ts'

/** So few are compared with each other. */
const fewMax = 16
/** And so are keys that share more bytes than these. */
const depthMax = 64

/** Changes in the order in which they were made. */
export class ChangeLog {
  #bytes = Buffer.allocUnsafe(2 ** 16)
  #size = 0
  readonly #starts: number[] = []
  readonly #states: State[] = []
  readonly #docs: number[] = []

  add({ bytes, start, size, state, doc }: PackedChange): void {
    if (this.#size + size > this.#bytes.length) this.#grow(size)
    const own = this.#bytes
    let at = this.#size
    this.#starts.push(at)
    for (let i = start; i < start + size; i++) own[at++] = bytes[i]!
    this.#size = at
    this.#states.push(state)
    this.#docs.push(doc)
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafe(2 * (this.#bytes.length + size))
    this.#bytes.copy(grown, 0, 0, this.#size)
    this.#bytes = grown
  }

  /** In order, each entry once. Nothing may be added any more. */
  sorted(options: RunMergeOptions): ChangeSource {
    const starts = new Uint32Array(this.#starts.length + 1)
    starts.set(this.#starts)
    starts[this.#starts.length] = this.#size
    const keys = { bytes: this.#bytes, starts }
    const order = orderOf(keys)
    return new SortedChanges(
      { keys, order, states: this.#states, docs: this.#docs },
      options,
    )
  }
}

/** Keys one after the other; the last start is where all end. */
interface Keys {
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
}

/** The numbers of keys in the order of the keys; of those that are the same, the lower first. */
function orderOf(keys: Keys): Uint32Array {
  const order = new Uint32Array(keys.starts.length - 1)
  for (let i = 0; i < order.length; i++) order[i] = i
  new Sorting(keys, order).sort(0, order.length, 0)
  return order
}

class Sorting {
  readonly #keys: Keys
  readonly #order: Uint32Array
  /** A key's number below four bytes of it; and both as halves, the lower one first. */
  readonly #words: BigUint64Array
  readonly #halves: Uint32Array

  constructor(keys: Keys, order: Uint32Array) {
    this.#keys = keys
    this.#order = order
    this.#words = new BigUint64Array(order.length)
    this.#halves = new Uint32Array(this.#words.buffer)
  }

  /** Sorts a part, of which the keys share so many bytes and the numbers rise. */
  sort(from: number, to: number, depth: number): void {
    if (to - from <= fewMax) this.#insertEach(from, to, depth)
    else if (depth > depthMax)
      this.#order
        .subarray(from, to)
        .sort((a, b) => compareFrom(this.#keys, a, b, depth) || a - b)
    else this.#sortByWord(from, to, depth)
  }

  #sortByWord(from: number, to: number, depth: number): void {
    const order = this.#order
    const halves = this.#halves
    for (let i = from; i < to; i++) {
      halves[2 * i] = order[i]!
      halves[2 * i + 1] = wordAt(this.#keys, order[i]!, depth)
    }
    this.#words.subarray(from, to).sort()
    for (let i = from; i < to; i++) order[i] = halves[2 * i]!
    // A part is sorted once its end is known, and writes only to its own words.
    let start = from
    for (let end = from + 1; end <= to; end++) {
      if (end < to && halves[2 * end + 1] === halves[2 * start + 1]) continue
      if (end - start > 1) this.sort(start, end, depth + 4)
      start = end
    }
  }

  #insertEach(from: number, to: number, depth: number): void {
    const order = this.#order
    const keys = this.#keys
    for (let i = from + 1; i < to; i++) {
      const number = order[i]!
      let at = i
      for (; at > from && compareFrom(keys, order[at - 1]!, number, depth) > 0; at--)
        order[at] = order[at - 1]!
      order[at] = number
    }
  }
}

/** Four bytes of a key; behind its end are zeros, which come before anything longer. */
function wordAt({ bytes, starts }: Keys, number: number, depth: number): number {
  const at = starts[number]! + depth
  const end = starts[number + 1]!
  if (at + 4 <= end) {
    const high = (bytes[at]! << 8) | bytes[at + 1]!
    return high * 2 ** 16 + ((bytes[at + 2]! << 8) | bytes[at + 3]!)
  }
  let word = 0
  for (let i = at; i < at + 4; i++) word = word * 256 + (i < end ? bytes[i]! : 0)
  return word
}

/** Compares two keys that share so many bytes. */
function compareFrom({ bytes, starts }: Keys, a: number, b: number, depth: number): number {
  const [start, otherStart] = [starts[a]!, starts[b]!]
  const size = starts[a + 1]! - start
  const otherSize = starts[b + 1]! - otherStart
  const both = size < otherSize ? size : otherSize
  for (let i = depth; i < both; i++) {
    const order = bytes[start + i]! - bytes[otherStart + i]!
    if (order !== 0) return order
  }
  return size - otherSize
}

interface Ordered {
  readonly keys: Keys
  readonly order: Uint32Array
  readonly states: readonly State[]
  readonly docs: readonly number[]
}

class SortedChanges implements ChangeSource {
  readonly #changes: Ordered
  readonly #options: RunMergeOptions
  readonly bytes: Uint8Array
  #next = 0
  isAt = true
  start = 0
  size = 0
  state: State = 0
  doc = 0

  constructor(changes: Ordered, options: RunMergeOptions) {
    this.#changes = changes
    this.#options = options
    this.bytes = changes.keys.bytes
    this.next()
  }

  next(): void {
    const { keys, order, states, docs } = this.#changes
    while (this.#next < order.length) {
      let number = order[this.#next++]!
      let state: State | undefined = states[number]
      for (; this.#next < order.length; this.#next++) {
        const newer = order[this.#next]!
        if (!isSame(keys, number, newer)) break
        state =
          state === undefined
            ? states[newer]!
            : statesTogether(state, states[newer]!, this.#options.tie)
        number = newer
      }
      if (state !== undefined && this.#options.isOldest) state = withoutPast(state)
      if (state === undefined) continue
      this.start = keys.starts[number]!
      this.size = keys.starts[number + 1]! - this.start
      this.state = state
      this.doc = docs[number]!
      return
    }
    this.isAt = false
  }
}

/** Keys differ mostly at their ends, in whose they are. */
function isSame({ bytes, starts }: Keys, a: number, b: number): boolean {
  const [end, otherEnd] = [starts[a + 1]!, starts[b + 1]!]
  const size = end - starts[a]!
  if (size !== otherEnd - starts[b]!) return false
  for (let i = 1; i <= size; i++) if (bytes[end - i] !== bytes[otherEnd - i]) return false
  return true
}
