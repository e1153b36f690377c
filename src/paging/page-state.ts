/**
 * Page states: where a query's next page begins, as an opaque text for the caller to send
 * back. A state remembers which query it belongs to, so that it cannot be taken to another
 * one, and how much was returned, because a limit holds for all pages together.
 */
import { hash } from 'node:crypto'
import type { SearchPlace } from '../engine/contract.ts'
import { apiError } from '../errors/api-error.ts'
import { parseJson } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import type { Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import { heldValue, holdValue } from '../language/sorts/encode-sort-value.ts'
import type { PagePosition } from './read.ts'

export interface PageState {
  /** Documents returned so far. */
  readonly count: number
  readonly place: PagePosition
}

const version = 1

export function encodePageState({ count, place }: PageState, query: string): string {
  const where = place.kind === 'engine' ? place.position : place.key.map(holdValue)
  return encode(count, query, place.kind, where)
}

export function decodePageState(text: string, query: string, limits: Limits): PageState {
  return decode(text, query, readPlace, limits)
}

/** The same, of a search by terms. */
export interface SearchPageState {
  readonly count: number
  readonly place: SearchPlace
}

export function encodeSearchState(
  { count, place }: SearchPageState,
  query: string,
): string {
  const { documents, tokens, documentFrequencies } = place.statistics
  const where = [
    // Its bytes: the next page depends on every bit.
    Buffer.from(Float64Array.of(place.score).buffer).toString('base64url'),
    place.id,
    documents,
    tokens,
    ...documentFrequencies,
  ]
  return encode(count, query, 'scored', where)
}

export function decodeSearchState(
  text: string,
  query: string,
  termCount: number,
  limits: Limits,
): SearchPageState {
  const state = decode(text, query, readSearchPlace, limits)
  // The analyzer of a table's column may be another by now.
  if (state.place.statistics.documentFrequencies.length !== termCount)
    throw ofAnotherQuery(text)
  return state
}

function encode(count: number, query: string, kind: string, where: Value): string {
  return Buffer.from(printJson([version, count, query, kind, where])).toString('base64url')
}

function decode<P>(
  text: string,
  query: string,
  readPlaceOf: (kind: Value, where: Value) => P | undefined,
  limits: Limits,
): { readonly count: number; readonly place: P } {
  // Before anything is decoded: it costs nothing to send a long one.
  if (text.length > limits.pageStateLengthMax)
    throw refused(text, `it has more than ${limits.pageStateLengthMax} characters`)
  const parts = parseQuietly(Buffer.from(text, 'base64url').toString(), limits)
  const [, count, name, kind, where] =
    Array.isArray(parts) && parts.length === 5 && parts[0] === version ? parts : []
  const place =
    kind === undefined || where === undefined ? undefined : readPlaceOf(kind, where)
  if (!isCount(count) || place === undefined)
    throw refused(text, 'it is not a page state that this service gave out')
  if (name !== query) throw ofAnotherQuery(text)
  return { count, place }
}

/** A short name for a query; equal queries have equal names. */
export function nameQuery(...clauses: readonly (Value | undefined)[]): string {
  const texts = clauses.map((clause) => printJson(clause ?? new Map()))
  return hash('sha256', texts.join('\n'), 'base64url').slice(0, 11)
}

function readPlace(kind: Value, where: Value): PagePosition | undefined {
  if (kind === 'engine' && typeof where === 'string') return { kind, position: where }
  if (kind === 'sorted' && Array.isArray(where) && where.every(Array.isArray))
    return { kind, key: where.map((held: Value[]) => heldValue(held)) }
  return undefined
}

function readSearchPlace(kind: Value, where: Value): SearchPlace | undefined {
  if (kind !== 'scored' || !Array.isArray(where)) return undefined
  const [score, id, documents, tokens, ...documentFrequencies] = where
  const bytes = Buffer.from(typeof score === 'string' ? score : '', 'base64url')
  const number = bytes.length === 8 ? bytes.readDoubleLE() : NaN
  if (!Number.isFinite(number) || id === undefined) return undefined
  if (!isCount(documents) || !isCount(tokens) || documents === 0 || tokens === 0)
    return undefined
  const areFrequencies = documentFrequencies.every(
    (frequency) => isCount(frequency) && frequency <= documents,
  )
  if (!areFrequencies) return undefined
  const frequencies = documentFrequencies as readonly number[]
  const statistics = { documents, tokens, documentFrequencies: frequencies }
  return { statistics, score: number, id }
}

function isCount(value: Value | undefined): value is number {
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

function ofAnotherQuery(text: string) {
  return refused(text, 'it belongs to another query; repeat the one that it came from')
}

function refused(text: string, reason: string) {
  const value = `"${text.length > 100 ? `${text.slice(0, 100)}…` : text}"`
  return apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command.options.pageState',
    value,
    reason,
  })
}
