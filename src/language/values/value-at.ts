import { extendedOf } from '../../json/extended.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { arrayPosition, type Path } from './path.ts'

/**
 * What stands at a path; undefined when nothing does. A numeric segment names an array
 * element or an object's field. Arrays of objects are not looked into, and neither are
 * wrappers such as {"$date": …}, which are values.
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
