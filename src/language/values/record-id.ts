/** Identifies a record by its _id. The _id of a row is the text of its primary key. */
import { printJson } from '../../json/print.ts'
import { isObject, type Value } from '../../json/value.ts'
import type { Path } from './path.ts'

export const idPath: Path = { text: '_id', segments: ['_id'] }

/**
 * Returns the same text for ids of the same document: a UUID or ObjectId equals the string with its
 * canonical text.
 */
export function idKey(id: Value): string {
  if (!isObject(id)) return printJson(id)
  const wrapped = id.get('$uuid') ?? id.get('$objectId')
  return printJson(typeof wrapped === 'string' ? wrapped.toLowerCase() : id)
}
