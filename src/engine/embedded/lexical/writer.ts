/**
 * Keeps the index of terms while documents are written (docs/internals/lexical-index.md).
 *
 * A text's own list of terms is written at once, its part in the postings later: a text has
 * dozens of terms, each in another place of the file. Until enough texts wait to make that
 * worth while, or nobody writes any more, readers look at the lists of those that wait.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { storedTerm } from '../store/layout.ts'
import { chunksOf, Postings, TermList, type Chunk } from './postings.ts'

/** How often a text has each of its terms. */
export type TermCounts = Iterable<readonly [term: string, count: number]>

/** Bytes that may wait: a thousand texts of sixty words, read in half a millisecond. */
const waitingSizeMax = 128 * 1024

/** Terms whose numbers are remembered. */
const knownTermsMax = 50_000

export class LexicalWriter {
  readonly #database: DatabaseSync
  readonly #suffix: string
  readonly #statements: Statements
  readonly #termIds = new Map<string, number>()
  /** Terms that may have lost their last text: looked at when nothing waits. */
  readonly #doubtful = new Set<number>()
  #texts = 0
  #tokens = 0
  #waitingSize = 0
  /** Whether the numbers above are other than the store says. */
  #isChanged = false

  /** `suffix` tells the indexes of a store apart. */
  constructor(database: DatabaseSync, suffix: string) {
    this.#database = database
    this.#suffix = suffix
    this.#statements = prepareStatements(database, suffix)
    this.reload()
  }

  /** Takes the word of the store for everything: after opening, and after a rollback. */
  reload(): void {
    const { meta, waiting } = this.#statements
    this.#termIds.clear()
    this.#doubtful.clear()
    this.#texts = numberOf(meta.read.get(`texts${this.#suffix}`))
    this.#tokens = numberOf(meta.read.get(`tokens${this.#suffix}`))
    this.#waitingSize = numberOf(waiting.size.get(waitingRowSize))
    this.#isChanged = false
  }

  get isWaiting(): boolean {
    return this.#waitingSize > 0
  }

  /** The document has a text with these terms, whatever it had before. */
  put(seq: number, terms: TermCounts): void {
    const list = this.#listOf(terms)
    const bytes = list.encode()
    this.#await(seq, this.#take(seq), bytes.length)
    this.#statements.indexed.put.run(seq, bytes)
    this.#texts++
    this.#tokens += list.length
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
    for (const table of ['term', 'posting', 'indexed', 'waiting'])
      this.#database.exec(`DELETE FROM ${table}${this.#suffix}`)
    this.#termIds.clear()
    this.#doubtful.clear()
    this.#texts = 0
    this.#tokens = 0
    this.#waitingSize = 0
    this.#isChanged = true
  }

  /** To be called before a commit. */
  finish(): void {
    if (this.#waitingSize > waitingSizeMax) this.fold()
    if (!this.#isChanged) return
    const { write } = this.#statements.meta
    write.run(this.#texts, `texts${this.#suffix}`)
    write.run(this.#tokens, `tokens${this.#suffix}`)
    this.#isChanged = false
  }

  /** Brings the postings up to date with the texts. */
  fold(): void {
    const { waiting } = this.#statements
    const changes = new Map<number, Changes>()
    const before = new TermList(1024)
    const after = new TermList(1024)
    for (const row of waiting.all.iterate()) {
      const [seq, old, now] = row as unknown as [number, Bytes | null, Bytes | null]
      gatherChanges(
        changes,
        seq,
        before.decode(old ?? nothing),
        after.decode(now ?? nothing),
      )
    }
    // In order of their place in the file.
    for (const term of [...changes.keys()].sort((a, b) => a - b))
      this.#change(term, changes.get(term)!)
    this.#dropUnused()
    waiting.clear.run()
    this.#waitingSize = 0
  }

  /** The list that a document has so far, which counts no longer. */
  #take(seq: number): Bytes | null {
    const found = this.#statements.indexed.find.get(seq) as unknown as [Bytes] | undefined
    if (found === undefined) return null
    const list = new TermList(0).decode(found[0])
    this.#texts--
    this.#tokens -= list.length
    for (let i = 0; i < list.size; i++) this.#doubtful.add(list.ids[i]!)
    return found[0]
  }

  /** Notes what the postings say of a document, unless that was noted before. */
  #await(seq: number, before: Bytes | null, size: number): void {
    const { changes } = this.#statements.waiting.add.run(seq, before)
    if (changes > 0) this.#waitingSize += waitingRowSize + (before?.length ?? 0)
    this.#waitingSize += size
    this.#isChanged = true
  }

  #listOf(terms: TermCounts): TermList {
    const counts = Array.from(
      terms,
      ([term, count]) => [this.#termId(term), count] as const,
    )
    counts.sort(([a], [b]) => a - b)
    const list = new TermList(counts.length)
    for (const [id, count] of counts) list.push(id, count)
    return list
  }

  #termId(text: string): number {
    const known = this.#termIds.get(text)
    if (known !== undefined) return known
    const { find, insert } = this.#statements.term
    const stored = storedTerm(text)
    const found = find.get(stored) as unknown as [number] | undefined
    const id = found?.[0] ?? Number(insert.run(stored).lastInsertRowid)
    if (this.#termIds.size >= knownTermsMax) this.#termIds.clear()
    this.#termIds.set(text, id)
    return id
  }

  /** Changes the postings of a term, chunk by chunk. */
  #change(term: number, changes: Changes): void {
    const { posting, term: terms } = this.#statements
    let documents = 0
    for (let from = 0; from < changes.length;) {
      const found = this.#chunkFor(term, changes[from]!)
      const to = endBefore(changes, from, found?.next ?? Infinity)
      if (found === undefined) current.size = 0
      else current.decode(found)
      merge(current, changes, from, to)
      documents += merged.size - current.size
      // What is left may start elsewhere.
      if (found !== undefined && (merged.size === 0 || merged.seqs[0] !== found.first))
        posting.remove.run(term, found.first)
      const isEnd = found?.next === undefined
      for (const { first, entries } of chunksOf(merged, isEnd))
        posting.put.run(term, first, entries)
      from = to
    }
    if (documents !== 0) terms.count.run(documents, term)
  }

  /** The chunk that a document belongs to, and where the next one starts. */
  #chunkFor(term: number, seq: number): FoundChunk | undefined {
    const { last, covering, first } = this.#statements.posting
    // Most documents are new, and go where nothing follows.
    const end = last.get(term) as unknown as [number, Bytes] | undefined
    if (end === undefined) return undefined
    if (seq >= end[0]) return { first: end[0], entries: end[1], next: undefined }
    const [start, entries, next] = (covering.get(term, term, seq) ??
      first.get(term, term)) as unknown as [number, Bytes, number | null]
    return { first: start, entries, next: next ?? undefined }
  }

  #dropUnused(): void {
    if (this.#doubtful.size === 0) return
    let dropped = 0
    for (const id of this.#doubtful)
      dropped += Number(this.#statements.term.dropUnused.run(id).changes)
    this.#doubtful.clear()
    if (dropped > 0) this.#termIds.clear()
  }
}

type Bytes = Uint8Array

interface FoundChunk extends Chunk {
  /** Undefined at the end of the list. */
  readonly next: number | undefined
}

/** Three numbers for each document: which it is, how often it has the term, its length. */
type Changes = number[]

const nothing = new Uint8Array(0)

/** In place of a count: the document has the term no longer. */
const gone = 0

/** What reading a document that waits costs besides its terms, in bytes of terms. */
const waitingRowSize = 32

/** A chunk as it is, and as it will be. */
const current = new Postings(1024)
const merged = new Postings(1024)

/** Says for each term of a document what changes in its postings. */
function gatherChanges(
  changes: Map<number, Changes>,
  seq: number,
  before: TermList,
  after: TermList,
): void {
  const { length } = after
  const isSameLength = before.length === length
  let b = 0
  for (let a = 0; a < after.size; a++) {
    const term = after.ids[a]!
    while (b < before.size && before.ids[b]! < term)
      add(changes, before.ids[b++]!, seq, gone, 0)
    const count = after.counts[a]!
    const had = b < before.size && before.ids[b] === term ? before.counts[b++] : gone
    if (had !== count || !isSameLength) add(changes, term, seq, count, length)
  }
  while (b < before.size) add(changes, before.ids[b++]!, seq, gone, 0)
}

function add(
  changes: Map<number, Changes>,
  term: number,
  seq: number,
  count: number,
  length: number,
): void {
  const list = changes.get(term)
  if (list === undefined) changes.set(term, [seq, count, length])
  else list.push(seq, count, length)
}

/** Where the changes start that belong to the next chunk. */
function endBefore(changes: Changes, from: number, next: number): number {
  let to = from
  while (to < changes.length && changes[to]! < next) to += 3
  return to
}

/** Puts a list and some of its changes together. */
function merge(list: Postings, changes: Changes, from: number, to: number): void {
  merged.size = 0
  let at = 0
  for (let i = from; i < to; i += 3) {
    const seq = changes[i]!
    at = keepBelow(seq, list, at)
    if (at < list.size && list.seqs[at] === seq) at++
    if (changes[i + 1] !== gone) merged.push(seq, changes[i + 1]!, changes[i + 2]!)
  }
  keepBelow(Infinity, list, at)
}

function keepBelow(seq: number, list: Postings, from: number): number {
  let at = from
  for (; at < list.size && list.seqs[at]! < seq; at++)
    merged.push(list.seqs[at]!, list.counts[at]!, list.lengths[at]!)
  return at
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
  const [term, posting, indexed, waiting] = ['term', 'posting', 'indexed', 'waiting'].map(
    (table) => table + suffix,
  )
  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  const chunk =
    `SELECT p.first, p.entries, (SELECT n.first FROM ${posting} n WHERE n.term = ? ` +
    `AND n.first > p.first ORDER BY n.first LIMIT 1) FROM ${posting} p WHERE p.term = ?`
  return {
    meta: {
      read: prepare('SELECT value FROM meta WHERE name = ?'),
      write: prepare('UPDATE meta SET value = ? WHERE name = ?'),
    },
    term: {
      find: prepare(`SELECT id FROM ${term} WHERE term = ?`),
      insert: prepare(`INSERT INTO ${term}(term, documents) VALUES (?, 0)`),
      count: prepare(`UPDATE ${term} SET documents = documents + ? WHERE id = ?`),
      dropUnused: prepare(`DELETE FROM ${term} WHERE id = ? AND documents = 0`),
    },
    posting: {
      last: prepare(
        `SELECT first, entries FROM ${posting} WHERE term = ? ORDER BY first DESC LIMIT 1`,
      ),
      covering: prepare(`${chunk} AND p.first <= ? ORDER BY p.first DESC LIMIT 1`),
      first: prepare(`${chunk} ORDER BY p.first LIMIT 1`),
      put: prepare(
        `INSERT INTO ${posting}(term, first, entries) VALUES (?, ?, ?) ` +
          'ON CONFLICT DO UPDATE SET entries = excluded.entries',
      ),
      remove: prepare(`DELETE FROM ${posting} WHERE term = ? AND first = ?`),
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
      clear: prepare(`DELETE FROM ${waiting}`),
    },
  }
}
