/** What a sample of documents or rows contains, field by field. All functions are pure. */
import { printJson } from '../json/print-json.ts'
import { isPlainObject, tallyFields, typeOf } from '../json/tally-fields.ts'
import {
  extendedKind,
  isObject,
  Numeral,
  type JsonObject,
  type Value,
} from '../json/value.ts'

export interface FieldSummary {
  /** Path as filters write it. */
  readonly path: string
  readonly names: readonly string[]
  /** Types of the values with their counts, most frequent first. */
  readonly types: readonly Counted<string>[]
  /** Number of documents that have the field. */
  readonly count: number
  /** Number of different values; undefined if there are more than are counted. */
  readonly distinct: number | undefined
  /** The most frequent values. Of an array, its elements count. */
  readonly examples: readonly Counted<Value>[]
  /** The least and the greatest value; undefined unless there are numbers, dates or texts. */
  readonly range: FieldRange | undefined
}

export interface Counted<T> {
  readonly value: T
  readonly count: number
}

/** Values of one type in their order, or the lengths of texts. */
export type FieldRange =
  | { readonly kind: 'values'; readonly least: Value; readonly greatest: Value }
  | { readonly kind: 'lengths'; readonly least: number; readonly greatest: number }

/** Fields that are summarized: a document may have thousands. */
const fieldsMax = 1_000
/** Different values that are counted per field. */
const distinctMax = 1_000
/** Characters of a value that is counted. Longer values count as different. */
const valueLengthMax = 500
const examplesMax = 5

export function summarizeFields(documents: readonly JsonObject[]): readonly FieldSummary[] {
  const tallies = tallyFields(documents, fieldsMax, (names) => new Summary(names))
  return [...tallies].map(([path, tally]) => ({ path, ...tally.summary() }))
}

class Summary {
  readonly #names: readonly string[]
  readonly #types = new Map<string, number>()
  readonly #values = new Map<string, { readonly value: Value; count: number }>()
  #hasMore = false
  #count = 0
  #least: Value | undefined
  #greatest: Value | undefined
  #shortest = Infinity
  #longest = 0

  constructor(names: readonly string[]) {
    this.#names = names
  }

  add(value: Value): void {
    this.#count++
    const type = typeOf(value)
    this.#types.set(type, (this.#types.get(type) ?? 0) + 1)
    if (Array.isArray(value)) {
      // A vector may have a thousand numbers, which say nothing by themselves.
      for (const element of value.slice(0, elementsMax)) this.#tally(element)
    } else if (!isPlainObject(value)) this.#tally(value)
  }

  #tally(value: Value): void {
    if (typeof value === 'string') {
      this.#shortest = Math.min(this.#shortest, value.length)
      this.#longest = Math.max(this.#longest, value.length)
    } else if (magnitudeOf(value) !== undefined) {
      if (isBelow(value, this.#least)) this.#least = value
      if (this.#greatest === undefined || isBelow(this.#greatest, value))
        this.#greatest = value
    }
    const key = printJson(value)
    const known = this.#values.get(key)
    if (known !== undefined) known.count++
    else if (this.#values.size < distinctMax && key.length <= valueLengthMax)
      this.#values.set(key, { value, count: 1 })
    else this.#hasMore = true
  }

  summary(): Omit<FieldSummary, 'path'> {
    const examples = [...this.#values.values()]
      .toSorted((one, other) => other.count - one.count)
      .slice(0, examplesMax)
    return {
      names: this.#names,
      types: [...this.#types]
        .map(([value, count]) => ({ value, count }))
        .toSorted((one, other) => other.count - one.count),
      count: this.#count,
      distinct: this.#hasMore ? undefined : this.#values.size,
      examples,
      range: this.#range(),
    }
  }

  #range(): FieldRange | undefined {
    if (this.#least !== undefined)
      return { kind: 'values', least: this.#least, greatest: this.#greatest! }
    return this.#longest === 0
      ? undefined
      : { kind: 'lengths', least: this.#shortest, greatest: this.#longest }
  }
}

const elementsMax = 100

/** Position of a number or a date in its order; undefined for other values. */
function magnitudeOf(value: Value): number | undefined {
  if (value instanceof Numeral) return Number(value.text)
  if (!isObject(value) || extendedKind(value) !== '$date') return undefined
  const ms = value.get('$date')
  return ms instanceof Numeral ? Number(ms.text) : undefined
}

/** Whether a value comes before another one. Values of another type than the first are ignored. */
function isBelow(value: Value, other: Value | undefined): boolean {
  if (other === undefined) return true
  return typeOf(value) === typeOf(other) && magnitudeOf(value)! < magnitudeOf(other)!
}
