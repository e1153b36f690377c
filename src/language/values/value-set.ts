/**
 * A set of values, compared by equality. Scalars are looked up directly. Arrays, objects and
 * decimals are looked up by a text that is the same for equal values, so that values are not
 * compared with each other.
 */
import { printJsonInSteps } from '../../json/print.ts'
import type { Value } from '../../json/value.ts'
import { Pace, type Steps } from '../../runtime/steps.ts'

export class ValueSet {
  readonly #scalars = new Set<Value>()
  readonly #texts = new Set<string>()
  readonly #textOf: (value: Value) => string | Steps<string>
  readonly #pace = new Pace()

  /**
   * `textOf` returns the text by which arrays, objects and decimals are compared. It may return the
   * same text for values that are written differently; they then count as equal.
   */
  constructor(textOf: (value: Value) => string | Steps<string> = printJsonInSteps) {
    this.#textOf = textOf
  }

  /** Adds values, and returns the new ones, each once. */
  *add(values: readonly Value[]): Steps<Value[]> {
    const added: Value[] = []
    for (const value of values) {
      const text = isScalar(value) ? undefined : yield* this.#text(value)
      if (!this.#has(value, text)) {
        added.push(value)
        if (text === undefined) this.#scalars.add(value)
        else this.#texts.add(text)
      }
      if (this.#pace.isDue()) yield
    }
    return added
  }

  /** Returns the values that the set does not contain. */
  *lacking(values: readonly Value[]): Steps<Value[]> {
    const lacking: Value[] = []
    for (const value of values) {
      const text = isScalar(value) ? undefined : yield* this.#text(value)
      if (!this.#has(value, text)) lacking.push(value)
      if (this.#pace.isDue()) yield
    }
    return lacking
  }

  #has(value: Value, text: string | undefined): boolean {
    return text === undefined ? this.#scalars.has(value) : this.#texts.has(text)
  }

  *#text(value: Value): Steps<string> {
    const made = this.#textOf(value)
    const text = typeof made === 'string' ? made : yield* made
    this.#pace.spend(text.length / charactersPerValue)
    return text
  }
}

/** Characters that can be printed in the time of looking up a scalar. */
const charactersPerValue = 20

function isScalar(value: Value): boolean {
  return typeof value !== 'object' || value === null
}
