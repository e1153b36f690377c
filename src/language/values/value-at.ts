import { extendedOf } from '../../json/extended.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { arrayPosition, type Path } from './path.ts'

/**
 * The value at a path; undefined where the document has no value. A numeric segment names an array
 * element or a field. Paths do not descend into arrays of objects, nor into wrappers such as
 * {"$date": …}, which are values.
 */
export function valueAt(document: JsonObject, path: Path): Value | undefined {
  const { segments } = path
  let value = document.get(segments[0]!)
  for (let i = 1; i < segments.length && value !== undefined; i++)
    value = childOf(value, segments[i]!)
  return value
}

function childOf(value: Value, segment: string): Value | undefined {
  if (Array.isArray(value)) return value[arrayPosition(segment)]
  if (!isObject(value) || extendedOf(value) !== undefined) return undefined
  return value.get(segment)
}
