/**
 * Looks whether the index of terms is sound: the texts' own lists are compared with what is
 * stored of them elsewhere. Which terms a text has only an analyzer could say.
 */
import type { DatabaseSync } from 'node:sqlite'
import { chunkSizeMax, Postings, TermList } from './postings.ts'

/** Says in plain words what is wrong. */
export function* findTermProblems(
  database: DatabaseSync,
  suffix: string,
): Generator<string> {
  if (suffix === '') yield* findTextProblems(database)
  const terms = termsOf(database, suffix)
  const counts = yield* addLists(database, suffix, terms)
  yield* addPostings(database, suffix, terms)
  for (const { text, documents, inLists, inPostings } of terms.values()) {
    if (documents !== inPostings.documents)
      yield `the term "${text}" is counted ${documents} times, but stands ` +
        `${inPostings.documents} times in the postings`
    if (inPostings.documents !== inLists.documents || inPostings.sum !== inLists.sum)
      yield `the postings of the term "${text}" are not those of the texts that have it`
  }
  const read = database.prepare('SELECT value FROM meta WHERE name = ?')
  for (const [name, actual] of Object.entries(counts)) {
    const counted = read.get(name + suffix)?.['value']
    if (counted !== actual)
      yield `${actual} ${name} are indexed, but ${String(counted)} are counted`
  }
}

interface Term {
  readonly text: string
  readonly documents: number
  readonly inLists: Tally
  readonly inPostings: Tally
}

/** A sum tells lists apart that differ in a document, a count or a length. */
interface Tally {
  documents: number
  sum: number
}

function addTo(tally: Tally, seq: number, count: number, length: number): void {
  tally.documents++
  const mixed = Math.imul((seq % 2 ** 32) ^ Math.imul(count, 0x9e3779b1), 0x85ebca6b)
  tally.sum = (tally.sum + Math.imul(mixed ^ (mixed >>> 13) ^ length, 0xc2b2ae35)) >>> 0
}

/** Texts that have no list, and lists that have no text. */
function* findTextProblems(database: DatabaseSync): Generator<string> {
  const hasText = "s.lexical IS NOT NULL AND s.lexical NOT IN ('null', '\"\"')"
  for (const { doc } of database
    .prepare(
      'SELECT s.doc FROM search s LEFT JOIN indexed i ON i.doc = s.doc ' +
        `WHERE ${hasText} AND i.doc IS NULL`,
    )
    .iterate())
    yield `the $lexical of document number ${String(doc)} is not indexed`
  for (const { doc } of database
    .prepare(
      'SELECT i.doc FROM indexed i LEFT JOIN search s ON s.doc = i.doc ' +
        `WHERE NOT (s.doc IS NOT NULL AND ${hasText})`,
    )
    .iterate())
    yield `terms are stored for document number ${String(doc)}, which has no $lexical`
}

function termsOf(database: DatabaseSync, suffix: string): Map<number, Term> {
  const terms = new Map<number, Term>()
  const all = database.prepare(`SELECT id, term, documents FROM term${suffix}`)
  for (const { id, term, documents } of all.iterate())
    terms.set(id as number, {
      text: String(term),
      documents: documents as number,
      inLists: { documents: 0, sum: 0 },
      inPostings: { documents: 0, sum: 0 },
    })
  return terms
}

/** The texts' lists; of those that wait the ones that the postings still have count. */
function* addLists(
  database: DatabaseSync,
  suffix: string,
  terms: ReadonlyMap<number, Term>,
): Generator<string, { readonly texts: number; readonly tokens: number }> {
  const lists = database.prepare(
    `SELECT i.doc, i.terms, w.doc IS NULL AS folded, 1 AS present FROM indexed${suffix} i ` +
      `LEFT JOIN waiting${suffix} w ON w.doc = i.doc ` +
      `UNION ALL SELECT doc, terms, 1, 0 FROM waiting${suffix} WHERE terms IS NOT NULL`,
  )
  const list = new TermList(1024)
  let texts = 0
  let tokens = 0
  for (const { doc, terms: bytes, folded, present } of lists.iterate()) {
    const seq = doc as number
    const { ids, counts, size, length } = list.decode(bytes as Uint8Array)
    if (present === 1) {
      texts++
      tokens += length
    }
    for (let i = 0; i < size; i++) {
      const term = terms.get(ids[i]!)
      if (term === undefined || !(counts[i]! > 0) || (i > 0 && ids[i] === ids[i - 1])) {
        yield `the terms of document number ${seq} cannot be read`
        break
      }
      if (folded === 1) addTo(term.inLists, seq, counts[i]!, length)
    }
  }
  return { texts, tokens }
}

function* addPostings(
  database: DatabaseSync,
  suffix: string,
  terms: ReadonlyMap<number, Term>,
): Generator<string> {
  const chunks = database.prepare(`SELECT term, first, entries FROM posting${suffix}`)
  const postings = new Postings(1024)
  let before = { id: -1, last: -1 }
  for (const row of chunks.iterate()) {
    const id = row['term'] as number
    const first = row['first'] as number
    const entries = row['entries'] as Uint8Array
    const term = terms.get(id)
    if (term === undefined) {
      yield `there are postings of an unknown term, number ${id}`
      continue
    }
    postings.decode({ first, entries })
    const start = id === before.id ? before.last : -1
    if (entries.length > chunkSizeMax || !isAscending(postings, first, start))
      yield `the postings of the term "${term.text}" from document number ${first} on are ` +
        'out of order'
    const { seqs, counts, lengths, size } = postings
    for (let i = 0; i < size; i++) addTo(term.inPostings, seqs[i]!, counts[i]!, lengths[i]!)
    before = { id, last: size === 0 ? first : postings.last }
  }
}

/** Whether a chunk starts where it says, after the one before it, and never falls. */
function isAscending({ seqs, size }: Postings, first: number, after: number): boolean {
  if (size === 0 || seqs[0] !== first || !(first > after)) return false
  for (let i = 1; i < size; i++) if (!(seqs[i]! > seqs[i - 1]!)) return false
  return true
}
