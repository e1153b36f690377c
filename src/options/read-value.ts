/**
 * Reads single JSON values of commands, their options and definitions.
 *
 * Reading throws at the first value of a wrong JSON type. Violated bounds are collected and
 * reported together. Null counts as absent, except for `readNumber`.
 */
import { apiError, type ApiError } from '../errors/api-error.ts'
import {
  isDecimal,
  isNumeric,
  isObject,
  jsonTypeOf,
  type JsonObject,
  type Value,
} from '../json/value.ts'
import { quoteJson } from '../language/values/quote-json.ts'

/** Path of a value in the command, and the violations found so far. */
export interface ValueContext {
  /** Path as shown in messages: "command.options.limit". */
  readonly field: string
  readonly violations: ApiError[]
}

export function readText(
  value: Value | undefined,
  context: ValueContext,
): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : mismatch(context, value, 'a String')
}

export function readFlag(
  value: Value | undefined,
  context: ValueContext,
): boolean | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'boolean' ? value : mismatch(context, value, 'a Boolean')
}

export function readInteger(
  value: Value | undefined,
  context: ValueContext,
): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  return mismatch(context, value, 'an integer')
}

/**
 * Reads a number within bounds. Null is a violation and does not count as absent: clients that
 * print NaN as JSON send null.
 */
export function readNumber(
  value: Value | undefined,
  context: ValueContext,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  if (value === undefined) return undefined
  const wanted = `a Number from ${min} to ${max}`
  if (value !== null && !isNumeric(value)) return mismatch(context, value, wanted)
  const number = Number(isDecimal(value) ? value.decimal : value)
  if (value === null || number < min || number > max)
    violation(context, value, `it must be ${wanted}`)
  return number
}

export function readObject(
  value: Value | undefined,
  context: ValueContext,
): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  return isObject(value) ? value : mismatch(context, value, 'an Object')
}

export function readChoice<const Choice extends string>(
  value: Value | undefined,
  context: ValueContext,
  choices: readonly Choice[],
): Choice | undefined {
  const given = readText(value, context)
  if (given === undefined) return undefined
  const found = choices.find((choice) => choice === given)
  if (found === undefined)
    violation(context, given, `it must be one of ${choices.join(', ')}`)
  return found
}

/** Throws the error for a value of the wrong JSON type. */
export function mismatch(
  { field }: Pick<ValueContext, 'field'>,
  value: Value,
  wanted: string,
): never {
  const shown = isNumeric(value) ? ` (${quoteJson(value)})` : ''
  throw apiError('REQUEST_STRUCTURE_MISMATCH', {
    reason: 'fieldType',
    field,
    type: `${jsonTypeOf(value)}${shown}`,
    expected: wanted,
  })
}

/** Records a violated bound; reading continues. */
export function violation(
  { field, violations }: ValueContext,
  value: Value | undefined,
  reason: string,
): void {
  const shown = summarizeValue(value)
  violations.push(apiError('COMMAND_FIELD_VALUE_INVALID', { field, value: shown, reason }))
}

/**
 * A value for messages: scalars in full, long strings truncated, arrays and objects by size only.
 */
export function summarizeValue(value: Value | undefined): string {
  if (value === undefined || value === null) return '`null`'
  if (typeof value === 'string')
    return value.length <= 1000
      ? `"${value}"`
      : `"${value.slice(0, 1000)}" (truncated; ${value.length} characters in total)`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `an Array of ${value.length}`
  return isObject(value) ? `an Object of ${value.size}` : value.decimal
}
