/**
 * Reads the index of terms: which documents have all of some terms, or any, and how often.
 *
 * Most of it stands in the postings. Documents that wait (writer.ts) are taken from
 * their own lists instead, and what the postings say of them does not count.
 */
import type { TermStatistics, Corpus } from '../../../search/lexical/bm25.ts'
import type { Budget } from '../plan/budget.ts'
import { storedTerm } from '../store/layout.ts'
import { drop, PostingCursor, type Found } from './cursor.ts'
import { MaxScore } from './maxscore.ts'
import { TermScores, type Scored } from './scores.ts'
import { TermList } from './postings.ts'
import type { StoreConnection } from '../store/store-connection.ts'

export class LexicalReader {
  readonly #store: StoreConnection
  readonly #suffix: string
  /** What is known of the store, as long as nothing is written to it. */
  #known = new WeakMap<readonly string[], readonly Term[]>()
  #waiting: readonly Waiting[] | undefined
  #state: unknown
  #mayHaveChanged = true

  /** `suffix` tells the indexes of a store apart. */
  constructor(store: StoreConnection, suffix: string) {
    this.#store = store
    this.#suffix = suffix
  }

  /** To be called where a read starts: what was learned before may be out of date. */
  begin(): void {
    this.#mayHaveChanged = true
  }

  /** Whether a document's text has all of the terms. */
  has(seq: number, terms: readonly string[]): boolean {
    const wanted = this.#termsOf(terms)
    if (wanted === undefined) return false
    const found = this.#store.one(
      `SELECT terms FROM indexed${this.#suffix} WHERE doc = ?`,
      [seq],
    )
    if (found === undefined) return false
    list.decode(found[0] as Uint8Array)
    return wanted.every(({ id }) => list.countOf(id) > 0)
  }

  /** How many documents have a text. */
  get textCount(): number {
    return this.#store.meta(`texts${this.#suffix}`)
  }

  /** A number of documents that those with all of the terms do not exceed. */
  sizeMax(terms: readonly string[]): number {
    if (terms.length === 0) return this.textCount
    const wanted = this.#termsOf(terms)
    if (wanted === undefined) return 0
    const [waiting] = this.#store.one(`SELECT count(*) FROM waiting${this.#suffix}`, [])!
    return Math.min(...wanted.map(({ documents }) => documents)) + Number(waiting)
  }

  /** The documents after a number that have all of the terms, in order, step by step. */
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
    budget.spend(this.#allWaiting().length)
    const { changed, fresh } = this.#splitWaiting(wanted)
    let next = fresh.findIndex(({ seq }) => seq > after)
    if (next < 0) next = fresh.length
    for (const { found, upTo } of this.#walk(wanted, changed, { after, budget })) {
      const seqs = Array.from(found.seqs.subarray(0, found.size))
      const inStep = seqs.length
      while (next < fresh.length && fresh[next]!.seq <= upTo) seqs.push(fresh[next++]!.seq)
      if (seqs.length > inStep) seqs.sort((a, b) => a - b)
      yield seqs
    }
    yield fresh.slice(next).map(({ seq }) => seq)
  }

  /** The documents after a number that have a text, in order, step by step. */
  *#texts(after: number, budget: Budget): Generator<readonly number[]> {
    let start = after
    for (;;) {
      budget.spend(textsStep)
      const rows = this.#store.all(
        `SELECT doc FROM indexed${this.#suffix} WHERE doc > ? ORDER BY doc LIMIT ?`,
        [start, textsStep],
      ) as [number][]
      const seqs = rows.map(([seq]) => seq)
      yield seqs
      if (seqs.length < textsStep) return
      start = seqs.at(-1)!
    }
  }

  /**
   * The documents that have all of the terms and their BM25 scores; only those `among` some
   * ascending numbers, where these are given. Scores are counted with the statistics of the
   * index, unless others are given.
   */
  score(
    terms: readonly string[],
    among: Float64Array | undefined,
    budget: Budget,
    given?: TermStatistics,
  ): Scored & { readonly statistics: TermStatistics | undefined } {
    const wanted = this.#termsOf(terms)
    if (wanted === undefined) return { seqs: none, scores: none, statistics: given }
    budget.spend(this.#allWaiting().length + walkCost(wanted, among))
    const { changed, fresh, added } = this.#splitWaiting(wanted)
    const statistics = given ?? {
      ...this.#corpus(),
      documentFrequencies: wanted.map(({ documents }, i) => documents + added[i]!),
    }
    const scores = statistics.documentFrequencies.map(
      (documents) => new TermScores(statistics, documents),
    )
    const rarest = Math.min(...wanted.map(({ documents }) => documents))
    const sizeMax = Math.min(rarest, among?.length ?? Infinity) + fresh.length
    const scored = new ScoredList(sizeMax)
    // What it will cost is paid already.
    const paid = { ...budget, spend: () => budget.spend(0) }
    for (const { found, counts, lengths } of this.#walk(wanted, changed, {
      after: 0,
      budget: paid,
      among,
    }))
      scored.add(found, scores, counts, lengths)
    const isAmong = among === undefined ? undefined : new Set(among)
    for (const { seq, counts, length } of fresh) {
      if (isAmong !== undefined && !isAmong.has(seq)) continue
      scored.add(
        { seqs: Float64Array.of(seq), columns: [], size: 1 },
        scores,
        counts.map((count) => Uint32Array.of(count)),
        Uint32Array.of(length),
      )
    }
    return { ...scored.finish(), statistics }
  }

  /**
   * The same of documents that have any of the terms. Only the best are promised, as many as
   * are wanted, with all that tie with the last of them; there are no others where fewer
   * than that come.
   */
  scoreAny(
    terms: readonly string[],
    among: Float64Array | undefined,
    wanted: number,
    budget: Budget,
  ): Scored {
    const occurring = this.#occurring(terms)
    if (occurring.length === 0) return { seqs: none, scores: none }
    budget.spend(this.#allWaiting().length)
    const { changed, fresh, added } = this.#splitWaiting(occurring, 'any')
    const corpus = this.#corpus()
    const scored = occurring.map(({ id, documents }, i) => ({
      cursor: new PostingCursor(this.#store, this.#suffix, id),
      scores: new TermScores(corpus, documents + added[i]!),
    }))
    const best = new MaxScore(scored, wanted, budget)
    const isAmong = among === undefined ? undefined : new Set(among)
    for (const { seq, counts, length } of fresh)
      if (isAmong === undefined || isAmong.has(seq)) best.add(seq, counts, length)
    if (among === undefined) best.addAll(changed)
    else best.addAmong(without(among, changed))
    return best.result()
  }

  /**
   * Documents that have all terms by the postings, a chunk of the rarest one at a time, with
   * the counts of the terms in the order in which they were given. A step holds until the
   * next one is asked for.
   */
  *#walk(
    wanted: readonly Term[],
    changed: Float64Array,
    { after, budget, among }: WalkOptions,
  ): Generator<Step> {
    const order = wanted
      .map((_, i) => i)
      .sort((a, b) => wanted[a]!.documents - wanted[b]!.documents)
    const [first, ...others] = order.map(
      (i) => new PostingCursor(this.#store, this.#suffix, wanted[i]!.id),
    )
    const leading = among === undefined ? chunksOf(first!, after) : slicesOf(among, first!)
    const counts = new Array<Uint32Array>(wanted.length)
    let changedAt = 0
    for (const found of leading) {
      budget.spend(stepCost * wanted.length)
      const upTo = found.seqs[found.size - 1] ?? 0
      const [lengths, firstCounts] = found.columns as [Uint32Array, Uint32Array]
      counts[order[0]!] = firstCounts
      changedAt = drop(found, changed, changedAt)
      for (const [i, cursor] of others.entries()) {
        const own = roomFor(counts[order[i + 1]!], found.size)
        cursor.keep(found, own)
        found.columns.push(own)
        counts[order[i + 1]!] = own
      }
      yield { found, counts, lengths, upTo }
    }
  }

  /** Forgets what was learned before the latest write. */
  #refresh(): void {
    this.#mayHaveChanged = false
    const [state] = this.#store.one('PRAGMA data_version', [])!
    if (state === this.#state) return
    this.#state = state
    this.#known = new WeakMap()
    this.#waiting = undefined
  }

  /** The terms' places in the index; undefined when one occurs nowhere. */
  #termsOf(terms: readonly string[]): readonly Term[] | undefined {
    const found = this.#occurring(terms)
    return found.length === terms.length ? found : undefined
  }

  /** The places of those terms that occur, in the same order. */
  #occurring(terms: readonly string[]): readonly Term[] {
    // Most reads have to do with no terms, and must not pay for them.
    if (this.#mayHaveChanged) this.#refresh()
    const known = this.#known.get(terms)
    if (known !== undefined) return known
    const found: Term[] = []
    for (const term of terms) {
      const row = this.#store.one(
        `SELECT id, documents FROM term${this.#suffix} WHERE term = ?`,
        [storedTerm(term)],
      )
      if (row !== undefined) found.push({ id: Number(row[0]), documents: Number(row[1]) })
    }
    this.#known.set(terms, found)
    return found
  }

  #corpus(): Corpus {
    return {
      documents: this.#store.meta(`texts${this.#suffix}`),
      tokens: this.#store.meta(`tokens${this.#suffix}`),
    }
  }

  #allWaiting(): readonly Waiting[] {
    this.#waiting ??= this.#store.all(
      `SELECT w.doc, w.terms, i.terms FROM waiting${this.#suffix} w ` +
        `LEFT JOIN indexed${this.#suffix} i ON i.doc = w.doc ORDER BY w.doc`,
      [],
    ) as unknown as Waiting[]
    return this.#waiting
  }

  /**
   * Those that wait: of which the postings are out of date, which have all terms now, or any,
   * and by how many documents each term has more than the postings say.
   */
  #splitWaiting(
    wanted: readonly Term[],
    having: 'all' | 'any' = 'all',
  ): {
    readonly changed: Float64Array
    readonly fresh: readonly Fresh[]
    readonly added: readonly number[]
  } {
    const waiting = this.#allWaiting()
    const changed = Float64Array.from(waiting, ([seq]) => seq)
    const fresh: Fresh[] = []
    const added = wanted.map(() => 0)
    for (const [seq, before, after] of waiting) {
      if (before !== null) {
        list.decode(before)
        wanted.forEach(({ id }, i) => (added[i]! -= list.countOf(id) > 0 ? 1 : 0))
      }
      if (after === null) continue
      list.decode(after)
      const counts = wanted.map(({ id }) => list.countOf(id))
      counts.forEach((count, i) => (added[i]! += count > 0 ? 1 : 0))
      const isWanted = having === 'all' ? !counts.includes(0) : counts.some(Boolean)
      if (isWanted) fresh.push({ seq, counts, length: list.length })
    }
    return { changed, fresh, added }
  }
}

interface Term {
  readonly id: number
  /** Documents that have it, by the postings. */
  readonly documents: number
}

/** A document that waits: its terms as the postings have them, and as they are. */
type Waiting = readonly [seq: number, before: Uint8Array | null, after: Uint8Array | null]

/** A document that waits and has the terms, all or any. */
interface Fresh {
  readonly seq: number
  readonly counts: readonly number[]
  readonly length: number
}

interface WalkOptions {
  readonly after: number
  readonly budget: Budget
  readonly among?: Float64Array | undefined
}

interface Step {
  readonly found: Found
  readonly counts: readonly Uint32Array[]
  readonly lengths: Uint32Array
  /** The last document that this step has looked at. */
  readonly upTo: number
}

/** Reading and merging one chunk, in index lookups. */
const stepCost = 8

/** What a walk through all documents will take at most, in index lookups. */
function walkCost(wanted: readonly Term[], among: Float64Array | undefined): number {
  const rarest = Math.min(...wanted.map(({ documents }) => documents))
  const leading = Math.min(rarest, among?.length ?? Infinity)
  // A chunk has some five hundred documents; with few documents each asks for a chunk.
  let chunks = 0
  for (const { documents } of wanted) chunks += Math.min(documents / 500, leading)
  return Math.ceil(chunks * stepCost)
}

/** What leads a walk: the documents of one term, chunk by chunk. */
function* chunksOf(cursor: PostingCursor, after: number): Generator<Found> {
  let from = after + 1
  while (cursor.next(from)) {
    const { seqs, counts, lengths, size, last } = cursor.chunk
    let start = 0
    while (seqs[start]! < from) start++
    // The chunk itself, which is not needed again.
    yield {
      seqs: seqs.subarray(start),
      columns: [lengths.subarray(start), counts.subarray(start)],
      size: size - start,
    }
    from = last + 1
  }
}

/** What leads a walk: given documents that have the term, some at a time. */
function* slicesOf(among: Float64Array, cursor: PostingCursor): Generator<Found> {
  for (let at = 0; at < among.length; at += sliceSize) {
    const seqs = among.slice(at, at + sliceSize)
    const found: Found = { seqs, columns: [], size: seqs.length }
    const lengths = new Uint32Array(seqs.length)
    const counts = new Uint32Array(seqs.length)
    cursor.keep(found, counts, lengths)
    found.columns.push(lengths, counts)
    yield found
  }
}

const sliceSize = 1024
/** Texts that are listed at a time. */
const textsStep = 512

/** Numbers that are not among others, all in order. */
function without(numbers: Float64Array, others: Float64Array): Float64Array {
  const found: Found = { seqs: numbers.slice(), columns: [], size: numbers.length }
  drop(found, others, 0)
  return found.seqs.subarray(0, found.size)
}

function roomFor(given: Uint32Array | undefined, size: number): Uint32Array {
  return given !== undefined && given.length >= size
    ? given
    : new Uint32Array(Math.max(size, sliceSize))
}

/** Documents with their scores, added together term by term. */
class ScoredList {
  readonly #seqs: Float64Array
  readonly #scores: Float64Array
  #size = 0

  constructor(sizeMax: number) {
    this.#seqs = new Float64Array(sizeMax)
    this.#scores = new Float64Array(sizeMax)
  }

  add(
    { seqs, size }: Found,
    terms: readonly TermScores[],
    counts: readonly Uint32Array[],
    lengths: Uint32Array,
  ): void {
    const start = this.#size
    this.#seqs.set(seqs.subarray(0, size), start)
    // In the order of the query: a sum of floats depends on it.
    for (const [i, term] of terms.entries())
      term.addTo(this.#scores, start, size, counts[i]!, lengths)
    this.#size += size
  }

  finish(): Scored {
    return {
      seqs: this.#seqs.subarray(0, this.#size),
      scores: this.#scores.subarray(0, this.#size),
    }
  }
}

const none = new Float64Array(0)
/** Where lists are taken apart, one after the other. */
const list = new TermList(1024)
