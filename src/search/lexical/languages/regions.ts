/**
 * Regions of a word in which stemmers of the Porter family may remove endings. An ending must lie
 * in its region completely.
 */

/**
 * R1: starts after the first consonant that follows a vowel; empty if there is no such consonant.
 */
export function afterSyllable(word: string, vowels: string, from = 0): number {
  let position = from
  while (position < word.length && !vowels.includes(word[position]!)) position++
  while (position < word.length && vowels.includes(word[position]!)) position++
  return Math.min(position + 1, word.length)
}

/** The starts of R1 and R2. R2 is found within R1 by the rule of R1. */
export function syllables(word: string, vowels: string): { r1: number; r2: number } {
  const r1 = afterSyllable(word, vowels)
  return { r1, r2: afterSyllable(word, vowels, r1) }
}

/**
 * RV of the Romance languages. If the second letter is a consonant, RV starts after the next vowel;
 * if the first two letters are vowels, after the next consonant; otherwise after the third letter.
 */
export function afterRoot(word: string, vowels: string): number {
  const isVowel = (position: number) =>
    position < word.length && vowels.includes(word[position]!)
  let position = 2
  if (!isVowel(1)) while (position < word.length && !isVowel(position)) position++
  else if (isVowel(0)) while (isVowel(position)) position++
  return Math.min(position + 1, word.length)
}
