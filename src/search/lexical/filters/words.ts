/** Filters with lists of words. */
import {
  ArgumentProblem,
  entriesIn,
  flagIn,
  pairIn,
  patternIn,
  wordsIn,
} from '../arguments.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'
import type { Arguments, Token, TokenFilter } from '../stage.ts'
import { elision, keep, membership, stop } from './basic.ts'

export const englishStopWords: ReadonlySet<string> = new Set([
  ...['a', 'an', 'and', 'are', 'as', 'at', 'be', 'but', 'by', 'for', 'if', 'in', 'into'],
  ...['is', 'it', 'no', 'not', 'of', 'on', 'or', 'such', 'that', 'the', 'their', 'then'],
  ...['there', 'these', 'they', 'this', 'to', 'was', 'will', 'with'],
])

/** Default articles of the filter: the French ones, because French needs the filter most. */
const defaultArticles: ReadonlySet<string> = new Set([
  ...['l', 'm', 't', 'qu', 'n', 's', 'j', 'd', 'c', 'jusqu', 'quoiqu', 'lorsqu', 'puisqu'],
])

export function* stopFilter(args: Arguments): Steps<TokenFilter> {
  const ignoreCase = flagIn(args, 'ignoreCase', false)
  return stop(yield* membersIn(args, 'words', englishStopWords), ignoreCase)
}

export function* keepWord(args: Arguments): Steps<TokenFilter> {
  if (!args.has('words')) return (tokens) => tokens
  const words = yield* membersIn(args, 'words', noWords)
  const has = membership(words, flagIn(args, 'ignoreCase', false))
  return (tokens) => keep(tokens, ({ text }) => has(text))
}

export function* elisionFilter(args: Arguments): Steps<TokenFilter> {
  if (!args.has('articles')) return elision(defaultArticles, true)
  const articles = yield* membersIn(args, 'articles', noWords)
  return elision(articles, flagIn(args, 'ignoreCase', false))
}

/** Protects words from stemmers: words of a list, and words that match a pattern. */
export function* keywordMarker(args: Arguments): Steps<TokenFilter> {
  const words = yield* membersIn(args, 'protected', noWords)
  const has = membership(words, flagIn(args, 'ignoreCase', false))
  const pattern = args.has('pattern') ? patternIn(args) : undefined
  return function* (tokens, steps) {
    for (const token of tokens)
      yield has(token.text) || pattern?.matchesWhole(token.text, steps)
        ? { ...token, keyword: true }
        : token
  }
}

/** Overrides stems by a dictionary with entries "word<tab>stem" or "word => stem". */
export function* stemmerOverride(args: Arguments): Steps<TokenFilter> {
  const ignoreCase = flagIn(args, 'ignoreCase', false)
  const stems = new Map<string, string>()
  const pace = new Pace()
  for (const entry of yield* entriesIn(args.get('dictionary') ?? '')) {
    if (pace.isDue()) yield
    const [word, stem] = pairIn(entry, '\t') ?? pairIn(entry) ?? []
    if (!word || !stem)
      throw new ArgumentProblem(
        `"dictionary" has "${entry}", but an entry must be a word, a tab and its stem`,
      )
    stems.set(ignoreCase ? word.toLowerCase() : word, stem)
  }
  return function* (tokens) {
    for (const token of tokens) {
      const { text, keyword } = token
      const stem = keyword ? undefined : stems.get(ignoreCase ? text.toLowerCase() : text)
      yield stem === undefined ? token : { ...token, text: stem, keyword: true }
    }
  }
}

/** Adds pairs with a common word: "the quick" becomes "the", "the_quick", "quick". */
export function* commonGrams(args: Arguments): Steps<TokenFilter> {
  const words = yield* membersIn(args, 'words', englishStopWords)
  const isCommon = membership(words, flagIn(args, 'ignoreCase', false))
  return function* (tokens) {
    let before: Token | undefined
    for (const token of tokens) {
      if (before !== undefined && (isCommon(before.text) || isCommon(token.text)))
        yield { ...before, text: `${before.text}_${token.text}`, step: 0, kind: 'gram' }
      yield token
      before = token
    }
  }
}

const noWords: ReadonlySet<string> = new Set()

/** The words of a list in the form that `membership` compares. */
function* membersIn(
  args: Arguments,
  name: string,
  otherwise: ReadonlySet<string>,
): Steps<ReadonlySet<string>> {
  const words = (yield* wordsIn(args, name)) ?? otherwise
  if (!flagIn(args, 'ignoreCase', false)) return words
  const lower = new Set<string>()
  const pace = new Pace()
  for (const word of words) {
    if (pace.isDue()) yield
    lower.add(word.toLowerCase())
  }
  return lower
}
