/**
 * Looks whether the index of terms is sound: the texts' own lists are compared with what is
 * stored of them elsewhere. Which terms a text has only an analyzer could say.
 */
import type { DatabaseSync } from 'node:sqlite'
import { Postings } from './postings.ts'
import { replacedIn } from './segment-view.ts'
import type { TextSegmentRow } from './segment-layout.ts'
import { TextSegment } from './segment.ts'
import { TermList } from './term-list.ts'

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
    else if (inPostings.documents !== inLists.documents || inPostings.sum !== inLists.sum)
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
  /** As the segments count them. */
  documents: number
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
  const all = database.prepare(`SELECT id, term FROM term${suffix}`)
  for (const { id, term } of all.iterate())
    terms.set(id as number, {
      text: String(term),
      documents: 0,
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

/** The postings of documents that no later segment has anew. */
function* addPostings(
  database: DatabaseSync,
  suffix: string,
  terms: ReadonlyMap<number, Term>,
): Generator<string> {
  const read = database.prepare(`SELECT bytes FROM posting${suffix} WHERE id = ?`)
  const rows = database
    .prepare(`SELECT * FROM textsegment${suffix} WHERE state = 'made' ORDER BY newest`)
    .all() as unknown as TextSegmentRow[]
  const segments: TextSegment[] = []
  for (const row of rows)
    try {
      segments.push(new TextSegment(row, (id) => read.get(id)!['bytes'] as Uint8Array))
    } catch {
      yield `segment ${row.id} of the postings cannot be read`
    }
  const replaced = replacedIn(segments)
  for (const [i, segment] of segments.entries())
    try {
      yield* addSegment(segment, replaced[i], terms)
    } catch {
      yield `segment ${segment.id} of the postings cannot be read`
    }
}

function* addSegment(
  segment: TextSegment,
  replaced: Uint8Array | undefined,
  terms: ReadonlyMap<number, Term>,
): Generator<string> {
  const postings = new Postings(1024)
  const { documents, id } = segment
  let before = 0
  for (const { entry, list } of segment.entries()) {
    const term = terms.get(entry.term)
    if (term === undefined) {
      yield `there are postings of an unknown term, number ${entry.term}`
      continue
    }
    postings.size = 0
    segment.decode(list, postings)
    if (entry.term <= before || !isAscending(postings, documents.size)) {
      yield `the postings of the term "${term.text}" in segment ${id} are out of order`
      continue
    }
    before = entry.term
    term.documents += list.size - list.removed
    for (let i = 0; i < postings.size; i++) {
      const place = postings.places[i]!
      if (replaced?.[place] === 1) continue
      const seq = documents.seqAt(place)
      addTo(term.inPostings, seq, postings.counts[i]!, segment.lengthAt(place))
    }
  }
}

/** Whether places never fall, and are there. */
function isAscending({ places, size }: Postings, documents: number): boolean {
  for (let i = 1; i < size; i++) if (!(places[i]! > places[i - 1]!)) return false
  return size === 0 || places[size - 1]! < documents
}
