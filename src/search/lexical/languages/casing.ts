/** Small letters in languages with rules of their own for them. */
import type { StemmerStep } from './endings.ts'

/** One sigma, and no accents: they are left out in capitals. */
export const greekLowercase: StemmerStep = (word) =>
  word
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFD')
    .replace(/(?<=\p{Script=Greek}\p{M}*)\p{M}/gu, '')
    .normalize('NFC')

/** The n or t put before a vowel stays small before a capital: "nAthair" is "n-athair". */
export const irishLowercase: StemmerStep = (word) =>
  word.replace(/^[nt](?=[AEIOUÁÉÍÓÚ])/, '$&-').toLowerCase()

/** I has no dot, İ has one. */
export const turkishLowercase: StemmerStep = (word) => word.toLocaleLowerCase('tr')

/** Endings of names follow an apostrophe: "Ankara'da" is "Ankara". */
export const turkishApostrophe: StemmerStep = (word) => word.replace(/['’].*$/s, '')
