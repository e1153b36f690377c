/** Bengali: unifies spellings that sound alike, then removes one ending of a verb or noun. */
import { cut, inTurn, over, type Ending, type StemmerStep } from './endings.ts'
import { indicNormalization } from './indic.ts'
import { rewriting } from './letters.ts'

/**
 * Unifies spellings, after the phonetic encoding of N. UzZaman and M. Khan, "A Bangla phonetic
 * encoding for better spelling suggestions" (2004). \u09cd places a letter below the previous one.
 */
export const bengaliNormalization: StemmerStep = inTurn(
  // Ya below: a vowel after the first letter of a word, otherwise silent.
  (word) =>
    word.replace(/^(.)\u09cd\u09af\u09be?/u, '$1\u09c7').replaceAll('\u09cd\u09af', ''),
  // Ba below: silent after the first letter and below two letters, otherwise doubles the letter.
  (word) =>
    word
      .replace(/^(.)\u09cd\u09ac/u, '$1')
      .replace(/(?<=..\u09cd.)\u09cd\u09ac/gu, '')
      .replace(/(.)\u09cd\u09ac/gu, '$1$1'),
  // Visarga: audible at the end of short words, otherwise doubles the next letter.
  (word) =>
    word
      .replace(/\u0983$/, word.length <= 3 ? '\u09b9' : '')
      .replace(/\u0983(.)/gu, '$1$1'),
  rewriting(
    '\u0981: \u09c0:\u09bf \u09c2:\u09c1 \u0999:\u0982 \u09b6\u09b7:\u09b8 \u09a3:\u09a8 ' +
      '\u09dc\u09dd:\u09b0 \u09ce:\u09a4',
  ),
)

/** Removes the longest ending that leaves at least two letters. */
export const bengaliStem: StemmerStep = cut(
  endings(9, 'িয়াছিলাম িতেছিলাম িতেছিলেন ইতেছিলেন িয়াছিলেন ইয়াছিলেন'),
  endings(8, 'িতেছিলি িতেছিলে িয়াছিলা িয়াছিলে িতেছিলা িয়াছিলি য়েদেরকে'),
  endings(7, 'িতেছিস িতেছেন িয়াছিস িয়াছেন েছিলাম েছিলেন েদেরকে'),
  endings(6, 'িতেছি িতেছা িতেছে ছিলাম ছিলেন িয়াছি িয়াছা িয়াছে েছিলে েছিলা'),
  endings(6, 'য়েদের দেরকে'),
  endings(5, 'িলাম িলেন িতাম িতেন িবেন ছিলি ছিলে ছিলা তেছে িতেছ খানা খানি গুলো গুলি'),
  endings(5, 'য়েরা েদের'),
  endings(4, 'লাম িলি ইলি িলে ইলে লেন িলা ইলা তাম িতি ইতি িতে ইতে তেন িতা িবা ইবা'),
  endings(4, 'িবি ইবি বেন িবে ইবে ছেন য়োন য়ের েরা দের'),
  endings(3, 'িস েন লি লে লা তি তে তা বি বে বা ছি ছা ছে ুন ুক টা টি নি ের রা কে'),
  endings(2, 'ি ী া ো ে ব ত'),
)

/**
 * Endings of words with more than `letters` letters. A letter of the tables may be stored in either
 * of two encodings, so the endings are normalized, like the words.
 */
function endings(letters: number, texts: string): readonly Ending[] {
  return over(letters, indicNormalization(texts))
}
