/** Filters, parsed. See parse-filter.ts for the text they come from, matches.ts for meaning. */
import type { Value } from '../json/value.ts'
import type { Path } from './path.ts'

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
  /** Has all of these terms, as the collection's analyzer makes them. */
  | { readonly kind: 'match'; readonly path: Path; readonly terms: readonly string[] }

/** Makes the terms of a text, in order and with repeats. */
export type Analyze = (text: string) => readonly string[]

/** Matches every document. */
export const everything: Filter = Object.freeze({ kind: 'and', of: Object.freeze([]) })
