/**
 * Where the parts of a word begin that Porter's family of stemmers may cut from. An ending
 * counts only if it lies in its region as a whole.
 */

/** R1: what follows the first consonant after a vowel. Its end where there is none. */
export function afterSyllable(word: string, vowels: string, from = 0): number {
  let position = from
  while (position < word.length && !vowels.includes(word[position]!)) position++
  while (position < word.length && vowels.includes(word[position]!)) position++
  return Math.min(position + 1, word.length)
}

/** R1 and, within it by the same rule, R2. */
export function syllables(word: string, vowels: string): { r1: number; r2: number } {
  const r1 = afterSyllable(word, vowels)
  return { r1, r2: afterSyllable(word, vowels, r1) }
}

/**
 * RV, as the Romance languages have it: after a consonant in second place, what follows the
 * next vowel; after two vowels, what follows the next consonant; else what follows the
 * third letter.
 */
export function afterRoot(word: string, vowels: string): number {
  const isVowel = (position: number) =>
    position < word.length && vowels.includes(word[position]!)
  let position = 2
  if (!isVowel(1)) while (position < word.length && !isVowel(position)) position++
  else if (isVowel(0)) while (isVowel(position)) position++
  return Math.min(position + 1, word.length)
}
