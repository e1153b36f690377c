/** Checks that the term index has exactly the terms of the texts. The texts are authoritative. */
import type { DatabaseSync } from 'node:sqlite'
import { storedTerm } from '../store/layout.ts'
import { Postings } from './postings.ts'
import { rowsMax, type TextSegmentRow } from './segment-layout.ts'
import { viewsOf, type SegmentView } from './segment-view.ts'
import { TextSegment } from './segment.ts'
import { TermList } from './term-list.ts'

/** A text that should be in the index. */
export interface CheckedText {
  readonly seq: number
  /** Terms of the text; undefined when no analyzer can determine them. */
  readonly terms: readonly string[] | undefined
}

/** Yields a message for each problem. */
export function* findTermProblems(
  database: DatabaseSync,
  suffix: string,
  texts: Iterable<CheckedText>,
): Generator<string> {
  const check = new IndexCheck(database, suffix)
  yield* check.open()
  yield* check.addTexts(texts)
  yield* check.addWaiting()
  yield* check.addSegments()
  yield* check.compare()
  yield* findLostRows(database, suffix)
}

interface CheckedTerm {
  readonly text: string
  readonly inTexts: Tally
  readonly inIndex: Tally
}

/**
 * Summary of a posting list. Two lists that differ in a document, a count or a length almost
 * certainly have different sums.
 */
interface Tally {
  documents: number
  sum: number
}

function addTo(tally: Tally, seq: number, count: number, length: number): void {
  tally.documents++
  const mixed = Math.imul((seq % 2 ** 32) ^ Math.imul(count, 0x9e3779b1), 0x85ebca6b)
  tally.sum = (tally.sum + Math.imul(mixed ^ (mixed >>> 13) ^ length, 0xc2b2ae35)) >>> 0
}

/** A segment; `hasText` is 1 at the places of documents that have a text. */
interface CheckedSegment {
  readonly view: SegmentView
  readonly hasText: Uint8Array
}

class IndexCheck {
  readonly #database: DatabaseSync
  readonly #suffix: string
  /** Names of a document and of its text in messages. */
  readonly #owner: string
  readonly #text: string
  readonly #terms = new Map<number, CheckedTerm>()
  readonly #termsByText = new Map<string, CheckedTerm>()
  readonly #waiting = new Map<number, Uint8Array | null>()
  readonly #waitingWithText = new Set<number>()
  #segments: readonly CheckedSegment[] = []
  /** Whether the terms of all texts are known. */
  #isAnalyzed = true
  /** Counts of indexed texts and of their tokens. */
  #texts = 0
  #tokens = 0

  constructor(database: DatabaseSync, suffix: string) {
    this.#database = database
    this.#suffix = suffix
    this.#owner = suffix === '' ? 'document number' : 'row number'
    this.#text = suffix === '' ? '$lexical' : 'text'
  }

  *open(): Generator<string> {
    const database = this.#database
    const suffix = this.#suffix
    const terms = database.prepare(`SELECT id, term FROM term${suffix}`)
    for (const { id, term } of terms.iterate()) {
      const [inTexts, inIndex] = [newTally(), newTally()]
      const known = { text: String(term), inTexts, inIndex }
      this.#terms.set(id as number, known)
      this.#termsByText.set(known.text, known)
    }
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
    this.#segments = viewsOf(segments).map((view) => ({
      view,
      hasText: new Uint8Array(view.segment.documents.size),
    }))
    const waiting = database.prepare(`SELECT doc, terms FROM waiting${suffix}`)
    for (const { doc, terms: list } of waiting.iterate()) {
      this.#waiting.set(doc as number, list as Uint8Array | null)
      for (const { view } of this.#segments) view.markVoid(doc as number)
    }
  }

  *addTexts(texts: Iterable<CheckedText>): Generator<string> {
    for (const { seq, terms } of texts) {
      if (!this.#noteText(seq))
        yield `the ${this.#text} of ${this.#owner} ${seq} is not indexed`
      if (terms === undefined) {
        this.#isAnalyzed = false
        continue
      }
      for (const [term, count] of countsOf(terms)) {
        const known = this.#termsByText.get(storedTerm(term))
        if (known === undefined)
          yield `the term "${term}" of ${this.#owner} ${seq} is not indexed`
        else addTo(known.inTexts, seq, count, terms.length)
      }
    }
  }

  /** Records that a document has a text; returns false when that text is not indexed. */
  #noteText(seq: number): boolean {
    const waiting = this.#waiting.get(seq)
    if (waiting !== undefined) {
      this.#waitingWithText.add(seq)
      return waiting !== null
    }
    for (const { view, hasText } of this.#segments) {
      const place = view.placeOf(seq)
      if (place < 0) continue
      hasText[place] = 1
      return true
    }
    return false
  }

  *addWaiting(): Generator<string> {
    const list = new TermList(1024)
    for (const [seq, bytes] of this.#waiting) {
      if (bytes === null) continue
      if (!this.#waitingWithText.has(seq)) yield this.#withoutText(seq)
      const { ids, counts, size, length } = list.decode(bytes)
      this.#texts++
      this.#tokens += length
      for (let i = 0; i < size; i++) {
        const term = this.#terms.get(ids[i]!)
        if (term === undefined || !(counts[i]! > 0) || (i > 0 && ids[i] === ids[i - 1])) {
          yield `the terms of ${this.#owner} ${seq} cannot be read`
          break
        }
        addTo(term.inIndex, seq, counts[i]!, length)
      }
    }
  }

  *addSegments(): Generator<string> {
    for (const segment of this.#segments)
      try {
        yield* this.#addSegment(segment)
      } catch {
        yield `segment ${segment.view.segment.id} of the postings cannot be read`
      }
  }

  *#addSegment({ view, hasText }: CheckedSegment): Generator<string> {
    const { segment } = view
    const { documents, id } = segment
    const postings = new Postings(1024)
    /** Sum of the counts of a document's postings, by place. */
    const lengths = new Uint32Array(documents.size)
    let before = 0
    for (const { entry, list } of segment.entries()) {
      const term = this.#terms.get(entry.term)
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
      for (let i = 0; i < postings.size; i++) {
        const place = postings.places[i]!
        lengths[place]! += postings.counts[i]!
        const seq = view.seqAt(place)
        if (seq === undefined) continue
        addTo(term.inIndex, seq, postings.counts[i]!, segment.lengthAt(place))
      }
    }
    for (let place = 0; place < documents.size; place++) {
      const seq = view.seqAt(place)
      if (seq === undefined) continue
      const length = segment.lengthAt(place)
      this.#texts++
      this.#tokens += length
      if (lengths[place] !== length)
        yield `${this.#owner} ${seq} has ${length} tokens, but ${lengths[place]} in the postings`
      if (hasText[place] === 0) yield this.#withoutText(seq)
    }
  }

  *compare(): Generator<string> {
    if (this.#isAnalyzed)
      for (const { text, inTexts, inIndex } of this.#terms.values())
        if (inIndex.documents !== inTexts.documents || inIndex.sum !== inTexts.sum)
          yield `the postings of the term "${text}" do not match the texts that contain it`
    const read = this.#database.prepare('SELECT value FROM meta WHERE name = ?')
    const counts = { texts: this.#texts, tokens: this.#tokens }
    for (const [name, actual] of Object.entries(counts)) {
      const counted = read.get(name + this.#suffix)?.['value']
      if (counted !== actual)
        yield `${actual} ${name} are indexed, but ${String(counted)} are counted`
    }
  }

  #withoutText(seq: number): string {
    return `terms are stored for ${this.#owner} ${seq}, which has no ${this.#text}`
  }
}

function countsOf(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

function newTally(): Tally {
  return { documents: 0, sum: 0 }
}

/** Reports rows that belong to no segment, and merges whose sources are missing. */
function* findLostRows(database: DatabaseSync, suffix: string): Generator<string> {
  const lost = database
    .prepare(
      `SELECT count(*) AS count FROM posting${suffix} WHERE id / ${rowsMax} NOT IN ` +
        `(SELECT id FROM textsegment${suffix})`,
    )
    .get()!['count']
  if (lost !== 0) yield `${String(lost)} rows of postings belong to no segment`
  const making = database.prepare(
    `SELECT id, (SELECT count(*) FROM json_each(m.sources) s WHERE NOT EXISTS ` +
      `(SELECT 1 FROM textsegment${suffix} t WHERE t.id = s.value AND t.state = 'made')) ` +
      `AS missing FROM textsegment${suffix} m WHERE state = 'making'`,
  )
  for (const { id, missing } of making.iterate())
    if (missing !== 0)
      yield `segment ${String(id)} of the postings is being merged from segments that no longer exist`
}

/** Whether places ascend strictly and exist in the segment. */
function isAscending({ places, size }: Postings, documents: number): boolean {
  for (let i = 1; i < size; i++) if (!(places[i]! > places[i - 1]!)) return false
  return size === 0 || places[size - 1]! < documents
}
