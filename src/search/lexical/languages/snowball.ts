/**
 * The stemmers of the Snowball project, by their names in Lucene. Kraaij and Pohlmann's Dutch
 * ("Kp"), Lovins' English and Yiddish are not available.
 */
import { stemmer as arabic } from '@orama/stemmers/arabic'
import { stemmer as armenian } from '@orama/stemmers/armenian'
import { stemmer as danish } from '@orama/stemmers/danish'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as finnish } from '@orama/stemmers/finnish'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as greek } from '@orama/stemmers/greek'
import { stemmer as hungarian } from '@orama/stemmers/hungarian'
import { stemmer as hindi } from '@orama/stemmers/indian'
import { stemmer as indonesian } from '@orama/stemmers/indonesian'
import { stemmer as irish } from '@orama/stemmers/irish'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian'
import { stemmer as nepali } from '@orama/stemmers/nepali'
import { stemmer as norwegian } from '@orama/stemmers/norwegian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as romanian } from '@orama/stemmers/romanian'
import { stemmer as russian } from '@orama/stemmers/russian'
import { stemmer as serbian } from '@orama/stemmers/serbian'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as swedish } from '@orama/stemmers/swedish'
import { stemmer as tamil } from '@orama/stemmers/tamil'
import { stemmer as turkish } from '@orama/stemmers/turkish'
import { basqueStem } from './basque.ts'
import { catalanStem } from './catalan.ts'
import type { StemmerStep } from './endings.ts'
import { englishStem } from './english.ts'
import { estonianStem } from './estonian.ts'
import { rewriting } from './letters.ts'
import { porterStem } from './porter.ts'

/**
 * Replaces the comma below by a cedilla: old fonts lacked the comma, so many Romanian texts use a
 * cedilla.
 */
export const romanianNormalization: StemmerStep = rewriting('ș:ş ț:ţ')

const snowball = {
  Arabic: arabic,
  Armenian: armenian,
  Basque: basqueStem,
  Catalan: catalanStem,
  Danish: danish,
  Dutch: dutch,
  English: englishStem,
  Estonian: estonianStem,
  Finnish: finnish,
  French: french,
  German: german,
  German2: (word) => german(withUmlauts(word)),
  Greek: greek,
  Hindi: hindi,
  Hungarian: hungarian,
  Indonesian: indonesian,
  Irish: irish,
  Italian: italian,
  Lithuanian: lithuanian,
  Nepali: nepali,
  Norwegian: norwegian,
  Porter: porterStem,
  Portuguese: portuguese,
  Romanian: (word) => romanian(romanianNormalization(word)),
  Russian: russian,
  Serbian: serbian,
  Spanish: spanish,
  Swedish: swedish,
  Tamil: tamil,
  Turkish: turkish,
} satisfies Record<string, StemmerStep>

export type SnowballLanguage = keyof typeof snowball

export function snowballStem(language: SnowballLanguage): StemmerStep {
  return snowball[language]
}

export function isSnowballLanguage(name: string): name is SnowballLanguage {
  return Object.hasOwn(snowball, name)
}

/** Describes an invalid name for snowballPorter; undefined if it is valid. */
export function findLanguageProblem(language: string): string | undefined {
  if (isSnowballLanguage(language)) return undefined
  return (
    `there is no stemmer for the language "${language}". There are: ` +
    Object.keys(snowball).join(', ')
  )
}

/** Restores the umlauts of a German word: replaces "ae", "oe", and "ue" unless it follows a q. */
function withUmlauts(word: string): string {
  return word.replace(/ae|oe|(?<!q)ue/g, (letters) => umlauts.get(letters)!)
}

const umlauts = new Map([
  ['ae', 'ä'],
  ['oe', 'ö'],
  ['ue', 'ü'],
])
