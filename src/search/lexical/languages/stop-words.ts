/** Stop words by language. */
import { wordsOf } from './endings.ts'
import { asian } from './stop-words/asian.ts'
import { easternEuropean } from './stop-words/eastern-european.ts'
import { germanic } from './stop-words/germanic.ts'
import { otherEuropean } from './stop-words/other-european.ts'
import { romance } from './stop-words/romance.ts'

const lists: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [asian, easternEuropean, germanic, otherEuropean, romance].flatMap((family) =>
    Object.entries(family).map(([language, words]) => [language, new Set(wordsOf(words))]),
  ),
)

/**
 * Stop words of a language in lower case, spelled as in running text. Undefined: there is no list
 * for the language.
 */
export function stopWords(language: string): ReadonlySet<string> | undefined {
  return lists.get(language.toLowerCase())
}
