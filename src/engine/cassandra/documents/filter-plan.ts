/**
 * What of a filter the indexes of a cluster can serve.
 *
 * A cluster of Apache Cassandra knows equality and presence, joined by "and". So a filter
 * becomes a few branches, each a list of such terms, which together find every document that
 * matches, and some that do not: those are sorted out by the whole filter. Where nothing can
 * be served all documents are read. Other products can be asked more: more-terms.ts.
 */
import type { Numeric, Value } from '../../../json/value.ts'
import { isObject } from '../../../json/value.ts'
import { extendedOf } from '../../../json/extended.ts'
import { flatten, type Comparison, type Filter } from '../../../language/filters/filter.ts'
import { isPossible, keysOf, type DocumentKey } from './document-key.ts'
import { termsMax } from '../system/read-limits.ts'
import { hashAtPath, hashesAsElements, hashOf, textOf } from './hash.ts'
import { termSizeMax, type Shredded } from './shred.ts'

/** What an index is asked. */
export type DocumentTerm =
  | { readonly kind: 'contains'; readonly entry: string }
  | { readonly kind: 'text'; readonly path: string; readonly text: string }
  | { readonly kind: 'null'; readonly path: string }
  | { readonly kind: 'size'; readonly path: string; readonly size: number }
  | { readonly kind: 'exists'; readonly path: string }
  | CapableTerm

/** What only some clusters can be asked. It is the same in all branches of a plan. */
export type CapableTerm =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'lacks'; readonly of: PresenceTerm }
  | { readonly kind: 'otherSize'; readonly path: string; readonly size: number }
  | {
      readonly kind: 'range'
      readonly path: string
      readonly operator: '>' | '>=' | '<' | '<='
      readonly bound: { readonly number: Numeric } | { readonly ms: number }
    }
  /** All terms of one of these hold. */
  | { readonly kind: 'any'; readonly of: readonly Branch[] }

export type PresenceTerm = Extract<DocumentTerm, { kind: 'contains' | 'null' | 'exists' }>

/** Terms that must all hold; none: all documents are read. */
export type Branch = readonly DocumentTerm[]

export type FilterPlan =
  /** Documents with these keys, of which each may or may not be there. */
  | { readonly kind: 'keys'; readonly keys: readonly DocumentKey[] }
  | {
      readonly kind: 'branches'
      readonly branches: readonly Branch[]
      /** Whether the terms say all that the filter does, so that nearly all found match. */
      readonly isWhole: boolean
      /** Whether all match, so that none has to be looked at. */
      readonly isExact: boolean
    }

/** A filter with more alternatives than this is served without them. */
const branchesMax = 20

export function planFilter(filter: Filter): FilterPlan {
  const conjuncts = flatten(filter)
  const keys = keysIn(conjuncts)
  if (keys !== undefined) return { kind: 'keys', keys }
  const alternatives = conjuncts.flatMap((one) => {
    const found = alternativesOf(one)
    return found === undefined ? [] : [found]
  })
  const isWhole =
    conjuncts.every(({ kind }) => wholeKinds.has(kind)) &&
    alternatives.length === conjuncts.length &&
    alternatives.every(({ length }) => length === 1)
  const isExact = isWhole && alternatives.flat(2).every(isClear)
  return { kind: 'branches', branches: branchesOf(alternatives, isWhole), isWhole, isExact }
}

/**
 * A path or value with a space in it could be read as another path with another value, and one
 * with half of a character as one with another half: a cluster keeps neither.
 */
export function isClear(term: DocumentTerm): boolean {
  if (term.kind === 'contains')
    return term.entry.split(' ').length === 2 && term.entry.isWellFormed()
  // Texts and what stands for objects and arrays are in one column.
  return term.kind !== 'text' && !('path' in term && !term.path.isWellFormed())
}

/** Conditions that a term can say in full. */
const wholeKinds: ReadonlySet<Filter['kind']> = new Set(['eq', 'size', 'exists'] as const)

/** Whether documents that were written as these columns are found by all terms. */
export function holdsAll(terms: Branch, shredded: Shredded): boolean {
  return terms.every((term) => holds(term, shredded))
}

function holds(
  term: DocumentTerm,
  { contains, texts, nulls, sizes, exists }: Shredded,
): boolean {
  switch (term.kind) {
    case 'contains':
      return contains.has(term.entry)
    case 'text':
      return texts.get(term.path) === term.text
    case 'null':
      return nulls.has(term.path)
    case 'size':
      return sizes.get(term.path) === term.size
    case 'exists':
      return exists.has(term.path)
    default:
      // The same in all branches, so it tells none from another.
      return true
  }
}

type Conjunct = Exclude<Filter, { readonly kind: 'and' }>

function keysIn(conjuncts: readonly Conjunct[]): readonly DocumentKey[] | undefined {
  for (const one of conjuncts) {
    if (one.kind === 'or' || one.path.text !== '_id') continue
    if (one.kind === 'eq') return keysAmong([one.value])
    if (one.kind === 'in') return keysAmong(one.values)
  }
  return undefined
}

/** Those that documents can have, each once. */
function keysAmong(values: readonly Value[]): readonly DocumentKey[] {
  const keys = values.filter(canBeId).flatMap(keysOf).filter(isPossible)
  if (keys.length < 2) return keys
  return [...new Map(keys.map((key) => [`${key.type} ${key.text}`, key])).values()]
}

function canBeId(value: Value): boolean {
  if (Array.isArray(value)) return false
  if (!isObject(value)) return true
  const kind = extendedOf(value)?.kind
  return kind === 'date' || kind === 'uuid' || kind === 'objectId'
}

/** Terms that are equalities find few documents, and presence finds many. */
function branchesOf(
  alternatives: readonly (readonly Branch[])[],
  isWhole: boolean,
): readonly Branch[] {
  const single = alternatives.filter(({ length }) => length === 1).map(([only]) => only!)
  const selective = single.flat().filter(({ kind }) => kind !== 'exists')
  const present = single.flat().filter(({ kind }) => kind === 'exists')
  // Where documents are looked at anyway, a few terms find few of them.
  const all = [...selective, ...present].slice(0, isWhole ? Infinity : termsMax)
  const several = alternatives.filter(({ length }) => length !== 1)
  if (selective.length > 0 || several.length === 0) return [all]
  const fewest = several.reduce((least, one) => (one.length < least.length ? one : least))
  if (fewest.length > branchesMax) return [all]
  return fewest.map((terms) => [...terms, ...all])
}

/**
 * Lists of terms of which one holds wherever the filter does. Undefined: there are none, and
 * every document may match. An empty list: none does.
 */
function alternativesOf(filter: Filter): readonly Branch[] | undefined {
  switch (filter.kind) {
    case 'and': {
      const parts = flatten(filter).map(alternativesOf)
      const known = parts.filter((one) => one !== undefined)
      return known.find(({ length }) => length === 1) ?? known[0]
    }
    case 'or': {
      const parts = filter.of.map(alternativesOf)
      return parts.every((one) => one !== undefined) ? parts.flat() : undefined
    }
    default:
      return alternativesOfComparison(filter)
  }
}

export function alternativesOfComparison(
  comparison: Comparison,
): readonly Branch[] | undefined {
  return impliedBy(comparison)?.filter((terms) => terms.every(canHold))
}

const arraySizeMax = 2 ** 31 - 1

/** Whether it may hold for some document: what is longer or larger is in no index. */
export function canHold(term: DocumentTerm): boolean {
  if (term.kind === 'size' && term.size > arraySizeMax) return false
  const looked = 'entry' in term ? term.entry : 'path' in term ? term.path : ''
  return Buffer.byteLength(looked) <= termSizeMax
}

function impliedBy(comparison: Comparison): readonly Branch[] | undefined {
  const path = comparison.path.text
  if (isKept(path)) return undefined
  switch (comparison.kind) {
    case 'eq':
      return equalTo(path, comparison.value)
    case 'in':
      return comparison.values.flatMap((value) => [
        ...equalTo(path, value),
        ...(value === null ? [containing(path, hashOf(null))] : []),
      ])
    case 'all':
      return allOf(path, comparison.values)
    case 'size':
      return [[{ kind: 'size', path, size: comparison.size }]]
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return [[{ kind: 'exists', path }]]
    case 'exists':
      return comparison.exists ? [[{ kind: 'exists', path }]] : undefined
    default:
      return undefined
  }
}

/** Fields that have columns of their own, and are found in other ways. */
export function isKept(path: string): boolean {
  return path === '_id' || path.startsWith('$')
}

export function equalTo(path: string, value: Value): readonly Branch[] {
  if (value === null) return [[{ kind: 'null', path }]]
  const text = textOf(value)
  if (text !== undefined)
    return [
      containing(path, hashAtPath(text)),
      ...hashesAsElements(text).map((hash) => containing(path, hash)),
    ]
  if (isWhole(value)) return [[{ kind: 'text', path, text: hashOf(value) }]]
  return [containing(path, hashOf(value))]
}

function isWhole(value: Value): boolean {
  return Array.isArray(value) || (isObject(value) && extendedOf(value) === undefined)
}

/** Those that can be written in two ways are left to the whole filter, and so are many. */
function allOf(path: string, values: readonly Value[]): readonly Branch[] | undefined {
  const terms = values.slice(0, termsMax).flatMap((value) => {
    const text = textOf(value)
    const isOneEntry = text === undefined || hashesAsElements(text).length === 0
    return isOneEntry ? containing(path, hashOf(value)) : []
  })
  return terms.length === 0 ? undefined : [terms]
}

function containing(path: string, hash: string): Branch {
  return [{ kind: 'contains', entry: `${path} ${hash}` }]
}
