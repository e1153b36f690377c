/** createType and alterType: from the fields that are sent to a type. */
import type {
  PrimitiveName,
  UserField,
  UserType,
} from '../../language/columns/column-type.ts'
import { apiError } from '../../errors/api-error.ts'
import { jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import { memberOf, refuseUnknownKeys, rootSection } from '../../options/option-section.ts'
import { checkColumnNames } from './column-names.ts'
import { freeKey } from './free-key.ts'
import { readColumns } from './new-table.ts'
import { elementTypeNames } from './resolve-type.ts'

type NewFields = ReadonlyMap<string, PrimitiveName>

/** A new type of its definition. */
export function readNewType(
  name: string,
  definition: JsonObject,
  limits: Limits,
): UserType {
  const fields = readFieldTypes(definition, 'command.definition', limits)
  if (fields.size === 0) throw apiError('MISSING_FIELDS_FOR_TYPE_CREATION', { name })
  return addFields({ name, fields: [] }, fields)
}

export interface TypeAlteration {
  /** Old names to new ones, in the order in which they are renamed. */
  readonly renamed: readonly (readonly [string, string])[]
  readonly added: NewFields
}

export function readTypeAlteration(
  rename: Value | undefined,
  add: Value | undefined,
  limits: Limits,
): TypeAlteration {
  const renamed = readRenames(rename, limits)
  const added = readFieldTypes(add, 'command.add', limits)
  if (renamed.length === 0 && added.size === 0)
    throw apiError('MISSING_ALTER_TYPE_OPERATIONS')
  return { renamed, added }
}

/** First fields are renamed, one after the other, then others are added. */
export function alterType(type: UserType, { renamed, added }: TypeAlteration): UserType {
  let altered = type
  for (const [from, to] of renamed) altered = renameField(altered, from, to)
  return addFields(altered, added)
}

/** `field` is the one that says what fields there are to be. */
export function checkFieldCount(field: string, { fields }: UserType, limits: Limits): void {
  const max = limits.columnsMax
  if (fields.length > max)
    throw apiError('COMMAND_FIELD_VALUE_INVALID', {
      field,
      value: String(fields.length),
      reason: `the type would have ${fields.length} fields and the maximum is ${max}`,
    })
}

function renameField(type: UserType, from: string, to: string): UserType {
  const fields = type.fields.map(({ name }) => name)
  const problem = { type: type.name, fields }
  if (!fields.includes(from))
    throw apiError('CANNOT_RENAME_UNKNOWN_TYPE_FIELD', { ...problem, field: from })
  if (fields.includes(to))
    throw apiError('CANNOT_ADD_EXISTING_FIELD', { ...problem, field: to })
  return {
    ...type,
    fields: type.fields.map((field) =>
      field.name === from ? { ...field, name: to } : field,
    ),
  }
}

function addFields(type: UserType, added: NewFields): UserType {
  const fields: UserField[] = [...type.fields]
  const names = new Set(fields.map(({ name }) => name))
  const keys = new Set(fields.map(({ key }) => key))
  for (const [name, fieldType] of added) {
    if (names.has(name))
      throw apiError('CANNOT_ADD_EXISTING_FIELD', {
        type: type.name,
        field: name,
        fields: [...names],
      })
    const key = freeKey(name, keys)
    fields.push({ name, type: fieldType, key })
    names.add(name)
    keys.add(key)
  }
  return { ...type, fields }
}

/** The `fields` of an object, by name: none where it is absent. */
function readFieldTypes(
  value: Value | undefined,
  field: string,
  limits: Limits,
): Map<string, PrimitiveName> {
  const fields = fieldsIn(value, field)
  const given = readColumns(fields, `${field}.fields`)
  checkColumnNames('Field', given.keys(), limits)
  const types = [...given].map(([name, type]) => {
    return [name, elementTypeNames.find((candidate) => candidate === type.name)] as const
  })
  const unsupported = types.filter(([, type]) => type === undefined)
  if (unsupported.length > 0)
    throw apiError('UNSUPPORTED_TYPE_FIELDS', {
      supported: elementTypeNames,
      used: unsupported.map(([name]) => `${name}(${given.get(name)!.name})`),
    })
  return new Map(types as [string, PrimitiveName][])
}

function readRenames(value: Value | undefined, limits: Limits): [string, string][] {
  const renamed = [...fieldsIn(value, 'command.rename')].map(
    ([from, to]): [string, string] => {
      if (typeof to !== 'string')
        throw apiError('REQUEST_STRUCTURE_MISMATCH', {
          problem: `command.rename.fields.${from} is of type ${jsonTypeOf(to)}, but takes a String`,
        })
      return [from, to]
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
