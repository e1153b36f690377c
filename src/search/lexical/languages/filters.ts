/** The filters for single languages, by name. */
import { fixedLimits } from '../../../limits.ts'
import { ArgumentProblem, wordsIn } from '../arguments.ts'
import { mapTexts, stemmer } from '../filters/basic.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { Arguments, MaybeSteps, Token, TokenFilter } from '../stage.ts'
import {
  arabicNormalization,
  arabicStem,
  persianNormalization,
  persianStem,
  soraniNormalization,
  soraniStem,
} from './arabic.ts'
import { bengaliNormalization, bengaliStem } from './bengali.ts'
import { brazilianStem } from './brazilian.ts'
import type { StemmerStep } from './endings.ts'
import { englishMinimalStem, englishPossessive } from './english.ts'
import { frenchLightStem, frenchMinimalStem } from './french.ts'
import { galicianMinimalStem, galicianStem } from './galician.ts'
import {
  germanLightStem,
  germanMinimalStem,
  germanNormalization,
  germanStem,
} from './german.ts'
import { hungarianLightStem } from './hungarian.ts'
import { hindiNormalization, indicNormalization, teluguNormalization } from './indic.ts'
import { kStem } from './kstem.ts'
import { latvianStem } from './latvian.ts'
import {
  finnishLightStem,
  norwegianLightStem,
  norwegianMinimalStem,
  norwegianNormalization,
  scandinavianNormalization,
  swedishLightStem,
  swedishMinimalStem,
} from './nordic.ts'
import { porterStem } from './porter.ts'
import { portugueseLightStem, portugueseMinimalStem, portugueseStem } from './portuguese.ts'
import { italianLightStem, spanishLightStem, spanishMinimalStem } from './romance.ts'
import {
  bulgarianStem,
  czechStem,
  russianLightStem,
  serbianNormalization,
} from './slavic.ts'
import { findLanguageProblem, isSnowballLanguage, snowballStem } from './snowball.ts'

/** Filters by name in lower case. */
export const languageFilters: ReadonlyMap<string, MakeFilter> = byLowerCasedName({
  englishPossessive: () => englishPossessive,
  snowballPorter,
  ...eachAs(stemming, {
    arabicStem,
    bengaliStem,
    brazilianStem,
    bulgarianStem,
    czechStem,
    englishMinimalStem,
    finnishLightStem,
    frenchLightStem,
    frenchMinimalStem,
    galicianMinimalStem,
    galicianStem,
    germanLightStem,
    germanMinimalStem,
    germanStem,
    greekStem: snowballStem('Greek'),
    hindiStem: snowballStem('Hindi'),
    hungarianLightStem,
    indonesianStem: snowballStem('Indonesian'),
    italianLightStem,
    kStem,
    latvianStem,
    norwegianLightStem,
    norwegianMinimalStem,
    persianStem,
    porterStem,
    portugueseLightStem,
    portugueseMinimalStem,
    portugueseStem,
    russianLightStem,
    soraniStem,
    spanishLightStem,
    spanishMinimalStem,
    swedishLightStem,
    swedishMinimalStem,
  }),
  ...eachAs(mapTexts, {
    arabicNormalization,
    bengaliNormalization,
    germanNormalization,
    hindiNormalization,
    indicNormalization,
    norwegianNormalization,
    persianNormalization,
    scandinavianNormalization,
    serbianNormalization,
    soraniNormalization,
    teluguNormalization,
  }),
})

/**
 * Maximum letters of a word to stem. Natural words are never longer, but a text that is a single
 * token may be, and some steps scan a word several times. The standard tokenizer has the same
 * limit.
 */
const lettersMax = fixedLimits.wordLengthMax

/** A filter that stems words. It keeps a word that consists of endings only. */
export function stemming(stem: StemmerStep): TokenFilter {
  return stemmer((word, steps) => {
    if (word.length > lettersMax) return word
    steps.take(stemSteps + letterSteps * word.length)
    return stem(word) || word
  })
}

/** Fixed cost of a language's rules. */
const stemSteps = 100

/** Cost per letter; some rules scan the word again for each letter. */
const letterSteps = 16

function* snowballPorter(args: Arguments): Steps<TokenFilter> {
  const language = args.get('language') ?? 'English'
  if (!isSnowballLanguage(language))
    throw new ArgumentProblem(findLanguageProblem(language))
  const stem = stemming(snowballStem(language))
  const spared = yield* wordsIn(args, 'protected')
  if (spared === undefined) return stem
  const protect = function* (tokens: Iterable<Token>): Iterable<Token> {
    for (const token of tokens)
      yield spared.has(token.text) ? { ...token, keyword: true } : token
  }
  return (tokens, steps) => stem(protect(tokens), steps)
}

type MakeFilter = (args: Arguments) => MaybeSteps<TokenFilter>

function eachAs(
  make: (step: StemmerStep) => TokenFilter,
  steps: Readonly<Record<string, StemmerStep>>,
): Record<string, MakeFilter> {
  return Object.fromEntries(
    Object.entries(steps).map(([name, step]) => {
      const filter = make(step)
      return [name, () => filter]
    }),
  )
}

function byLowerCasedName(
  filters: Readonly<Record<string, MakeFilter>>,
): ReadonlyMap<string, MakeFilter> {
  return new Map(Object.entries(filters).map(([name, make]) => [name.toLowerCase(), make]))
}
