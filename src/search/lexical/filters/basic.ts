/** Elementary token filters, which other filters and languages build on. */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import type { Token, TokenFilter } from '../stage.ts'

export const lowercase: TokenFilter = mapTexts(lowercased)
export const uppercase: TokenFilter = mapTexts((text) => text.toUpperCase())

/**
 * The text in lower case. The Turkish capital İ becomes a plain "i": its regular lower case has a
 * second character, which users do not type.
 */
export function lowercased(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text.replaceAll('İ', 'i').toLowerCase()
}

/** Changes the text of a token, and charges its cost. */
export type TokenChange = (text: string, steps: StepBudget) => string

/** Changes the text of each token. Tokens that become empty are dropped. */
export function mapTexts(change: TokenChange): TokenFilter {
  return (tokens, steps) =>
    mapped(tokens, (token) => withText(token, change(token.text, steps)))
}

/** Reduces words to their stems, except protected ones. */
export function stemmer(stem: TokenChange): TokenFilter {
  return (tokens, steps) =>
    mapped(tokens, (token) =>
      token.keyword ? token : withText(token, stem(token.text, steps)),
    )
}

function mapped(tokens: Iterable<Token>, change: (token: Token) => Token) {
  return keep(tokens, ({ text }) => text !== '', change)
}

/** Removes stop words. The next token skips their positions. */
export function stop(words: ReadonlySet<string>, ignoreCase = false): TokenFilter {
  const has = membership(words, ignoreCase)
  return (tokens) => keep(tokens, (token) => !has(token.text))
}

/** Removes an article with an apostrophe: "l'avion" becomes "avion". */
export function elision(articles: ReadonlySet<string>, ignoreCase = false): TokenFilter {
  const has = membership(articles, ignoreCase)
  return mapTexts((text) => {
    const apostrophe = text.search(/['\u2019]/)
    if (apostrophe <= 0 || !has(text.slice(0, apostrophe))) return text
    return text.slice(apostrophe + 1)
  })
}

/** Tests membership in a set of words. With `ignoreCase`, the set must be in lower case. */
export function membership(
  words: ReadonlySet<string>,
  ignoreCase: boolean,
): (text: string) => boolean {
  return ignoreCase ? (text) => words.has(text.toLowerCase()) : (text) => words.has(text)
}

/** Keeps the wanted tokens. The next token skips the positions of dropped tokens. */
export function* keep(
  tokens: Iterable<Token>,
  isWanted: (token: Token) => boolean,
  change: (token: Token) => Token = (token) => token,
): Iterable<Token> {
  let skipped = 0
  for (const given of tokens) {
    const token = change(given)
    if (isWanted(token)) {
      yield skipped === 0 ? token : { ...token, step: token.step + skipped }
      skipped = 0
    } else skipped += token.step
  }
}

function withText(token: Token, text: string): Token {
  return text === token.text ? token : { ...token, text }
}
