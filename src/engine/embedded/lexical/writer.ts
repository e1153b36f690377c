/**
 * Keeps the index of terms while documents are written (docs/internals/lexical-index.md).
 *
 * A text's own list of terms is written at once, its postings later, together with those of
 * many others, as a segment. Until enough texts wait to make that worth while, or nobody
 * writes any more, readers look at the lists of those that wait.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { TermsDebt } from '../../operations.ts'
import { storedTerm } from '../store/layout.ts'
import { DocumentList } from './document-list.ts'
import { Postings } from './postings.ts'
import { Segments } from './segments.ts'
import { TermList } from './term-list.ts'

/** How often a text has each of its terms. */
export type TermCounts = Iterable<readonly [term: string, count: number]>

/**
 * Bytes that may wait: a thousand texts of sixty words, read in half a millisecond. Tests let
 * fewer wait, to see many segments of few texts.
 */
const waitingSizeMax = Number(process.env['STELA_TEST_WAITING'] ?? 64 * 1024)

/** Postings of what may wait, about. */
const foldedPostings = Math.ceil(waitingSizeMax * 0.6)

/** Terms whose numbers are remembered. */
const knownTermsMax = 50_000

/** Postings that are merged at a time while nobody writes: some tens of milliseconds. */
const idlePostings = 300_000

export class LexicalWriter {
  readonly #database: DatabaseSync
  readonly #suffix: string
  readonly #statements: Statements
  readonly #segments: Segments
  /** The numbers of terms: those that were used lately, and before that. */
  #termIds = new Map<string, number>()
  #termIdsBefore = new Map<string, number>()
  /** Terms that no segment has yet. */
  readonly #newTerms = new Set<number>()
  #texts = 0
  #tokens = 0
  #nextTerm = 0
  #waitingSize = 0
  /** Postings of the texts since the last commit. */
  #written = 0
  /** Whether the numbers above are other than the store says. */
  #isChanged = false

  /** `suffix` tells the indexes of a store apart. */
  constructor(database: DatabaseSync, suffix: string) {
    this.#database = database
    this.#suffix = suffix
    this.#statements = prepareStatements(database, suffix)
    this.#segments = new Segments(database, suffix, foldedPostings)
    this.reload()
  }

  /** Takes the word of the store for everything: after opening, and after a rollback. */
  reload(): void {
    const { meta, waiting } = this.#statements
    this.#forgetTerms()
    this.#newTerms.clear()
    this.#segments.reload()
    this.#texts = numberOf(meta.read.get(`texts${this.#suffix}`))
    this.#tokens = numberOf(meta.read.get(`tokens${this.#suffix}`))
    this.#nextTerm = numberOf(meta.read.get(`terms${this.#suffix}`))
    this.#waitingSize = numberOf(waiting.size.get(waitingRowSize))
    this.#written = 0
    this.#isChanged = false
  }

  get isWaiting(): boolean {
    return this.#waitingSize > 0
  }

  get debt(): TermsDebt {
    return {
      recent: numberOf(this.#statements.waiting.count.get()),
      waiting: this.#segments.waiting,
      segments: this.#segments.made.length,
    }
  }

  /** Whether segments are to be merged once nobody writes. */
  get isMergeDue(): boolean {
    return this.#segments.isWorkDue(true)
  }

  /** The document has a text with these terms, whatever it had before. */
  put(seq: number, terms: TermCounts): void {
    const list = this.#listOf(terms)
    const bytes = list.encode()
    this.#await(seq, this.#take(seq), bytes.length)
    this.#statements.indexed.put.run(seq, bytes)
    this.#texts++
    this.#tokens += list.length
    this.#written += list.size
  }

  /** The document has no text any more. */
  remove(seq: number): void {
    const before = this.#take(seq)
    if (before === null) return
    this.#await(seq, before, 0)
    this.#statements.indexed.remove.run(seq)
  }

  /** All texts are gone. */
  clear(): void {
    for (const table of ['term', 'indexed', 'waiting'])
      this.#database.exec(`DELETE FROM ${table}${this.#suffix}`)
    this.#segments.clear()
    this.#forgetTerms()
    this.#newTerms.clear()
    this.#texts = 0
    this.#tokens = 0
    this.#waitingSize = 0
    this.#isChanged = true
  }

  /** To be called before a commit. Merges as much as what was written has to pay for. */
  finish(): void {
    if (this.#waitingSize > waitingSizeMax) this.fold()
    if (this.#written > 0) this.#merge(this.#written * this.#segments.levels, false)
    this.#written = 0
    if (!this.#isChanged) return
    const { write } = this.#statements.meta
    write.run(this.#texts, `texts${this.#suffix}`)
    write.run(this.#tokens, `tokens${this.#suffix}`)
    write.run(this.#nextTerm, `terms${this.#suffix}`)
    this.#isChanged = false
  }

  /** Makes a segment of the texts that wait. */
  fold(): void {
    const { waiting } = this.#statements
    const folded = new Folded()
    for (const row of waiting.all.iterate()) {
      const [seq, before, now] = row as unknown as [number, Bytes | null, Bytes | null]
      folded.add(seq, before, now)
    }
    this.#dropTerms(Array.from(this.#newTerms).filter((term) => !folded.hasTerm(term)))
    this.#newTerms.clear()
    const { seqs, replaced, lengths } = folded
    if (seqs.length > 0 || replaced.length > 0)
      this.#segments.add(
        DocumentList.of(seqs),
        Uint32Array.from(lengths),
        replaced,
        (segment) => {
          const own = Uint32Array.from(lengths)
          for (const [term, postings, removed] of folded.terms())
            segment.add(term, postings, removed, own)
        },
      )
    waiting.clear.run()
    this.#waitingSize = 0
  }

  /** Merges some, while nobody writes. */
  mergeWhileIdle(postings = idlePostings): void {
    this.#merge(postings, true)
  }

  #merge(postings: number, isIdle: boolean): void {
    const unused = this.#segments.work(postings, isIdle)
    if (unused.length === 0) return
    // Texts that wait may have them again.
    const waiting = new Set<number>()
    const list = new TermList(1024)
    for (const row of this.#statements.waiting.all.iterate()) {
      const [, , now] = row as unknown as [number, Bytes | null, Bytes | null]
      const { ids, size } = list.decode(now ?? nothing)
      for (let i = 0; i < size; i++) waiting.add(ids[i]!)
    }
    this.#dropTerms(unused.filter((term) => !waiting.has(term)))
  }

  /** The list that a document has so far, which counts no longer. */
  #take(seq: number): Bytes | null {
    const found = this.#statements.indexed.find.get(seq) as unknown as [Bytes] | undefined
    if (found === undefined) return null
    this.#texts--
    this.#tokens -= new TermList(0).decode(found[0]).length
    return found[0]
  }

  /** Notes what the segments say of a document, unless that was noted before. */
  #await(seq: number, before: Bytes | null, size: number): void {
    const { changes } = this.#statements.waiting.add.run(seq, before)
    if (changes > 0) this.#waitingSize += waitingRowSize + (before?.length ?? 0)
    this.#waitingSize += size
    this.#isChanged = true
  }

  #listOf(terms: TermCounts): TermList {
    const counts: number[] = []
    const ids: number[] = []
    for (const [term, count] of terms) {
      ids.push(this.#termId(term))
      counts.push(count)
    }
    // A number of both, so that they are sorted as numbers.
    const order = Float64Array.from(ids, (id, i) => id * placesMax + i).sort()
    const list = new TermList(counts.length)
    for (const key of order)
      list.push(Math.floor(key / placesMax), counts[key % placesMax]!)
    return list
  }

  #termId(text: string): number {
    const known = this.#termIds.get(text)
    if (known !== undefined) return known
    const id = this.#termIdsBefore.get(text) ?? this.#storedTermId(text)
    if (this.#termIds.size >= knownTermsMax) {
      this.#termIdsBefore = this.#termIds
      this.#termIds = new Map()
    }
    this.#termIds.set(text, id)
    return id
  }

  #storedTermId(text: string): number {
    const { find, insert } = this.#statements.term
    const stored = storedTerm(text)
    const found = find.get(stored) as unknown as [number] | undefined
    if (found !== undefined) return found[0]
    // Numbers are not used again, so that no list names a term that it was not made for.
    const id = ++this.#nextTerm
    insert.run(id, stored)
    this.#newTerms.add(id)
    return id
  }

  #forgetTerms(): void {
    this.#termIds = new Map()
    this.#termIdsBefore = new Map()
  }

  #dropTerms(terms: readonly number[]): void {
    for (const term of terms) this.#statements.term.remove.run(term)
    if (terms.length > 0) this.#forgetTerms()
  }
}

type Bytes = Uint8Array

const nothing = new Uint8Array(0)

/** A text has fewer terms. With a term's number of 32 bits this fits a double. */
const placesMax = 2 ** 21

/** What reading a document that waits costs besides its terms, in bytes of terms. */
const waitingRowSize = 16

/** Texts that become a segment, gathered by term. */
class Folded {
  /** The documents that have a text now, and how many tokens it has. */
  readonly seqs: number[] = []
  readonly lengths: number[] = []
  /** Those that segments have. */
  readonly replaced: number[] = []
  readonly #terms = new Map<number, FoldedTerm>()
  readonly #list = new TermList(1024)

  /** Documents must come in order. */
  add(seq: number, before: Bytes | null, now: Bytes | null): void {
    const list = this.#list
    if (before !== null) {
      this.replaced.push(seq)
      list.decode(before)
      for (let i = 0; i < list.size; i++) this.#term(list.ids[i]!).removed++
    }
    if (now === null) return
    list.decode(now)
    const place = this.seqs.length
    for (let i = 0; i < list.size; i++)
      this.#term(list.ids[i]!).postings.push(place, list.counts[i]!)
    this.seqs.push(seq)
    this.lengths.push(list.length)
  }

  hasTerm(term: number): boolean {
    return this.#terms.has(term)
  }

  /** The terms in order, with their postings, which hold until the next. */
  *terms(): Generator<[term: number, postings: Postings, removed: number]> {
    const list = new Postings(1024)
    for (const term of Array.from(this.#terms.keys()).sort((a, b) => a - b)) {
      const { postings, removed } = this.#terms.get(term)!
      list.size = 0
      for (let i = 0; i < postings.length; i += 2) list.push(postings[i]!, postings[i + 1]!)
      yield [term, list, removed]
    }
  }

  #term(term: number): FoldedTerm {
    let found = this.#terms.get(term)
    if (found === undefined) this.#terms.set(term, (found = { postings: [], removed: 0 }))
    return found
  }
}

interface FoldedTerm {
  /** Two numbers for each document: its place, and how often it has the term. */
  readonly postings: number[]
  removed: number
}

export function countTerms(terms: readonly string[]): TermCounts {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

function numberOf(row: unknown): number {
  return (row as [number])[0]
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(database: DatabaseSync, suffix: string) {
  const [term, indexed, waiting] = ['term', 'indexed', 'waiting'].map(
    (table) => table + suffix,
  )
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
    indexed: {
      find: prepare(`SELECT terms FROM ${indexed} WHERE doc = ?`),
      put: prepare(`INSERT OR REPLACE INTO ${indexed}(doc, terms) VALUES (?, ?)`),
      remove: prepare(`DELETE FROM ${indexed} WHERE doc = ?`),
    },
    waiting: {
      add: prepare(
        `INSERT INTO ${waiting}(doc, terms) VALUES (?, ?) ON CONFLICT DO NOTHING`,
      ),
      all: prepare(
        `SELECT w.doc, w.terms, i.terms FROM ${waiting} w ` +
          `LEFT JOIN ${indexed} i ON i.doc = w.doc ORDER BY w.doc`,
      ),
      size: prepare(
        'SELECT coalesce(sum(? + coalesce(length(w.terms), 0) ' +
          '+ coalesce(length(i.terms), 0)), 0) ' +
          `FROM ${waiting} w LEFT JOIN ${indexed} i ON i.doc = w.doc`,
      ),
      count: prepare(`SELECT count(*) FROM ${waiting}`),
      clear: prepare(`DELETE FROM ${waiting}`),
    },
  }
}
