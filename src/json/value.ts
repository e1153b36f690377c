/**
 * The internal representation of JSON values.
 *
 * Objects are Maps, because a plain object would move keys such as "10" to the front and
 * treat "__proto__" as more than a name. Key order is part of a document's identity here.
 *
 * Numbers are doubles when a double represents the numeral exactly, and Decimals otherwise.
 * All types survive structuredClone, so values can be sent to worker threads.
 */
export type Value = null | boolean | number | string | Decimal | Value[] | JsonObject

export type JsonObject = Map<string, Value>

/** A number that no double represents: its canonical text, as decimal.ts prints it. */
export interface Decimal {
  readonly decimal: string
}

export type Numeric = number | Decimal

export type JsonType = 'String' | 'Number' | 'Boolean' | 'Array' | 'Object' | 'Null'

export function isObject(value: Value | undefined): value is JsonObject {
  return value instanceof Map
}

/**
 * Whether the value is an object, an array or a Decimal. This check is the cheapest one, so callers
 * make it before other checks.
 */
export function isNested(value: Value): value is Decimal | Value[] | JsonObject {
  return typeof value === 'object' && value !== null
}

export function isDecimal(value: Value | undefined): value is Decimal {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Map)
  )
}

export function isNumeric(value: Value | undefined): value is Numeric {
  return typeof value === 'number' || isDecimal(value)
}

/** The name of the value's type in error messages. */
export function jsonTypeOf(value: Value): JsonType {
  if (value === null) return 'Null'
  switch (typeof value) {
    case 'string':
      return 'String'
    case 'number':
      return 'Number'
    case 'boolean':
      return 'Boolean'
    default:
      if (Array.isArray(value)) return 'Array'
      return isObject(value) ? 'Object' : 'Number'
  }
}
