/**
 * Maintains the term index while documents are written (docs/internals/lexical-index.md).
 *
 * The term list of a text is written at once, as a row of `waiting`. When enough texts wait, or
 * writes pause, the postings of all waiting texts are written as a segment, and their rows are
 * deleted. Until then, readers read the term lists.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { TermsDebt } from '../../operations.ts'
import { storedTerm } from '../store/layout.ts'
import { bytesChecksum } from '../format/checksums.ts'
import { DocumentList } from './document-list.ts'
import { FoldedTexts } from './folded-texts.ts'
import { Segments } from './segments.ts'
import { TermList } from './term-list.ts'
import { TermNumbers } from './term-numbers.ts'
import { verifiedWaiting, type WaitingRow } from './waiting.ts'

/**
 * Counts of the terms of a text. `termCounts` has two numbers per term: the index of the term in
 * `terms`, and its count. The text has the terms from number `from` to before number `to`. Texts
 * that are written together share both arrays, so that the number of each term is looked up only
 * once.
 */
export interface TermCounts {
  readonly terms: readonly string[]
  readonly termCounts: Uint32Array
  readonly from: number
  readonly to: number
}

/**
 * Maximum size of waiting lists in bytes: a thousand texts of sixty words, read in half a
 * millisecond. Tests lower it to get many segments from few texts.
 */
const waitingSizeMax = Number(process.env['STELA_TEST_WAITING'] ?? 64 * 1024)

/** Approximate number of postings in waiting lists of `waitingSizeMax` bytes. */
const foldedPostings = Math.ceil(waitingSizeMax * 0.6)

/**
 * Number of postings to merge per step while no writes arrive: a step takes some tens of
 * milliseconds.
 */
const idlePostings = 300_000

export class LexicalWriter {
  readonly #database: DatabaseSync
  readonly #suffix: string
  readonly #statements: Statements
  readonly #segments: Segments
  /** Term numbers in two generations: recently used terms, and older terms. */
  #termIds = new TermNumbers()
  #termIdsBefore = new TermNumbers()
  /** Terms of the latest batch of texts and their numbers; 0: not looked up yet. */
  #lastTerms: readonly string[] = []
  #lastIds = new Uint32Array(0)
  /** Terms without postings in a segment so far. */
  readonly #newTerms = new Set<number>()
  #texts = 0
  #tokens = 0
  #nextTerm = 0
  /** The table `waiting`: term lists by document; null if the text was removed. */
  readonly #waiting = new Map<number, Uint8Array | null>()
  #waitingSize = 0
  /** Numbers of postings of texts that were written since the last commit, and in that commit. */
  #written = 0
  #committed = 0
  /** Whether the numbers of texts, tokens and terms differ from those in the store. */
  #isChanged = false

  /** `suffix` distinguishes the term indexes of a store. */
  constructor(database: DatabaseSync, suffix: string) {
    this.#database = database
    this.#suffix = suffix
    this.#statements = prepareStatements(database, suffix)
    this.#segments = new Segments(database, suffix, foldedPostings)
    this.reload()
  }

  /** Reloads all state from the store: after opening, and after a rollback. */
  reload(): void {
    const { meta, waiting } = this.#statements
    this.#forgetTerms()
    this.#newTerms.clear()
    this.#segments.reload()
    this.#texts = numberOf(meta.read.get(`texts${this.#suffix}`))
    this.#tokens = numberOf(meta.read.get(`tokens${this.#suffix}`))
    this.#nextTerm = numberOf(meta.read.get(`terms${this.#suffix}`))
    this.#waiting.clear()
    this.#waitingSize = 0
    for (const row of waiting.all.iterate()) {
      const [seq, list] = verifiedWaiting(row as unknown as WaitingRow, this.#suffix)
      this.#waiting.set(seq, list)
      this.#waitingSize += sizeOf(list)
    }
    this.#written = 0
    this.#committed = 0
    this.#isChanged = false
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  get debt(): TermsDebt {
    return {
      recent: this.#waiting.size,
      waiting: this.#segments.waiting,
      segments: this.#segments.made.length,
    }
  }

  /** Whether merges are due while no writes arrive. */
  get isMergeDue(): boolean {
    return this.#segments.isWorkDue(true)
  }

  /** Sets the terms of a document's text. */
  put(seq: number, terms: TermCounts): void {
    const list = this.#listOf(terms)
    this.#uncount(seq)
    this.#await(seq, list.encode())
    this.#texts++
    this.#tokens += list.length
    this.#written += list.size
  }

  remove(seq: number): void {
    if (!this.#uncount(seq)) return
    if (this.#segments.lengthOf(seq) !== undefined) this.#await(seq, null)
    else {
      this.#waitingSize -= sizeOf(this.#waiting.get(seq))
      this.#waiting.delete(seq)
      this.#statements.waiting.remove.run(seq)
    }
  }

  clear(): void {
    for (const table of ['term', 'waiting'])
      this.#database.exec(`DELETE FROM ${table}${this.#suffix}`)
    this.#segments.clear()
    this.#forgetTerms()
    this.#newTerms.clear()
    this.#texts = 0
    this.#tokens = 0
    this.#waiting.clear()
    this.#waitingSize = 0
    this.#isChanged = true
  }

  /** Writes the changed counts to the store. Must be called before a commit. */
  finish(): void {
    this.#committed = this.#written
    this.#written = 0
    if (!this.#isChanged) return
    const { write } = this.#statements.meta
    write.run(this.#texts, `texts${this.#suffix}`)
    write.run(this.#tokens, `tokens${this.#suffix}`)
    write.run(this.#nextTerm, `terms${this.#suffix}`)
    this.#isChanged = false
  }

  /** Whether `keepUp` has work to do. */
  get isDue(): boolean {
    if (this.#waitingSize > waitingSizeMax) return true
    return this.#committed + this.#written > 0 && this.#segments.isWorkDue(false)
  }

  /**
   * Writes a segment when enough texts wait, and merges in proportion to the number of postings
   * written. Must be called after a commit.
   */
  keepUp(): void {
    if (this.#waitingSize > waitingSizeMax) this.fold()
    this.#merge((this.#committed + this.#written) * this.#segments.levels, false)
    this.#committed = 0
    this.#written = 0
  }

  /** Writes the waiting texts as a segment. */
  fold(): void {
    const folded = new FoldedTexts(foldedPostings)
    const replaced: number[] = []
    for (const seq of Float64Array.from(this.#waiting.keys()).sort()) {
      const list = this.#waiting.get(seq) ?? null
      if (this.#segments.lengthOf(seq) !== undefined) replaced.push(seq)
      if (list !== null) folded.add(seq, list)
    }
    const lengths = Uint32Array.from(folded.lengths)
    if (lengths.length > 0 || replaced.length > 0)
      this.#segments.add(DocumentList.of(folded.seqs), lengths, replaced, (segment) => {
        for (const [term, postings] of folded.terms()) {
          segment.add(term, postings, lengths)
          this.#newTerms.delete(term)
        }
      })
    // The remaining new terms belong to texts that were replaced before they became part of a
    // segment.
    this.#dropTerms([...this.#newTerms])
    this.#newTerms.clear()
    this.#statements.waiting.clear.run()
    this.#waiting.clear()
    this.#waitingSize = 0
  }

  /** Does part of the pending merges while no writes arrive. */
  mergeWhileIdle(postings = idlePostings): void {
    this.#merge(postings, true)
  }

  #merge(postings: number, isIdle: boolean): void {
    const unused = this.#segments.work(postings, isIdle)
    if (unused.length === 0) return
    // Terms that waiting texts use again are kept.
    const waiting = new Set<number>()
    for (const bytes of this.#waiting.values()) {
      const { ids, size } = taken.decode(bytes ?? nothing)
      for (let i = 0; i < size; i++) waiting.add(ids[i]!)
    }
    this.#dropTerms(unused.filter((term) => !waiting.has(term)))
  }

  /** Subtracts the text of a document from the counts; false when the document has no text. */
  #uncount(seq: number): boolean {
    const list = this.#waiting.get(seq)
    const length =
      list === undefined
        ? this.#segments.lengthOf(seq)
        : list === null
          ? undefined
          : taken.decode(list).length
    if (length === undefined) return false
    this.#texts--
    this.#tokens -= length
    this.#isChanged = true
    return true
  }

  #await(seq: number, list: Uint8Array | null): void {
    const before = this.#waiting.get(seq)
    if (before !== undefined) this.#waitingSize -= sizeOf(before)
    this.#waitingSize += sizeOf(list)
    this.#waiting.set(seq, list)
    this.#statements.waiting.put.run(seq, list, bytesChecksum(list, seq))
    this.#isChanged = true
  }

  /** The term list of a text. It is valid until the next call. */
  #listOf({ terms, termCounts, from, to }: TermCounts): TermList {
    if (terms !== this.#lastTerms) {
      this.#lastTerms = terms
      this.#lastIds = new Uint32Array(terms.length)
    }
    const ids = this.#lastIds
    if (to - from > keys.length) keys = new Float64Array(2 * (to - from))
    for (let i = from; i < to; i++) {
      const position = termCounts[i * 2]!
      const id = (ids[position] ||= this.#termId(terms[position]!))
      // A key contains both term and position, so that a numeric sort orders the terms.
      keys[i - from] = id * placesMax + (i - from)
    }
    built.size = 0
    for (const key of keys.subarray(0, to - from).sort()) {
      const id = Math.floor(key / placesMax)
      built.push(id, termCounts[(from + key - id * placesMax) * 2 + 1]!)
    }
    return built
  }

  #termId(text: string): number {
    const known = this.#termIds.get(text)
    if (known > 0) return known
    const id = this.#termIdsBefore.get(text) || this.#storedTermId(text)
    if (this.#termIds.isFull) {
      this.#termIdsBefore = this.#termIds
      this.#termIds = new TermNumbers()
    }
    this.#termIds.set(text, id)
    return id
  }

  #storedTermId(text: string): number {
    const { find, insert } = this.#statements.term
    const stored = storedTerm(text)
    const found = find.get(stored) as unknown as [number] | undefined
    if (found !== undefined) return found[0]
    // Numbers are not reused, so that no list refers to a wrong term.
    const id = ++this.#nextTerm
    insert.run(id, stored)
    this.#newTerms.add(id)
    return id
  }

  #forgetTerms(): void {
    this.#lastTerms = []
    this.#termIds = new TermNumbers()
    this.#termIdsBefore = new TermNumbers()
  }

  #dropTerms(terms: readonly number[]): void {
    for (const term of terms) this.#statements.term.remove.run(term)
    if (terms.length > 0) this.#forgetTerms()
  }
}

const nothing = new Uint8Array(0)

/**
 * A number greater than the number of terms of a text. Its product with a term number of 32 bits
 * fits into a double.
 */
const placesMax = 2 ** 21

/** Cost of reading a waiting document, in bytes of term lists. */
function sizeOf(list: Uint8Array | null | undefined): number {
  return 16 + (list?.length ?? 0)
}

/** Reusable buffers for lists that are built and decoded. */
const built = new TermList(1024)
const taken = new TermList(1024)
let keys = new Float64Array(1024)

export function countTerms(list: readonly string[]): TermCounts {
  const counts = new Map<string, number>()
  for (const term of list) counts.set(term, (counts.get(term) ?? 0) + 1)
  const termCounts = Uint32Array.from(
    [...counts.values()].flatMap((count, i) => [i, count]),
  )
  return { terms: [...counts.keys()], termCounts, from: 0, to: counts.size }
}

function numberOf(row: unknown): number {
  return (row as [number])[0]
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(database: DatabaseSync, suffix: string) {
  const term = `term${suffix}`
  const waiting = `waiting${suffix}`
  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  return {
    meta: {
      read: prepare('SELECT value FROM meta WHERE name = ?'),
      write: prepare('UPDATE meta SET value = ? WHERE name = ?'),
    },
    term: {
      find: prepare(`SELECT id FROM ${term} WHERE term = ?`),
      insert: prepare(`INSERT INTO ${term}(id, term) VALUES (?, ?)`),
      remove: prepare(`DELETE FROM ${term} WHERE id = ?`),
    },
    waiting: {
      put: prepare(`INSERT OR REPLACE INTO ${waiting} VALUES (?, ?, ?)`),
      remove: prepare(`DELETE FROM ${waiting} WHERE doc = ?`),
      all: prepare(`SELECT doc, terms, checksum FROM ${waiting}`),
      clear: prepare(`DELETE FROM ${waiting}`),
    },
  }
}
