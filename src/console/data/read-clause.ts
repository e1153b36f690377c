/** Parses the text of a clause. */
import { parseJson } from '../json/parse-json.ts'
import { isObject, type JsonObject, type Value } from '../json/value.ts'

/** Parses a clause; undefined for empty text. Throws an Error that names the clause. */
export function readClause(clause: string, text: string): JsonObject | undefined {
  if (text.trim() === '') return undefined
  let value: Value
  try {
    value = parseJson(text)
  } catch (error) {
    throw new Error(`The ${clause} is not valid JSON. ${(error as Error).message}.`, {
      cause: error,
    })
  }
  if (!isObject(value)) throw new Error(`The ${clause} must be an object: { "field": … }`)
  return value
}
