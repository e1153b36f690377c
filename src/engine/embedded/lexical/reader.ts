/**
 * Reads the term index: the documents that have all or some of several terms, and their BM25
 * scores.
 *
 * Most texts are in segments. Texts that wait to become part of a segment (writer.ts) are read from
 * their term lists; older postings of their documents are void.
 */
import type { TermStatistics } from '../../../search/lexical/bm25.ts'
import type { Budget } from '../store/budget.ts'
import type { RowChecksum } from '../format/checksums.ts'
import { damagedIndex, termIndex } from '../format/damage.ts'
import { storedTerm } from '../store/layout.ts'
import type { StoreConnection } from '../store/store-connection.ts'
import { TopScores, type Scored } from './top-scores.ts'
import { blockSize } from './blocks.ts'
import { placesWithAll, scoreAll, type ScoredTerm } from './conjunction.ts'
import { PostingCursor } from './cursor.ts'
import { MaxScore } from './maxscore.ts'
import { mergeAscending } from './merge-ascending.ts'
import { TermScores } from './scores.ts'
import { SegmentView } from './segment-view.ts'
import { TextSegment, type List } from './segment.ts'
import {
  isTextSegmentSound,
  verifiedPostings,
  type TextSegmentRow,
} from './segment-layout.ts'
import { TermList } from './term-list.ts'
import { verifiedWaiting, type WaitingRow } from './waiting.ts'

/** Restricts the documents that are scored. */
export interface ScoreOptions {
  /** Numbers of the documents to score, ascending; undefined: all documents. */
  readonly among?: Float64Array | undefined
  /** Number of the best documents to return; documents that tie with the last of them are added. */
  readonly wanted?: number
  /**
   * Maximum score: all documents with exactly this score are returned, and the best documents with
   * a lower score.
   */
  readonly ceiling?: number | undefined
  /** Term statistics to use instead of the statistics of the index. */
  readonly statistics?: TermStatistics | undefined
}

/**
 * Scored documents, and the term statistics that decided their scores; undefined if no statistics
 * were given and no document can match.
 */
type ScoredBy = Scored & { readonly statistics: TermStatistics | undefined }

export class LexicalReader {
  readonly #store: StoreConnection
  readonly #suffix: string
  /** Results of term lookups, cached until the store is written to. */
  #known = new WeakMap<readonly string[], readonly Term[]>()
  #waiting: ReadonlyMap<number, Uint8Array | null> | undefined
  /**
   * Views of the segments, oldest first. Segments never change, so views are cached as long as
   * their segment exists.
   */
  #views: readonly SegmentView[] = []
  #areViewsRead = false
  #state: unknown
  #mayHaveChanged = true

  /** Opens one term index of a store. `suffix` distinguishes the indexes of a store. */
  constructor(store: StoreConnection, suffix: string) {
    this.#store = store
    this.#suffix = suffix
  }

  /** Must be called when a read starts: cached state may be out of date. */
  begin(): void {
    this.#mayHaveChanged = true
  }

  /** Whether the text of a document has all of the terms. */
  has(seq: number, terms: readonly string[]): boolean {
    const wanted = this.#termsOf(terms)
    if (wanted === undefined) return false
    const waiting = this.#allWaiting().get(seq)
    if (waiting !== undefined) {
      if (waiting === null) return false
      list.decode(waiting)
      return wanted.every(({ id }) => list.countOf(id) > 0)
    }
    for (const [i, view] of this.#readViews().entries()) {
      const place = view.placeOf(seq)
      if (place < 0) continue
      return wanted.every(({ lists }) => {
        const own = lists[i]
        return own !== undefined && view.segment.has(own, place)
      })
    }
    return false
  }

  /** Number of documents that have a text. */
  get textCount(): number {
    return this.#store.meta(`texts${this.#suffix}`)
  }

  /** Upper bound of the number of documents that have all of the terms. */
  sizeMax(terms: readonly string[]): number {
    if (terms.length === 0) return this.textCount
    const wanted = this.#termsOf(terms)
    if (wanted === undefined) return 0
    return rarestOf(wanted) + this.#allWaiting().size
  }

  /**
   * Numbers of the documents that have all of the terms, in batches: ascending, and greater than
   * `after`.
   */
  *documents(
    terms: readonly string[],
    after: number,
    budget: Budget,
  ): Generator<readonly number[]> {
    if (terms.length === 0) {
      yield* this.#texts(after, budget)
      return
    }
    const wanted = this.#termsOf(terms)
    if (wanted === undefined) return
    budget.spend(this.#allWaiting().size)
    const fresh = this.#freshWith(wanted).fresh.filter(hasAll)
    const freshSeqs = fresh.map(({ seq }) => seq).filter((seq) => seq > after)
    const inSegments = this.#readViews().map((view, i) =>
      documentsIn(view, cursorsOf(view, wanted, i), after, budget),
    )
    yield* mergeAscending([...inSegments, [freshSeqs].values()])
  }

  /** Numbers of the documents that have a text, in batches: ascending, and greater than `after`. */
  *#texts(after: number, budget: Budget): Generator<readonly number[]> {
    if (this.#mayHaveChanged) this.#refresh()
    const fresh = [...this.#allWaiting()]
      .filter(([seq, bytes]) => seq > after && bytes !== null)
      .map(([seq]) => seq)
    const inSegments = this.#readViews().map((view) => textsIn(view, after, budget))
    yield* mergeAscending([...inSegments, [fresh].values()])
  }

  /**
   * BM25 scores of documents that have all of the terms. Only the best `wanted` documents, and ties
   * with the last of them, are guaranteed to be included. If there are fewer results than `wanted`,
   * no result is missing.
   */
  scoreWithAll(
    terms: readonly string[],
    { among, wanted: count = Infinity, ceiling, statistics: given }: ScoreOptions,
    budget: Budget,
  ): ScoredBy {
    const wanted = this.#termsOf(terms)
    if (wanted === undefined) return { seqs: none, scores: none, statistics: given }
    budget.spend(this.#allWaiting().size + walkCost(wanted, among))
    const { fresh, having } = this.#freshWith(wanted)
    const withAll = fresh.filter(hasAll)
    const statistics = given ?? this.#statistics(terms, wanted, having, budget)
    const scores = statistics.documentFrequencies.map(
      (documents) => new TermScores(statistics, documents),
    )
    const sizeMax = Math.min(rarestOf(wanted), among?.length ?? Infinity) + withAll.length
    const best = new TopScores(count < sizeMax ? count : Infinity, ceiling)
    addFresh(withAll, scores, among, best)
    for (const { view, place } of bySize(this.#readViews())) {
      const cursors = cursorsOf(view, wanted, place)
      if (cursors === undefined) continue
      const scored = cursors.map((cursor, i) => ({ cursor, scores: scores[i]! }))
      scoreAll(view, scored, placesIn(view, among), best, budget)
      for (const cursor of cursors) cursor.release()
    }
    for (const own of scores) own.release()
    return { ...best.finish(), statistics }
  }

  /** Like `scoreWithAll`, for documents that have some of the terms, but not all. */
  scoreWithSome(
    terms: readonly string[],
    { among, wanted = Infinity, ceiling, statistics: given }: ScoreOptions,
    budget: Budget,
  ): ScoredBy {
    const occurring = this.#occurring(terms)
    if (occurring.length === 0) return { seqs: none, scores: none, statistics: given }
    budget.spend(this.#allWaiting().size)
    const { fresh, having } = this.#freshWith(occurring)
    const statistics = given ?? this.#statistics(terms, occurring, having, budget)
    const scores = occurring.map(
      ({ at }) => new TermScores(statistics, statistics.documentFrequencies[at]!),
    )
    const sizeMax = Math.min(this.textCount, among?.length ?? Infinity) + fresh.length
    const best = new TopScores(wanted < sizeMax ? wanted : Infinity, ceiling)
    const isPartial = (text: Fresh) => occurring.length < terms.length || !hasAll(text)
    addFresh(fresh.filter(isPartial), scores, among, best)
    for (const { view, place } of bySize(this.#readViews())) {
      const scored = occurring.flatMap(({ lists }, i): ScoredTerm[] => {
        const own = lists[place]
        if (own === undefined) return []
        return [{ cursor: new PostingCursor(view.segment, own), scores: scores[i]! }]
      })
      if (scored.length === 0) continue
      const walk = new MaxScore(view, scored, terms.length - 1, best, budget)
      const places = placesIn(view, among)
      if (places === undefined) walk.addAll()
      else walk.addAmong(places)
      for (const { cursor } of scored) cursor.release()
    }
    for (const own of scores) own.release()
    return { ...best.finish(), statistics }
  }

  /** `waiting`: for each occurring term, the number of waiting documents that have it. */
  #statistics(
    terms: readonly string[],
    occurring: readonly Term[],
    waiting: readonly number[],
    budget: Budget,
  ): TermStatistics {
    const documentFrequencies = terms.map(() => 0)
    for (const [i, term] of occurring.entries())
      documentFrequencies[term.at] = this.#documentsWith(term, budget) + waiting[i]!
    const documents = this.#store.meta(`texts${this.#suffix}`)
    const tokens = this.#store.meta(`tokens${this.#suffix}`)
    return { documents, tokens, documentFrequencies }
  }

  /** Drops cached state if the store was written to since the last call. */
  #refresh(): void {
    this.#mayHaveChanged = false
    const [state] = this.#store.one('PRAGMA data_version', [])!
    if (state === this.#state) return
    this.#state = state
    this.#known = new WeakMap()
    this.#waiting = undefined
    this.#areViewsRead = false
  }

  #readViews(): readonly SegmentView[] {
    if (this.#areViewsRead) return this.#views
    const ids = this.#store.all(
      `SELECT id FROM textsegment${this.#suffix} WHERE state = 'made' ORDER BY newest`,
      [],
    ) as [number][]
    const known = new Map(this.#views.map((view) => [view.segment.id, view]))
    const views = ids.map(([id]) => known.get(id) ?? new SegmentView(this.#openSegment(id)))
    for (const [i, view] of views.entries())
      for (const { segment: later } of views.slice(i + 1))
        if (!known.has(view.segment.id) || !known.has(later.id))
          for (const seq of later.replaced) view.markVoid(seq)
    for (const seq of this.#allWaiting().keys())
      for (const view of views) view.markVoid(seq)
    this.#areViewsRead = true
    return (this.#views = views)
  }

  #openSegment(id: number): TextSegment {
    const row = this.#segmentRow(id)
    const sql = `SELECT bytes, checksum FROM posting${this.#suffix} WHERE id = ?`
    return new TextSegment(row, (number) => {
      const found = this.#store.one(sql, [number])
      return verifiedPostings(found?.[0], found?.[1], number, this.#suffix)
    })
  }

  #segmentRow(id: number): Omit<TextSegmentRow, 'state'> {
    const [newest, sources, progress, size, postings, ...blobs] = this.#store.one(
      'SELECT newest, sources, progress, size, postings, directory, documents, replaced, ' +
        `checksum FROM textsegment${this.#suffix} WHERE id = ?`,
      [id],
    ) as [
      ...[number, string, number, number, number],
      ...[Uint8Array, Uint8Array, Uint8Array, RowChecksum],
    ]
    const [directory, documents, replaced, checksum] = blobs
    const row = {
      ...{ id, newest, sources, progress, size, postings },
      ...{ directory, documents, replaced },
    }
    if (!isTextSegmentSound(row, checksum))
      throw damagedIndex(termIndex(this.#suffix), `segment ${id}`)
    return row
  }

  /**
   * The terms with their numbers and posting lists; undefined when one of the terms occurs nowhere.
   */
  #termsOf(terms: readonly string[]): readonly Term[] | undefined {
    const found = this.#occurring(terms)
    return found.length === terms.length ? found : undefined
  }

  /** The terms that occur in the index, in the given order. */
  #occurring(terms: readonly string[]): readonly Term[] {
    // The cached state is checked here and not in `begin`, because most reads involve no terms.
    if (this.#mayHaveChanged) this.#refresh()
    const known = this.#known.get(terms)
    if (known !== undefined) return known
    const views = this.#readViews()
    const found: Term[] = []
    for (const [at, term] of terms.entries()) {
      const row = this.#store.one(`SELECT id FROM term${this.#suffix} WHERE term = ?`, [
        storedTerm(term),
      ])
      if (row === undefined) continue
      const id = Number(row[0])
      const lists = views.map(({ segment }) => segment.list(id))
      const postings = lists.reduce((sum, own) => sum + (own?.size ?? 0), 0)
      found.push({ at, id, postings, lists })
    }
    this.#known.set(terms, found)
    return found
  }

  /** Number of documents in segments that have a term; waiting documents are excluded. */
  #documentsWith({ id, lists }: Term, budget: Budget): number {
    let documents = 0
    for (const [i, view] of this.#readViews().entries()) {
      const own = lists[i]
      if (own !== undefined) documents += view.countOf(id, own, budget)
    }
    return documents
  }

  /** Term lists of the waiting documents, by ascending document; null if the text was removed. */
  #allWaiting(): ReadonlyMap<number, Uint8Array | null> {
    if (this.#waiting !== undefined) return this.#waiting
    const sql = `SELECT doc, terms, checksum FROM waiting${this.#suffix} ORDER BY doc`
    const rows = this.#store.all(sql, []) as unknown as WaitingRow[]
    return (this.#waiting = new Map(rows.map((row) => verifiedWaiting(row, this.#suffix))))
  }

  /** Waiting documents that have any of the terms, and the number of waiting documents per term. */
  #freshWith(wanted: readonly Term[]): {
    readonly fresh: readonly Fresh[]
    readonly having: readonly number[]
  } {
    const fresh: Fresh[] = []
    const having = wanted.map(() => 0)
    for (const [seq, bytes] of this.#allWaiting()) {
      if (bytes === null) continue
      list.decode(bytes)
      const counts = wanted.map(({ id }) => list.countOf(id))
      counts.forEach((count, i) => (having[i]! += count > 0 ? 1 : 0))
      if (counts.some(Boolean)) fresh.push({ seq, counts, length: list.length })
    }
    return { fresh, having }
  }
}

/** A term of the query that occurs in the index. */
interface Term {
  /** Index of the term in the query. */
  readonly at: number
  readonly id: number
  /** Number of postings in all segments, including void postings. */
  readonly postings: number
  /** Posting list in each segment. */
  readonly lists: readonly (List | undefined)[]
}

/** A waiting document that has any of the terms. */
interface Fresh {
  readonly seq: number
  readonly counts: readonly number[]
  readonly length: number
}

function hasAll({ counts }: Fresh): boolean {
  return !counts.includes(0)
}

/** Upper bound for the number of matches in segments: the postings of the rarest term. */
function rarestOf(wanted: readonly Term[]): number {
  return Math.min(...wanted.map(({ postings }) => postings))
}

/** Approximate cost of a walk over all documents, in index lookups. */
function walkCost(wanted: readonly Term[], among: Float64Array | undefined): number {
  const leading = Math.min(rarestOf(wanted), among?.length ?? Infinity)
  let blocks = 0
  for (const { postings } of wanted) blocks += Math.min(postings / blockSize, leading)
  // The estimate assumes that half of the blocks are skipped.
  return Math.ceil(blocks / 2)
}

/**
 * Segments by size, the largest first: once its documents are scored, most documents of the other
 * segments can be skipped.
 */
function bySize(
  views: readonly SegmentView[],
): readonly { readonly view: SegmentView; readonly place: number }[] {
  return views
    .map((view, place) => ({ view, place }))
    .sort((a, b) => b.view.segment.postings - a.view.segment.postings)
}

/** A cursor per term; undefined when the segment has no postings of one of the terms. */
function cursorsOf(
  { segment }: SegmentView,
  wanted: readonly Term[],
  place: number,
): PostingCursor[] | undefined {
  const lists: List[] = []
  for (const { lists: all } of wanted) {
    const own = all[place]
    if (own === undefined) return undefined
    lists.push(own)
  }
  return lists.map((own) => new PostingCursor(segment, own))
}

function* documentsIn(
  view: SegmentView,
  cursors: PostingCursor[] | undefined,
  after: number,
  budget: Budget,
): Generator<readonly number[]> {
  if (cursors === undefined) return
  const from = view.segment.documents.placeFrom(after + 1)
  for (const { places, size } of placesWithAll(cursors, from, budget)) {
    const seqs: number[] = []
    for (let i = 0; i < size; i++) {
      const seq = view.seqAt(places[i]!)
      if (seq !== undefined) seqs.push(seq)
    }
    yield seqs
  }
}

/** Numbers of the documents of a segment, in batches: ascending, and greater than `after`. */
function* textsIn(
  view: SegmentView,
  after: number,
  budget: Budget,
): Generator<readonly number[]> {
  const { documents } = view.segment
  for (let from = documents.placeFrom(after + 1); from < documents.size;) {
    budget.spend(textsStep)
    const end = Math.min(documents.size, from + textsStep)
    const seqs: number[] = []
    for (; from < end; from++) {
      const seq = view.seqAt(from)
      if (seq !== undefined) seqs.push(seq)
    }
    yield seqs
  }
}

/** Places of the documents of `among` that are in the segment; undefined if `among` is absent. */
function placesIn(
  { segment }: SegmentView,
  among: Float64Array | undefined,
): Uint32Array | undefined {
  if (among === undefined) return undefined
  const places = new Uint32Array(among.length)
  let size = 0
  for (const seq of among) {
    const place = segment.documents.placeOf(seq)
    if (place >= 0) places[size++] = place
  }
  return places.subarray(0, size)
}

function addFresh(
  fresh: readonly Fresh[],
  scores: readonly TermScores[],
  among: Float64Array | undefined,
  best: TopScores,
): void {
  const isAmong = among === undefined ? undefined : new Set(among)
  for (const { seq, counts, length } of fresh) {
    if (isAmong !== undefined && !isAmong.has(seq)) continue
    let score = 0
    for (const [i, count] of counts.entries())
      if (count > 0) score += scores[i]!.of(count, length)
    best.add(seq, score)
  }
}

/** Number of texts per batch. */
const textsStep = 512

const none = new Float64Array(0)
/** Reusable buffer for decoded lists. */
const list = new TermList(1024)
