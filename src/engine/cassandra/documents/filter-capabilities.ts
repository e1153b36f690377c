/**
 * Terms for clusters that serve more than Apache Cassandra: OR, negations, ranges of map values,
 * and words. The filter implies every term, so no matching document is missed; candidates are still
 * checked against the whole filter.
 */
import { extendedOf } from '../../../json/extended.ts'
import { isNumeric, isObject } from '../../../json/value.ts'
import { flatten, type Comparison, type Filter } from '../../../language/filters/filter.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { termsMax } from '../system/read-limits.ts'
import {
  alternativesOfComparison,
  isSatisfiable,
  equalTo,
  isClear,
  isKept,
  planFilter,
  type Branch,
  type CapableTerm,
  type FilterPlan,
  type PresenceTerm,
  type DocumentTerm,
} from './filter-plan.ts'
import { hashOf } from './hash.ts'

/** Kinds of terms that the cluster serves for a collection besides equality and presence. */
export interface FilterCapabilities {
  readonly or: boolean
  readonly negations: boolean
  readonly ranges: boolean
  readonly words: boolean
}

export function filterCapabilitiesOf(
  { or, notContains, mapRanges, indexAnalyzer }: Capabilities,
  hasWords: boolean,
): FilterCapabilities {
  return {
    or,
    negations: notContains,
    ranges: mapRanges,
    words: hasWords && indexAnalyzer,
  }
}

export function planWith(filter: Filter, can: FilterCapabilities): FilterPlan {
  const plan = planFilter(filter)
  if (plan.kind === 'keys' || plan.branches.length === 0) return plan
  if (can.or) {
    const terms = joinedTerms(filter, can)
    return { ...plan, branches: [plan.isWhole ? terms : terms.slice(0, termsMax)] }
  }
  const more = flatten(filter).flatMap((one) => capableTerms(one, can))
  return { ...plan, branches: plan.branches.map((terms) => [...terms, ...more]) }
}

/** Terms that the filter implies. Equalities come first, because they are the most selective. */
function joinedTerms(filter: Filter, can: FilterCapabilities): Branch {
  const terms = termsOf(filter, can)
  const order = (term: DocumentTerm) =>
    term.kind === 'exists' ? 1 : isCapable(term) ? 2 : 0
  return terms.toSorted((a, b) => order(a) - order(b))
}

function isCapable({ kind }: DocumentTerm): boolean {
  return !['contains', 'text', 'null', 'size', 'exists'].includes(kind)
}

/** Terms that the filter implies. */
function termsOf(filter: Filter, can: FilterCapabilities): readonly DocumentTerm[] {
  switch (filter.kind) {
    case 'and':
      return filter.of.flatMap((part) => termsOf(part, can))
    case 'or': {
      const parts = filter.of.map((part) => termsOf(part, can))
      return parts.every(({ length }) => length > 0) ? [anyOf(parts)] : []
    }
    default: {
      const more = capableTerms(filter, can)
      if (more.length > 0) return more
      const alternatives = alternativesOfComparison(filter)
      if (alternatives === undefined || alternatives.length === 0) return []
      return alternatives.length === 1 ? alternatives[0]! : [anyOf(alternatives)]
    }
  }
}

function anyOf(parts: readonly Branch[]): CapableTerm {
  return { kind: 'any', of: parts }
}

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

function capableTerms(filter: Filter, can: FilterCapabilities): readonly CapableTerm[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return []
    case 'match':
      return can.words ? [{ kind: 'words', text: filter.text }] : []
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return can.ranges ? rangeOf(filter) : []
    default:
      return can.negations && !isKept(filter.path.text) ? negationOf(filter) : []
  }
}

/**
 * Term for a range of numbers or dates. Ranges of texts have none, because long texts are missing
 * from the index.
 */
function rangeOf({
  kind,
  path: { text: path },
  value,
}: Extract<Comparison, { kind: 'gt' | 'gte' | 'lt' | 'lte' }>): readonly CapableTerm[] {
  if (isKept(path)) return []
  const operator = operators[kind]
  if (!isSatisfiable({ kind: 'exists', path })) return []
  if (isNumeric(value)) return [{ kind: 'range', path, operator, bound: { number: value } }]
  const extended = isObject(value) ? extendedOf(value) : undefined
  if (extended?.kind !== 'date') return []
  return [{ kind: 'range', path, operator, bound: { ms: extended.ms } }]
}

function negationOf(comparison: Comparison): readonly CapableTerm[] {
  const path = comparison.path.text
  switch (comparison.kind) {
    case 'ne':
      return lackingAll(equalTo(path, comparison.value))
    case 'nin': {
      const inArrays: PresenceTerm = { kind: 'contains', entry: `${path} ${hashOf(null)}` }
      return comparison.values.flatMap((value) => [
        ...lackingAll(equalTo(path, value)),
        ...(value === null ? lacking(inArrays) : []),
      ])
    }
    case 'exists':
      return comparison.exists ? [] : lacking({ kind: 'exists', path })
    case 'notSize':
      return isSatisfiable({ kind: 'size', path, size: comparison.size })
        ? [{ kind: 'otherSize', path, size: comparison.size }]
        : []
    default:
      return []
  }
}

function lackingAll(alternatives: readonly Branch[]): readonly CapableTerm[] {
  return alternatives.flatMap(([term]) =>
    term!.kind === 'contains' || term!.kind === 'null' ? lacking(term!) : [],
  )
}

function lacking(term: PresenceTerm): readonly CapableTerm[] {
  return isClear(term) && isSatisfiable(term) ? [{ kind: 'lacks', of: term }] : []
}
