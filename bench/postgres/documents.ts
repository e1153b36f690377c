/**
 * Documents that are compared with PostgreSQL: customers, with 414 bytes of JSON in about 17
 * values. A document depends only on the seed, its number and the number of loaded documents.
 */
import { firstNames, idOf, lastNames, randomNumbers, streets } from '../documents.ts'

/** Documents of a city and of an account, at any number of documents. */
const perCity = 1000
const perAccount = 20

/** Number of distinct ages, starting at 18. */
const ages = 80
const epochMs = 1_400_000_000_000
const tenYearsMs = 315_360_000_000

const words = [
  ...['amber', 'bridge', 'canal', 'daily', 'early', 'forest', 'garden', 'harbour'],
  ...['island', 'jacket', 'kettle', 'ladder', 'market', 'narrow', 'orchard', 'paper'],
]

/** A document without its id, which is a column in PostgreSQL. */
export interface Customer {
  readonly id: string
  /** JSON text. */
  readonly document: string
}

/** Random documents and values for requests. */
export class CustomerPicks {
  readonly #seed: number
  readonly #size: number
  readonly #random: () => number
  #next: number

  /** `size` documents are loaded, numbered from 0. `next` is the number of the next new one. */
  constructor(seed: number, size: number, next = size) {
    this.#seed = seed
    this.#size = size
    this.#next = next
    this.#random = randomNumbers(seed)
  }

  /** The id of a loaded document. */
  id(): string {
    return idOf(this.#below(this.#size))
  }

  account(): string {
    return accountOf(this.#below(countOf(this.#size, perAccount)))
  }

  city(): string {
    return cityOf(this.#below(countOf(this.#size, perCity)))
  }

  age(): number {
    return 18 + this.#below(ages)
  }

  chance(probability: number): boolean {
    return this.#random() < probability
  }

  newCustomer(): Customer {
    return customer(this.#seed, this.#next++, this.#size)
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }
}

/** JSON of a customer with its id, as sent to Stela. */
export function withId({ id, document }: Customer): string {
  return `{"_id":"${id}",${document.slice(1)}`
}

function customer(seed: number, number: number, size: number): Customer {
  const random = randomNumbers(seed + number * 2_654_435_761)
  const below = (bound: number) => Math.floor(random() * bound)
  const one = (list: readonly string[]) => list[below(list.length)]!
  const [first, last] = [one(firstNames), one(lastNames)]
  const tag = below(49)
  const document =
    `{"account":"${accountOf(number % countOf(size, perAccount))}",` +
    `"name":"${first} ${last} ${below(1e5)}","email":"${first}.${below(1e6)}@example.com",` +
    `"city":"${cityOf(below(countOf(size, perCity)))}","age":${18 + below(ages)},` +
    `"score":${below(1e9)},"visits":0,"active":${random() < 0.5},` +
    `"created":{"$date":${epochMs + below(tenYearsMs)}},` +
    `"tags":["tag-${tag}","tag-${tag + 1 + below(50)}"],` +
    `"address":{"street":"${1 + below(400)} ${one(streets)}","zip":"${10_000 + below(90_000)}",` +
    `"country":"Country ${10 + below(60)}"},` +
    `"note":"${Array.from({ length: 12 }, () => one(words)).join(' ')}"}`
  return { id: idOf(number), document }
}

function countOf(size: number, perValue: number): number {
  return Math.max(1, Math.round(size / perValue))
}

function accountOf(number: number): string {
  return `account-${String(number).padStart(6, '0')}`
}

function cityOf(number: number): string {
  return `City ${String(number).padStart(4, '0')}`
}
