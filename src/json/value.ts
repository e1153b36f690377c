/**
 * JSON values as the service holds them.
 *
 * Objects are Maps, because a plain object would move keys such as "10" to the front and
 * treat "__proto__" as more than a name. Key order is part of a document's identity here.
 *
 * Numbers are doubles wherever a double carries the numeral exactly, and Decimals
 * otherwise. All types survive structuredClone, so values can travel to worker threads.
 */
export type Value = null | boolean | number | string | Decimal | Value[] | JsonObject

export type JsonObject = Map<string, Value>

/** A number that no double carries: its canonical text, as decimal.ts writes it. */
export interface Decimal {
  readonly decimal: string
}

export type Numeric = number | Decimal

export type JsonType = 'String' | 'Number' | 'Boolean' | 'Array' | 'Object' | 'Null'

export function isObject(value: Value | undefined): value is JsonObject {
  return value instanceof Map
}

/** Tells objects and arrays, and the odd decimal, from most values. It takes least. */
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

/** The type's name as error messages print it. */
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
