/** Filters that the user builds by clicking on values. */
import type { Place } from '../api/place.ts'
import {
  extendedKind,
  isNested,
  isObject,
  writePath,
  type JsonObject,
  type Value,
} from '../json/value.ts'

/**
 * Adds a condition to the filter: the value at the path equals `value`, or does not equal it.
 * Undefined when the API has no such condition.
 */
export function withCondition(
  place: Place,
  filter: JsonObject,
  path: readonly string[],
  value: Value,
  isWanted: boolean,
): JsonObject | undefined {
  const condition =
    place.kind === 'table'
      ? columnCondition(place, path, value, isWanted)
      : pathCondition(path, value, isWanted)
  if (condition === undefined) return undefined
  const [name, wanted] = condition
  if (!filter.has(name)) return new Map(filter).set(name, wanted)
  const all = filter.get('$and')
  const added = new Map([[name, wanted]])
  return new Map(filter).set('$and', [...(Array.isArray(all) ? all : []), added])
}

type Condition = readonly [string, Value]

/**
 * The condition on a path of a document; undefined for search fields and binary values, because
 * filters cannot compare them.
 */
function pathCondition(
  path: readonly string[],
  value: Value,
  isWanted: boolean,
): Condition | undefined {
  if (path[0]!.startsWith('$') || extendedKind(value) === '$binary') return undefined
  // Omits the position in an array: a filter on the path of an array matches elements at any
  // position.
  const names = path.at(-1)!.startsWith('[') ? path.slice(0, -1) : path
  if (names.some((name) => name.startsWith('['))) return undefined
  const isPlain = !isNested(value) || extendedKind(value) !== undefined
  if (!isWanted) return [writePath(names), new Map([['$ne', value]])]
  return [writePath(names), isPlain ? value : new Map([['$eq', value]])]
}

/**
 * The condition on a column of a row. For lists, sets and maps it compares their contents, and for
 * other types the whole value.
 */
function columnCondition(
  place: Place,
  path: readonly string[],
  value: Value,
  isWanted: boolean,
): Condition | undefined {
  const [name, part] = path
  const type = place.table.columns.get(name!)?.type
  if (type === undefined || path.length > 2) return undefined
  const operator = isWanted ? '$in' : '$nin'
  switch (type) {
    case 'vector':
    case 'userDefined':
      return undefined
    case 'list':
    case 'set': {
      const values = part === undefined ? value : [value]
      return Array.isArray(values) ? [name!, new Map([[operator, values]])] : undefined
    }
    case 'map': {
      const pairs = mapPairs(value, part)
      return pairs === undefined ? undefined : [name!, new Map([[operator, pairs]])]
    }
    default:
      if (part !== undefined) return undefined
      return [name!, isWanted ? value : new Map([['$ne', value]])]
  }
}

/**
 * The pairs [key, value] to compare: all pairs of a map, or only the one at `key`. A map whose keys
 * are not strings is an array of pairs, and `key` is then a position in brackets.
 */
function mapPairs(value: Value, key: string | undefined): Value[] | undefined {
  if (key === undefined)
    return isObject(value) ? [...value].map((pair): Value => [...pair]) : (value as Value[])
  return key.startsWith('[') ? [value] : [[key, value]]
}
