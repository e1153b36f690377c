/**
 * What filters mean. Engines may answer a filter from their indexes in any way they like,
 * as long as the answer is the one given here.
 */
import { equalValues } from '../../json/equal.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import type { Comparison, Filter } from './filter.ts'
import { compareValues, rank, rankOf, type Rank } from '../values/order.ts'
import { valueAt } from '../values/value-at.ts'

/** Whether the text at a path of the document that is asked about has all of some terms. */
export type HasTerms = (terms: readonly string[], path: string) => boolean

/**
 * `document` holds $vector, $vectorize and $lexical like any other field. Which terms its
 * text has only an analyzer or an index can say.
 */
export function matches(
  filter: Filter,
  document: JsonObject,
  hasTerms: HasTerms = cannotTell,
): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((part) => matches(part, document, hasTerms))
    case 'or':
      return filter.of.some((part) => matches(part, document, hasTerms))
    case 'match':
      return hasTerms(filter.terms, filter.path.text)
    default:
      return holds(filter, document)
  }
}

function cannotTell(): never {
  throw new Error('a filter with $match needs the terms of a text')
}

function holds(
  filter: Exclude<Comparison, { kind: 'match' }>,
  document: JsonObject,
): boolean {
  const stored = valueAt(document, filter.path)
  switch (filter.kind) {
    case 'eq':
      return equals(stored, filter.value)
    case 'ne':
      return !equals(stored, filter.value)
    case 'gt':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) > 0
    case 'gte':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) >= 0
    case 'lt':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) < 0
    case 'lte':
      return areOrdered(stored, filter.value) && compareValues(stored, filter.value) <= 0
    case 'in':
      return isAmong(stored, filter.values)
    case 'nin':
      return !isAmong(stored, filter.values)
    case 'all':
      return holdsAll(stored, filter.values)
    case 'notAll':
      return !holdsAll(stored, filter.values)
    case 'size':
      return Array.isArray(stored) && stored.length === filter.size
    case 'notSize':
      return !(Array.isArray(stored) && stored.length === filter.size)
    case 'exists':
      return (stored !== undefined) === filter.exists
  }
}

/** An array equals a scalar that is one of its elements, null excepted. */
function equals(stored: Value | undefined, value: Value): boolean {
  if (stored === undefined) return false
  if (Array.isArray(stored) && value !== null && isScalar(rankOf(value)))
    return stored.some((element) => areSame(element, value))
  return areSame(stored, value)
}

/** As `equals` says, but a null in an array counts as well. */
function isAmong(stored: Value | undefined, values: readonly Value[]): boolean {
  if (stored === undefined) return false
  const { plain, others } = choicesOf(values)
  const elements = Array.isArray(stored) ? stored : [stored]
  if (elements.some((element) => isPlain(element) && plain.has(element))) return true
  // A value with a type of its own may equal a plain one: an id that is written as a text.
  const left = elements.every(isPlain) ? others : values
  return left.some((value) => equals(stored, value))
}

/** The values of a list, of which most are found without comparing them one by one. */
interface Choices {
  readonly plain: ReadonlySet<Value>
  readonly others: readonly Value[]
}

const knownChoices = new WeakMap<readonly Value[], Choices>()

function choicesOf(values: readonly Value[]): Choices {
  let choices = knownChoices.get(values)
  if (choices === undefined) {
    const others = values.filter((value) => !isPlain(value))
    choices = { plain: new Set(values.filter(isPlain)), others }
    knownChoices.set(values, choices)
  }
  return choices
}

/** Equal values of these types are the same to JavaScript, too. */
function isPlain(value: Value): boolean {
  return value === null || typeof value !== 'object'
}

/** A scalar counts as the only element of an array. */
function holdsAll(stored: Value | undefined, values: readonly Value[]): boolean {
  if (Array.isArray(stored))
    return values.every((value) => stored.some((element) => areSame(element, value)))
  if (stored === undefined || !isScalar(rankOf(stored))) return false
  return values.every((value) => areSame(stored, value))
}

/** Equality of whole values. Binary values equal nothing, not even themselves. */
function areSame(a: Value, b: Value): boolean {
  const type = rankOf(a)
  if (type !== rankOf(b) || type === rank.binary) return false
  return isScalar(type) ? compareValues(a, b) === 0 : equalValues(a, b)
}

/** Only values of one type, and of one that has an order, are less or greater. */
function areOrdered(a: Value | undefined, b: Value): boolean {
  const type = rankOf(a)
  return type === rankOf(b) && type !== rank.null && isScalar(type)
}

function isScalar(type: Rank): boolean {
  return type >= rank.null && type <= rank.date
}
