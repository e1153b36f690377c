/** Filters that know certain words. */
import {
  ArgumentProblem,
  entriesIn,
  flagIn,
  pairIn,
  patternIn,
  wordsIn,
} from '../arguments.ts'
import type { Arguments, Token, TokenFilter } from '../stage.ts'
import { elision, keep, membership, stop } from './basic.ts'

export const englishStopWords: ReadonlySet<string> = new Set([
  ...['a', 'an', 'and', 'are', 'as', 'at', 'be', 'but', 'by', 'for', 'if', 'in', 'into'],
  ...['is', 'it', 'no', 'not', 'of', 'on', 'or', 'such', 'that', 'the', 'their', 'then'],
  ...['there', 'these', 'they', 'this', 'to', 'was', 'will', 'with'],
])

/** French ones, as it is by far the language that needs this most. */
const defaultArticles: ReadonlySet<string> = new Set([
  ...['l', 'm', 't', 'qu', 'n', 's', 'j', 'd', 'c', 'jusqu', 'quoiqu', 'lorsqu', 'puisqu'],
])

export function stopFilter(args: Arguments): TokenFilter {
  const words = wordsIn(args, 'words') ?? englishStopWords
  return stop(words, flagIn(args, 'ignoreCase', false))
}

export function keepWord(args: Arguments): TokenFilter {
  const words = wordsIn(args, 'words')
  if (words === undefined) return (tokens) => tokens
  const has = membership(words, flagIn(args, 'ignoreCase', false))
  return (tokens) => keep(tokens, ({ text }) => has(text))
}

export function elisionFilter(args: Arguments): TokenFilter {
  const articles = wordsIn(args, 'articles')
  return articles === undefined
    ? elision(defaultArticles, true)
    : elision(articles, flagIn(args, 'ignoreCase', false))
}

/** Protects words from stemmers: those of a list, and those that a pattern matches. */
export function keywordMarker(args: Arguments): TokenFilter {
  const words = wordsIn(args, 'protected') ?? new Set()
  const has = membership(words, flagIn(args, 'ignoreCase', false))
  const pattern = args.has('pattern') ? patternIn(args) : undefined
  return function* (tokens, steps) {
    for (const token of tokens)
      yield has(token.text) || pattern?.matchesWhole(token.text, steps)
        ? { ...token, keyword: true }
        : token
  }
}

/** Stems that a dictionary knows better: "word<tab>stem" or "word => stem" each. */
export function stemmerOverride(args: Arguments): TokenFilter {
  const ignoreCase = flagIn(args, 'ignoreCase', false)
  const stems = new Map<string, string>()
  for (const entry of entriesIn(args.get('dictionary') ?? '')) {
    const [word, stem] = pairIn(entry, '\t') ?? pairIn(entry) ?? []
    if (!word || !stem)
      throw new ArgumentProblem(
        `"dictionary" has "${entry}", but an entry is a word, a tab and its stem`,
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

/** Adds pairs with a common word: "the quick" is "the", "the_quick", "quick". */
export function commonGrams(args: Arguments): TokenFilter {
  const words = wordsIn(args, 'words') ?? englishStopWords
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
