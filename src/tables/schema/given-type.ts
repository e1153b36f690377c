/**
 * Parses types of columns and fields in requests: a name, or an object with a `type` and
 * its options. This module checks names and JSON types; resolve-type.ts checks that the
 * type is valid.
 */
import { primitiveNames } from '../../language/columns/column-type.ts'
import { apiError } from '../../errors/api-error.ts'
import { isObject, type Value } from '../../json/value.ts'
import type { GivenService } from '../../providers/embedding-service.ts'
import {
  memberOf,
  refuseUnknownKeys,
  rootSection,
  serviceIn,
  textIn,
} from '../../options/option-section.ts'
import { mismatch } from '../../options/read-value.ts'
import { readEmbeddingService } from '../../options/service-option.ts'

const typeNames = [
  ...primitiveNames,
  'list',
  'map',
  'set',
  'userDefined',
  'vector',
] as const

export type TypeName = (typeof typeNames)[number]

/** Known types that new columns cannot have. */
const outdated: readonly TypeName[] = ['counter', 'timeuuid']

/** Types of new columns. */
export const columnTypeNames = typeNames
  .filter((name) => !outdated.includes(name))
  .toSorted()

export interface GivenType {
  readonly name: TypeName
  readonly keyType?: GivenType | undefined
  readonly valueType?: GivenType | undefined
  readonly udtName?: string | undefined
  readonly dimension?: Value | undefined
  readonly service?: GivenService | undefined
}

/** Parses a type. `field` is its path in messages. */
export function readType(value: Value, field: string): GivenType {
  if (typeof value === 'string')
    return { name: knownName(value, 'UNKNOWN_PRIMITIVE_DATA_TYPE') }
  if (!isObject(value)) return mismatch({ field }, value, 'a String or an Object')
  const section = rootSection(value, field)
  refuseUnknownKeys(section, 'COMMAND_FIELD_UNKNOWN', [
    'type',
    'keyType',
    'valueType',
    'udtName',
    'dimension',
    'service',
  ])
  const name = textIn(section, 'type')
  if (name === undefined)
    throw apiError('REQUEST_STRUCTURE_MISMATCH', {
      reason: 'fieldMissing',
      field: `${field}.type`,
    })
  const partOf = (member: string) => {
    const part = memberOf(section, member)
    return part === undefined ? undefined : readType(part, `${field}.${member}`)
  }
  return {
    name: knownName(name, 'UNKNOWN_DATA_TYPE'),
    keyType: partOf('keyType'),
    valueType: partOf('valueType'),
    udtName: textIn(section, 'udtName'),
    dimension: memberOf(section, 'dimension'),
    service: readEmbeddingService(serviceIn(section)),
  }
}

function knownName(
  given: string,
  code: 'UNKNOWN_DATA_TYPE' | 'UNKNOWN_PRIMITIVE_DATA_TYPE',
): TypeName {
  const name = typeNames.find((candidate) => candidate === given)
  if (name === undefined)
    throw apiError(code, { supported: columnTypeNames, used: [`"${given}"`] })
  return name
}
