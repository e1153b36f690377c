/**
 * Languages in Arabic script. Most letters are written as escapes, because the letters themselves
 * join, reverse the line, and partly look alike.
 */
import { cut, firstOf, inTurn, leaving, over, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

const alef = '\u0627'
const beh = '\u0628'
const tehMarbuta = '\u0629'
const teh = '\u062a'
const reh = '\u0631'
const feh = '\u0641'
const kaf = '\u0643'
const lam = '\u0644'
const noon = '\u0646'
const heh = '\u0647'
const waw = '\u0648'
const yeh = '\u064a'
const dotlessYeh = '\u0649'
const farsiYeh = '\u06cc'
const keheh = '\u06a9'
const ae = '\u06d5'
const rreh = '\u0695'
/**
 * Tatweel, which lengthens the stroke between two letters, and short vowels, which are usually
 * omitted.
 */
const tatweelAndVowels = '\u0640\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652'

export const arabicNormalization: StemmerStep = rewriting(
  `\u0622\u0623\u0625:${alef} ${dotlessYeh}:${yeh} ${tehMarbuta}:${heh} ` +
    `${tatweelAndVowels}:`,
)

/**
 * Removes one prefix, then suffixes in turn, after L. Larkey and others, "Light stemming for Arabic
 * information retrieval" (2007).
 */
export const arabicStem: StemmerStep = inTurn(
  (word) => {
    const prefix = arabicPrefixes.find(
      // The one-letter prefix "and" is removed only from words of at least four letters: in shorter
      // words it may be part of the root.
      (text) => word.length >= Math.max(text.length + 2, 4) && word.startsWith(text),
    )
    return prefix === undefined ? word : word.slice(prefix.length)
  },
  ...[heh + alef, alef + noon, alef + teh, waw + noon, yeh + noon, yeh + heh]
    .concat([yeh + tehMarbuta, heh, tehMarbuta, yeh])
    .map((suffix) => cut(leaving(2, suffix))),
)

const arabicPrefixes = [
  alef + lam,
  ...[waw, beh, kaf, feh].map((letter) => letter + alef + lam),
  lam + lam,
  waw,
]

export const persianNormalization: StemmerStep = rewriting(
  `${farsiYeh}\u06d2:${yeh} ${keheh}:${kaf} \u06c0\u06c1:${heh} \u0654:`,
)

/**
 * Removes endings of the plural and of comparison, and the connecting "i", in normalized spelling.
 */
export const persianStem: StemmerStep = inTurn(
  ...[alef + teh, alef + noon, teh + reh + yeh + noon, teh + reh, yeh + yeh, yeh]
    .concat([heh + alef, '\u200c'])
    .map((suffix) => cut(leaving(2, suffix))),
)

/** Unifies spellings: Sorani is written in Arabic script in several ways. */
export const soraniNormalization: StemmerStep = inTurn(
  (word) => word.replace(/\u0647\u200c/g, ae).replace(/\u0647$/, ae),
  rewriting(
    `${yeh}${dotlessYeh}:${farsiYeh} ${kaf}:${keheh} ${tehMarbuta}:${ae} \u06be:${heh} ` +
      `\u0692:${rreh} ${tatweelAndVowels}:`,
  ),
  (word) => word.replace(/^\u0631/, rreh).replace(/\p{Cf}/gu, ''),
)

/**
 * Removes up to three endings of a noun, from the last to the first: a postposition, a possessive,
 * and one other ending.
 */
export const soraniStem: StemmerStep = inTurn(
  cut(over(5, 'دا'), over(4, 'نا', 'ن'), over(6, 'ەوە')),
  cut(over(6, 'مان یان تان')),
  firstOf(
    cut(over(6, 'ێکی'), over(7, 'یەکی')),
    cut(over(5, 'ێک'), over(6, 'یەک')),
    cut(over(6, 'ەکە'), over(5, 'کە')),
    cut(over(7, 'ەکان'), over(6, 'کان')),
    cut(over(7, 'یانی'), over(6, 'انی')),
    cut(over(6, 'یان'), over(5, 'ان')),
    cut(over(7, 'یانە'), over(6, 'انە')),
    cut(over(5, 'ایە', 'ا'), over(5, 'ەیە', 'ە'), over(4, 'ە')),
    cut(over(4, 'ی')),
  ),
)
