/** Parses the filter clause of a command on documents. */
import { apiError } from '../../errors/api-error.ts'
import { extendedOf } from '../../json/extended.ts'
import { isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import {
  checkConditionCount,
  comparisonKinds as kinds,
  conditionsOf,
  invalid,
  invalidArgument,
  isOperator,
  matchUnderNot,
  misplaced,
  operatorsOf,
  opposites,
  readAll,
  readChoices,
  readClause,
  type Within,
} from './filter-clause.ts'
import { everything, type Analyze, type Comparison, type Filter } from './filter.ts'
import type { IndexingRule } from './indexing.ts'
import { rank, rankOf } from '../values/order.ts'
import { escapeSegment, parsePath, wildcardProblem, type Path } from '../values/path.ts'
import { quoteJson } from '../values/quote-json.ts'
import { readTerms } from './terms.ts'

/** Properties of the collection that determine which filters are allowed. */
export interface FilterContext {
  readonly limits: Limits
  readonly indexing: IndexingRule
  /** Name of the collection in messages. */
  readonly target: string
  /** Undefined: lexical search is disabled for the collection. */
  readonly analyze: Analyze | undefined
}

export function parseFilter(value: Value | undefined, context: FilterContext): Filter {
  const rules = { ...context, hasDocumentIds: true }
  const filter = readClause<Comparison>(value, {
    read: (name, operand, within) => readField(name, operand, within, rules),
    opposite,
  })
  checkComparisons(conditionsOf(filter), context)
  return filter.kind === 'and' && filter.of.length === 0 ? everything : filter
}

/** Context of comparisons on documents or array elements. */
export interface ComparisonRules extends Pick<
  FilterContext,
  'limits' | 'target' | 'analyze'
> {
  /** Whether _id is the id of a document instead of an ordinary field. */
  readonly hasDocumentIds: boolean
}

/** The comparisons on one path: the operators in the operand, or equality with the operand. */
function readField(
  name: string,
  operand: Value,
  within: Within,
  rules: ComparisonRules,
): Comparison[] {
  const path = readPath(name, operand)
  if (path.text === '_id' && within === '$or') throw invalid({ reason: 'idInOr' })
  return operationsOf(path, operand).map(([operator, argument]) =>
    readComparison(path, operator, argument, rules),
  )
}

const searchFields: ReadonlySet<string> = new Set(['$vector', '$vectorize', '$lexical'])

function readPath(name: string, operand: Value): Path {
  if (name.startsWith('$') && !searchFields.has(name)) {
    // A name that starts with $ and has an array as its operand is an unsupported operator such as
    // $nor, not a field.
    if (Array.isArray(operand)) throw unknownOperator(name)
    throw invalid({ reason: 'notAField', path: name })
  }
  return readFieldPath(name)
}

export function readFieldPath(name: string): Path {
  const path = parsePath(name)
  const problem = 'problem' in path ? path.problem : wildcardProblem(path)
  if (problem !== undefined) throw invalid({ reason: 'path', path: name, problem })
  return path as Path
}

/** The operators that the operand contains, or equality with the operand. */
export function operationsOf(
  path: Path,
  operand: Value,
): readonly (readonly [string, Value])[] {
  if (Array.isArray(operand) && !searchFields.has(path.text))
    throw invalid({ reason: 'array', path: path.text })
  if (!isObject(operand) || extendedOf(operand) !== undefined) return [['$eq', operand]]
  // An empty object has no operators, so it yields no condition; {"$eq": {}} compares with an empty
  // object.
  if (operand.size === 0) return []
  return operatorsOf(path.text, operand) ?? [['$eq', operand]]
}

export function readComparison(
  path: Path,
  operator: string,
  argument: Value,
  rules: ComparisonRules,
): Comparison {
  checkSearchField(path, operator, rules)
  switch (operator) {
    case '$eq':
    case '$ne':
      checkOperand(path, operator, argument, rules)
      return { kind: kinds[operator], path, value: argument }
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      checkOperand(path, operator, argument, rules)
      if (!isOrdered(argument))
        throw invalidArgument(
          path.text,
          operator,
          'a String, Number, Boolean or $date',
          argument,
        )
      return { kind: kinds[operator], path, value: argument }
    case '$in':
    case '$nin': {
      const values = readChoices(path.text, operator, argument, rules.limits)
      for (const value of values) checkOperand(path, operator, value, rules)
      return { kind: kinds[operator], path, values }
    }
    case '$all': {
      const values = readAll(path.text, argument)
      for (const value of values) checkOperand(path, operator, value, rules)
      return { kind: 'all', path, values }
    }
    case '$size':
      if (!Number.isInteger(argument) || (argument as number) < 0)
        throw invalidArgument(path.text, operator, 'an integer of 0 or more', argument)
      return { kind: 'size', path, size: argument as number }
    case '$exists':
      if (typeof argument !== 'boolean')
        throw invalidArgument(path.text, operator, 'true or false', argument)
      return { kind: 'exists', path, exists: argument }
    case '$match':
      if (rules.analyze === undefined)
        throw apiError('LEXICAL_NOT_ENABLED_FOR_COLLECTION', { target: rules.target })
      if (typeof argument !== 'string')
        throw invalidArgument(path.text, operator, 'a String of terms', argument)
      return {
        kind: 'match',
        path,
        terms: readTerms(argument, rules.analyze, { target: rules.target, ...inLexical }),
        text: argument,
      }
    case '$and':
    case '$or':
    case '$not':
      throw misplaced(path.text, operator)
    default:
      throw unknownOperator(operator)
  }
}

const inLexical = { field: '$lexical', clause: 'filter' } as const

const knownOperators = [
  ...Object.keys(kinds),
  '$exists',
  '$all',
  '$size',
  '$match',
  '$and',
  '$or',
  '$not',
]

function opposite(comparison: Comparison): Comparison {
  switch (comparison.kind) {
    case 'eq':
    case 'ne':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
    case 'in':
    case 'nin':
    case 'all':
    case 'notAll':
    case 'size':
    case 'notSize':
      return { ...comparison, kind: opposites[comparison.kind] } as Comparison
    case 'exists':
      return { ...comparison, exists: !comparison.exists }
    case 'match':
      throw matchUnderNot()
  }
}

function checkSearchField(path: Path, operator: string, rules: ComparisonRules): void {
  const isLexical = path.text === '$lexical'
  if (isLexical && rules.hasDocumentIds && rules.analyze === undefined)
    throw apiError('LEXICAL_NOT_ENABLED_FOR_COLLECTION', { target: rules.target })
  const only = isLexical ? '$match' : '$exists'
  if (searchFields.has(path.text) && operator !== only)
    throw invalid({ reason: 'searchField', path: path.text, operator, only })
  if (operator === '$match' && path.text !== '$lexical')
    throw invalid({ reason: 'matchElsewhere', path: path.text })
}

/** Rejects values that documents cannot contain, and values that cannot be compared. */
function checkOperand(
  path: Path,
  operator: string,
  value: Value,
  { hasDocumentIds }: ComparisonRules,
): void {
  if (hasDocumentIds && path.text === '_id') {
    if (!isId(value))
      throw apiError('SHRED_BAD_DOCID_TYPE', {
        type: jsonTypeOf(value),
        value: quoteJson(value),
      })
  } else if (rankOf(value) === rank.binary)
    throw invalid({ reason: 'binary', operator, path: path.text })
  else checkNested(path, value)
}

function isId(value: Value): boolean {
  const type = rankOf(value)
  return type >= rank.null && type <= rank.date
}

function isOrdered(value: Value): boolean {
  const type = rankOf(value)
  return type >= rank.number && type <= rank.date
}

function checkNested(path: Path, value: Value): void {
  if (Array.isArray(value)) for (const element of value) checkNested(path, element)
  if (!isObject(value)) return
  const extended = extendedOf(value)
  if (extended?.kind === 'malformed')
    throw apiError('SHRED_BAD_EJSON_VALUE', {
      wrapper: extended.wrapper,
      value: quoteJson(value.get(extended.wrapper)!),
      path: path.text,
      expected: extended.expected,
    })
  if (extended !== undefined) return
  for (const [name, field] of value) {
    if (isOperator(name))
      throw invalid({ reason: 'operatorInside', path: path.text, operator: name })
    if (name === '*') throw invalid({ reason: 'wildcardInside', path: path.text })
    checkNested(path, field)
  }
}

/** Checks limits and rules that concern the filter as a whole. */
function checkComparisons(
  comparisons: readonly Comparison[],
  context: FilterContext,
): void {
  checkConditionCount(comparisons.length, context.limits)
  if (comparisons.filter(({ path }) => path.text === '_id').length > 1)
    throw apiError('FILTER_MULTIPLE_ID_FILTER')
  for (const comparison of comparisons) checkIndexed(comparison, context)
}

function checkIndexed(comparison: Comparison, context: FilterContext): void {
  const { indexing } = context
  if (indexing.all) return
  const { kind, path } = comparison
  if (path.text === '_id') {
    if (kind !== 'eq' && kind !== 'in' && !indexing.covers(path))
      throw apiError('FILTER_ID_NOT_INDEXED', { operator: operatorOf(kind) })
    return
  }
  checkCovered(path, indexing)
  if ('value' in comparison) checkInnerCovered(path, comparison.value, context)
  if (!('values' in comparison)) return
  const valuesAt = kind === 'all' || kind === 'notAll' ? below(path, '0') : path
  for (const value of comparison.values) checkInnerCovered(valuesAt, value, context)
}

function operatorOf(kind: Comparison['kind']): string {
  if (kind === 'notAll') return '$not over $all'
  return kind === 'notSize' ? '$not over $size' : `$${kind}`
}

/** Checks that the fields inside an operand are indexed, too. */
function checkInnerCovered(path: Path, value: Value, context: FilterContext): void {
  // No document is nested this deeply, so no document has the path.
  if (path.segments.length > context.limits.documentDepthMax) return
  if (Array.isArray(value)) {
    // Indexing does not depend on the position of an element, so position 0 represents all
    // positions.
    const element = below(path, '0')
    for (const inner of value) checkInnerCovered(element, inner, context)
  } else if (isObject(value) && extendedOf(value) === undefined)
    for (const [name, inner] of value) {
      const field = below(path, name)
      checkCovered(field, context.indexing)
      checkInnerCovered(field, inner, context)
    }
}

function checkCovered(path: Path, indexing: IndexingRule): void {
  if (!indexing.covers(path)) throw apiError('FILTER_PATH_UNINDEXED', { path: path.text })
}

function below(path: Path, name: string): Path {
  return {
    text: `${path.text}.${escapeSegment(name)}`,
    segments: [...path.segments, name],
  }
}

export function unknownOperator(operator: string) {
  return apiError('FILTER_UNSUPPORTED_OPERATOR', { operator, known: knownOperators })
}
