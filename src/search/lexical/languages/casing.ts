/** Lower case in languages with special rules. */
import type { StemmerStep } from './endings.ts'

/** Replaces the final sigma by the usual sigma, and removes accents, which capitals lack. */
export const greekLowercase: StemmerStep = (word) =>
  word
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFD')
    .replace(/(?<=\p{Script=Greek}\p{M}*)\p{M}/gu, '')
    .normalize('NFC')

/**
 * The lower case of Irish. An n or t before a capital vowel is a prefix: "nAthair" becomes
 * "n-athair".
 */
export const irishLowercase: StemmerStep = (word) =>
  word.replace(/^[nt](?=[AEIOUÁÉÍÓÚ])/, '$&-').toLowerCase()

/** The lower case of Turkish, which distinguishes dotted and dotless I. */
export const turkishLowercase: StemmerStep = (word) => word.toLocaleLowerCase('tr')

/** Removes endings after the apostrophe of a name: "Ankara'da" becomes "Ankara". */
export const turkishApostrophe: StemmerStep = (word) => word.replace(/['’].*$/s, '')
