/** alterTable: adds and drops columns, and adds and removes embedding services. */
import type { UserTypes } from '../../language/columns/column-type.ts'
import { columnsInOrder, keyNames, type Table } from '../../engine/schema.ts'
import type { TableChange } from '../../engine/schema-change.ts'
import { apiError } from '../../errors/api-error.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { GivenService } from '../../providers/embedding-service.ts'
import {
  checkServiceKeys,
  memberOf,
  refuseUnknownKeys,
  rootSection,
  textsIn,
  type Section,
} from '../../options/option-section.ts'
import { mismatch } from '../../options/read-value.ts'
import { readEmbeddingService } from '../../options/service-option.ts'
import { checkColumnCount, checkColumnNames } from './column-names.ts'
import type { GivenType } from './given-type.ts'
import { readColumns } from './new-table.ts'
import {
  checkUserTypes,
  resolveColumns,
  resolveService,
  type TypeContext,
} from './resolve-type.ts'
import { factsOf, showColumn } from './show-column.ts'

export type Alteration =
  | { readonly kind: 'add'; readonly columns: ReadonlyMap<string, GivenType> }
  | { readonly kind: 'drop'; readonly columns: readonly string[] }
  | { readonly kind: 'addVectorize'; readonly columns: ReadonlyMap<string, GivenService> }
  | { readonly kind: 'dropVectorize'; readonly columns: readonly string[] }

export function readAlteration(operation: JsonObject): Alteration {
  const [first, second] = operation
  if (first === undefined || second !== undefined)
    throw apiError('REQUEST_STRUCTURE_MISMATCH', {
      reason: 'members',
      field: 'command.operation',
      members: operation.size,
    })
  const [kind, value] = first
  switch (kind) {
    case 'add':
      return { kind, columns: readColumns(columnsIn(value, kind), fieldOf(kind)) }
    case 'addVectorize':
      return { kind, columns: readServices(columnsIn(value, kind), fieldOf(kind)) }
    case 'drop':
    case 'dropVectorize':
      return { kind, columns: readNames(value, kind) }
    default:
      throw apiError('COMMAND_UNKNOWN', {
        command: kind,
        level: 'operation of alterTable',
        known: ['add', 'addVectorize', 'drop', 'dropVectorize'],
      })
  }
}

type AlterationContext = TypeContext & {
  readonly types: UserTypes
  readonly limits: Limits
}

/** Converts an alteration to changes of the table; throws when it is invalid. */
export function planAlteration(
  table: Table,
  alteration: Alteration,
  context: AlterationContext,
): TableChange {
  switch (alteration.kind) {
    case 'add':
      return addColumns(table, alteration.columns, context)
    case 'drop':
      return dropColumns(table, alteration.columns)
    case 'addVectorize':
      return addServices(table, alteration.columns, context)
    case 'dropVectorize':
      return dropServices(table, alteration.columns)
  }
}

function addColumns(
  table: Table,
  given: ReadonlyMap<string, GivenType>,
  context: AlterationContext,
): TableChange {
  const existing = columnsInOrder(table.definition)
  checkColumnNames('Column', given.keys(), context.limits)
  const duplicates = [
    ...existing.filter(({ name }) => given.has(name)).map(showColumn),
    ...(table.definition.unsupported?.columns ?? [])
      .filter(({ name }) => given.has(name))
      .map(({ name, cqlDefinition }) => `${name}(${cqlDefinition})`),
  ]
  if (duplicates.length > 0)
    throw apiError('CANNOT_ADD_EXISTING_COLUMNS', { ...factsOf(table), duplicates })
  const columns = resolveColumns(given, context, 'CANNOT_ADD_UNSUPPORTED_DATA_TYPE_COLUMNS')
  checkUserTypes(columns, context.types)
  checkColumnCount('Column', fieldOf('add'), [...existing, ...columns], context.limits)
  return { kind: 'addColumns', table: table.name, columns }
}

function dropColumns(table: Table, names: readonly string[]): TableChange {
  const { definition } = table
  const indexes = [...definition.indexes, ...(definition.unsupported?.indexes ?? [])]
  const facts = factsOf(table)
  const key = keyNames(definition)
  const inKey = names.filter((name) => key.includes(name))
  if (inKey.length > 0)
    throw apiError('CANNOT_DROP_PRIMARY_KEY_COLUMNS', { ...facts, key, offending: inKey })
  // CQL-only columns can be dropped, too.
  const others = (definition.unsupported?.columns ?? []).map(({ name }) => name)
  const unknown = unknownIn(table, names).filter((name) => !others.includes(name))
  if (unknown.length > 0)
    throw apiError('CANNOT_DROP_UNKNOWN_COLUMNS', { ...facts, offending: unknown })
  const inTheWay = indexes.filter(({ column }) => names.includes(column))
  if (inTheWay.length > 0)
    throw apiError('CANNOT_DROP_INDEXED_COLUMNS', {
      ...facts,
      indexed: distinct(indexes.map(({ column }) => column)),
      offending: distinct(inTheWay.map(({ column }) => column)),
      indexes: inTheWay.map(({ name }) => name),
    })
  return { kind: 'dropColumns', table: table.name, names }
}

function addServices(
  table: Table,
  given: ReadonlyMap<string, GivenService>,
  context: TypeContext,
): TableChange {
  const vectors = vectorsIn(table, [...given.keys()], {
    unknown: 'CANNOT_VECTORIZE_UNKNOWN_COLUMNS',
    other: 'CANNOT_VECTORIZE_NON_VECTOR_COLUMNS',
  })
  const services = new Map(
    vectors.map(({ name, dimension }) => {
      const { service } = resolveService(name, given.get(name)!, dimension, context)
      return [name, service]
    }),
  )
  return { kind: 'putServices', table: table.name, services }
}

function dropServices(table: Table, names: readonly string[]): TableChange {
  const vectors = vectorsIn(table, names, {
    unknown: 'CANNOT_DROP_VECTORIZE_FROM_UNKNOWN_COLUMNS',
    other: 'CANNOT_DROP_VECTORIZE_FROM_NON_VECTOR_COLUMNS',
  })
  const services = new Map(vectors.map(({ name }) => [name, null]))
  return { kind: 'putServices', table: table.name, services }
}

/** The vector columns with these names, in the table's order; throws for other columns. */
function vectorsIn(
  table: Table,
  names: readonly string[],
  codes: {
    unknown:
      'CANNOT_VECTORIZE_UNKNOWN_COLUMNS' | 'CANNOT_DROP_VECTORIZE_FROM_UNKNOWN_COLUMNS'
    other:
      | 'CANNOT_VECTORIZE_NON_VECTOR_COLUMNS'
      | 'CANNOT_DROP_VECTORIZE_FROM_NON_VECTOR_COLUMNS'
  },
): { readonly name: string; readonly dimension: number }[] {
  const { columns } = table.definition
  const vectors = columns.flatMap(({ name, type }) =>
    type.type === 'vector' ? [{ name, type, dimension: type.dimension }] : [],
  )
  const facts = { ...factsOf(table), vectors: vectors.map(showColumn) }
  const unknown = unknownIn(table, names)
  if (unknown.length > 0) throw apiError(codes.unknown, { ...facts, offending: unknown })
  const others = columns.filter(
    ({ name, type }) => names.includes(name) && type.type !== 'vector',
  )
  if (others.length > 0)
    throw apiError(codes.other, { ...facts, offending: others.map(showColumn) })
  return vectors.filter(({ name }) => names.includes(name))
}

function unknownIn({ definition }: Table, names: readonly string[]): string[] {
  const known = new Set(definition.columns.map(({ name }) => name))
  return names.filter((name) => !known.has(name))
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)]
}

function fieldOf(kind: string): string {
  return `command.operation.${kind}.columns`
}

function sectionOf(value: Value, kind: string): Section {
  const field = `command.operation.${kind}`
  if (value === null) return mismatch({ field }, value, 'an Object')
  const section = rootSection(value, field)
  refuseUnknownKeys(section, 'COMMAND_FIELD_UNKNOWN', ['columns'])
  return section
}

/** The `columns` object, which must have at least one member. */
function columnsIn(value: Value, kind: string): JsonObject {
  const { members } = rootSection(
    memberOf(sectionOf(value, kind), 'columns'),
    fieldOf(kind),
  )
  if (members.size === 0)
    throw apiError('MISSING_ALTER_TABLE_OPERATIONS', { operation: kind })
  return members
}

function readNames(value: Value, kind: string): readonly string[] {
  const names = textsIn(sectionOf(value, kind), 'columns') ?? []
  if (names.length === 0)
    throw apiError('MISSING_ALTER_TABLE_OPERATIONS', { operation: kind })
  return distinct(names)
}

function readServices(columns: JsonObject, field: string): Map<string, GivenService> {
  return new Map(
    [...columns].map(([name, value]) => {
      const service = rootSection(value, `${field}.${name}`)
      checkServiceKeys(service)
      return [name, readEmbeddingService(service)]
    }),
  )
}
