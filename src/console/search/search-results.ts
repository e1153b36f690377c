/** Results of all search modes in a common format. */
import type { Place } from '../api/place.ts'
import { idKey } from '../data/document-id.ts'
import { kindOf, shortText } from '../json/value-text.ts'
import { Numeral, type JsonObject, type Value } from '../json/value.ts'
import { countMatches } from './matched-words.ts'
import type { SearchMode, SearchModeName } from './search-ways.ts'

export interface SearchResult {
  /** Key of the document, which is the same in all search modes. */
  readonly key: string
  readonly document: JsonObject
  /** A similarity, a rerank score or a number of matching words, depending on the mode. */
  readonly score: number | undefined
  readonly scoreLabel: string
  /** Length of the bar that shows the score, from 0 to 1. */
  readonly bar: number
  /** Scores of a hybrid search. */
  readonly scores: HybridScores | undefined
}

/** Reply of a find or findAndRerank. */
export interface SearchReply {
  readonly status: Readonly<Record<string, unknown>>
  readonly documents: readonly JsonObject[]
}

export interface HybridScores {
  readonly rerank: number
  readonly vector: number
  /** Rank of the document, from 1; null when the vector search did not find the document. */
  readonly vectorRank: number | null
  readonly wordRank: number | null
  readonly rrf: number
}

interface WireScores {
  readonly $rerank: number
  readonly $vector: number
  readonly $vectorRank: number | null
  readonly $bm25Rank: number | null
  readonly $rrf: number
}

export function readResults(
  place: Place,
  way: SearchMode,
  reply: SearchReply,
  stems: ReadonlySet<string>,
): readonly SearchResult[] {
  const scores = (
    (reply.status['documentResponses'] as readonly { scores: WireScores }[] | undefined) ??
    []
  ).map((response) => response.scores)
  const scored = reply.documents.map((document, position) =>
    scoreOf(way.name, document, scores[position], stems),
  )
  const values = scored.map(({ score }) => score ?? 0)
  const greatest = Math.max(...values, 0)
  const least = Math.min(...values, 0)
  return reply.documents.map((document, position) => {
    const { score, scoreLabel } = scored[position]!
    const wire = scores[position]
    return {
      key: idKey(place, document, position),
      document,
      score,
      scoreLabel,
      bar: barOf(way.name, score ?? 0, least, greatest),
      scores: wire && {
        rerank: wire.$rerank,
        vector: wire.$vector,
        vectorRank: wire.$vectorRank,
        wordRank: wire.$bm25Rank,
        rrf: wire.$rrf,
      },
    }
  })
}

/**
 * Length of the bar, from 0 to 1. A similarity is already in this range. Other scores are scaled to
 * the smallest range that contains zero and all scores of the results.
 */
function barOf(
  way: SearchModeName,
  score: number,
  least: number,
  greatest: number,
): number {
  const isShare = way === 'meaning' || way === 'vector'
  const bar = isShare ? score : (score - least) / (greatest - least)
  return Number.isFinite(bar) ? Math.max(0, Math.min(1, bar)) : 0
}

function scoreOf(
  way: SearchModeName,
  document: JsonObject,
  scores: WireScores | undefined,
  stems: ReadonlySet<string>,
): { readonly score: number | undefined; readonly scoreLabel: string } {
  if (scores !== undefined) return { score: scores.$rerank, scoreLabel: 'rerank' }
  const similarity = document.get('$similarity')
  if (similarity instanceof Numeral)
    return { score: Number(similarity.text), scoreLabel: 'similarity' }
  if (way !== 'words') return { score: undefined, scoreLabel: '' }
  const count = countMatches(textOf(document), stems)
  return { score: count, scoreLabel: count === 1 ? 'word matches' : 'words match' }
}

/** The text that was searched, or the longest string of the document. */
export function textOf(document: JsonObject): string {
  for (const name of ['$lexical', '$vectorize']) {
    const value = document.get(name)
    if (typeof value === 'string' && value !== '') return value
  }
  let longest = ''
  for (const [name, value] of document)
    if (typeof value === 'string' && name !== '_id' && value.length > longest.length)
      longest = value
  return longest
}

/** A few short fields that help to distinguish documents. */
export function factsOf(
  document: JsonObject,
  keyNames: readonly string[],
): readonly (readonly [string, string])[] {
  const text = textOf(document)
  return [...document]
    .filter(
      ([name, value]) =>
        !name.startsWith('$') && !keyNames.includes(name) && isShort(value, text),
    )
    .slice(0, 5)
    .map(([name, value]) => [name, shortText(value)] as const)
}

function isShort(value: Value, text: string): boolean {
  if (value === text || kindOf(value) === 'nested') return false
  return typeof value !== 'string' || value.length <= 40
}

/** Explains the rank of a hybrid result in a sentence. */
export function explainHybrid(
  { vectorRank, wordRank, rerank }: HybridScores,
  rank: number,
): string {
  const meaning =
    vectorRank === null ? 'not found by meaning' : `${ordinal(vectorRank)} by meaning`
  const words = wordRank === null ? 'not found by words' : `${ordinal(wordRank)} by words`
  return (
    `${capital(meaning)}, ${words}. Ranked ${ordinal(rank)} by the reranker, with score ` +
    `${formatScore(rerank)}.`
  )
}

export function formatScore(score: number): string {
  if (Number.isInteger(score)) return String(score)
  return Math.abs(score) >= 100 ? score.toFixed(1) : score.toFixed(4).replace(/0{1,2}$/, '')
}

export function ordinal(rank: number): string {
  const isTeen = rank % 100 >= 11 && rank % 100 <= 13
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][rank % 10] ?? 'th')
  return `${rank}${ending}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
