/**
 * Italian and Spanish, after J. Savoy's light stemmers, "Report on CLEF-2001 experiments": they
 * remove endings of gender and number only.
 */
import { cut, inTurn, onlyOver, over, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

/** Italian words that an apostrophe joins to the next word. */
export const italianArticles: ReadonlySet<string> = new Set([
  ...['c', 'l', 'all', 'dall', 'dell', 'nell', 'sull', 'coll', 'pell', 'gl', 'agl', 'dagl'],
  ...['degl', 'negl', 'sugl', 'un', 'm', 't', 's', 'v', 'd'],
])

export const catalanArticles: ReadonlySet<string> = new Set(['d', 'l', 'm', 'n', 's', 't'])

const withoutAccents = rewriting('àáâä:a òóôö:o èéêë:e ùúûü:u ìíîï:i')

export const italianLightStem: StemmerStep = onlyOver(
  5,
  inTurn(withoutAccents, cut(over(5, 'ie he hi ii ia io e i a o'))),
)

export const spanishLightStem: StemmerStep = onlyOver(
  4,
  inTurn(
    withoutAccents,
    cut(over(4, 'eses', 'es'), over(4, 'ces', 'z'), over(4, 'os as es o a e')),
  ),
)

/** Removes plurals only. */
export function spanishMinimalStem(word: string): string {
  return word.length > 3 && word.endsWith('s') ? spanishSingular(word) : word
}

const spanishSingular: StemmerStep = inTurn(
  withoutAccents,
  rewriting('ñ:n'),
  cut(over(3, 'ces', 'z'), over(3, 'es s')),
)
