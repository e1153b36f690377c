/**
 * Reads nested JSON objects of options and definitions.
 *
 * Members are read in the same way as values of commands (read-value.ts). An unknown key throws at
 * once, instead of being collected as a violation.
 */
import { apiError } from '../errors/api-error.ts'
import type { JsonObject, Value } from '../json/value.ts'
import {
  mismatch,
  readChoice,
  readFlag,
  readInteger,
  readObject,
  readText,
  type ValueContext,
} from './read-value.ts'

/** A JSON object, its path in the command, and the violations found so far. */
export interface Section extends ValueContext {
  readonly members: JsonObject
}

export function rootSection(value: Value | undefined, field: string): Section {
  const context = { field, violations: [] }
  return { ...context, members: readObject(value, context) ?? new Map<string, Value>() }
}

export function sectionIn(parent: Section, name: string): Section | undefined {
  const context = contextIn(parent, name)
  const members = readObject(memberOf(parent, name), context)
  return members && { ...context, members }
}

/** The context of a member, for its messages and violations. */
export function contextIn({ field, violations }: Section, name: string): ValueContext {
  return { field: `${field}.${name}`, violations }
}

/** The `service` member, which embedding and reranking options share. */
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

/**
 * Rejects unknown keys. The API has separate error codes for collection options and for other
 * objects.
 */
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
  return readText(memberOf(section, name), contextIn(section, name))
}

export function flagIn(section: Section, name: string): boolean | undefined {
  return readFlag(memberOf(section, name), contextIn(section, name))
}

export function integerIn(section: Section, name: string): number | undefined {
  return readInteger(memberOf(section, name), contextIn(section, name))
}

export function choiceIn<const Choice extends string>(
  section: Section,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return readChoice(memberOf(section, name), contextIn(section, name), choices)
}

export function textsIn(section: Section, name: string): readonly string[] | undefined {
  const value = memberOf(section, name)
  if (value === undefined) return undefined
  const context = contextIn(section, name)
  if (!Array.isArray(value)) return mismatch(context, value, 'an Array of Strings')
  return value.map((element, position) =>
    typeof element === 'string'
      ? element
      : mismatch(contextIn(section, `${name}[${position}]`), element, 'a String'),
  )
}
