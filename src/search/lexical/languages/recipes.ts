/**
 * The analyzers of single languages: the filters after the standard tokenizer, in Lucene's order.
 */
import { elision, lowercase, mapTexts, stop } from '../filters/basic.ts'
import { decimalDigit } from '../filters/cjk.ts'
import type { CharFilter, TokenFilter } from '../stage.ts'
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
import {
  greekLowercase,
  irishLowercase,
  turkishApostrophe,
  turkishLowercase,
} from './casing.ts'
import { inTurn, type StemmerStep } from './endings.ts'
import { englishPossessive } from './english.ts'
import { stemming } from './filters.ts'
import { frenchArticles, frenchLightStem } from './french.ts'
import { galicianStem } from './galician.ts'
import { germanLightStem, germanNormalization } from './german.ts'
import { hindiNormalization, indicNormalization } from './indic.ts'
import { latvianStem } from './latvian.ts'
import { porterStem } from './porter.ts'
import { portugueseLightStem } from './portuguese.ts'
import {
  catalanArticles,
  italianArticles,
  italianLightStem,
  spanishLightStem,
} from './romance.ts'
import { bulgarianStem, czechStem } from './slavic.ts'
import { romanianNormalization, snowballStem } from './snowball.ts'
import { stopWords } from './stop-words.ts'

export interface LanguageRecipe {
  readonly charFilters?: readonly CharFilter[]
  readonly filters: readonly TokenFilter[]
}

export const languageRecipes: ReadonlyMap<string, LanguageRecipe> = new Map(
  Object.entries({
    arabic: recipe(
      lowercase,
      decimalDigit,
      stops('arabic'),
      mapTexts(arabicNormalization),
      stemming(arabicStem),
    ),
    armenian: usual('armenian', snowballStem('Armenian')),
    basque: usual('basque', snowballStem('Basque')),
    bengali: recipe(
      lowercase,
      decimalDigit,
      mapTexts(inTurn(indicNormalization, bengaliNormalization)),
      stops('bengali', inTurn(indicNormalization, bengaliNormalization)),
      stemming(bengaliStem),
    ),
    brazilian: usual('brazilian', brazilianStem),
    bulgarian: usual('bulgarian', bulgarianStem),
    catalan: recipe(
      elision(catalanArticles, true),
      lowercase,
      stops('catalan'),
      stemming(snowballStem('Catalan')),
    ),
    czech: usual('czech', czechStem),
    danish: usual('danish', snowballStem('Danish')),
    dutch: usual('dutch', (word) => irregularDutch.get(word) ?? dutchStem(word)),
    english: recipe(englishPossessive, lowercase, stops('english'), stemming(porterStem)),
    estonian: usual('estonian', snowballStem('Estonian')),
    finnish: usual('finnish', snowballStem('Finnish')),
    french: recipe(
      elision(frenchArticles, true),
      lowercase,
      stops('french'),
      stemming(frenchLightStem),
    ),
    galician: usual('galician', galicianStem),
    german: recipe(
      lowercase,
      stops('german'),
      mapTexts(germanNormalization),
      stemming(germanLightStem),
    ),
    greek: recipe(
      mapTexts(greekLowercase),
      stops('greek', greekLowercase),
      stemming(snowballStem('Greek')),
    ),
    hindi: recipe(
      lowercase,
      decimalDigit,
      mapTexts(inTurn(indicNormalization, hindiNormalization)),
      stops('hindi', inTurn(indicNormalization, hindiNormalization)),
      stemming(snowballStem('Hindi')),
    ),
    hungarian: usual('hungarian', snowballStem('Hungarian')),
    indonesian: usual('indonesian', snowballStem('Indonesian')),
    irish: recipe(
      // The tokenizer splits words such as "n-athair" at the hyphen; this filter removes the
      // prefixes.
      stop(new Set(['h', 'n', 't']), true),
      elision(new Set(['b', 'd', 'm']), true),
      mapTexts(irishLowercase),
      stops('irish'),
      stemming(snowballStem('Irish')),
    ),
    italian: recipe(
      elision(italianArticles, true),
      lowercase,
      stops('italian'),
      stemming(italianLightStem),
    ),
    latvian: usual('latvian', latvianStem),
    lithuanian: usual('lithuanian', snowballStem('Lithuanian')),
    norwegian: usual('norwegian', snowballStem('Norwegian')),
    persian: {
      charFilters: [joinersAsSpaces],
      ...recipe(
        lowercase,
        decimalDigit,
        mapTexts(inTurn(arabicNormalization, persianNormalization)),
        stops('persian', inTurn(arabicNormalization, persianNormalization)),
        stemming(persianStem),
      ),
    },
    portuguese: usual('portuguese', portugueseLightStem),
    romanian: recipe(
      lowercase,
      mapTexts(romanianNormalization),
      stops('romanian', romanianNormalization),
      stemming(snowballStem('Romanian')),
    ),
    russian: usual('russian', snowballStem('Russian')),
    sorani: recipe(
      mapTexts(soraniNormalization),
      lowercase,
      decimalDigit,
      stops('sorani', soraniNormalization),
      stemming(soraniStem),
    ),
    spanish: usual('spanish', spanishLightStem),
    swedish: usual('swedish', snowballStem('Swedish')),
    turkish: recipe(
      mapTexts(turkishApostrophe),
      mapTexts(turkishLowercase),
      stops('turkish'),
      stemming(snowballStem('Turkish')),
    ),
  }),
)

const dutchStem = snowballStem('Dutch')

const irregularDutch = new Map([
  ['fiets', 'fiets'],
  ['bromfiets', 'bromfiets'],
  ['ei', 'eier'],
  ['kind', 'kinder'],
])

function recipe(...filters: readonly TokenFilter[]): LanguageRecipe {
  return { filters }
}

function usual(language: string, stem: StemmerStep): LanguageRecipe {
  return recipe(lowercase, stops(language), stemming(stem))
}

/**
 * Removes stop words. Earlier filters have changed the spelling of words; `respell` changes the
 * spelling of the stop words in the same way.
 */
function stops(language: string, respell: StemmerStep = (word) => word): TokenFilter {
  return stop(new Set([...stopWords(language)!].map(respell)))
}

/** Replaces the zero-width non-joiner, which Persian uses between parts of a word, by a space. */
function joinersAsSpaces(text: string): string {
  return text.replaceAll('\u200c', ' ')
}
