import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'

/** A value as the service parses it from a request. */
export function json(plain: unknown): Value {
  return parseStored(JSON.stringify(plain))
}

export function object(plain: object): JsonObject {
  return json(plain) as JsonObject
}
