/** createType and alterType: parses and validates types. */
import type { UserField, UserType } from '../../language/columns/column-type.ts'
import type { TypeAlteration } from '../../engine/schema-change.ts'
import { apiError } from '../../errors/api-error.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import { memberOf, refuseUnknownKeys, rootSection } from '../../options/option-section.ts'
import { mismatch } from '../../options/read-value.ts'
import { checkColumnCount, checkColumnNames } from './column-names.ts'
import { readColumns } from './new-table.ts'
import { elementTypeNames } from './resolve-type.ts'

/** Parses a type definition. */
export function readNewType(
  name: string,
  definition: JsonObject,
  limits: Limits,
): UserType {
  const fields = readFields(definition, 'command.definition', limits)
  if (fields.length === 0) throw apiError('MISSING_FIELDS_FOR_TYPE_CREATION', { name })
  return { name, fields }
}

export function readTypeAlteration(
  rename: Value | undefined,
  add: Value | undefined,
  limits: Limits,
): TypeAlteration {
  const renamed = readRenames(rename, limits)
  const added = readFields(add, 'command.add', limits)
  if (renamed.length === 0 && added.length === 0)
    throw apiError('MISSING_ALTER_TYPE_OPERATIONS')
  return { renamed, added }
}

/** Throws when the alteration is invalid; its steps are checked in order. */
export function checkAlteration(
  { name: type, fields }: UserType,
  { renamed, added }: TypeAlteration,
  limits: Limits,
): void {
  const names = fields.map(({ name }) => name)
  const positions = new Map(names.map((name, position) => [name, position]))
  const put = (field: string, position: number) => {
    if (positions.has(field))
      throw apiError('CANNOT_ADD_EXISTING_FIELD', { type, field, fields: names })
    names[position] = field
    positions.set(field, position)
  }
  for (const [from, to] of renamed) {
    const position = positions.get(from)
    if (position === undefined)
      throw apiError('CANNOT_RENAME_UNKNOWN_TYPE_FIELD', {
        type,
        field: from,
        fields: names,
      })
    put(to, position)
    positions.delete(from)
  }
  for (const { name } of added) put(name, names.length)
  checkColumnCount('Field', 'command.add.fields', names, limits)
}

/** The `fields` of an object; empty when absent. */
function readFields(value: Value | undefined, field: string, limits: Limits): UserField[] {
  const given = readColumns(fieldsIn(value, field), `${field}.fields`)
  checkColumnNames('Field', given.keys(), limits)
  const fields: UserField[] = []
  const unsupported: string[] = []
  for (const [name, { name: typeName }] of given) {
    const type = elementTypeNames.find((candidate) => candidate === typeName)
    if (type === undefined) unsupported.push(`${name}(${typeName})`)
    else fields.push({ name, type })
  }
  if (unsupported.length > 0)
    throw apiError('UNSUPPORTED_TYPE_FIELDS', {
      supported: elementTypeNames,
      used: unsupported,
    })
  return fields
}

function readRenames(value: Value | undefined, limits: Limits): [string, string][] {
  const renamed = [...fieldsIn(value, 'command.rename')].map(
    ([from, to]): [string, string] => {
      if (typeof to === 'string') return [from, to]
      return mismatch({ field: `command.rename.fields.${from}` }, to, 'a String')
    },
  )
  checkColumnNames(
    'Field',
    renamed.map(([, to]) => to),
    limits,
  )
  return renamed
}

function fieldsIn(value: Value | undefined, field: string): JsonObject {
  const section = rootSection(value, field)
  refuseUnknownKeys(section, 'COMMAND_FIELD_UNKNOWN', ['fields'])
  return rootSection(memberOf(section, 'fields'), `${field}.fields`).members
}
