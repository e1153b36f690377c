/** Keys of documents: the type of an _id and its text. */
import { extendedOf } from '../../../json/extended.ts'
import { isNumeric, type Value } from '../../../json/value.ts'
import { keySpellings } from '../cql/numerals.ts'

export interface DocumentKey {
  readonly type: number
  readonly text: string
}

const types = { text: 1, number: 2, boolean: 3, null: 4, date: 5 } as const

/**
 * Maximum bytes of the text: a key has at most 65 535 bytes, and its tuple takes 9 of these bytes.
 */
const textSizeMax = 65_526

/** Whether Cassandra can store the key. */
export function isPossible({ text }: DocumentKey): boolean {
  return Buffer.byteLength(text) <= textSizeMax
}

/** The key under which a document with this _id is written. */
export function keyOf(id: Value): DocumentKey {
  return keysOf(id)[0]!
}

/** All keys that a document with this _id may have; new documents get the first key. */
export function keysOf(id: Value): readonly DocumentKey[] {
  if (id === null) return [{ type: types.null, text: 'null' }]
  if (typeof id === 'string') return [{ type: types.text, text: id }]
  if (typeof id === 'boolean') return [{ type: types.boolean, text: String(id) }]
  if (isNumeric(id)) return numberKeys(id)
  const extended = extendedOf(id)
  switch (extended?.kind) {
    case 'uuid':
    case 'objectId':
      return [{ type: types.text, text: extended.text }]
    case 'date':
      return [{ type: types.date, text: String(extended.ms) }]
    default:
      throw new TypeError('a document cannot have this value as its _id')
  }
}

function numberKeys(id: Parameters<typeof keySpellings>[0]): DocumentKey[] {
  return keySpellings(id).map((text) => ({ type: types.number, text }))
}
