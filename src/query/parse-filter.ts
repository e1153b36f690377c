/**
 * Reads the filter clause.
 *
 * The comparisons that the clause makes at its top level stand at the top of the tree, as
 * the whole of it or directly in its `and`. Those of $and, $or and $not stand deeper, so
 * that an upsert can tell the conditions it takes over from those it does not.
 */
import { apiError } from '../errors/api-error.ts'
import { extendedOf } from '../json/extended.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import { everything, type Analyze, type Comparison, type Filter } from './filter.ts'
import type { IndexingRule } from './indexing.ts'
import { rank, rankOf } from './order.ts'
import { escapeSegment, parsePath, type Path } from './path.ts'
import { showValue } from './show.ts'
import { readTerms } from './terms.ts'

/** What a filter may use on the collection that it is for. */
export interface FilterContext {
  readonly limits: Limits
  readonly indexing: IndexingRule
  /** The collection, as messages name it. */
  readonly target: string
  /** Undefined where the collection has no lexical search. */
  readonly analyze: Analyze | undefined
}

export function parseFilter(value: Value | undefined, context: FilterContext): Filter {
  if (value === undefined || value === null) return everything
  if (!isObject(value))
    throw apiError('FILTER_UNSUPPORTED_DATA_TYPE', {
      what: 'A filter is a JSON Object; it',
      type: jsonTypeOf(value),
    })
  const reading: Reading = { context, comparisons: [] }
  const conditions = readConditions(value, { negated: false, within: undefined }, reading)
  checkComparisons(reading)
  if (conditions.length === 0) return everything
  const [first] = conditions
  if (conditions.length === 1 && first!.kind !== 'and' && first!.kind !== 'or')
    return first!
  return { kind: 'and', of: conditions }
}

interface Reading {
  readonly context: FilterContext
  /** All comparisons so far, wherever in the tree. */
  readonly comparisons: Comparison[]
}

interface Place {
  /** Under an odd number of $not. */
  readonly negated: boolean
  /** The operator directly above, if any. */
  readonly within: '$and' | '$or' | '$not' | undefined
}

/** Conditions of one filter object; all must hold or, if negated, any. */
function readConditions(object: JsonObject, place: Place, reading: Reading): Filter[] {
  const { negated } = place
  const conditions: Filter[] = []
  for (const [name, operand] of object)
    switch (name) {
      case '$and':
      case '$or': {
        const of = readElements(name, operand).map((element) => {
          const parts = readConditions(element, { negated, within: name }, reading)
          return parts.length === 1 ? parts[0]! : joined(parts, negated)
        })
        if (of.length > 0) conditions.push(joined(of, (name === '$or') !== negated))
        break
      }
      case '$not': {
        if (!isObject(operand))
          throw invalid(
            `$not takes a filter, which is a JSON Object, not ${shown(operand)}`,
          )
        const inner: Place = { negated: !negated, within: name }
        conditions.push(joined(readConditions(operand, inner, reading), !negated))
        break
      }
      default:
        conditions.push(...readField(name, operand, place, reading))
    }
  return conditions
}

function joined(of: readonly Filter[], any: boolean): Filter {
  return { kind: any ? 'or' : 'and', of }
}

function readElements(operator: '$and' | '$or', operand: Value): JsonObject[] {
  if (!Array.isArray(operand))
    throw invalid(`${operator} takes an Array of filters, not ${shown(operand)}`)
  return operand.map((element) => {
    if (isObject(element)) return element
    throw invalid(`${operator} holds ${shown(element)}, which is not a JSON Object`)
  })
}

/** The comparisons of one path: those of an object of operators, or equality. */
function readField(
  name: string,
  operand: Value,
  place: Place,
  reading: Reading,
): Comparison[] {
  const path = readPath(name, operand)
  if (path.text === '_id' && place.within === '$or')
    throw invalid(
      '_id cannot stand directly in $or; {"_id": {"$in": […]}} takes several ids',
    )
  const comparisons = operationsOf(path, operand).map(([operator, argument]) => {
    const comparison = readComparison(path, operator, argument, reading.context)
    return place.negated ? opposite(comparison) : comparison
  })
  reading.comparisons.push(...comparisons)
  return comparisons
}

const searchFields: ReadonlySet<string> = new Set(['$vector', '$vectorize', '$lexical'])

function readPath(name: string, operand: Value): Path {
  if (name.startsWith('$') && !searchFields.has(name)) {
    // An Array is what operators such as $nor would take here.
    if (Array.isArray(operand)) throw unknownOperator(name)
    throw invalid(
      `"${name}" cannot be filtered on: of the names that start with $, only $vector, ` +
        '$vectorize and $lexical are fields',
    )
  }
  const path = parsePath(name)
  if ('problem' in path) throw invalid(`"${name}" cannot be filtered on: ${path.problem}`)
  return path
}

function operationsOf(path: Path, operand: Value): readonly (readonly [string, Value])[] {
  if (Array.isArray(operand) && !searchFields.has(path.text))
    throw invalid(
      `"${path.text}" cannot be compared with an Array as it stands; write ` +
        '{"$eq": […]} for that array, or {"$in": […]} for one of several values',
    )
  if (!isObject(operand) || extendedOf(operand) !== undefined) return [['$eq', operand]]
  const names = [...operand.keys()]
  // An empty object says nothing about the path; {"$eq": {}} asks for one.
  if (names.length > 0 && !names.some(isOperator)) return [['$eq', operand]]
  const field = names.find((inner) => !isOperator(inner))
  if (field !== undefined)
    throw invalid(
      `"${path.text}" has the field "${field}" beside operators; an object holds either ` +
        'operators or the fields to be equal to',
    )
  return [...operand]
}

function isOperator(name: string): boolean {
  return name.startsWith('$')
}

function readComparison(
  path: Path,
  operator: string,
  argument: Value,
  context: FilterContext,
): Comparison {
  checkSearchField(path, operator)
  switch (operator) {
    case '$eq':
    case '$ne':
      checkOperand(path, operator, argument)
      return { kind: kinds[operator], path, value: argument }
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      checkOperand(path, operator, argument)
      if (!isOrdered(argument))
        throw invalidArgument(
          path,
          operator,
          'a String, Number, Boolean or $date',
          argument,
        )
      return { kind: kinds[operator], path, value: argument }
    case '$in':
    case '$nin': {
      const max = context.limits.inValuesMax
      if (!Array.isArray(argument))
        throw invalidArgument(path, operator, `an Array of at most ${max} values`, argument)
      if (argument.length > max)
        throw invalid(
          `${operator} on "${path.text}" has ${argument.length} values; at most ${max} are ` +
            'allowed',
        )
      for (const value of argument) checkOperand(path, operator, value)
      return { kind: kinds[operator], path, values: argument }
    }
    case '$all':
      if (!Array.isArray(argument) || argument.length === 0)
        throw invalidArgument(path, operator, 'an Array of at least one value', argument)
      for (const value of argument) checkOperand(path, operator, value)
      return { kind: 'all', path, values: argument }
    case '$size':
      if (!Number.isInteger(argument) || (argument as number) < 0)
        throw invalidArgument(path, operator, 'an integer of 0 or more', argument)
      return { kind: 'size', path, size: argument as number }
    case '$exists':
      if (typeof argument !== 'boolean')
        throw invalidArgument(path, operator, 'true or false', argument)
      return { kind: 'exists', path, exists: argument }
    case '$match':
      if (context.analyze === undefined)
        throw apiError('LEXICAL_NOT_ENABLED_FOR_COLLECTION', { target: context.target })
      if (typeof argument !== 'string')
        throw invalidArgument(path, operator, 'a String of terms', argument)
      return { kind: 'match', path, terms: readTerms(argument, context.analyze, context) }
    case '$and':
    case '$or':
    case '$not':
      throw invalid(
        `"${path.text}" has ${operator} among its comparisons; write ${operator} beside ` +
          'the fields and give it whole filters',
      )
    default:
      throw unknownOperator(operator)
  }
}

const kinds = {
  $eq: 'eq',
  $ne: 'ne',
  $gt: 'gt',
  $gte: 'gte',
  $lt: 'lt',
  $lte: 'lte',
  $in: 'in',
  $nin: 'nin',
} as const

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
      throw invalid('$match cannot stand under $not')
  }
}

const opposites = {
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

function checkSearchField(path: Path, operator: string): void {
  const only = path.text === '$lexical' ? '$match' : '$exists'
  if (searchFields.has(path.text) && operator !== only)
    throw invalid(`"${path.text}" cannot be filtered on by ${operator}, only by ${only}`)
  if (operator === '$match' && path.text !== '$lexical')
    throw invalid(`$match works on "$lexical" only, not on "${path.text}"`)
}

/** Refuses values that no document holds, and those that cannot be compared. */
function checkOperand(path: Path, operator: string, value: Value): void {
  if (path.text === '_id') {
    if (!isId(value))
      throw apiError('SHRED_BAD_DOCID_TYPE', {
        type: jsonTypeOf(value),
        value: showValue(value),
      })
  } else if (rankOf(value) === rank.binary)
    throw invalid(`${operator} on "${path.text}": $binary values cannot be compared`)
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
      value: showValue(value.get(extended.wrapper)!),
      path: path.text,
      expected: extended.expected,
    })
  if (extended !== undefined) return
  for (const [name, field] of value) {
    if (isOperator(name))
      throw invalid(
        `"${path.text}" is compared with an object that has "${name}" inside; operators ` +
          'go with a whole path, such as {"a.b": {"$gt": 1}}',
      )
    checkNested(path, field)
  }
}

/** The rules about the filter as a whole. */
function checkComparisons({ context, comparisons }: Reading): void {
  const max = context.limits.filterComparisonsMax
  if (comparisons.length > max)
    throw apiError('FILTER_FIELDS_LIMIT_VIOLATION', { count: comparisons.length, max })
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

/** Whatever an operand names inside itself must be indexed as well. */
function checkInnerCovered(path: Path, value: Value, context: FilterContext): void {
  // Nothing is stored that deep, so nothing of it could be left out.
  if (path.segments.length > context.limits.documentDepthMax) return
  if (Array.isArray(value)) {
    // Which position an element has makes no difference to indexing.
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

function invalidArgument(path: Path, operator: string, wanted: string, argument: Value) {
  return invalid(`${operator} on "${path.text}" takes ${wanted}, not ${shown(argument)}`)
}

function invalid(problem: string) {
  return apiError('FILTER_INVALID_EXPRESSION', { problem })
}

function unknownOperator(operator: string) {
  return apiError('FILTER_UNSUPPORTED_OPERATOR', { operator, known: knownOperators })
}

function shown(value: Value): string {
  return `${showValue(value)} (${jsonTypeOf(value)})`
}
