/** Where a page ended, as text that the next page's request brings back. */
import { parseStored } from '../../../json/parse.ts'
import { printJson } from '../../../json/print.ts'
import type { Value } from '../../../json/value.ts'
import { heldValue, holdValue } from '../../../language/sorts/encode-sort-value.ts'
import type { Position } from '../../contract.ts'
import { EngineError } from '../../errors.ts'

export type StoredPosition =
  | { readonly by: 'seq'; readonly seq: number }
  | {
      readonly by: 'range'
      readonly path: string
      readonly value: Uint8Array
      readonly seq: number
    }
  | SortPosition

/** The sort keys' values of the last document (an absent one is undefined), and its _id. */
export interface SortPosition {
  readonly by: 'sort'
  readonly values: readonly (Value | undefined)[]
  readonly id: Value
}

export function encodePosition(place: StoredPosition): Position {
  switch (place.by) {
    case 'seq':
      return printJson(['n', place.seq])
    case 'range':
      return printJson([
        'r',
        place.path,
        Buffer.from(place.value).toString('base64'),
        place.seq,
      ])
    case 'sort':
      return printJson(['s', place.values.map(holdValue), place.id])
  }
}

export function decodePosition(position: Position): StoredPosition {
  try {
    const parts = parseStored(position)
    if (Array.isArray(parts)) {
      const [kind, first, second, third] = parts
      if (kind === 'n' && isSeq(first)) return { by: 'seq', seq: first }
      if (
        kind === 'r' &&
        typeof first === 'string' &&
        typeof second === 'string' &&
        isSeq(third)
      )
        return {
          by: 'range',
          path: first,
          value: Buffer.from(second, 'base64'),
          seq: third,
        }
      if (kind === 's' && Array.isArray(first) && second !== undefined)
        return {
          by: 'sort',
          values: first.map((held) => (Array.isArray(held) ? heldValue(held) : undefined)),
          id: second,
        }
    }
  } catch {
    // Reported below, like any other text that is no position.
  }
  throw new EngineError('position', 'the position cannot be read')
}

function isSeq(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}
