/**
 * Page states: opaque texts that contain the position where the next page of a query begins. A
 * state contains a hash of its query, so that it cannot be used with another query, and the record
 * count so far, because a limit applies to all pages together. Every issued state must fit into the
 * next request. States are therefore binary values in Base64, which are shorter than escaped JSON,
 * and a command is rejected if its state would be too long.
 */
import { hash } from 'node:crypto'
import { apiError } from '../errors/api-error.ts'
import { parseJson } from '../json/parse.ts'
import { packValue, unpackList, type Packable } from '../json/packed.ts'
import { printJson } from '../json/print.ts'
import type { Value } from '../json/value.ts'
import { pageStateLengthMaxOf, type Limits } from '../limits.ts'
import { decodeLegacyValue, shortestTied } from '../language/sorts/sort-place.ts'
import type { LexicalOperator } from '../language/sorts/sort.ts'
import type { PagePosition } from './read.ts'
import type { HitPlace } from './search-terms.ts'

export interface PageState {
  /** Number of records returned so far. */
  readonly count: number
  readonly place: PagePosition
}

/**
 * Names of the paged records and their sort, for the error about a page state that is too
 * long.
 */
export interface PagedBy {
  readonly noun: 'document' | 'row'
  /** The columns or paths of the sort. */
  readonly sort: readonly string[]
  readonly limits: Limits
}

export function encodePageState(
  { count, place }: PageState,
  query: string,
  paged: PagedBy,
): string {
  const where = place.kind === 'engine' ? place.position : place.key.map(shortestTied)
  return encode([count, query, place.kind, where], paged)
}

export function decodePageState(text: string, query: string, limits: Limits): PageState {
  return decode(text, query, readPlace, limits)
}

/** Page state of a search by terms. */
export interface SearchPageState {
  readonly count: number
  readonly place: HitPlace
}

export function encodeSearchState(
  { count, place }: SearchPageState,
  query: string,
  paged: PagedBy,
): string {
  const { documents, tokens, documentFrequencies } = place.statistics
  const where = [place.score, place.id, documents, tokens, ...documentFrequencies]
  return encode([count, query, groupNames[place.having], where], paged)
}

export function decodeSearchState(
  text: string,
  query: string,
  {
    termCount,
    operator,
  }: { readonly termCount: number; readonly operator: LexicalOperator },
  limits: Limits,
): SearchPageState {
  const state = decode(text, query, readSearchPlace, limits)
  const { having, statistics } = state.place
  // The analyzer of a table's column may have changed since the state was issued, and then produce
  // other terms.
  const hasSameTerms = statistics.documentFrequencies.length === termCount
  if (!hasSameTerms || (having === 'some' && operator === 'all')) throw ofAnotherQuery(text)
  return state
}

/**
 * Names of the groups of hits in a page state: hits with all terms, and hits with only some terms.
 */
const groupNames = { all: 'scored', some: 'partly scored' } as const

/** First byte of a state. States of version 0.1 are JSON arrays, so they start with "[". */
const version = 2
const jsonStart = '['.charCodeAt(0)

/**
 * Maximum values in a state. By default, a sort has at most 64 keys, and the terms of a search have
 * at most 8 192 bytes.
 */
const valuesMax = 100_000

function encode(parts: readonly Packable[], { noun, sort, limits }: PagedBy): string {
  const bytes = packValue(parts)
  const text = Buffer.concat([Uint8Array.of(version), bytes]).toString('base64url')
  const max = pageStateLengthMaxOf(limits)
  if (text.length <= max) return text
  throw apiError('UNSUPPORTED_PAGINATION_WITH_LONG_VALUES', {
    noun,
    sort,
    max,
    length: text.length,
    pageSize: limits.pageSize,
  })
}

function decode<P>(
  text: string,
  query: string,
  readPlaceOf: (kind: Part, where: Part) => P | undefined,
  limits: Limits,
): { readonly count: number; readonly place: P } {
  const [count, name, kind, where] = partsOf(text, limits) ?? []
  const place =
    kind === undefined || where === undefined ? undefined : readPlaceOf(kind, where)
  if (!isCount(count) || place === undefined) throw notOurs(text)
  if (name !== query) throw ofAnotherQuery(text)
  return { count, place }
}

type Part = Value | undefined

/**
 * Decodes a page state. Checks the length before decoding, because a client can cheaply send a long
 * state.
 */
function partsOf(text: string, limits: Limits): readonly Part[] | undefined {
  const [first] = Buffer.from(text.slice(0, 4), 'base64url')
  if (first === version) {
    checkLength(text, pageStateLengthMaxOf(limits))
    const bytes = Buffer.from(text, 'base64url').subarray(1)
    const parts = unpackList(bytes, { depthMax: limits.jsonDepthMax, valuesMax })
    return parts?.length === 4 ? parts : undefined
  }
  checkLength(
    text,
    first === jsonStart ? limits.oldPageStateLengthMax : pageStateLengthMaxOf(limits),
  )
  return first === jsonStart ? partsOfJson(text, limits) : undefined
}

function checkLength(text: string, max: number): void {
  if (text.length > max)
    throw refused(text, `it has more than ${max} characters, the maximum`)
}

/** Converts a page state of version 0.1 to the current parts. */
function partsOfJson(text: string, limits: Limits): readonly Part[] | undefined {
  const parts = parseQuietly(Buffer.from(text, 'base64url').toString(), limits)
  if (!Array.isArray(parts) || parts.length !== 5 || parts[0] !== 1) return undefined
  const [, count, name, kind, where] = parts
  if (kind === 'engine') return [count, name, kind, where]
  if (!Array.isArray(where)) return undefined
  if (kind === 'sorted')
    return where.every((held): held is Value[] => Array.isArray(held))
      ? [count, name, kind, where.map(decodeLegacyValue) as Value[]]
      : undefined
  const [score, ...rest] = where
  const bytes = Buffer.from(typeof score === 'string' ? score : '', 'base64url')
  return [count, name, kind, [bytes.length === 8 ? bytes.readDoubleLE() : null, ...rest]]
}

/** A short hash of a query's clauses; equal queries have equal hashes. */
export function nameQuery(...clauses: readonly (Value | undefined)[]): string {
  const texts = clauses.map((clause) => printJson(clause ?? new Map()))
  return hash('sha256', texts.join('\n'), 'base64url').slice(0, 11)
}

function readPlace(kind: Part, where: Part): PagePosition | undefined {
  if (kind === 'engine' && typeof where === 'string') return { kind, position: where }
  return kind === 'sorted' && Array.isArray(where) ? { kind, key: where } : undefined
}

function readSearchPlace(kind: Part, where: Part): HitPlace | undefined {
  const having = (['all', 'some'] as const).find((one) => groupNames[one] === kind)
  if (having === undefined || !Array.isArray(where)) return undefined
  const [score, id, documents, tokens, ...documentFrequencies] = where
  if (typeof score !== 'number' || !Number.isFinite(score) || id === undefined)
    return undefined
  if (!isCount(documents) || !isCount(tokens) || documents === 0 || tokens === 0)
    return undefined
  const areFrequencies = documentFrequencies.every(
    (frequency) => isCount(frequency) && frequency <= documents,
  )
  if (!areFrequencies) return undefined
  const frequencies = documentFrequencies as readonly number[]
  const statistics = { documents, tokens, documentFrequencies: frequencies }
  return { statistics, score, id, having }
}

function isCount(value: Part): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function parseQuietly(text: string, limits: Limits): Value {
  try {
    return parseJson(text, {
      depthMax: limits.jsonDepthMax,
      numeralLengthMax: limits.numeralLengthMax,
    })
  } catch {
    return null
  }
}

function notOurs(text: string) {
  return refused(text, 'it is not a page state of this server')
}

function ofAnotherQuery(text: string) {
  return refused(text, 'it belongs to another query; repeat the query that returned it')
}

function refused(text: string, reason: string) {
  const value = `"${text.length > 100 ? `${text.slice(0, 100)}…` : text}"`
  return apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command.options.pageState',
    value,
    reason,
  })
}
