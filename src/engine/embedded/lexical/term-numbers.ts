/**
 * Cache of term numbers by text: a hash table in typed arrays. The entries and keys of a Map are
 * spread over memory, so with tens of thousands of terms each lookup waits for memory. Here a
 * lookup takes two accesses: to a slot, and to the data of the term.
 */
export class TermNumbers {
  /** Slots of the hash table: hash of a term, and its index in `#known`; 0: unused. */
  #slots = new Uint32Array(256 * slotSize)
  #size = 0
  /** Per term: its length, its number in two halves, and its characters. */
  #known = new Uint16Array(4096)
  #end = 1

  get isFull(): boolean {
    return this.#size >= termsMax || this.#end >= charactersMax
  }

  /** Number of a term; 0 when it is not cached. */
  get(term: string): number {
    const slots = this.#slots
    const known = this.#known
    const hash = hashOf(term)
    const { length } = term
    for (let at = this.#first(hash); slots[at + 1] !== 0; at = this.#after(at)) {
      if (slots[at] !== hash) continue
      const start = slots[at + 1]!
      if (known[start] !== length) continue
      let same = 0
      while (same < length && known[start + 3 + same] === term.charCodeAt(same)) same++
      if (same === length) return known[start + 1]! * 65_536 + known[start + 2]!
    }
    return 0
  }

  /** Adds a term, which must not be cached yet. Numbers have 32 bits and are positive. */
  set(term: string, number: number): void {
    const { length } = term
    if (length > lengthMax) return
    if (this.#size * slotSize * 2 >= this.#slots.length) this.#addSlots()
    if (this.#end + 3 + length > this.#known.length) this.#addRoom()
    const known = this.#known
    const start = this.#end
    known[start] = length
    known[start + 1] = number >>> 16
    known[start + 2] = number & 0xffff
    for (let i = 0; i < length; i++) known[start + 3 + i] = term.charCodeAt(i)
    this.#end += 3 + length
    this.#put(hashOf(term), start)
    this.#size++
  }

  #put(hash: number, start: number): void {
    const slots = this.#slots
    let at = this.#first(hash)
    while (slots[at + 1] !== 0) at = this.#after(at)
    slots[at] = hash
    slots[at + 1] = start
  }

  #first(hash: number): number {
    return Math.imul(hash, slotSize) & (this.#slots.length - 1)
  }

  #after(at: number): number {
    return (at + slotSize) & (this.#slots.length - 1)
  }

  #addSlots(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(before.length * 2)
    for (let at = 0; at < before.length; at += slotSize)
      if (before[at + 1] !== 0) this.#put(before[at]!, before[at + 1]!)
  }

  #addRoom(): void {
    const before = this.#known
    this.#known = new Uint16Array(before.length * 2)
    this.#known.set(before)
  }
}

const slotSize = 2

/** Maximum numbers of terms and of their characters: 3 MiB of memory in total, slots included. */
const termsMax = 50_000
const charactersMax = 2 ** 19
/** Maximum length of a cached term. Few texts share longer terms. */
const lengthMax = 256

/** FNV-1a over characters, with its high bits mixed into its low bits, which select a slot. */
function hashOf(term: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < term.length; i++)
    hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
