/** Converts column values from requests to their stored form, and to the form in replies. */
import type { Value } from '../../json/value.ts'
import { atOnce, type Steps } from '../../runtime/steps.ts'
import { BadValue } from './bad-value.ts'
import { readList, readMap, readSet } from './collections.ts'
import type { ColumnType, UserTypes } from './column-type.ts'
import { readElement } from './elements.ts'

export { BadValue, readElement }
export {
  hasFloats,
  isShownAsStored,
  mapElements,
  shownForm,
  storedForm,
} from './value-forms.ts'

/**
 * Converts a value of a column to its stored form. Returns undefined for null, for an empty list,
 * set or map, and for a user-defined value with only null fields. Throws for a vector, whose stored
 * form is a Float32Array instead of a Value.
 */
export function readValue(
  type: ColumnType,
  value: Value,
  types: UserTypes,
): Value | undefined | BadValue {
  return atOnce(readValueInSteps(type, value, types))
}

export function* readValueInSteps(
  type: ColumnType,
  value: Value,
  types: UserTypes,
): Steps<Value | undefined | BadValue> {
  if (value === null) return undefined
  switch (type.type) {
    case 'list':
      return yield* readList(type.valueType, value, types)
    case 'set':
      return yield* readSet(type.valueType, value, types)
    case 'map':
      return yield* readMap(type.keyType, type.valueType, value, types)
    case 'userDefined': {
      const read = readElement(type, value, types)
      return read instanceof Map && read.size === 0 ? undefined : read
    }
    case 'vector':
      throw new Error('vectors are not kept in rows')
    default:
      return readElement(type.type, value, types)
  }
}
