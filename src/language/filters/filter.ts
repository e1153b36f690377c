/** Parsed filters. parse-filter.ts parses them, and matches.ts defines their meaning. */
import type { Value } from '../../json/value.ts'
import type { Path } from '../values/path.ts'

/**
 * A filter. It contains no negation: the parser pushes negations down to the comparisons, each of
 * which has an opposite. An empty `and` is true, an empty `or` false.
 */
export type Filter =
  | { readonly kind: 'and'; readonly of: readonly Filter[] }
  | { readonly kind: 'or'; readonly of: readonly Filter[] }
  | Comparison

export type Comparison =
  | { readonly kind: 'eq' | 'ne'; readonly path: Path; readonly value: Value }
  | {
      readonly kind: 'gt' | 'gte' | 'lt' | 'lte'
      readonly path: Path
      readonly value: Value
    }
  | { readonly kind: 'in' | 'nin'; readonly path: Path; readonly values: readonly Value[] }
  | { readonly kind: 'exists'; readonly path: Path; readonly exists: boolean }
  | {
      readonly kind: 'all' | 'notAll'
      readonly path: Path
      readonly values: readonly Value[]
    }
  | { readonly kind: 'size' | 'notSize'; readonly path: Path; readonly size: number }
  /**
   * A comparison that holds if the text contains all terms, which the analyzer of the path produced
   * from `text`.
   */
  | {
      readonly kind: 'match'
      readonly path: Path
      readonly terms: readonly string[]
      readonly text: string
    }

/**
 * Analyzes a text into terms, in order and with repetitions. Undefined if there are too many terms.
 */
export type Analyze = (text: string) => readonly string[] | undefined

/** Matches every document. */
export const everything: Filter = Object.freeze({ kind: 'and', of: Object.freeze([]) })

/** The filters that must all hold, with nested `and` flattened. */
export function flatten(filter: Filter): Exclude<Filter, { kind: 'and' }>[] {
  return filter.kind === 'and' ? filter.of.flatMap(flatten) : [filter]
}

const roots = new WeakMap<Filter, ReadonlySet<string>>()

/**
 * Root fields that the filter reads, except fields of $match: an index or an analyzer evaluates
 * $match.
 */
export function rootFields(filter: Filter): ReadonlySet<string> {
  let names = roots.get(filter)
  if (names === undefined) roots.set(filter, (names = new Set(rootsOf(filter))))
  return names
}

function rootsOf(filter: Filter): string[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.flatMap(rootsOf)
    case 'match':
      return []
    default:
      return [filter.path.segments[0]!]
  }
}
