/**
 * Elements that $pull and $pullAll remove from an array, as in MongoDB. A value removes equal
 * elements, operators remove the elements that satisfy them, and an object with fields removes the
 * objects that match it as a filter.
 */
import { ApiError, apiError } from '../../errors/api-error.ts'
import { extendedOf } from '../../json/extended.ts'
import { printJsonInSteps } from '../../json/print.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import { hasMoreParts } from '../filters/clause-size.ts'
import {
  matchesElement,
  parseElementCondition,
  parseElementFilter,
  type ElementFilter,
} from '../filters/element-filter.ts'
import { isOperator } from '../filters/filter-clause.ts'
import { Pace, type Steps } from '../../runtime/steps.ts'
import type { Path } from '../values/path.ts'
import { quoteJson } from '../values/quote-json.ts'
import { ValueSet } from '../values/value-set.ts'

export type PulledElements =
  /** Elements that equal one of the values. */
  | { readonly by: 'values'; readonly values: PulledValues }
  /** Elements that satisfy the filter, which sees each of them as a field with an empty name. */
  | { readonly by: 'condition'; readonly filter: ElementFilter }
  /** Objects that match the filter. */
  | { readonly by: 'fields'; readonly filter: ElementFilter }

/** Parses the argument of $pull. */
export function parsePulled(path: Path, argument: Value, limits: Limits): PulledElements {
  if (!isObject(argument) || extendedOf(argument) !== undefined)
    return parsePulledValues('$pull', path, [argument])
  if (hasMoreParts(argument, limits.clausePartsMax))
    throw apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
      reason: 'tooManyParts',
      operator: '$pull',
      path: path.text,
      max: limits.clausePartsMax,
    })
  try {
    return comparesElements(argument)
      ? { by: 'condition', filter: parseElementCondition(path.text, argument, limits) }
      : { by: 'fields', filter: parseElementFilter(argument, limits) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
      reason: 'condition',
      operator: '$pull',
      path: path.text,
      message: error.message,
    })
  }
}

/**
 * Parses values that are compared by equality: the list of $pullAll, or the single value of $pull.
 */
export function parsePulledValues(
  operator: '$pull' | '$pullAll',
  path: Path,
  values: readonly Value[],
): PulledElements {
  for (const value of values) {
    const extended = extendedOf(value)
    if (extended?.kind === 'malformed')
      throw apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
        reason: 'malformedValue',
        operator,
        path: path.text,
        value: quoteJson(value),
        wrapper: extended.wrapper,
        expected: extended.expected,
      })
  }
  return { by: 'values', values: new PulledValues(values) }
}

/** A set of values, built once for all documents of an update. */
class PulledValues {
  readonly #values: readonly Value[]
  #set: ValueSet | undefined

  constructor(values: readonly Value[]) {
    this.#values = values
  }

  *lacking(array: readonly Value[]): Steps<Value[]> {
    if (this.#set === undefined) {
      const set = new ValueSet(equalityText)
      yield* set.add(this.#values)
      this.#set = set
    }
    return yield* this.#set.lacking(array)
  }
}

/** The array without the pulled elements; the same array if it contains none. */
export function* withoutPulled(
  array: readonly Value[],
  pulled: PulledElements,
): Steps<readonly Value[]> {
  const rest = yield* pulled.by === 'values'
    ? pulled.values.lacking(array)
    : notMatching(array, pulled)
  return rest.length === array.length ? array : rest
}

function* notMatching(array: readonly Value[], pulled: PulledByFilter): Steps<Value[]> {
  const isPulled = testOf(pulled)
  const comparisons = comparisonsPerElement(pulled)
  const pace = new Pace()
  const rest: Value[] = []
  for (const element of array) {
    if (!isPulled(element)) rest.push(element)
    pace.spend(comparisons)
    if (pace.isDue()) yield
  }
  return rest
}

type PulledByFilter = Exclude<PulledElements, { readonly by: 'values' }>

/**
 * Comparisons per array element. 0 for pulled values, because a set looks them up without
 * comparisons.
 */
export function comparisonsPerElement(pulled: PulledElements): number {
  return pulled.by === 'values' ? 0 : comparisonsOf(pulled.filter)
}

function comparisonsOf(filter: ElementFilter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
    case 'not':
      return filter.of.reduce((sum, part) => sum + comparisonsOf(part), 1)
    default:
      return 'values' in filter ? 1 + filter.values.length : 1
  }
}

function testOf(pulled: PulledByFilter): (element: Value) => boolean {
  switch (pulled.by) {
    case 'condition': {
      const holder: JsonObject = new Map()
      return (element) => matchesElement(pulled.filter, holder.set('', element))
    }
    case 'fields':
      return (element) => isPlainObject(element) && matchesElement(pulled.filter, element)
  }
}

/** Whether the object contains operators on the elements instead of on their fields. */
function comparesElements(object: JsonObject): boolean {
  for (const [name, operand] of object) {
    if (name === '$not' && isObject(operand) && comparesElements(operand)) return true
    if (isOperator(name) && !joining.has(name)) return true
  }
  return false
}

/** Operators that combine conditions. All other operators are comparisons. */
const joining: ReadonlySet<string> = new Set(['$and', '$or', '$not'])

function isPlainObject(value: Value): value is JsonObject {
  return isObject(value) && extendedOf(value) === undefined
}

/**
 * A text for lookups by equality: two values have the same text only if they are equal. The text of
 * UUIDs and ObjectIds ignores letter case.
 */
function equalityText(value: Value): string | Steps<string> {
  const extended = extendedOf(value)
  return extended?.kind === 'uuid' || extended?.kind === 'objectId'
    ? `{"$${extended.kind}":"${extended.text}"}`
    : printJsonInSteps(value)
}
