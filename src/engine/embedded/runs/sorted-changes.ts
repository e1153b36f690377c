/**
 * Sorts changes for a flush.
 *
 * This is a radix sort by four bytes of the keys at a time, starting with the first four bytes.
 * Four bytes and the index of the change make one integer, and the platform sorts integers three
 * times as fast as a comparison function sorts keys. Keys that share four bytes are sorted by the
 * next four.
 */
import { combineStates, oldestState, type State } from './change.ts'
import { docSize } from '../format/entry-key.ts'
import type { RunMergeOptions } from './merge.ts'
import type { ChangeSource, PackedChange } from './packed-change.ts'

/** Maximum size of a group that is sorted by comparison. */
const fewMax = 16
/**
 * Maximum number of shared bytes: groups of keys that share more bytes are sorted by comparison as
 * well.
 */
const depthMax = 64

/** Changes in the order in which they were made. */
export class ChangeLog {
  #bytes = Buffer.allocUnsafe(2 ** 16)
  #size = 0
  readonly #starts: number[] = []
  readonly #states: State[] = []
  readonly #docs: number[] = []
  /** Whether documents were added in ascending order. */
  #docsRise = true

  add({ bytes, start, size, state, doc }: PackedChange): void {
    if (this.#size + size > this.#bytes.length) this.#grow(size)
    const own = this.#bytes
    let at = this.#size
    this.#starts.push(at)
    for (let i = start; i < start + size; i++) own[at++] = bytes[i]!
    this.#size = at
    this.#states.push(state)
    if (doc < (this.#docs.at(-1) ?? 0)) this.#docsRise = false
    this.#docs.push(doc)
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafe(2 * (this.#bytes.length + size))
    this.#bytes.copy(grown, 0, 0, this.#size)
    this.#bytes = grown
  }

  /** The changes in key order, one per entry. No change may be added afterwards. */
  sorted(options: RunMergeOptions): ChangeSource {
    const starts = new Uint32Array(this.#starts.length + 1)
    starts.set(this.#starts)
    starts[this.#starts.length] = this.#size
    const keys = { bytes: this.#bytes, starts }
    // When document numbers ascend, the keys of one value are in order already.
    const endSize = options.tie === 'doc' && this.#docsRise ? docSize : 0
    const order = orderOf(keys, endSize)
    return new SortedChanges(
      { keys, order, states: this.#states, docs: this.#docs },
      options,
    )
  }
}

/** Concatenated keys; the last start is the end of the last key. */
interface Keys {
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
}

/**
 * Indexes of the keys in key order; equal keys keep their order. Keys that differ only in their
 * last `endSize` bytes must be in order already.
 */
function orderOf(keys: Keys, endSize: number): Uint32Array {
  const order = new Uint32Array(keys.starts.length - 1)
  for (let i = 0; i < order.length; i++) order[i] = i
  new Sorting(keys, order, endSize).sort(0, order.length, 0)
  return order
}

class Sorting {
  readonly #keys: Keys
  readonly #order: Uint32Array
  /**
   * One word per key: four bytes of the key in the high half, the index of the key in the low half.
   * `#halves` is the same memory as 32-bit numbers, low half first.
   */
  readonly #words: BigUint64Array
  readonly #halves: Uint32Array
  readonly #endSize: number

  constructor(keys: Keys, order: Uint32Array, endSize: number) {
    this.#keys = keys
    this.#endSize = endSize
    this.#order = order
    this.#words = new BigUint64Array(order.length)
    this.#halves = new Uint32Array(this.#words.buffer)
  }

  /** Sorts a range whose keys share `depth` bytes and whose indexes ascend. */
  sort(from: number, to: number, depth: number): void {
    if (
      this.#endSize > 0 &&
      depth >= sizeOf(this.#keys, this.#order[from]!) - this.#endSize
    )
      return
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
    // A group is sorted as soon as its end is known; sorting overwrites only the words of the
    // group.
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

/** Four bytes of a key, padded with zeros, so that a key never sorts before its prefix. */
function wordAt({ bytes, starts }: Keys, number: number, depth: number): number {
  const at = starts[number]! + depth
  const end = starts[number + 1]!
  if (at + 4 <= end) {
    const high = (bytes[at]! << 8) | bytes[at + 1]!
    return high * 65_536 + ((bytes[at + 2]! << 8) | bytes[at + 3]!)
  }
  let word = 0
  for (let i = at; i < at + 4; i++) word = word * 256 + (i < end ? bytes[i]! : 0)
  return word
}

/** Number of bytes that two keys share. The first `known` bytes are equal. */
function sharedFrom({ bytes, starts }: Keys, a: number, b: number, known = 0): number {
  const start = starts[a]!
  const otherStart = starts[b]!
  const size = starts[a + 1]! - start
  const otherSize = starts[b + 1]! - otherStart
  const both = size < otherSize ? size : otherSize
  let shared = known
  while (shared < both && bytes[start + shared] === bytes[otherStart + shared]) shared++
  return shared
}

/** Compares two keys that share their first `depth` bytes, or all bytes of the shorter key. */
function compareFrom(keys: Keys, a: number, b: number, depth: number): number {
  const shared = sharedFrom(keys, a, b, depth)
  const size = sizeOf(keys, a)
  const otherSize = sizeOf(keys, b)
  if (shared >= size || shared >= otherSize) return size - otherSize
  const { bytes, starts } = keys
  return bytes[starts[a]! + shared]! - bytes[starts[b]! + shared]!
}

function sizeOf({ starts }: Keys, number: number): number {
  return starts[number + 1]! - starts[number]!
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
  /** Number of bytes that the next key shares with the last key passed. */
  #sharedAhead = 0
  isAt = true
  start = 0
  size = 0
  shared = 0
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
    // Number of bytes that the current key shares with the previous result: the minimum over all
    // keys passed since.
    let shared = this.#sharedAhead
    while (this.#next < order.length) {
      let number = order[this.#next++]!
      let state: State | undefined = states[number]
      let ahead = 0
      for (; this.#next < order.length; this.#next++) {
        const newer = order[this.#next]!
        ahead = sharedFrom(keys, number, newer)
        if (ahead < sizeOf(keys, number) || ahead < sizeOf(keys, newer)) break
        state =
          state === undefined
            ? states[newer]!
            : combineStates(state, states[newer]!, this.#options.tie)
        number = newer
      }
      this.#sharedAhead = ahead
      if (state !== undefined && this.#options.isOldest) state = oldestState(state)
      if (state === undefined) {
        if (ahead < shared) shared = ahead
        continue
      }
      this.start = keys.starts[number]!
      this.size = sizeOf(keys, number)
      this.shared = shared
      this.state = state
      this.doc = docs[number]!
      return
    }
    this.isAt = false
  }
}
