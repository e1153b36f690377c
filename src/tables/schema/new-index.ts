/**
 * createIndex, createVectorIndex and createTextIndex. The definition is parsed without the
 * table, then validated against it.
 */
import type { Table, TableIndex } from '../../engine/schema.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import type { JsonObject } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import {
  memberOf,
  refuseUnknownKeys,
  rootSection,
  sectionIn,
  textIn,
  type Section,
} from '../../options/option-section.ts'
import { indexable, readRegularIndex, resolveRegularIndex } from './regular-index.ts'
import { factsOf, nameOf } from './show-column.ts'
import { readTextIndex, resolveTextIndex } from './text-index.ts'
import { readVectorIndex, resolveVectorIndex } from './vector-index.ts'

export type IndexKind = TableIndex['kind']

/** An index definition of a request. */
export type GivenIndex =
  | ({ readonly kind: 'regular' } & ReturnType<typeof readRegularIndex>)
  | ({ readonly kind: 'vector' } & ReturnType<typeof readVectorIndex>)
  | ({ readonly kind: 'text' } & ReturnType<typeof readTextIndex>)

export function readIndex(kind: IndexKind, definition: JsonObject): GivenIndex {
  const section = rootSection(definition, 'command.definition')
  refuseUnknownKeys(section, 'COMMAND_FIELD_UNKNOWN', ['column', 'options'])
  const given = memberOf(section, 'column')
  if (given === undefined || given === '')
    throw apiError('COMMAND_FIELD_VALUE_INVALID', {
      field: `${section.field}.column`,
      value: given === '' ? '""' : '`null`',
      reason: 'it must name the column to index',
    })
  const options = sectionIn(section, 'options') ?? rootSection(undefined, '')
  switch (kind) {
    case 'regular':
      return { kind, ...readRegularIndex(given, options) }
    case 'vector':
      return { kind, ...readVectorIndex(columnIn(section), options) }
    case 'text':
      return { kind, ...readTextIndex(columnIn(section), options) }
  }
}

/** Throws if the option `indexType` does not match the command. The option may be absent. */
export function checkIndexType(
  command: string,
  expected: IndexKind,
  used: string | undefined,
): void {
  const known: readonly string[] = ['regular', 'text', 'vector'] satisfies IndexKind[]
  const kind = used?.toLowerCase()
  if (used === undefined || kind === expected) return
  throw known.includes(kind!)
    ? apiError('UNSUPPORTED_INDEX_TYPE', { command, expected, used })
    : apiError('UNKNOWN_INDEX_TYPE', { known, used })
}

/** Validates the definition against the table and returns the index. */
export function resolveIndex(
  table: Table,
  name: string,
  given: GivenIndex,
  limits: Limits,
): TableIndex {
  const { columns } = table.definition
  const column = columns.find((candidate) => candidate.name === given.column)
  if (column === undefined) throw unknownColumn(table, given)
  const base = { name, column: column.name }
  switch (given.kind) {
    case 'regular':
      return { ...base, kind: 'regular', ...resolveRegularIndex(table, column, given) }
    case 'vector':
      return { ...base, kind: 'vector', ...resolveVectorIndex(table, column, given) }
    case 'text':
      return { ...base, kind: 'text', ...resolveTextIndex(table, column, given, limits) }
  }
}

/** The error for a missing or CQL-only column. */
function unknownColumn(table: Table, { kind, column }: GivenIndex): ApiError {
  const facts = factsOf(table)
  const other = table.definition.unsupported?.columns.find(({ name }) => name === column)
  if (other === undefined) return apiError('UNKNOWN_INDEX_COLUMN', { ...facts, column })
  const shown = `${column}(${other.cqlDefinition})`
  switch (kind) {
    case 'regular':
      return apiError('UNSUPPORTED_INDEXING_FOR_DATA_TYPES', {
        ...facts,
        column: shown,
        supported: indexable,
      })
    case 'vector':
      return apiError('UNSUPPORTED_VECTOR_INDEX_FOR_DATA_TYPES', {
        ...facts,
        column: shown,
      })
    case 'text':
      return apiError('UNSUPPORTED_TEXT_INDEX_FOR_DATA_TYPES', { ...facts, column: shown })
  }
}

/**
 * Throws when the table has the maximum number of indexes or an equal index, when the column is the
 * whole partition key, or when its vectors are too long for an index.
 */
export function checkRoom(table: Table, index: TableIndex, limits: Limits): void {
  const { columns, indexes, partitionBy } = table.definition
  const target = nameOf(table)
  const { column } = index
  const { type } = columns.find(({ name }) => name === index.column)!
  if (partitionBy.length === 1 && partitionBy[0] === index.column)
    throw apiError('INVALID_INDEX_DEFINITION', { reason: 'partition', target, column })
  if (type.type === 'vector' && type.dimension > limits.vectorDimensionMax)
    throw apiError('INVALID_INDEX_DEFINITION', {
      reason: 'dimension',
      target,
      column,
      dimension: type.dimension,
      max: limits.vectorDimensionMax,
    })
  const same = indexes.find((existing) => isSame(existing, index))
  if (same !== undefined)
    throw apiError('INVALID_INDEX_DEFINITION', {
      reason: 'same',
      target,
      column,
      index: index.name,
      existing: same.name,
    })
  const max = limits.indexesPerTableMax
  if (indexes.length >= max)
    throw apiError('INVALID_SCHEMA_CHANGE', {
      reason: 'indexes',
      target,
      indexes: indexes.length,
      max,
    })
}

function isSame(one: TableIndex, other: TableIndex): boolean {
  if (one.kind !== other.kind || one.column !== other.column) return false
  return one.kind !== 'regular' || other.kind !== 'regular' || one.part === other.part
}

function columnIn(section: Section): string {
  return textIn(section, 'column')!
}
