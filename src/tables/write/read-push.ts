/** Parses the argument of a $push: the values of $each, or a single value. */
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import type { ErrorVariables } from '../../errors/catalog.ts'
import { extendedOf } from '../../json/extended.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { hasModifiers } from '../../language/updates/parse-update.ts'
import { quoteJson } from '../../language/values/quote-json.ts'

export function readPush(column: Column, argument: Value): readonly Value[] {
  const { name } = column
  const { type } = column.type
  const values =
    isObject(argument) && hasModifiers(argument) ? readEachOf(name, argument) : [argument]
  if (type === 'map') {
    const other = values.find((value) => !isEntry(value))
    if (other !== undefined)
      throw badPush({ reason: 'noEntry', column: name, value: quoteJson(other) })
  } else if (Array.isArray(argument)) throw badPush({ reason: 'array', column: name, type })
  return values
}

function readEachOf(column: string, argument: JsonObject): readonly Value[] {
  const each = argument.get('$each')
  const others = [...argument.keys()].filter((name) => name !== '$each')
  if (others.length > 0) throw badPush({ reason: 'besideEach', column, others })
  if (!Array.isArray(each))
    throw badPush({ reason: 'eachType', column, type: jsonTypeOf(each!) })
  return each
}

function isEntry(value: Value): boolean {
  if (isObject(value)) return value.size === 1 && extendedOf(value) === undefined
  return Array.isArray(value) && value.length === 2 && value.every(isScalar)
}

function isScalar(value: Value): boolean {
  return !isObject(value) && !Array.isArray(value)
}

function badPush(...why: ErrorVariables<'INVALID_PUSH_OPERATOR_USAGE'>) {
  return apiError('INVALID_PUSH_OPERATOR_USAGE', ...why)
}
