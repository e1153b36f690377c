/**
 * Searches by terms in the index of postings.ts. Scores come of the index alone; then records
 * are read, best first, until enough are found that have the texts that were scored.
 */
import type { Caller } from '../../../caller.ts'
import { termScore, termWeight, type TermStatistics } from '../../../search/lexical/bm25.ts'
import type { ByTerms, Hit, SearchPlace, SearchResult } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { upToSize } from '../../up-to-size.ts'
import type { Posting, ClusterPostings, TextPlace } from './postings.ts'

/** Records by their keys, as documents and rows have them. */
export interface Records<Item> {
  /** Negative, zero or positive, as results are ordered that have the same score. */
  compare(a: string, b: string): number
  /** The same for the place behind which a page begins. */
  compareTo(key: string, id: SearchPlace['id']): number
  /** `stale` for those that do not have the text; undefined: the filter leaves it out. */
  load(texts: readonly FoundText[]): Promise<readonly (Item | 'stale' | undefined)[]>
  sizeOf(record: Item): number
}

export interface FoundText {
  readonly key: string
  readonly digest: string
  /** Microseconds since 1970. */
  readonly written: bigint
}

export interface TermSearch {
  readonly by: ByTerms
  readonly limit: number
  readonly after: SearchPlace | undefined
  readonly sizeMax: number | undefined
  /** Texts that may be looked at for one term. */
  readonly textsMax: number
}

/** Records that are read at a time. */
const atATime = 16

export async function searchTerms<Item>(
  postings: ClusterPostings,
  place: TextPlace,
  search: TermSearch,
  records: Records<Item>,
  caller: Caller,
): Promise<SearchResult<Item>> {
  const { by, limit, after, sizeMax, textsMax } = search
  const { texts, frequencies } = await gather(postings, place, by, textsMax, caller)
  const statistics =
    after?.statistics ?? (await statisticsOf(postings, place, texts, frequencies))
  const candidates = scored(texts, by, statistics)
    .filter(({ key, score }) => isAfter(key, score, after, records))
    .sort((a, b) => b.score - a.score || records.compare(a.key, b.key))
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
  return { hits: enough, ...(!by.anyTerm && { statistics }) }
}

/** The texts that have all terms, in no order. */
export async function textsWithTerms(
  postings: ClusterPostings,
  place: TextPlace,
  terms: readonly string[],
  textsMax: number,
  caller: Caller,
): Promise<readonly FoundText[]> {
  const by = { kind: 'lexical', terms, text: '' } as const
  const { texts } = await gather(postings, place, by, textsMax, caller)
  return [...texts.values()]
}

interface GatheredText extends FoundText {
  readonly tokens: number
  /** By the position of terms in the query. */
  readonly counts: number[]
}

/** One list after the other: where all terms are asked for, the first says how many are kept. */
async function gather(
  postings: ClusterPostings,
  place: TextPlace,
  { terms, anyTerm = false }: ByTerms,
  textsMax: number,
  caller: Caller,
) {
  const truncatedAt = await postings.truncatedAt(place)
  const frequencies = terms.map(() => 0)
  let texts = new Map<string, GatheredText>()
  for (const [step, position] of rarestFirst(terms).entries()) {
    const found = new Map<string, GatheredText>()
    for await (const posting of postings.withTerm(place, terms[position]!, truncatedAt)) {
      const pause = caller.pause()
      if (pause !== undefined) await pause
      if (++frequencies[position]! > textsMax) throw tooMany(terms[position]!, textsMax)
      const id = `${posting.digest} ${posting.key}`
      const known = texts.get(id) ?? (step === 0 || anyTerm ? newText(posting) : undefined)
      if (known === undefined) continue
      known.counts[position] = posting.count
      found.set(id, known)
    }
    texts = anyTerm ? new Map([...texts, ...found]) : found
  }
  return { texts, frequencies }
}

function newText({ key, digest, tokens, written }: Posting): GatheredText {
  return { key, digest, tokens, written, counts: [] }
}

/** Long words are rare, mostly. */
function rarestFirst(terms: readonly string[]): readonly number[] {
  return [...terms.keys()].toSorted((a, b) => terms[b]!.length - terms[a]!.length)
}

/**
 * Texts may be written and removed while they are counted, and their postings outlive them.
 * There are as many as were found, at least: scores of fewer would be no numbers.
 */
async function statisticsOf(
  postings: ClusterPostings,
  place: TextPlace,
  texts: ReadonlyMap<string, GatheredText>,
  frequencies: readonly number[],
): Promise<TermStatistics> {
  const found = Math.max(...frequencies)
  const foundTokens = Iterator.from(texts.values()).reduce(
    (all, one) => all + one.tokens,
    0,
  )
  const { documents, tokens } = await postings.corpus(place, found)
  return {
    documents: Math.max(documents, found),
    tokens: Math.max(tokens, foundTokens),
    documentFrequencies: frequencies,
  }
}

interface ScoredText extends FoundText {
  readonly score: number
}

function scored(
  texts: ReadonlyMap<string, GatheredText>,
  { terms }: ByTerms,
  statistics: TermStatistics,
): ScoredText[] {
  const weights = statistics.documentFrequencies.map((documents) =>
    termWeight(statistics, documents),
  )
  return Array.from(texts.values(), ({ key, digest, tokens, written, counts }) => {
    let score = 0
    for (const position of terms.keys()) {
      const count = counts[position] ?? 0
      if (count > 0) score += termScore(weights[position]!, count, tokens, statistics)
    }
    return { key, digest, written, score }
  })
}

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

/** Until then the record that has the text may be on its way. */
export const staleAfterMicros = 600_000_000n

/** In the background: who searches does not wait for it. */
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
    `more than ${textsMax} texts have the term "${term}". Search for rarer words, or raise --max-scanned`,
  )
}
