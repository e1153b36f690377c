/** The end of a page, as a text that the request for the next page sends back. */
import { parseStored } from '../../../json/parse.ts'
import { packValue, unpackList, type Packable } from '../../../json/packed.ts'
import type { Value } from '../../../json/value.ts'
import { decodeLegacyValue } from '../../../language/sorts/sort-place.ts'
import type { Position } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { docMax } from './entry-key.ts'

export type StoredPosition =
  | { readonly by: 'seq'; readonly seq: number }
  | {
      readonly by: 'range'
      readonly path: string
      readonly value: Uint8Array
      readonly seq: number
    }
  | SortPosition

/**
 * The values of the sort keys of the last document (undefined when absent), or the shortest values
 * that tie with them, and the _id of the document.
 */
export interface SortPosition {
  readonly by: 'sort'
  readonly values: readonly (Value | undefined)[]
  readonly id: Value
}

export function encodePosition(place: StoredPosition): Position {
  return `${packed}${packValue(partsOf(place)).toString('latin1')}`
}

/** First character of packed positions. Positions of version 0.1 are JSON. */
const packed = '\u0002'

function partsOf(place: StoredPosition): readonly Packable[] {
  switch (place.by) {
    case 'seq':
      return ['n', place.seq]
    case 'range':
      return ['r', place.path, Buffer.from(place.value).toString('latin1'), place.seq]
    case 'sort':
      return ['s', place.values, place.id]
  }
}

export function decodePosition(position: Position): StoredPosition {
  const isPacked = position.startsWith(packed)
  const [kind, first, second, third] = isPacked ? readPacked(position) : readJson(position)
  if (kind === 'n' && isSeq(first)) return { by: 'seq', seq: first }
  if (
    kind === 'r' &&
    typeof first === 'string' &&
    typeof second === 'string' &&
    isSeq(third)
  ) {
    const value = Buffer.from(second, isPacked ? 'latin1' : 'base64')
    return { by: 'range', path: first, value, seq: third }
  }
  if (kind === 's' && Array.isArray(first) && isId(second)) {
    const held = (value: Value) =>
      Array.isArray(value) ? decodeLegacyValue(value) : undefined
    return { by: 'sort', values: isPacked ? first : first.map(held), id: second }
  }
  throw new EngineError('position', 'the position cannot be read')
}

function readPacked(position: Position): readonly (Value | undefined)[] {
  return unpackList(Buffer.from(position.slice(1), 'latin1'), unpackLimits) ?? []
}

/** Limits for unpacking a position, which comes from a client and may be forged. */
const unpackLimits = { depthMax: 100, valuesMax: 100_000 }

function readJson(position: Position): readonly Value[] {
  try {
    const parts = parseStored(position)
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

function isId(value: Value | undefined): value is Value {
  return value !== undefined && !Array.isArray(value)
}

function isSeq(value: Value | undefined): value is number {
  return (
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= docMax
  )
}
