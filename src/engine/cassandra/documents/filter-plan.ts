/**
 * Plans which part of a filter the indexes of a cluster serve.
 *
 * Apache Cassandra serves equality and presence, joined by AND. A filter becomes branches of such
 * terms, which together find a superset of the matching documents; the whole filter is then checked
 * on each candidate. If no index applies, all documents are read. Terms that only other products
 * serve are in filter-capabilities.ts.
 */
import type { Numeric, Value } from '../../../json/value.ts'
import { isObject } from '../../../json/value.ts'
import { extendedOf } from '../../../json/extended.ts'
import { flatten, type Comparison, type Filter } from '../../../language/filters/filter.ts'
import { isPossible, keysOf, type DocumentKey } from './document-key.ts'
import { termsMax } from '../system/read-limits.ts'
import { hashAtPath, hashesAsElements, hashOf, isPossibleHash, textOf } from './hash.ts'
import { termSizeMax, type Shredded } from './shred.ts'

/** A condition that an index serves. */
export type DocumentTerm =
  | { readonly kind: 'contains'; readonly entry: string }
  | { readonly kind: 'text'; readonly path: string; readonly text: string }
  | { readonly kind: 'null'; readonly path: string }
  | { readonly kind: 'size'; readonly path: string; readonly size: number }
  | { readonly kind: 'exists'; readonly path: string }
  | CapableTerm

/** Terms that only some clusters serve; they are the same in all branches of a plan. */
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
  /** All terms of at least one branch hold. */
  | { readonly kind: 'any'; readonly of: readonly Branch[] }

export type PresenceTerm = Extract<DocumentTerm, { kind: 'contains' | 'null' | 'exists' }>

/** Terms that must all hold; an empty branch reads all documents. */
export type Branch = readonly DocumentTerm[]

export type FilterPlan =
  /** Documents with these keys, each of which may or may not exist. */
  | { readonly kind: 'keys'; readonly keys: readonly DocumentKey[] }
  | {
      readonly kind: 'branches'
      readonly branches: readonly Branch[]
      /** Whether the terms express the whole filter, so that nearly all candidates match. */
      readonly isWhole: boolean
      /** Whether all candidates match, so that they need no check. */
      readonly isExact: boolean
    }

/** Whether no document can match the filter of the plan. */
export function findsNothing(plan: FilterPlan): boolean {
  return (plan.kind === 'keys' ? plan.keys : plan.branches).length === 0
}

/**
 * Maximum alternatives of a condition such as $in. With more, the plan ignores the condition.
 */
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
 * Whether the term identifies its condition exactly. A path or value with a space can produce the
 * same term as another path and value. All lone surrogates are stored as the same character.
 */
export function isClear(term: DocumentTerm): boolean {
  if (term.kind === 'contains')
    return term.entry.isWellFormed() && hasOneReading(term.entry)
  // The column of texts also contains the hashes of objects and arrays, which a string can equal.
  return term.kind !== 'text' && !('path' in term && !term.path.isWellFormed())
}

/** Whether only one space of the entry can separate a path from a hash. */
function hasOneReading(entry: string): boolean {
  let readings = 0
  for (let at = entry.indexOf(' '); at >= 0; at = entry.indexOf(' ', at + 1))
    if (isPossibleHash(entry.slice(at + 1)) && ++readings > 1) return false
  return true
}

/** Conditions that one term can express completely. */
const wholeKinds: ReadonlySet<Filter['kind']> = new Set(['eq', 'size', 'exists'] as const)

/** Whether documents stored with these columns satisfy all terms. */
export function satisfiesAll(terms: Branch, shredded: Shredded): boolean {
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
      // Such terms are part of all branches, so they do not distinguish the branches.
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

/** Keys of documents that the values may identify, without impossible ones and duplicates. */
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

/**
 * Joins the alternatives of all conditions into branches. Terms for presence come last, because
 * they are less selective than equality.
 */
function branchesOf(
  alternatives: readonly (readonly Branch[])[],
  isWhole: boolean,
): readonly Branch[] {
  const single = alternatives.filter(({ length }) => length === 1).map(([only]) => only!)
  const selective = single.flat().filter(({ kind }) => kind !== 'exists')
  const present = single.flat().filter(({ kind }) => kind === 'exists')
  // Candidates are checked against the filter anyway, so a few terms suffice.
  const all = [...selective, ...present].slice(0, isWhole ? Infinity : termsMax)
  const several = alternatives.filter(({ length }) => length !== 1)
  if (selective.length > 0 || several.length === 0) return [all]
  const fewest = several.reduce((least, one) => (one.length < least.length ? one : least))
  if (fewest.length > branchesMax) return [all]
  return fewest.map((terms) => [...terms, ...all])
}

/**
 * Branches that cover the filter: every matching document satisfies at least one of them.
 * Undefined: no term restricts the filter. An empty list: no document can match.
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
  return impliedBy(comparison)?.filter((terms) => terms.every(isSatisfiable))
}

const arraySizeMax = 2 ** 31 - 1

/** Whether any document can satisfy the term. No index contains texts or sizes above its limits. */
export function isSatisfiable(term: DocumentTerm): boolean {
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

/** Whether the path is the _id or a search field, for which plans have no terms. */
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

/**
 * Terms for $all. Elements with two spellings, and those beyond `termsMax`, get no term: candidates
 * are checked for them.
 */
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
