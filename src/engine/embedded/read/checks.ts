/**
 * Checks: the conditions of a filter that index lookups can decide for one document, as plain
 * values.
 *
 * A check is necessary: every matching document passes it. An exact check is also sufficient;
 * otherwise the document decides (matches.ts). The index cannot be asked whether one document has a
 * value in a range (gt, size, exists). So a range gives a check if listing its documents costs less
 * than reading the documents that the check rejects. Otherwise the document decides. conditions.ts
 * performs checks.
 */
import type { Value } from '../../../json/value.ts'
import { flatten, type Comparison, type Filter } from '../../../language/filters/filter.ts'
import { isScalar, keyOf } from '../../../language/values/key.ts'
import type { Path } from '../../../language/values/path.ts'
import { documentCost } from '../store/budget.ts'
import { rangeOf, type Bounds } from './bounds.ts'
import { indexedPaths } from './indexed-paths.ts'
import { rangesOf, type Range } from './ranges.ts'
import type { Statistics } from './statistics.ts'

export type IndexCheck = (
  | { readonly kind: 'always' | 'never' | 'unknown' }
  | { readonly kind: 'and' | 'or'; readonly of: readonly IndexCheck[] }
  | { readonly kind: 'not'; readonly of: IndexCheck }
  | EntryCheck
  /** The id is one of these. */
  | { readonly kind: 'ids'; readonly ids: readonly Uint8Array[] }
  | { readonly kind: 'idRange'; readonly bounds: Bounds }
  | RangeCheck
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

/** The document is in the list of those with a value in a range. */
export interface RangeCheck {
  readonly kind: 'range'
  readonly range: Range
  /** Number of entries to list; may be an estimate. */
  readonly size: number
}

/** The expected work of a read, which decides whether ranges are listed. */
export interface ExpectedWork {
  /** Number of candidates of the access path. */
  readonly candidates: () => number
  /** Number of matches after which the read ends. */
  readonly wanted: number
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

/** Divides a filter. Without `work`, no range gives a check. */
export function checksOf(
  filter: Filter,
  statistics: Statistics,
  work?: ExpectedWork,
): Checks {
  if (filter.kind !== 'and') {
    const check = checkOf(filter, statistics, work)
    return { check, document: check.exact ? undefined : filter }
  }
  const parts = flatten(filter)
  const ranges = listedRanges(parts, statistics, work)
  const checks = parts.map((part) => ranges.get(part) ?? checkOf(part, statistics, work))
  const check = allOf(checks)
  if (check.exact) return { check, document: undefined }
  if (check.kind === 'unknown') return { check, document: filter }
  return {
    check,
    document: { kind: 'and', of: parts.filter((_, i) => !checks[i]!.exact) },
  }
}

/**
 * Checks of the parts of a conjunction that are ranges worth listing. Several bounds of one path
 * are one range: its check is that of the first bound, and the other bounds always pass.
 */
function listedRanges(
  parts: readonly Filter[],
  statistics: Statistics,
  work: ExpectedWork | undefined,
): ReadonlyMap<Filter, IndexCheck> {
  const checks = new Map<Filter, IndexCheck>()
  if (work === undefined) return checks
  for (const { range, served } of rangesOf(parts, statistics)) {
    const check = rangeCheck(range, false, statistics, work)
    if (check.kind !== 'unknown')
      served.forEach((part, i) => checks.set(part, i === 0 ? check : always))
  }
  return checks
}

/** Index entries of a range that can be listed in the time of one lookup. */
const rangeEntriesPerLookup = 8

/** Cost of listing the documents of a range, in index lookups. */
export function listCost({ size }: RangeCheck): number {
  return size / rangeEntriesPerLookup
}

/**
 * The check that a document has a value in a range or, if `isNegated`, has none. Unknown if the
 * list costs more than reading the documents that the check would save.
 */
function rangeCheck(
  range: Range,
  isNegated: boolean,
  statistics: Statistics,
  { candidates, wanted }: ExpectedWork,
): IndexCheck {
  const documents = statistics.documents()
  const size = statistics.entriesWithin(range, documents)
  const matching = isNegated ? documents - size : size
  // The estimate assumes that matches are spread evenly.
  const reads =
    matching <= 0 ? candidates() : Math.min(candidates(), (wanted * documents) / matching)
  const check = { kind: 'range', range, size, exact: true, lookups: 0 } as const
  if (listCost(check) > reads * documentCost) return unknown
  return isNegated ? not(check) : check
}

function checkOf(
  filter: Filter,
  statistics: Statistics,
  work: ExpectedWork | undefined,
): IndexCheck {
  switch (filter.kind) {
    case 'and':
      return checksOf(filter, statistics, work).check
    case 'or':
      return anyOf(filter.of.map((part) => checkOf(part, statistics, work)))
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
      return rangeCheckOf(filter, statistics, work)
    case 'notSize':
    case 'match':
      return unknown
  }
}

function rangeCheckOf(
  filter: Comparison,
  statistics: Statistics,
  work: ExpectedWork | undefined,
): IndexCheck {
  if (work === undefined) return unknown
  const isNegated = filter.kind === 'exists' && !filter.exists
  const [found] = rangesOf([isNegated ? { ...filter, exists: true } : filter], statistics)
  return found === undefined
    ? unknown
    : rangeCheck(found.range, isNegated, statistics, work)
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
