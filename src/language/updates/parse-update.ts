/**
 * Parses an update. All checks without a document are made here: of operators, arguments, paths
 * and overlaps of paths.
 */
import { apiError, type ApiError } from '../../errors/api-error.ts'
import { extendedOf } from '../../json/extended.ts'
import {
  isNumeric,
  isObject,
  jsonTypeOf,
  type JsonObject,
  type Value,
} from '../../json/value.ts'
import { defaultLimits, type Limits } from '../../limits.ts'
import { pathParts } from '../filters/clause-size.ts'
import { escapeSegment, parsePath, wildcardProblem, type Path } from '../values/path.ts'
import { PathTree } from '../values/path-tree.ts'
import { parsePulled, parsePulledValues } from './pulled-elements.ts'
import { quoteJson } from '../values/quote-json.ts'
import type { UpdateAction, Operator, Update } from './update.ts'

export function parseUpdate(value: Value, limits: Limits = defaultLimits): Update {
  if (!isObject(value))
    throw apiError('UNSUPPORTED_UPDATE_DATA_TYPE', {
      what: 'An update',
      type: jsonTypeOf(value),
    })
  checkPathCount(value, limits)
  const actions = [...value].flatMap(([operator, paths]) =>
    parseOperator(operator, paths, limits),
  )
  checkSearchFields(actions)
  checkOverlaps(actions)
  return { actions: actions.sort(inRunningOrder) }
}

function checkPathCount(update: JsonObject, { clausePartsMax }: Limits): void {
  let count = 0
  const add = (path: string) => {
    count += pathParts(path, clausePartsMax)
    if (count > clausePartsMax)
      throw apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
        reason: 'tooManyPaths',
        max: clausePartsMax,
      })
  }
  for (const [operator, paths] of update)
    if (!isObject(paths)) add('')
    else
      for (const [path, argument] of paths) {
        add(path)
        if (operator === '$rename' && typeof argument === 'string') add(argument)
      }
}

/** Operators run in this order, which is alphabetical. */
const operators = [
  '$addToSet',
  '$currentDate',
  '$inc',
  '$max',
  '$min',
  '$mul',
  '$pop',
  '$pull',
  '$pullAll',
  '$push',
  '$rename',
  '$set',
  '$setOnInsert',
  '$unset',
] as const satisfies readonly Operator[]

function inRunningOrder(a: UpdateAction, b: UpdateAction): number {
  if (a.operator !== b.operator)
    return operators.indexOf(a.operator) - operators.indexOf(b.operator)
  return a.path.text < b.path.text ? -1 : 1
}

function parseOperator(name: string, paths: Value, limits: Limits): UpdateAction[] {
  const operator = operators.find((known) => known === name)
  if (operator === undefined)
    throw apiError('UNSUPPORTED_UPDATE_OPERATION', { operator: name, known: operators })
  if (!isObject(paths))
    throw apiError('UNSUPPORTED_UPDATE_DATA_TYPE', {
      what: `The argument of ${operator}`,
      type: jsonTypeOf(paths),
    })
  return [...paths].map(([path, argument]) =>
    parseAction(operator, parseUpdatePath(operator, path), argument, limits),
  )
}

function parseAction(
  operator: Operator,
  path: Path,
  argument: Value,
  limits: Limits,
): UpdateAction {
  switch (operator) {
    case '$set':
    case '$setOnInsert':
    case '$min':
    case '$max':
      return { operator, path, value: argument }
    case '$unset':
      return { operator, path }
    case '$inc':
    case '$mul':
      if (!isNumeric(argument)) throw badArgument(operator, path, argument, 'a Number')
      return { operator, path, by: argument }
    case '$currentDate':
      if (argument !== true && !isDateType(argument))
        throw badArgument(operator, path, argument, 'true or {"$type": "date"}')
      return { operator, path }
    case '$rename':
      return { operator, path, to: parseDestination(path, argument) }
    case '$pop':
      if (argument !== 1 && argument !== -1)
        throw badArgument(
          operator,
          path,
          argument,
          '1 for the last element or -1 for the first',
        )
      return { operator, path, end: argument === 1 ? 'last' : 'first' }
    case '$pull':
      return { operator, path, pulled: parsePulled(path, argument, limits) }
    case '$pullAll':
      if (!Array.isArray(argument))
        throw badArgument(operator, path, argument, 'an Array of values')
      return { operator, path, pulled: parsePulledValues(operator, path, argument) }
    case '$push':
      return { operator, path, ...parseElements(operator, path, argument) }
    case '$addToSet':
      return { operator, path, values: parseElements(operator, path, argument).values }
  }
}

function isDateType(argument: Value): boolean {
  return isObject(argument) && argument.size === 1 && argument.get('$type') === 'date'
}

function parseDestination(path: Path, argument: Value): Path {
  if (typeof argument !== 'string')
    throw badArgument('$rename', path, argument, 'the new path, a String')
  const to = parseUpdatePath('$rename', argument)
  if (to.text === path.text)
    throw apiError('UNSUPPORTED_UPDATE_OPERATION_PATH', {
      operator: '$rename',
      path: path.text,
      reason: 'the new path is the same as the old one',
    })
  return to
}

/** Parses the argument of $push or $addToSet: one value, or modifiers with a list of values. */
function parseElements(operator: '$push' | '$addToSet', path: Path, argument: Value) {
  if (!isObject(argument) || !hasModifiers(argument))
    return { values: [argument], position: undefined }
  const known = operator === '$push' ? ['$each', '$position'] : ['$each']
  for (const modifier of argument.keys())
    if (!known.includes(modifier))
      throw apiError('UNSUPPORTED_UPDATE_OPERATION_MODIFIER', { operator, modifier, known })
  const values = argument.get('$each')
  if (values === undefined)
    throw badArgument(operator, path, argument, '$each together with other modifiers')
  if (!Array.isArray(values))
    throw badArgument(operator, path, values, 'an Array as its $each')
  const position = argument.get('$position')
  if (
    position !== undefined &&
    !(typeof position === 'number' && Number.isInteger(position))
  )
    throw badArgument(operator, path, position, 'an integer as its $position')
  return { values, position }
}

/**
 * Whether the argument of $push or $addToSet has modifiers. Wrappers such as {"$binary": …} are
 * values without modifiers.
 */
export function hasModifiers(argument: JsonObject): boolean {
  if (extendedOf(argument) !== undefined) return false
  return [...argument.keys()].some((name) => name.startsWith('$'))
}

function parseUpdatePath(operator: Operator, text: string): Path {
  const path = parsePath(text)
  if ('problem' in path)
    throw apiError('UNSUPPORTED_UPDATE_OPERATION_PATH', {
      operator,
      path: text,
      reason: path.problem,
    })
  checkRoot(operator, path)
  const bad = path.segments.findIndex((name, depth) => depth > 0 && name.startsWith('$'))
  if (bad !== -1) throw badName(path, bad)
  const wildcard = wildcardProblem(path)
  if (wildcard !== undefined) throw badName(path, path.segments.indexOf('*'), wildcard)
  return path
}

/** Checks whether the operator may be used on _id and the search fields. */
function checkRoot(operator: Operator, path: Path): void {
  const root = path.segments[0]!
  const sets = operator === '$set' || operator === '$setOnInsert' || operator === '$unset'
  switch (root) {
    case '_id':
      if (operator !== '$setOnInsert')
        throw apiError('UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID', { operator })
      break
    case '$vector':
      if (!sets) throw apiError('UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTOR', { operator })
      break
    case '$vectorize':
      if (!sets) throw apiError('UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTORIZE', { operator })
      break
    case '$lexical':
      if (!sets) throw apiError('UNSUPPORTED_UPDATE_OPERATOR_FOR_LEXICAL', { operator })
      break
    default:
      if (root.startsWith('$')) throw unknownRoot(operator, path)
      return
  }
  if (path.segments.length > 1)
    throw apiError('UNSUPPORTED_UPDATE_OPERATION_PATH', {
      operator,
      path: path.text,
      reason: `${root} has no fields or elements; update it as a whole`,
    })
}

/**
 * The error for a path that starts with $. For operators on numbers and arrays, the error is about
 * a modifier, because the client may have meant one.
 */
function unknownRoot(operator: Operator, path: Path): ApiError {
  const root = path.segments[0]!
  if (root !== '$hybrid')
    switch (operator) {
      case '$inc':
      case '$mul':
        return apiError('UNSUPPORTED_UPDATE_OPERATION_MODIFIER', {
          operator,
          modifier: root,
          known: [],
        })
      case '$push':
      case '$pull':
      case '$pullAll':
      case '$addToSet':
        return apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
          reason: 'notAPath',
          operator,
          path: path.text,
        })
      default:
    }
  return badName(path, 0)
}

function badName(
  path: Path,
  depth: number,
  reason = path.segments[depth] === '$hybrid'
    ? 'it cannot be updated'
    : 'a name cannot start with $',
): ApiError {
  const above = path.segments.slice(0, depth)
  return apiError('SHRED_BAD_FIELD_NAME', {
    name: path.segments[depth]!,
    path: above.map(escapeSegment).join('.'),
    reason,
  })
}

/**
 * Rejects an update of both $vector and $vectorize, even under different operators. Each of them
 * overwrites the other, so the update would undo part of itself.
 */
function checkSearchFields(actions: readonly UpdateAction[]): void {
  const vector = actions.find((action) => action.path.text === '$vector')
  const vectorize = actions.find((action) => action.path.text === '$vectorize')
  if (vector && vectorize)
    throw apiError('INVALID_USAGE_OF_VECTORIZE', {
      where: [...new Set([vector.operator, vectorize.operator])].join(' together with '),
    })
}

function checkOverlaps(actions: readonly UpdateAction[]): void {
  const tree = new PathTree<{ operator: Operator; path: Path }>()
  for (const action of actions)
    for (const path of action.operator === '$rename'
      ? [action.path, action.to]
      : [action.path]) {
      const other = tree.add(path.segments, { operator: action.operator, path })
      if (other !== undefined)
        throw apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
          reason: 'overlap',
          operator: action.operator,
          path: path.text,
          otherOperator: other.operator,
          otherPath: other.path.text,
        })
    }
}

function badArgument(
  operator: Operator,
  path: Path,
  argument: Value,
  expected: string,
): ApiError {
  return apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
    reason: 'argument',
    operator,
    path: path.text,
    expected,
    value: quoteJson(argument),
  })
}
