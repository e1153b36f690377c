/** Filters, parsed. See parse-filter.ts for the text they come from, matches.ts for meaning. */
import type { Value } from '../../json/value.ts'
import type { Path } from '../values/path.ts'

/**
 * There is no "not": parsing pushes it down to the comparisons, each of which has its
 * opposite. An empty `and` is true, an empty `or` false.
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
  /** Has a text with all of these terms, which the analyzer of the path made of `text`. */
  | {
      readonly kind: 'match'
      readonly path: Path
      readonly terms: readonly string[]
      readonly text: string
    }

/** Makes the terms of a text, in order and with repeats; undefined: they are too many. */
export type Analyze = (text: string) => readonly string[] | undefined

/** Matches every document. */
export const everything: Filter = Object.freeze({ kind: 'and', of: Object.freeze([]) })

/** What must all hold for a filter to. */
export function flatten(filter: Filter): Exclude<Filter, { kind: 'and' }>[] {
  return filter.kind === 'and' ? filter.of.flatMap(flatten) : [filter]
}

const roots = new WeakMap<Filter, ReadonlySet<string>>()

/** The root fields that a filter looks at; whether a text has terms is asked elsewhere. */
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
