/**
 * Filters on array elements, for $pull. They differ from filters on documents. The _id of an
 * element is an ordinary field, and indexing options do not apply. $not is plain negation as in
 * MongoDB, even around the operators of one field: {"$not": {"$gt": 5}} holds for an element that
 * is not a number.
 */
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import {
  checkConditionCount,
  conditionsOf,
  invalid,
  invalidArgument,
  isOperator,
  operatorsOf,
  readClause,
  type Clause,
} from './filter-clause.ts'
import type { Comparison } from './filter.ts'
import { matches } from './matches.ts'
import {
  operationsOf,
  readComparison,
  readFieldPath,
  unknownOperator,
  type ComparisonRules,
} from './parse-filter.ts'
import type { Path } from '../values/path.ts'

export type ElementFilter = Clause<ElementCondition>

export type ElementCondition =
  | Comparison
  /** At least one of the conditions does not hold. */
  | { readonly kind: 'not'; readonly of: readonly ElementCondition[] }

/** Parses a filter on array elements that are objects. */
export function parseElementFilter(value: JsonObject, limits: Limits): ElementFilter {
  const filter = readClause<ElementCondition>(value, {
    read: (name, operand) => {
      const path = readElementPath(name, operand)
      return readOperations(path, operationsOf(path, operand), elementRules(limits))
    },
    opposite: (condition) => ({ kind: 'not', of: [condition] }),
  })
  return withinLimits(filter, limits)
}

/**
 * Parses operators that apply to the elements themselves. The resulting filter expects a document
 * with a single field, whose name is empty and whose value is the element. `name` is used in
 * messages.
 */
export function parseElementCondition(
  name: string,
  operators: JsonObject,
  limits: Limits,
): ElementFilter {
  const path: Path = { text: name, segments: [''] }
  const operations = operatorsOf(name, operators) ?? []
  const of = readOperations(path, operations, elementRules(limits))
  return withinLimits({ kind: 'and', of }, limits)
}

/**
 * Whether the filter holds for an element, or for the object that contains the element as its only
 * field.
 */
export function matchesElement(filter: ElementFilter, object: JsonObject): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((part) => matchesElement(part, object))
    case 'or':
      return filter.of.some((part) => matchesElement(part, object))
    case 'not':
      return !filter.of.every((part) => matchesElement(part, object))
    default:
      return matches(filter, object)
  }
}

function elementRules(limits: Limits): ComparisonRules {
  return { limits, target: '', analyze: undefined, hasDocumentIds: false }
}

function withinLimits(filter: ElementFilter, limits: Limits): ElementFilter {
  checkConditionCount(comparisonsIn(filter).length, limits)
  return filter
}

function comparisonsIn(filter: ElementFilter): Comparison[] {
  return conditionsOf<ElementCondition>(filter).flatMap((condition) =>
    condition.kind === 'not' ? condition.of.flatMap(comparisonsIn) : [condition],
  )
}

function readOperations(
  path: Path,
  operations: readonly (readonly [string, Value])[],
  rules: ComparisonRules,
): ElementCondition[] {
  return operations.map(([operator, argument]) =>
    operator === '$not'
      ? { kind: 'not', of: readOperations(path, negatedBy(path, argument), rules) }
      : readComparison(path, operator, argument, rules),
  )
}

/** The operators in the argument of $not. */
function negatedBy(path: Path, argument: Value): readonly (readonly [string, Value])[] {
  const operators = isObject(argument) ? operatorsOf(path.text, argument) : undefined
  if (operators !== undefined) return operators
  throw invalidArgument(path.text, '$not', 'an Object of operators', argument)
}

/** Parses the path of a field. Names that start with $ are never fields of an element. */
function readElementPath(name: string, operand: Value): Path {
  if (isOperator(name)) {
    if (Array.isArray(operand)) throw unknownOperator(name)
    throw invalid({ reason: 'operatorBesideFields', operator: name })
  }
  return readFieldPath(name)
}
