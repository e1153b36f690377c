/** Walks through the fields of documents. */
import {
  extendedKind,
  isObject,
  Numeral,
  writePath,
  type JsonObject,
  type Value,
} from './value.ts'

/** Fields below this depth are left out. */
const depthMax = 8

/** Collects the values of one field. */
export interface FieldTally {
  add(value: Value): void
}

/**
 * Adds each value of each field, nested ones included, to the tally of its path. At most `fieldsMax`
 * paths get a tally, because a document may have thousands of fields.
 */
export function tallyFields<T extends FieldTally>(
  documents: readonly JsonObject[],
  fieldsMax: number,
  newTally: (names: readonly string[]) => T,
): ReadonlyMap<string, T> {
  const tallies = new Map<string, T>()
  const visit = (object: JsonObject, above: readonly string[]): void => {
    for (const [name, value] of object) {
      const names = [...above, name]
      const path = writePath(names)
      let tally = tallies.get(path)
      if (tally === undefined) {
        if (tallies.size === fieldsMax) continue
        tally = newTally(names)
        tallies.set(path, tally)
      }
      tally.add(value)
      if (isPlainObject(value) && names.length < depthMax) visit(value, names)
    }
  }
  for (const document of documents) visit(document, [])
  return tallies
}

/** Whether a value is an object with fields, instead of a value such as a date. */
export function isPlainObject(value: Value): value is JsonObject {
  return isObject(value) && extendedKind(value) === undefined
}

export function typeOf(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'boolean'
  if (value instanceof Numeral) return 'number'
  if (Array.isArray(value)) return 'array'
  return extendedKind(value)?.slice(1) ?? 'object'
}
