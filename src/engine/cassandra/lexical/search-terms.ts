/**
 * Searches by terms in our own index (postings.ts). Scores are computed from the index alone.
 * Records are then read in order of score, until enough of them still have the scored text.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../../caller/caller.ts'
import { termScore, termWeight, type TermStatistics } from '../../../search/lexical/bm25.ts'
import type { ByTerms, Hit, SearchPlace, SearchResult } from '../../contract.ts'
import { sortInSteps } from '../../../runtime/sort-in-steps.ts'
import { inTurns, Pace, type Steps } from '../../../runtime/steps.ts'
import { EngineError } from '../../errors.ts'
import { upToSize } from '../../up-to-size.ts'
import type { Posting, ClusterPostings, TextPlace } from './postings.ts'

/** Access to documents or rows by their keys in the term index. */
export interface Records<Item> {
  /** Orders results with equal scores. */
  compare(a: string, b: string): number
  /** Compares a key with the position after which a page begins. */
  compareTo(key: string, id: SearchPlace['id']): number
  /**
   * Reads the records of the texts, in order. A result is `stale` if the record no longer has the
   * text, and undefined if the filter excludes the record.
   */
  load(texts: readonly FoundText[]): Promise<readonly (Item | 'stale' | undefined)[]>
  sizeOf(record: Item): number
}

export interface FoundText {
  readonly key: string
  readonly digest: string
  /** Time of the write in microseconds since 1970. */
  readonly written: bigint
}

export interface TermSearch {
  readonly by: ByTerms
  readonly limit: number
  readonly after: SearchPlace | undefined
  readonly statistics: TermStatistics | undefined
  readonly sizeMax: number | undefined
  /** Maximum length of a posting list. */
  readonly textsMax: number
}

/** Number of records that are read concurrently. */
const atATime = 16

export async function searchTerms<Item>(
  postings: ClusterPostings,
  place: TextPlace,
  search: TermSearch,
  records: Records<Item>,
  caller: Caller,
): Promise<SearchResult<Item>> {
  const { by, limit, after, sizeMax, textsMax } = search
  const { texts, frequencies } = await gatherOnce(postings, place, by, textsMax, caller)
  const statistics =
    search.statistics ?? (await statisticsOf(postings, place, texts, frequencies, caller))
  const candidates = await inTurns(ranked(texts, by, statistics, after, records), caller)
  const hits: Hit<Item>[] = []
  const stale: FoundText[] = []
  for (let from = 0; from < candidates.length && hits.length < limit; from += atATime) {
    caller.check()
    const some = candidates.slice(from, from + atATime)
    for (const [at, record] of (await records.load(some)).entries())
      if (record === 'stale') stale.push(some[at]!)
      else if (record !== undefined) hits.push({ record, score: some[at]!.score })
  }
  clear(postings, place, by.terms, stale)
  const enough = upToSize(
    hits.slice(0, limit),
    ({ record }) => records.sizeOf(record),
    sizeMax,
  )
  return { hits: enough, statistics }
}

/** Keys of the records whose texts have all terms, without duplicates, in no order. */
export async function keysWithTerms(
  postings: ClusterPostings,
  place: TextPlace,
  terms: readonly string[],
  textsMax: number,
  caller: Caller,
): Promise<readonly string[]> {
  const by = { kind: 'lexical', terms, text: '', having: 'all' } as const
  const { texts } = await gather(postings, place, by, textsMax, caller)
  return inTurns(distinctKeys(texts.values()), caller)
}

/**
 * Keys of the records that have the texts. A record has several texts while postings of its earlier
 * texts remain.
 */
function* distinctKeys(texts: Iterable<GatheredText>): Steps<readonly string[]> {
  const pace = new Pace()
  const keys = new Set<string>()
  for (const { key } of texts) {
    if (pace.isDue()) yield
    keys.add(key)
  }
  return [...keys]
}

interface GatheredText extends FoundText {
  readonly tokens: number
  /** Occurrences of each term, by its position in the query. */
  readonly counts: number[]
}

interface Gathered {
  /** Texts by digest and key. */
  readonly texts: ReadonlyMap<string, GatheredText>
  /** Length of the posting list of each term. */
  readonly frequencies: readonly number[]
}

/** What a search read for the next search of its command. */
interface GatheredBefore extends Gathered {
  readonly place: TextPlace
  readonly terms: readonly string[]
}

const gatheredBefore = new WeakMap<Caller, GatheredBefore>()

/** Reads the posting lists unless the previous search of the command has read them. */
async function gatherOnce(
  postings: ClusterPostings,
  place: TextPlace,
  by: ByTerms,
  textsMax: number,
  caller: Caller,
): Promise<Gathered> {
  const before = gatheredBefore.get(caller)
  gatheredBefore.delete(caller)
  if (by.having === 'some' && before !== undefined && isOf(before, place, by)) return before
  const gathered = await gather(postings, place, by, textsMax, caller)
  if (by.isContinued) gatheredBefore.set(caller, { ...gathered, place, terms: by.terms })
  return gathered
}

function isOf(before: GatheredBefore, { target, path }: TextPlace, { terms }: ByTerms) {
  return (
    before.place.target === target &&
    before.place.path === path &&
    isDeepStrictEqual(before.terms, terms)
  )
}

/**
 * Reads one posting list after the other. If all terms are required and no search continues this
 * one, memory holds only texts of the first list. Otherwise the result contains texts with any of
 * the terms, and the caller excludes those that it does not want.
 */
async function gather(
  postings: ClusterPostings,
  place: TextPlace,
  { terms, having, isContinued = false }: ByTerms,
  textsMax: number,
  caller: Caller,
): Promise<Gathered> {
  const truncatedAt = await postings.truncatedAt(place)
  const frequencies = terms.map(() => 0)
  const needsAll = having === 'all' && !isContinued
  let texts: ReadonlyMap<string, GatheredText> = new Map()
  const any = new Map<string, GatheredText>()
  for (const [step, position] of rarestFirst(terms).entries()) {
    const found = needsAll ? new Map<string, GatheredText>() : any
    for await (const posting of postings.withTerm(place, terms[position]!, truncatedAt)) {
      const pause = caller.pause()
      if (pause !== undefined) await pause
      if (++frequencies[position]! > textsMax) throw tooMany(terms[position]!, textsMax)
      const id = `${posting.digest} ${posting.key}`
      const known =
        texts.get(id) ?? (step === 0 || !needsAll ? newText(posting) : undefined)
      if (known === undefined) continue
      known.counts[position] = posting.count
      found.set(id, known)
    }
    texts = found
  }
  return { texts, frequencies }
}

function newText({ key, digest, tokens, written }: Posting): GatheredText {
  return { key, digest, tokens, written, counts: [] }
}

/** Positions of the terms, the longest term first, because long words are usually rare. */
function rarestFirst(terms: readonly string[]): readonly number[] {
  return [...terms.keys()].toSorted((a, b) => terms[b]!.length - terms[a]!.length)
}

/**
 * Statistics for scoring. Concurrent writes and stale postings can make a posting list longer than
 * the counted corpus; scores would then be NaN. The corpus therefore counts at least the texts that
 * were found.
 */
async function statisticsOf(
  postings: ClusterPostings,
  place: TextPlace,
  texts: ReadonlyMap<string, GatheredText>,
  frequencies: readonly number[],
  caller: Caller,
): Promise<TermStatistics> {
  const found = Math.max(...frequencies)
  const foundTokens = await inTurns(tokensIn(texts.values()), caller)
  const { documents, tokens } = await postings.corpus(place, found)
  return {
    documents: Math.max(documents, found),
    tokens: Math.max(tokens, foundTokens),
    documentFrequencies: frequencies,
  }
}

function* tokensIn(texts: Iterable<GatheredText>): Steps<number> {
  const pace = new Pace()
  let sum = 0
  for (const { tokens } of texts) {
    if (pace.isDue()) yield
    sum += tokens
  }
  return sum
}

interface ScoredText extends FoundText {
  readonly score: number
}

/** Texts that come after the position where the page starts, best first. */
function* ranked<Item>(
  texts: ReadonlyMap<string, GatheredText>,
  { terms, having }: ByTerms,
  statistics: TermStatistics,
  after: SearchPlace | undefined,
  records: Records<Item>,
): Steps<readonly ScoredText[]> {
  const pace = new Pace()
  const weights = statistics.documentFrequencies.map((documents) =>
    termWeight(statistics, documents),
  )
  const candidates: ScoredText[] = []
  for (const { key, digest, tokens, written, counts } of texts.values()) {
    pace.spend(terms.length)
    if (pace.isDue()) yield
    let score = 0
    let found = 0
    for (const position of terms.keys()) {
      const count = counts[position] ?? 0
      if (count === 0) continue
      score += termScore(weights[position]!, count, tokens, statistics)
      found++
    }
    if ((found === terms.length) !== (having === 'all')) continue
    if (isAfter(key, score, after, records))
      candidates.push({ key, digest, written, score })
  }
  const compare = (a: ScoredText, b: ScoredText) => {
    if (a.score !== b.score) return b.score - a.score
    pace.spend(tieCost)
    return records.compare(a.key, b.key)
  }
  return yield* sortInSteps(candidates, compare, pace)
}

/** Cost of parsing and comparing two keys, in visited values (see Pace). */
const tieCost = 10

function isAfter<Item>(
  key: string,
  score: number,
  after: SearchPlace | undefined,
  records: Records<Item>,
): boolean {
  if (after === undefined) return true
  if (score !== after.score) return score < after.score
  return records.compareTo(key, after.id) > 0
}

/**
 * Age after which a posting is stale if its record does not have the text. The record of a younger
 * posting may not have been written yet.
 */
export const staleAfterMicros = 600_000_000n

/** Removes stale postings in the background, without delaying the search. */
function clear(
  postings: ClusterPostings,
  place: TextPlace,
  terms: readonly string[],
  stale: readonly FoundText[],
): void {
  const before = BigInt(Date.now()) * 1_000n - staleAfterMicros
  const old = stale.filter(({ written }) => written < before)
  for (const term of old.length > 0 ? terms : [])
    postings.remove(place, term, old).catch(() => undefined)
}

function tooMany(term: string, textsMax: number): EngineError {
  return new EngineError(
    'unsupported',
    `more than ${textsMax} texts contain the term "${term}". Search for rarer words, ` +
      'or raise --max-scanned',
  )
}
