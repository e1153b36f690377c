/**
 * The values that a filter compares with one path, and which of them a document has there.
 *
 * Every distinct value has a number. The value of a document and its elements are looked up once
 * for all conditions on the path, so the cost is the number of elements and not their product with
 * the values of the filter. Equal values have equal keys:
 *
 * - A string, boolean or null is its own key. The key of a UUID or ObjectId is its text.
 * - Numbers are found by binary search instead of hashing: V8 hashes numbers without a seed, so a
 *   client could choose numbers that all collide.
 * - The key of a decimal, date, object or array is a text. For objects and arrays it is canonical
 *   JSON, which differs exactly when `equalValues` is false. It is printed only if the filter
 *   contains an object or array with the same number of members.
 * - A binary value equals nothing and has no key.
 */
import { extendedOf } from '../../json/extended.ts'
import { printJson, printJsonInSteps } from '../../json/print.ts'
import { isDecimal, isObject, type JsonObject, type Value } from '../../json/value.ts'
import { Pace, type Steps } from '../../runtime/steps.ts'

/** The values of a filter that a document has at a path, by their numbers. */
export interface FoundValues {
  /** The number of the value itself; -1 if the filter does not contain it. */
  readonly whole: number
  /**
   * For an array: one byte per value of the filter, at the number of the value. The byte is 1 if
   * the array contains the value.
   */
  readonly elements: Uint8Array | undefined
}

const nothingFound: FoundValues = { whole: -1, elements: undefined }

/** Maximum elements of an array that are looked up in one step. */
const shortLength = 500

/** Characters of JSON that can be printed in the time of looking up one value. */
const printedPerValue = 8

export class WantedValues {
  readonly #numbers: Float64Array
  readonly #plain = new Map<Value, number>()
  /** Numbers of decimals, dates, objects and arrays, by text. */
  readonly #others = new Map<string, number>()
  /**
   * Shapes of the filter's objects and arrays: those to compare with whole values, and those to
   * compare with elements.
   */
  readonly #wholeShapes: ReadonlySet<number>
  readonly #elementShapes: ReadonlySet<number>
  readonly #count: number

  /** `elements` are values that are compared with the elements of arrays only. */
  constructor(values: readonly Value[], elements: readonly Value[]) {
    const all = [...values, ...elements]
    this.#numbers = distinctNumbers(all)
    let count = this.#numbers.length
    for (const value of all) {
      if (typeof value === 'number') continue
      const key = keyOf(value)
      if (key === undefined) continue
      const known: Map<Value, number> = key.isPlain ? this.#plain : this.#others
      if (!known.has(key.of)) known.set(key.of, count++)
    }
    this.#count = count
    this.#wholeShapes = new Set(values.filter(isComposite).map(shapeOf))
    this.#elementShapes = new Set(elements.filter(isComposite).map(shapeOf))
  }

  /** The number that identifies a value of the filter; -1 for a binary value. */
  numberOf(value: Value): number {
    return isComposite(value)
      ? (this.#others.get(printJson(value)) ?? -1)
      : this.#scalarNumber(value)
  }

  /**
   * Looks up the value at the path; in steps for long arrays, and for objects and nested arrays.
   */
  lookUp(stored: Value | undefined): FoundValues | Steps<FoundValues> {
    if (stored === undefined) return nothingFound
    if (!Array.isArray(stored)) {
      if (isComposite(stored))
        return this.#wholeShapes.has(shapeOf(stored)) ? this.#inSteps(stored) : nothingFound
      const whole = this.#scalarNumber(stored)
      return whole === -1 ? nothingFound : { whole, elements: undefined }
    }
    const mayEqual = this.#wholeShapes.has(shapeOf(stored)) || this.#elementShapes.size > 0
    if (mayEqual || stored.length > shortLength) return this.#inSteps(stored)
    const elements = new Uint8Array(this.#count)
    for (const element of stored) {
      const number = this.#scalarNumber(element)
      if (number >= 0) elements[number] = 1
    }
    return { whole: -1, elements }
  }

  *#inSteps(stored: Composite): Steps<FoundValues> {
    const pace = new Pace()
    let elements: Uint8Array | undefined
    if (Array.isArray(stored)) {
      elements = new Uint8Array(this.#count)
      let missing = this.#count
      for (const element of stored) {
        const number = isComposite(element)
          ? yield* this.#compositeNumber(element, this.#elementShapes, pace)
          : this.#scalarNumber(element)
        if (number >= 0 && elements[number] === 0) {
          elements[number] = 1
          if (--missing === 0) break
        }
        if (pace.isDue()) yield
      }
    }
    const whole = yield* this.#compositeNumber(stored, this.#wholeShapes, pace)
    return { whole, elements }
  }

  *#compositeNumber(
    value: Composite,
    shapes: ReadonlySet<number>,
    pace: Pace,
  ): Steps<number> {
    if (!shapes.has(shapeOf(value))) return -1
    const printed = printJsonInSteps(value)
    const text = typeof printed === 'string' ? printed : yield* printed
    pace.spend(text.length / printedPerValue)
    if (pace.isDue()) yield
    return this.#others.get(text) ?? -1
  }

  /**
   * The number of a scalar. -1 if the filter does not contain the scalar, or if the value is an
   * object or array.
   */
  #scalarNumber(value: Value): number {
    if (typeof value === 'number') return this.#placeOf(value)
    if (value === null || typeof value !== 'object') return this.#plain.get(value) ?? -1
    if (isDecimal(value)) return this.#others.get(value.decimal) ?? -1
    if (Array.isArray(value)) return -1
    const key = scalarKey(value)
    if (key === undefined) return -1
    return (key.isPlain ? this.#plain.get(key.of) : this.#others.get(key.of)) ?? -1
  }

  #placeOf(value: number): number {
    const numbers = this.#numbers
    let low = 0
    let high = numbers.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (numbers[middle]! < value) low = middle + 1
      else high = middle
    }
    return numbers[low] === value ? low : -1
  }
}

/**
 * An object or array, compared as a whole. A malformed wrapper such as {"$date": "x"} counts as an
 * object.
 */
type Composite = Value[] | JsonObject

function isComposite(value: Value): value is Composite {
  if (Array.isArray(value)) return true
  if (!isObject(value)) return false
  const kind = extendedOf(value)?.kind
  return kind === undefined || kind === 'malformed'
}

/**
 * The number of members, negative for objects. Composites with different shapes are never equal.
 */
function shapeOf(value: Composite): number {
  return Array.isArray(value) ? value.length : -1 - value.size
}

interface Key {
  readonly of: string
  /** Whether the key is the same as the key of a string with this text. */
  readonly isPlain: boolean
}

function keyOf(
  value: Exclude<Value, number>,
): Key | { readonly of: Value; readonly isPlain: true } | undefined {
  if (value === null || typeof value !== 'object') return { of: value, isPlain: true }
  if (isDecimal(value)) return { of: value.decimal, isPlain: false }
  if (isComposite(value)) return { of: printJson(value), isPlain: false }
  return scalarKey(value)
}

/** The key of a scalar; undefined for other values, and for binary values. */
function scalarKey(value: JsonObject): Key | undefined {
  const extended = extendedOf(value)
  switch (extended?.kind) {
    case 'date':
      return { of: `date ${extended.ms}`, isPlain: false }
    case 'uuid':
    case 'objectId':
      return { of: extended.text, isPlain: true }
    case 'binary':
    case 'malformed':
    case undefined:
      return undefined
  }
}

function distinctNumbers(values: readonly Value[]): Float64Array {
  const sorted = Float64Array.from(values.filter((one) => typeof one === 'number')).sort()
  return sorted.filter((number, i) => i === 0 || number !== sorted[i - 1])
}
