/**
 * Documents of all workloads, with about nine values and 250 bytes each. A document depends only on
 * the seed and its number, so that all runs and baselines have the same documents.
 */

export const cityCount = 100
/** Number of distinct ages, starting at 18. $inc changes the distribution only slowly. */
const ages = 73
/** Earliest timestamp; all timestamps are within the following ten years. */
const epochMs = 1_400_000_000_000
const tenYearsMs = 315_360_000_000

export const firstNames = [
  'Ada',
  'Bruno',
  'Chiara',
  'Dmitri',
  'Elif',
  'Farah',
  'Goran',
  'Hana',
]
export const lastNames = [
  'Abebe',
  'Bergström',
  'Castillo',
  'Dubois',
  'Endo',
  'Fischer',
  'Gill',
]
export const streets = [
  'Juniper Road',
  'Mill Lane',
  'Harbour Street',
  'Station Avenue',
  'Old Quay',
]

/**
 * The id of a document. All ids have the same length, so that requests of the same kind have the
 * same length.
 */
export function idOf(number: number): string {
  return `doc-${String(number).padStart(9, '0')}`
}

export function cityOf(number: number): string {
  return `City ${String(number).padStart(2, '0')}`
}

/** JSON of a document, in the form in which it is sent and stored. */
export function documentText(seed: number, number: number): string {
  const random = randomNumbers(seed + number * 2_654_435_761)
  const below = (bound: number) => Math.floor(random() * bound)
  const name = `${firstNames[below(firstNames.length)]!} ${lastNames[below(lastNames.length)]!}`
  const score = below(1e9) / 1e4
  const created = epochMs + below(tenYearsMs)
  const tag = below(49)
  return (
    `{"_id":"${idOf(number)}","name":"${name} ${below(1e5)}","city":"${cityOf(below(cityCount))}",` +
    `"age":${18 + below(ages)},"score":${score},"active":${random() < 0.5},` +
    `"created":{"$date":${created}},"tags":["tag-${tag}","tag-${tag + 1 + below(50)}"],` +
    `"address":{"street":"${1 + below(400)} ${streets[below(streets.length)]!}",` +
    `"zip":"${10_000 + below(90_000)}"}}`
  )
}

/** Random documents for the requests of a workload. */
export class Picks {
  readonly #seed: number
  readonly #size: number
  readonly #random: () => number
  #next: number

  constructor(seed: number, size: number) {
    this.#seed = seed
    this.#size = size
    this.#next = size
    this.#random = randomNumbers(seed)
  }

  /** The id of a loaded document. */
  id(): string {
    return idOf(Math.floor(this.#random() * this.#size))
  }

  city(): string {
    return cityOf(Math.floor(this.#random() * cityCount))
  }

  age(): number {
    return 18 + Math.floor(this.#random() * ages)
  }

  chance(probability: number): boolean {
    return this.#random() < probability
  }

  /** JSON of a new document. */
  newDocument(): string {
    return documentText(this.#seed, this.#next++)
  }
}

/** Random numbers from 0 to 1 by Mulberry32. It is fast, and random enough to choose documents. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
