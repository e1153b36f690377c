/**
 * Texts of about 60 words with the word frequencies of natural languages: of 50 000 words, the n-th
 * most common word has a frequency proportional to 1 / n (Zipf).
 */
import { randomNumbers } from './documents.ts'

export const vocabularySize = 50_000
const wordsMin = 40
const wordsMax = 80

export class Texts {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomNumbers(seed)
  }

  next(): string {
    const count = wordsMin + this.#below(wordsMax - wordsMin + 1)
    return Array.from({ length: count }, () => wordOf(this.#rank())).join(' ')
  }

  /** A word with a rank in this range; the most common word has rank 1. */
  wordBetween(from: number, to: number): string {
    return wordOf(from + this.#below(to - from + 1))
  }

  /** Distinct words of a text. */
  wordsOf(text: string, count: number): string[] {
    const words = [...new Set(text.split(' '))]
    return Array.from(
      { length: Math.min(count, words.length) },
      () => words.splice(this.#below(words.length), 1)[0]!,
    )
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  #rank(): number {
    const wanted = this.#random() * sums[vocabularySize - 1]!
    let low = 0
    let high = vocabularySize - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

/** Cumulative frequencies of words by rank. */
const sums = new Float64Array(vocabularySize)
for (let sum = 0, i = 0; i < vocabularySize; i++) sums[i] = sum += 1 / (i + 1)

const consonants = 'bdfgklmnprstvz'
const vowels = 'aeiou'

/** A pronounceable artificial word that encodes the rank, so that all words are distinct. */
function wordOf(rank: number): string {
  let word = ''
  for (let left = rank; left > 0; left = Math.floor(left / 70))
    word += consonants[left % 14]! + vowels[Math.floor(left / 14) % 5]!
  return `${word}x`
}
