/** What identifies a record: its _id, which of a row is its key as text. */
import { printJson } from '../../json/print.ts'
import { isObject, type Value } from '../../json/value.ts'
import type { Path } from './path.ts'

export const idPath: Path = { text: '_id', segments: ['_id'] }

/**
 * The same text for ids that name the same document: a UUID or ObjectId and the plain
 * string of its canonical text do.
 */
export function idKey(id: Value): string {
  if (!isObject(id)) return printJson(id)
  const wrapped = id.get('$uuid') ?? id.get('$objectId')
  return printJson(typeof wrapped === 'string' ? wrapped.toLowerCase() : id)
}
