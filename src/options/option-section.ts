/**
 * Reading the nested JSON objects of options and definitions.
 *
 * An unknown key or a wrong JSON type ends the reading at once; broken bounds gather, so
 * that all are reported together. Null counts as absent throughout.
 */
import { apiError, type ApiError } from '../errors/api-error.ts'
import {
  isNumeric,
  isObject,
  jsonTypeOf,
  type JsonObject,
  type Value,
} from '../json/value.ts'
import { showValue } from '../language/values/show.ts'

/** One JSON object of them. */
export interface Section {
  /** Where it stands, as messages name it: "command.options.vector". */
  readonly field: string
  readonly members: JsonObject
  readonly violations: ApiError[]
}

export function rootSection(value: Value | undefined, field: string): Section {
  return section(value ?? new Map<string, Value>(), field, [])
}

export function sectionIn(parent: Section, name: string): Section | undefined {
  const value = memberOf(parent, name)
  if (value === undefined) return undefined
  return section(value, `${parent.field}.${name}`, parent.violations)
}

/** A service as embedding and reranking both name one. */
export function serviceIn(parent: Section): Section | undefined {
  const service = sectionIn(parent, 'service')
  if (service !== undefined) checkServiceKeys(service)
  return service
}

export function checkServiceKeys(service: Section): void {
  refuseUnknownKeys(service, 'COMMAND_FIELD_UNKNOWN', [
    'provider',
    'modelName',
    'authentication',
    'parameters',
  ])
}

/** Unknown keys have one code where the API's own options are meant, another elsewhere. */
export function refuseUnknownKeys(
  { field, members }: Section,
  code: 'INVALID_CREATE_COLLECTION_FIELD' | 'COMMAND_FIELD_UNKNOWN',
  known: readonly string[],
  aliases: readonly string[] = [],
): void {
  for (const name of members.keys())
    if (!known.includes(name) && !aliases.includes(name))
      throw apiError(code, { field: name, where: field, known })
}

export function memberOf({ members }: Section, name: string): Value | undefined {
  return members.get(name) ?? undefined
}

export function textIn(section: Section, name: string): string | undefined {
  const value = memberOf(section, name)
  if (value === undefined || typeof value === 'string') return value
  return refuseType(section, name, value, 'a String')
}

export function flagIn(section: Section, name: string): boolean | undefined {
  const value = memberOf(section, name)
  if (value === undefined || typeof value === 'boolean') return value
  return refuseType(section, name, value, 'a Boolean')
}

export function integerIn(section: Section, name: string): number | undefined {
  const value = memberOf(section, name)
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  return refuseType(section, name, value, 'an integer')
}

export function choiceIn<const Choice extends string>(
  section: Section,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const given = textIn(section, name)
  if (given === undefined) return undefined
  const found = choices.find((choice) => choice === given)
  if (found === undefined)
    violation(section, name, showValue(given), `it is one of ${choices.join(', ')}`)
  return found
}

export function textsIn(section: Section, name: string): readonly string[] | undefined {
  const value = memberOf(section, name)
  if (value === undefined) return undefined
  if (!Array.isArray(value)) return refuseType(section, name, value, 'an Array of Strings')
  return value.map((element, position) =>
    typeof element === 'string'
      ? element
      : refuseType(section, `${name}[${position}]`, element, 'a String'),
  )
}

export function violation(
  { field, violations }: Section,
  name: string,
  value: string,
  reason: string,
): void {
  violations.push(
    apiError('COMMAND_FIELD_VALUE_INVALID', { field: `${field}.${name}`, value, reason }),
  )
}

function section(value: Value, field: string, violations: ApiError[]): Section {
  if (!isObject(value)) return mismatch(field, value, 'an Object')
  return { field, members: value, violations }
}

function refuseType({ field }: Section, name: string, value: Value, wanted: string): never {
  mismatch(`${field}.${name}`, value, wanted)
}

function mismatch(field: string, value: Value, wanted: string): never {
  const shown = isNumeric(value) ? ` (${showValue(value)})` : ''
  throw apiError('REQUEST_STRUCTURE_MISMATCH', {
    problem: `${field} is of type ${jsonTypeOf(value)}${shown}, but takes ${wanted}`,
  })
}
