/**
 * Filters as SQL over the index, for a document `d`.
 *
 * A condition is at least necessary: every matching document fulfils it. It is exact when
 * it is sufficient too; otherwise `matches` looks at the documents that fulfil it. What
 * the index can only answer by walking a range (greater, size, exists) gives no condition
 * here: those can lead a query (access-paths.ts), or are left to `matches`.
 */
import type { Value } from '../../../json/value.ts'
import type { Comparison, Filter } from '../../../language/filters/filter.ts'
import { arrayPosition, escapeSegment, type Path } from '../../../language/values/path.ts'
import { documentCost } from './budget.ts'
import { arrayStep } from '../store/entries.ts'
import { afterPrefix, isScalar, keyOf } from '../../../language/values/key.ts'

export type Parameter = number | Uint8Array

export interface Condition {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  readonly exact: boolean
  /** Index lookups that it takes for one document, at most. */
  readonly lookups: number
}

/** What one document costs that a condition is checked on, in index lookups. */
export function costOf({ exact, lookups }: Condition): number {
  return exact ? Math.max(1, lookups) : documentCost + lookups
}

/** What there is of an index. */
export interface Index {
  /** Looks up the number of a path. Where it is not indexed, the index says nothing of it. */
  pathId(path: string): number | 'absent' | 'unindexed'
  /** Entries of one value are in the order of the documents' numbers, or of their ids. */
  readonly tie: 'doc' | 'id'
}

/** Nothing is left to check. */
export const always: Condition = { sql: '1', parameters: [], exact: true, lookups: 0 }
const never: Condition = { sql: '0', parameters: [], exact: true, lookups: 0 }
/** The index has nothing to say. */
const unknown: Condition = { sql: '1', parameters: [], exact: false, lookups: 0 }

/** Beyond this, looking into a document is cheaper than asking the index about it. */
const lookupsMax = 16

export function conditionOf(filter: Filter, index: Index): Condition {
  switch (filter.kind) {
    case 'and':
      return allOf(filter.of.map((part) => conditionOf(part, index)))
    case 'or':
      return anyOf(filter.of.map((part) => conditionOf(part, index)))
    default:
      break
  }
  if (filter.path.text.startsWith('$')) return searchCondition(filter)
  if (filter.path.text === '_id') return idCondition(filter)
  switch (filter.kind) {
    case 'eq':
      return hasValue(filter.path, filter.value, index)
    case 'ne':
      return not(hasValue(filter.path, filter.value, index))
    case 'in':
      return hasAny(filter.path, filter.values, index)
    case 'nin':
      return not(hasAny(filter.path, filter.values, index))
    case 'all':
      return allOf(filter.values.map((value) => hasAny(filter.path, [value], index)))
    case 'notAll':
      return anyOf(filter.values.map((value) => not(hasAny(filter.path, [value], index))))
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
    case 'exists':
    case 'size':
    case 'notSize':
    case 'match':
      return unknown
  }
}

/**
 * The indexed paths under which a filter's path may be found. A numeric segment is an array
 * position or a field's name, so there may be several; `loose` says that what is found
 * there must be looked at.
 */
export function indexedPaths(path: Path): {
  readonly paths: readonly string[]
  readonly loose: boolean
} {
  const positions = path.segments.filter(
    (segment, i) => i > 0 && arrayPosition(segment) >= 0,
  ).length
  if (positions === 0) return { paths: [path.text], loose: false }
  // Beyond this the lookups would cost more than they save.
  if (positions > 4) return { paths: [], loose: true }
  let paths = ['']
  path.segments.forEach((segment, i) => {
    const last = i === path.segments.length - 1
    const named = i === 0 ? escapeSegment(segment) : `.${escapeSegment(segment)}`
    const next = paths.map((start) => start + named)
    if (i > 0 && arrayPosition(segment) >= 0) {
      next.push(...paths.map((start) => `${start}.${arrayStep}`))
      // An array's members stand under its own path; those of a member array one step below.
      if (last) next.push(...paths)
    }
    paths = next
  })
  return { paths, loose: true }
}

function hasValue(path: Path, value: Value, index: Index): Condition {
  // A null inside an array is not the array's value.
  return hasAny(path, [value], index, value === null)
}

/** The path holds one of the values, or an array that does. */
function hasAny(
  path: Path,
  values: readonly Value[],
  index: Index,
  valuesOnly = false,
): Condition {
  const { paths, loose } = indexedPaths(path)
  if (paths.length === 0) return unknown
  const ids = paths.map((text) => index.pathId(text))
  if (ids.includes('unindexed') || ids.length * values.length > lookupsMax) return unknown
  const exact = !loose && values.every(isScalar)
  const keys = values.map(keyOf)
  const lookups = ids.flatMap((id): Condition[] => {
    if (id === 'absent' || id === 'unindexed' || keys.length === 0) return []
    return [
      {
        sql:
          `EXISTS (SELECT 1 FROM entry WHERE path = ? AND ${sameDocument(index)} AND value ` +
          (keys.length === 1 ? '= ?' : `IN (${keys.map(() => '?').join(', ')})`) +
          (valuesOnly && !loose ? ' AND element = 0)' : ')'),
        parameters: [id, ...keys],
        exact,
        lookups: keys.length,
      },
    ]
  })
  return anyOf(lookups)
}

/** That an entry is of the document `d`, in the way that its index finds it by. */
export function sameDocument({ tie }: Index): string {
  return tie === 'doc' ? 'doc = d.seq' : 'id = d.id'
}

function idCondition(filter: Comparison): Condition {
  switch (filter.kind) {
    case 'eq':
      return compareId('=', filter.value)
    case 'ne':
      return compareId('<>', filter.value)
    case 'in':
      return anyOf(filter.values.map((value) => compareId('=', value)))
    case 'nin':
      return allOf(filter.values.map((value) => compareId('<>', value)))
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const [low, high] = rangeOf(filter)
      return allOf([
        ofId(low.inclusive ? '>=' : '>', low.key),
        ofId(high.inclusive ? '<=' : '<', high.key),
      ])
    }
    case 'exists':
      return filter.exists ? always : never
    default:
      return unknown
  }
}

function compareId(operator: '=' | '<>', value: Value): Condition {
  return { ...ofId(operator, keyOf(value)), exact: isScalar(value) }
}

/** The id is at hand, so nothing is looked up. */
function ofId(operator: string, key: Uint8Array): Condition {
  return { sql: `d.id ${operator} ?`, parameters: [key], exact: true, lookups: 0 }
}

const searchColumns: Readonly<Record<string, string>> = {
  $vector: 'vector_form <> 0',
  $vectorize: 'vectorize IS NOT NULL',
  $lexical: 'lexical IS NOT NULL',
}

function searchCondition(filter: Comparison): Condition {
  if (isText(filter))
    return {
      sql: 'EXISTS (SELECT 1 FROM indexed WHERE doc = d.seq)',
      parameters: [],
      exact: true,
      lookups: 1,
    }
  const column = searchColumns[filter.path.text]
  if (filter.kind !== 'exists' || column === undefined) return unknown
  const present: Condition = {
    sql: `EXISTS (SELECT 1 FROM search WHERE doc = d.seq AND ${column})`,
    parameters: [],
    exact: true,
    lookups: 1,
  }
  return filter.exists ? present : not(present)
}

/** Whether a filter asks only if there is a text to search in: it has all of no terms. */
export function isText(filter: Filter): boolean {
  return filter.kind === 'match' && filter.terms.length === 0
}

export interface Bound {
  readonly key: Uint8Array
  readonly inclusive: boolean
}

/** The keys that a comparison by size allows: all of the value's type on one side of it. */
export function rangeOf(comparison: {
  readonly kind: 'gt' | 'gte' | 'lt' | 'lte'
  readonly value: Value
}): [low: Bound, high: Bound] {
  const key = keyOf(comparison.value)
  const type = key.subarray(0, 1)
  const first: Bound = { key: type, inclusive: true }
  const last: Bound = { key: afterPrefix(type), inclusive: false }
  switch (comparison.kind) {
    case 'gt':
      return [{ key, inclusive: false }, last]
    case 'gte':
      return [{ key, inclusive: true }, last]
    case 'lt':
      return [first, { key, inclusive: false }]
    case 'lte':
      return [first, { key, inclusive: true }]
  }
}

function not(condition: Condition): Condition {
  // The opposite of a necessary condition says nothing, unless it was sufficient too.
  if (!condition.exact) return unknown
  return { ...condition, sql: `NOT (${condition.sql})` }
}

function allOf(parts: readonly Condition[]): Condition {
  return join(' AND ', always, parts)
}

function anyOf(parts: readonly Condition[]): Condition {
  if (parts.includes(unknown)) return unknown
  return join(' OR ', never, parts)
}

/** SQLite takes expressions 1000 deep; this stays well below. */
const partsMax = 200

function join(word: string, none: Condition, parts: readonly Condition[]): Condition {
  const said = parts.filter((part) => part.sql !== none.sql || !part.exact)
  const exact = said.every((part) => part.exact)
  const sayings = said.filter((part) => part !== unknown)
  if (sayings.length === 0) return exact ? none : unknown
  const parameters = sayings.flatMap((part) => part.parameters)
  const lookups = sayings.reduce((sum, part) => sum + part.lookups, 0)
  if (sayings.length > partsMax || lookups > lookupsMax) return unknown
  return {
    sql:
      sayings.length === 1
        ? sayings[0]!.sql
        : `(${sayings.map(({ sql }) => sql).join(word)})`,
    parameters,
    exact,
    lookups,
  }
}

/** The same condition, said of the document that the entry `e` is of. */
export function ofEntry(sql: string, tie: 'doc' | 'id'): string {
  const numbered = sql.replaceAll('d.seq', 'e.doc')
  return tie === 'id' ? numbered.replaceAll('d.id', 'e.id') : numbered
}
