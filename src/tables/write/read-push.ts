/** What a $push adds, as it was sent: the values of $each, or the one value. */
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { list } from '../../errors/entry.ts'
import { extendedOf } from '../../json/extended.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { quoteJson } from '../../language/values/quote-json.ts'

export function readPush(column: Column, argument: Value): readonly Value[] {
  const named = `$push of "${column.name}"`
  const { type } = column.type
  const values =
    isObject(argument) && hasModifiers(argument) ? readEachOf(named, argument) : [argument]
  if (type === 'map') {
    const other = values.find((value) => !isEntry(value))
    if (other !== undefined)
      throw badPush(`${named} has ${quoteJson(other)}, which is no entry of a map`)
  } else if (Array.isArray(argument))
    throw badPush(`${named} has an Array, which is no element of a ${type}`)
  return values
}

function readEachOf(named: string, argument: JsonObject): readonly Value[] {
  const each = argument.get('$each')
  const others = [...argument.keys()].filter((name) => name !== '$each')
  if (others.length > 0)
    throw badPush(`${named} has ${list(others)}, and only $each can be there`)
  if (!Array.isArray(each))
    throw badPush(`${named} has a $each of type ${jsonTypeOf(each!)}, not an Array`)
  return each
}

/** Not those that make one value: {"$binary": …} is one. */
function hasModifiers(argument: JsonObject): boolean {
  if (extendedOf(argument) !== undefined) return false
  return [...argument.keys()].some((name) => name.startsWith('$'))
}

function isEntry(value: Value): boolean {
  if (isObject(value)) return value.size === 1 && extendedOf(value) === undefined
  return Array.isArray(value) && value.length === 2 && value.every(isScalar)
}

function isScalar(value: Value): boolean {
  return !isObject(value) && !Array.isArray(value)
}

function badPush(problem: string) {
  return apiError('INVALID_PUSH_OPERATOR_USAGE', { problem })
}
