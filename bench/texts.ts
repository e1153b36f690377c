/**
 * Texts as languages have them: a few words are nearly everywhere and most are rare. The
 * n-th word comes with a frequency of 1 / n (Zipf), of 50 000 words, some 60 to a text.
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

  /** A word from among those of these ranks; the commonest has rank 1. */
  wordBetween(from: number, to: number): string {
    return wordOf(from + this.#below(to - from + 1))
  }

  /** Some different words of a text. */
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

/** Frequencies of the words up to each rank, added up. */
const sums = new Float64Array(vocabularySize)
for (let sum = 0, i = 0; i < vocabularySize; i++) sums[i] = sum += 1 / (i + 1)

const consonants = 'bdfgklmnprstvz'
const vowels = 'aeiou'

/** Syllables that say the rank: no two words are the same, and none is a real one. */
function wordOf(rank: number): string {
  let word = ''
  for (let left = rank; left > 0; left = Math.floor(left / 70))
    word += consonants[left % 14]! + vowels[Math.floor(left / 14) % 5]!
  return `${word}x`
}
