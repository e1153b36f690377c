/** createTable: parses and validates a definition. */
import {
  findNamed,
  keyNames,
  type Column,
  type KeyspaceSchema,
} from '../../engine/schema.ts'
import type { NewTable, SchemaChange } from '../../engine/schema-change.ts'
import { apiError } from '../../errors/api-error.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import {
  memberOf,
  contextIn,
  refuseUnknownKeys,
  rootSection,
  textsIn,
  type Section,
} from '../../options/option-section.ts'
import { mismatch } from '../../options/read-value.ts'
import { checkColumnCount, checkColumnNames } from './column-names.ts'
import { readType, type GivenType } from './given-type.ts'
import { checkUserTypes, resolveColumns, type TypeContext } from './resolve-type.ts'

type PrimaryKey = Omit<NewTable, 'columns'>

export function readNewTable(
  definition: JsonObject,
  limits: Limits,
  context: TypeContext,
): NewTable {
  const section = rootSection(definition, 'command.definition')
  refuseUnknownKeys(section, 'COMMAND_FIELD_UNKNOWN', ['columns', 'primaryKey'])
  const given = readColumns(requiredIn(section, 'columns'), `${section.field}.columns`)
  if (given.size === 0) throw missing(section, 'columns', 'it has no columns')
  const key = readPrimaryKey(requiredIn(section, 'primaryKey'))
  checkColumnNames('Column', given.keys(), limits)
  const columns = resolveColumns(given, context, 'UNSUPPORTED_DATA_TYPE_TABLE_CREATION')
  checkKeyColumns(key, columns)
  return { columns, ...key }
}

/** Reads the types of columns. Returns them by column name. */
export function readColumns(value: Value, field: string): Map<string, GivenType> {
  const { members } = rootSection(value, field)
  return new Map(
    [...members].map(([name, type]) => [name, readType(type, `${field}.${name}`)]),
  )
}

export interface TablePlan {
  readonly name: string
  readonly table: NewTable
  readonly ifNotExists: boolean
  /** Number of tables in all keyspaces. */
  readonly count: number
  readonly limits: Limits
}

export function planTable(
  keyspace: string,
  schema: KeyspaceSchema,
  { name, table, ifNotExists, count, limits }: TablePlan,
): SchemaChange | undefined {
  const existing = findNamed(schema, name)
  if (existing !== undefined && ifNotExists) return undefined
  checkUserTypes(table.columns, schema.types)
  if (existing !== undefined)
    throw apiError('CANNOT_ADD_EXISTING_TABLE', { name, kind: existing.kind })
  const target = `${keyspace}.${name}`
  checkKeyTypes(target, table)
  checkColumnCount('Column', 'command.definition.columns', table.columns, limits)
  const max = limits.tablesMax
  if (count >= max)
    throw apiError('UNEXPECTED_DRIVER_ERROR', {
      target,
      tables: count,
      max,
    })
  return { kind: 'createTable', name, ...table }
}

function readPrimaryKey(value: Value): PrimaryKey {
  const field = 'command.definition.primaryKey'
  if (typeof value === 'string') return { partitionBy: [value], partitionSort: [] }
  if (!isObject(value))
    return mismatch({ field }, value, 'the name of a column, or an Object')
  const section = rootSection(value, field)
  refuseUnknownKeys(section, 'COMMAND_FIELD_UNKNOWN', ['partitionBy', 'partitionSort'])
  const partitionBy = textsIn(section, 'partitionBy')
  if (partitionBy === undefined)
    throw apiError('REQUEST_STRUCTURE_MISMATCH', {
      reason: 'fieldMissing',
      field: `${field}.partitionBy`,
      expected: 'an Array of Strings',
    })
  const sort = rootSection(memberOf(section, 'partitionSort'), `${field}.partitionSort`)
  return {
    partitionBy,
    partitionSort: [...sort.members].map(([column, order]) => {
      return order === 1 || order === -1
        ? { column, direction: order }
        : mismatch(contextIn(sort, column), order, '1 or -1')
    }),
  }
}

function checkKeyColumns(
  { partitionBy, partitionSort }: PrimaryKey,
  defined: readonly Column[],
): void {
  const columns = defined.map(({ name }) => name)
  const known = new Set(columns)
  if (partitionBy.length === 0) throw apiError('MISSING_PARTITION_COLUMNS', { columns })
  const unknownIn = (names: readonly string[]) => names.filter((name) => !known.has(name))
  const unsorted = unknownIn(partitionSort.map(({ column }) => column))
  if (unsorted.length > 0)
    throw apiError('UNKNOWN_PARTITION_SORT_COLUMNS', { columns, unknown: unsorted })
  const unknown = unknownIn(partitionBy)
  if (unknown.length > 0) throw apiError('UNKNOWN_PARTITION_COLUMNS', { columns, unknown })
}

/**
 * Types that a key column cannot have: they have no order, or their values can be updated in
 * part.
 */
const keylessTypes = ['duration', 'list', 'set', 'map', 'userDefined', 'counter']

function checkKeyTypes(target: string, { columns, ...key }: NewTable): void {
  const types = new Map(columns.map(({ name, type }) => [name, type.type]))
  const seen = new Set<string>()
  for (const name of keyNames(key)) {
    if (seen.has(name))
      throw apiError('PRIMARY_KEY_DEFINITION_INCORRECT', {
        reason: 'twice',
        target,
        column: name,
      })
    seen.add(name)
    const type = types.get(name)!
    if (keylessTypes.includes(type))
      throw apiError('PRIMARY_KEY_DEFINITION_INCORRECT', {
        reason: 'type',
        target,
        column: name,
        type,
      })
  }
}

function requiredIn(section: Section, name: string): Value {
  const value = memberOf(section, name)
  if (value === undefined) throw missing(section, name, 'it is required')
  return value
}

function missing({ field, members }: Section, name: string, reason: string) {
  return apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: `${field}.${name}`,
    value: isObject(members.get(name)) ? 'empty' : '`null`',
    reason,
  })
}
