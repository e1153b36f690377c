/**
 * The structure of filters on documents, rows and elements: $and, $or and $not around conditions on
 * fields. Each condition has an opposite, so $not is pushed down to the conditions. Conditions from
 * the top level of a clause are at the top of the tree: the root, or direct members of a root
 * `and`. Conditions from $and, $or and $not are deeper. An upsert relies on this to find the
 * conditions that it copies.
 */
import { apiError } from '../../errors/api-error.ts'
import type { ErrorVariables } from '../../errors/catalog.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import { quoteWithType } from '../values/quote-json.ts'

export type Clause<Condition> = LogicalFilter<Condition> | Condition

/** An empty `and` is true, an empty `or` false. */
export type LogicalFilter<Condition> =
  | { readonly kind: 'and'; readonly of: readonly Clause<Condition>[] }
  | { readonly kind: 'or'; readonly of: readonly Clause<Condition>[] }

/** Interprets the fields of a filter. */
export interface FieldReader<Condition> {
  /** The conditions on one field, which must all hold. */
  read(name: string, operand: Value, within: Within): readonly Condition[]
  /** The negation of the condition; throws if it cannot be expressed. */
  opposite(condition: Condition): Condition
}

/** The operator directly above a field; undefined at the top level. */
export type Within = '$and' | '$or' | '$not' | undefined

export function readClause<Condition extends { readonly kind: string }>(
  value: Value | undefined,
  fields: FieldReader<Condition>,
): Clause<Condition> {
  if (value === undefined || value === null) return { kind: 'and', of: [] }
  if (!isObject(value))
    throw apiError('FILTER_UNSUPPORTED_DATA_TYPE', {
      what: 'A filter must be a JSON Object. It',
      type: jsonTypeOf(value),
    })
  const conditions = readConditions(value, { negated: false, within: undefined }, fields)
  const [first] = conditions
  if (conditions.length === 1 && first!.kind !== 'and' && first!.kind !== 'or')
    return first!
  return { kind: 'and', of: conditions }
}

/** All conditions of a clause, at any depth. */
export function conditionsOf<Condition extends { readonly kind: string }>(
  clause: Clause<Condition>,
): Condition[] {
  return isLogical(clause) ? clause.of.flatMap(conditionsOf) : [clause]
}

/** A copy of the tree in which each condition is replaced. */
export function mapConditions<From extends { readonly kind: string }, To>(
  clause: Clause<From>,
  change: (condition: From) => Clause<To>,
): Clause<To> {
  if (!isLogical(clause)) return change(clause)
  return { kind: clause.kind, of: clause.of.map((part) => mapConditions(part, change)) }
}

/** The clauses that must all hold, with nested `and` flattened. */
export function requirementsOf<Condition extends { readonly kind: string }>(
  clause: Clause<Condition>,
): Clause<Condition>[] {
  return clause.kind === 'and' && isLogical(clause)
    ? clause.of.flatMap(requirementsOf)
    : [clause]
}

export function isLogical<Condition extends { readonly kind: string }>(
  clause: Clause<Condition>,
): clause is LogicalFilter<Condition> {
  return clause.kind === 'and' || clause.kind === 'or'
}

interface ClauseContext {
  /** Whether the number of enclosing $not operators is odd. */
  readonly negated: boolean
  readonly within: Within
}

/** Conditions of one filter object: all must hold or, if negated, at least one must hold. */
function readConditions<Condition extends { readonly kind: string }>(
  object: JsonObject,
  { negated, within }: ClauseContext,
  fields: FieldReader<Condition>,
): Clause<Condition>[] {
  const conditions: Clause<Condition>[] = []
  for (const [name, operand] of object)
    switch (name) {
      case '$and':
      case '$or': {
        const of = readElements(name, operand).map((element) => {
          const parts = readConditions(element, { negated, within: name }, fields)
          return parts.length === 1 ? parts[0]! : joined(parts, negated)
        })
        if (of.length > 0) conditions.push(joined(of, (name === '$or') !== negated))
        break
      }
      case '$not': {
        if (!isObject(operand))
          throw invalid({ reason: 'notNoFilter', value: quoteWithType(operand) })
        const inner: ClauseContext = { negated: !negated, within: name }
        conditions.push(joined(readConditions(operand, inner, fields), !negated))
        break
      }
      default: {
        const said = fields.read(name, operand, within)
        conditions.push(...(negated ? said.map((one) => fields.opposite(one)) : said))
      }
    }
  return conditions
}

function joined<Condition>(
  of: readonly Clause<Condition>[],
  any: boolean,
): Clause<Condition> {
  return { kind: any ? 'or' : 'and', of }
}

function readElements(operator: '$and' | '$or', operand: Value): JsonObject[] {
  if (!Array.isArray(operand))
    throw invalid({ reason: 'noFilters', operator, value: quoteWithType(operand) })
  return operand.map((element) => {
    if (isObject(element)) return element
    throw invalid({ reason: 'elementNoFilter', operator, value: quoteWithType(element) })
  })
}

export function checkConditionCount(count: number, limits: Limits): void {
  const max = limits.filterComparisonsMax
  if (count > max) throw apiError('FILTER_FIELDS_LIMIT_VIOLATION', { count, max })
}

/**
 * The operators in an object; undefined if it has none: the condition is then equality with the
 * object.
 */
export function operatorsOf(
  name: string,
  object: JsonObject,
): readonly (readonly [string, Value])[] | undefined {
  const names = [...object.keys()]
  if (!names.some(isOperator)) return undefined
  const field = names.find((inner) => !isOperator(inner))
  if (field !== undefined)
    throw invalid({ reason: 'fieldBesideOperators', path: name, field })
  return [...object]
}

export function isOperator(name: string): boolean {
  return name.startsWith('$')
}

/** Reads the operand of $in or $nin. */
export function readChoices(
  name: string,
  operator: '$in' | '$nin',
  argument: Value,
  { inValuesMax: max }: Limits,
): readonly Value[] {
  if (!Array.isArray(argument))
    throw invalidArgument(name, operator, `an Array of at most ${max} values`, argument)
  if (argument.length > max)
    throw invalid({
      reason: 'tooManyValues',
      operator,
      path: name,
      count: argument.length,
      max,
    })
  return argument
}

/** Reads the operand of $all. */
export function readAll(name: string, argument: Value): readonly Value[] {
  if (!Array.isArray(argument) || argument.length === 0)
    throw invalidArgument(name, '$all', 'an Array of at least one value', argument)
  return argument
}

/** The kind that each kind of comparison becomes under $not. */
export const opposites = {
  eq: 'ne',
  ne: 'eq',
  gt: 'lte',
  gte: 'lt',
  lt: 'gte',
  lte: 'gt',
  in: 'nin',
  nin: 'in',
  all: 'notAll',
  notAll: 'all',
  size: 'notSize',
  notSize: 'size',
} as const

export const comparisonKinds = {
  $eq: 'eq',
  $ne: 'ne',
  $gt: 'gt',
  $gte: 'gte',
  $lt: 'lt',
  $lte: 'lte',
  $in: 'in',
  $nin: 'nin',
} as const

export function matchUnderNot() {
  return invalid({ reason: 'matchUnderNot' })
}

/** Error for $and, $or or $not in place of a comparison. */
export function misplaced(name: string, operator: string) {
  return apiError('LOGICAL_OPERATOR_AMONG_COMPARISONS', { path: name, operator })
}

export function invalidArgument(
  name: string,
  operator: string,
  expected: string,
  argument: Value,
) {
  return invalid({
    reason: 'argument',
    operator,
    path: name,
    expected,
    value: quoteWithType(argument),
  })
}

export function invalid(...why: ErrorVariables<'FILTER_INVALID_EXPRESSION'>) {
  return apiError('FILTER_INVALID_EXPRESSION', ...why)
}
