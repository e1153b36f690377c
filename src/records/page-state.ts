/**
 * Page states: where a query's next page begins, as an opaque text for the caller to send
 * back. A state remembers which query it belongs to, so that it cannot be taken to another
 * one, and how much was returned, because a limit holds for all pages together.
 */
import { hash } from 'node:crypto'
import { apiError } from '../errors/api-error.ts'
import { parseJson } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import type { Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import type { Place } from './read.ts'

export interface PageState {
  /** Documents returned so far. */
  readonly count: number
  readonly place: Place
}

const version = 1

export function encodePageState({ count, place }: PageState, query: string): string {
  const where =
    place.kind === 'engine'
      ? ['engine', place.position]
      : ['sorted', place.key.map((value) => (value === undefined ? [] : [value]))]
  return Buffer.from(printJson([version, count, query, ...where])).toString('base64url')
}

export function decodePageState(text: string, query: string, limits: Limits): PageState {
  const state = readState(text, limits)
  if (state === undefined)
    throw refused(text, 'it is not a page state that this service gave out')
  if (state.query !== query)
    throw refused(text, 'it belongs to another query; repeat the one that it came from')
  return state
}

/** A short name for a query; equal queries have equal names. */
export function nameQuery(...clauses: readonly (Value | undefined)[]): string {
  const texts = clauses.map((clause) => printJson(clause ?? new Map()))
  return hash('sha256', texts.join('\n'), 'base64url').slice(0, 11)
}

function readState(
  text: string,
  limits: Limits,
): (PageState & { readonly query: Value }) | undefined {
  const parts = parseQuietly(Buffer.from(text, 'base64url').toString(), limits)
  if (!Array.isArray(parts) || parts.length !== 5 || parts[0] !== version) return undefined
  const [, count, query, kind, where] = parts as [Value, Value, Value, Value, Value]
  const place = readPlace(kind, where)
  if (!Number.isSafeInteger(count) || place === undefined) return undefined
  return { count: count as number, query, place }
}

function readPlace(kind: Value, where: Value): Place | undefined {
  if (kind === 'engine' && typeof where === 'string') return { kind, position: where }
  if (kind === 'sorted' && Array.isArray(where) && where.every(Array.isArray))
    return { kind, key: where.map((held: Value[]) => held[0]) }
  return undefined
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

function refused(text: string, reason: string) {
  const value = `"${text.length > 100 ? `${text.slice(0, 100)}…` : text}"`
  return apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command.options.pageState',
    value,
    reason,
  })
}
