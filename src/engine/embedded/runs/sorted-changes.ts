/**
 * Puts changes in order that came in any, before they become a run.
 *
 * They are sorted by four bytes of their keys at a time, the first ones first: the bytes and
 * the change's number make one integer, and the platform sorts integers three times as fast
 * as keys are compared by a function. Those that share four bytes are sorted by the next.
 */
import { statesTogether, withoutPast, type State } from './change.ts'
import { docSize } from '../format/entry-key.ts'
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
  /** Whether documents came in the order of their numbers. */
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

  /** In order, each entry once. Nothing may be added any more. */
  sorted(options: RunMergeOptions): ChangeSource {
    const starts = new Uint32Array(this.#starts.length + 1)
    starts.set(this.#starts)
    starts[this.#starts.length] = this.#size
    const keys = { bytes: this.#bytes, starts }
    // Keys of one value are in order already if they end with numbers that rise.
    const endSize = options.tie === 'doc' && this.#docsRise ? docSize : 0
    const order = orderOf(keys, endSize)
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

/**
 * The numbers of keys in the order of the keys; of those that are the same, the lower first. So
 * many bytes at their ends need not be looked at: what differs in these only is in order.
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
  /** A key's number below four bytes of it; and both as halves, the lower one first. */
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

  /** Sorts a part, of which the keys share so many bytes and the numbers rise. */
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
    return high * 65_536 + ((bytes[at + 2]! << 8) | bytes[at + 3]!)
  }
  let word = 0
  for (let i = at; i < at + 4; i++) word = word * 256 + (i < end ? bytes[i]! : 0)
  return word
}

/** How many bytes two keys share, of which so many are known. */
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

/** Compares two keys that share so many bytes, or more than one of them has. */
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
  /** Bytes that the next key shares with the last one passed. */
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
    // What is shown shares with what was shown before as much as all that were left out between do.
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
            : statesTogether(state, states[newer]!, this.#options.tie)
        number = newer
      }
      this.#sharedAhead = ahead
      if (state !== undefined && this.#options.isOldest) state = withoutPast(state)
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
