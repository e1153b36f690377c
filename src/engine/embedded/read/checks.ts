/**
 * Checks: the conditions of a filter that index lookups can decide for one document, as plain
 * values.
 *
 * A check is necessary: every matching document passes it. An exact check is also sufficient;
 * otherwise the document decides (matches.ts). Operators that would need a range of the index (gt,
 * size, exists) give no check here: they can lead a query (access-paths.ts) or are left to the
 * document. conditions.ts performs checks.
 */
import type { Value } from '../../../json/value.ts'
import type { Comparison, Filter } from '../../../language/filters/filter.ts'
import { isScalar, keyOf } from '../../../language/values/key.ts'
import { arrayPosition, escapeSegment, type Path } from '../../../language/values/path.ts'
import { arrayStep } from '../format/entries.ts'
import { documentCost } from '../store/budget.ts'
import { rangeOf, type Bounds } from './bounds.ts'
import type { Statistics } from './statistics.ts'

export type IndexCheck = (
  | { readonly kind: 'always' | 'never' | 'unknown' }
  | { readonly kind: 'and' | 'or'; readonly of: readonly IndexCheck[] }
  | { readonly kind: 'not'; readonly of: IndexCheck }
  | EntryCheck
  /** The id is one of these. */
  | { readonly kind: 'ids'; readonly ids: readonly Uint8Array[] }
  | { readonly kind: 'idRange'; readonly bounds: Bounds }
  /** The document has this search field. 'text': a $lexical that is neither null nor empty. */
  | { readonly kind: 'search'; readonly field: SearchField }
) & {
  readonly exact: boolean
  /** Maximum number of index lookups per document. */
  readonly lookups: number
}

/** The document has an entry with this value. */
export interface EntryCheck {
  readonly kind: 'entry'
  readonly pathText: string
  readonly path: number
  readonly value: Uint8Array
  /** Whether only a value at the path itself counts; elements of an array at the path do not. */
  readonly isValueOnly: boolean
}

export type SearchField = '$vector' | '$vectorize' | '$lexical' | 'text'

/** A filter, divided into a check in the index and conditions on the document. */
export interface Checks {
  readonly check: IndexCheck
  /**
   * The parts of the filter that the check does not decide; undefined: the check decides the whole
   * filter.
   */
  readonly document: Filter | undefined
}

/** Every document passes; nothing is left to check. */
export const always: IndexCheck = { kind: 'always', exact: true, lookups: 0 }
const never: IndexCheck = { kind: 'never', exact: true, lookups: 0 }
/** The index cannot decide whether a document matches. */
const unknown: IndexCheck = { kind: 'unknown', exact: false, lookups: 0 }

/** Maximum number of lookups of a check. Parsing the document is cheaper than more lookups. */
const lookupsMax = 16

/** Cost of checking one document, in index lookups. */
export function costOf({ exact, lookups }: IndexCheck): number {
  return exact ? Math.max(1, lookups) : documentCost + lookups
}

export function checksOf(filter: Filter, statistics: Statistics): Checks {
  if (filter.kind !== 'and') {
    const check = checkOf(filter, statistics)
    return { check, document: check.exact ? undefined : filter }
  }
  const checks = filter.of.map((part) => checkOf(part, statistics))
  const check = allOf(checks)
  if (check.exact) return { check, document: undefined }
  if (check.kind === 'unknown') return { check, document: filter }
  return {
    check,
    document: { kind: 'and', of: filter.of.filter((_, i) => !checks[i]!.exact) },
  }
}

function checkOf(filter: Filter, statistics: Statistics): IndexCheck {
  switch (filter.kind) {
    case 'and':
      return allOf(filter.of.map((part) => checkOf(part, statistics)))
    case 'or':
      return anyOf(filter.of.map((part) => checkOf(part, statistics)))
    default:
      break
  }
  if (filter.path.text.startsWith('$')) return searchCheck(filter)
  if (filter.path.text === '_id') return idCheck(filter)
  const { path } = filter
  const hasAny = (values: readonly Value[], valuesOnly = false) =>
    hasAnyAt(path, values, valuesOnly, statistics)
  // An array that contains null does not equal null, so elements do not count for null.
  const equals = (value: Value) => hasAny([value], value === null)
  switch (filter.kind) {
    case 'eq':
      return equals(filter.value)
    case 'ne':
      return not(equals(filter.value))
    case 'in':
      return hasAny(filter.values)
    case 'nin':
      return not(hasAny(filter.values))
    case 'all':
    case 'notAll': {
      // The number of values is tested first, to avoid building checks that `lookupsMax` would
      // reject.
      if (filter.values.length > lookupsMax) return unknown
      const each = filter.values.map((value) => hasAny([value]))
      return filter.kind === 'all' ? allOf(each) : anyOf(each.map(not))
    }
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
 * The paths at which the index may have the values of a filter's path. A numeric segment can be an
 * array position or a field name, so there may be several. `loose`: a hit must be confirmed in the
 * document.
 */
export function indexedPaths(path: Path): {
  readonly paths: readonly string[]
  readonly loose: boolean
} {
  const positions = path.segments.filter(
    (segment, i) => i > 0 && arrayPosition(segment) >= 0,
  ).length
  if (positions === 0) return { paths: [path.text], loose: false }
  // Each numeric segment at least doubles the number of paths. With more than four, the lookups
  // would cost more than they save.
  if (positions > 4) return { paths: [], loose: true }
  let paths = ['']
  path.segments.forEach((segment, i) => {
    const last = i === path.segments.length - 1
    const named = i === 0 ? escapeSegment(segment) : `.${escapeSegment(segment)}`
    const next = paths.map((start) => start + named)
    if (i > 0 && arrayPosition(segment) >= 0) {
      next.push(...paths.map((start) => `${start}.${arrayStep}`))
      // The elements of an array are indexed at the path of the array. If an element is an array
      // too, its own elements are indexed one step below.
      if (last) next.push(...paths)
    }
    paths = next
  })
  return { paths, loose: true }
}

/**
 * A check that the path has one of the values or, unless `valuesOnly`, an array that contains one.
 */
function hasAnyAt(
  path: Path,
  values: readonly Value[],
  valuesOnly: boolean,
  statistics: Statistics,
): IndexCheck {
  const { paths, loose } = indexedPaths(path)
  if (paths.length === 0) return unknown
  const ids = paths.map((text) => statistics.pathId(text))
  if (ids.includes('unindexed') || ids.length * values.length > lookupsMax) return unknown
  const exact = !loose && values.every(isScalar)
  const isValueOnly = valuesOnly && !loose
  const entry = { kind: 'entry', isValueOnly, exact, lookups: 1 } as const
  const entries = ids.flatMap((path, i) => {
    if (typeof path !== 'number') return []
    const pathText = paths[i]!
    return values.map((value): IndexCheck => ({
      ...entry,
      pathText,
      path,
      value: keyOf(value),
    }))
  })
  return anyOf(entries)
}

function idCheck(filter: Comparison): IndexCheck {
  switch (filter.kind) {
    case 'eq':
      return anyId([filter.value])
    case 'ne':
      return not(anyId([filter.value]))
    case 'in':
      return anyId(filter.values)
    case 'nin':
      return not(anyId(filter.values))
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const [low, high] = rangeOf(filter)
      return { kind: 'idRange', bounds: { low, high }, exact: true, lookups: 0 }
    }
    case 'exists':
      return filter.exists ? always : never
    default:
      return unknown
  }
}

function anyId(values: readonly Value[]): IndexCheck {
  return { kind: 'ids', ids: values.map(keyOf), exact: values.every(isScalar), lookups: 0 }
}

function searchCheck(filter: Comparison): IndexCheck {
  const has = (field: SearchField): IndexCheck => {
    return { kind: 'search', field, exact: true, lookups: 1 }
  }
  if (isText(filter)) return has('text')
  const field = filter.path.text
  if (filter.kind !== 'exists' || !isSearchField(field)) return unknown
  return filter.exists ? has(field) : not(has(field))
}

function isSearchField(path: string): path is SearchField {
  return path === '$vector' || path === '$vectorize' || path === '$lexical'
}

/** Whether a filter only requires that a text exists. Such a filter is a match without terms. */
export function isText(filter: Filter): boolean {
  return filter.kind === 'match' && filter.terms.length === 0
}

function not(of: IndexCheck): IndexCheck {
  // An inexact check also passes documents that do not match. Its negation would reject them,
  // although they match the negated filter.
  return of.exact ? { kind: 'not', of, exact: true, lookups: of.lookups } : unknown
}

function allOf(parts: readonly IndexCheck[]): IndexCheck {
  return join('and', parts)
}

function anyOf(parts: readonly IndexCheck[]): IndexCheck {
  return parts.some(({ kind }) => kind === 'unknown') ? unknown : join('or', parts)
}

function join(kind: 'and' | 'or', parts: readonly IndexCheck[]): IndexCheck {
  const neutral = kind === 'and' ? always : never
  const exact = parts.every((part) => part.exact)
  const of = parts.filter((part) => part.kind !== neutral.kind && part.kind !== 'unknown')
  if (of.length === 0) return exact ? neutral : unknown
  const lookups = of.reduce((sum, part) => sum + part.lookups, 0)
  if (lookups > lookupsMax) return unknown
  return of.length === 1 ? { ...of[0]!, exact, lookups } : { kind, of, exact, lookups }
}
