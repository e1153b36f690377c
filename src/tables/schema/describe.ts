/** JSON descriptions of tables, columns, indexes and types for replies. */
import type {
  ColumnType,
  ElementType,
  UserType,
  UserTypes,
} from '../../language/columns/column-type.ts'
import {
  keyNames,
  keyspaceOf,
  type Column,
  type CqlDefinition,
  type Table,
  type TableIndex,
} from '../../engine/schema.ts'
import { fromPlain } from '../../json/plain.ts'
import { recipeOf } from '../../search/lexical/definition.ts'
import type { Value } from '../../json/value.ts'
import { cqlType, cqlUserType } from './cql-type.ts'

/** A table in the reply of listTables with explain. */
export function describeTable(table: Table): Value {
  const { partitionBy, partitionSort } = table.definition
  return new Map<string, Value>([
    ['name', table.name],
    [
      'definition',
      new Map<string, Value>([
        ['columns', describeColumns(table)],
        [
          'primaryKey',
          new Map<string, Value>([
            ['partitionBy', [...partitionBy]],
            [
              'partitionSort',
              new Map(partitionSort.map(({ column, direction }) => [column, direction])),
            ],
          ]),
        ],
      ]),
    ],
  ])
}

/** Columns for explain, including CQL-only ones. */
function describeColumns(table: Table): Map<string, Value> {
  const { definition } = table
  const all = new Map([
    ...definition.columns.map((column) => described(column, table)),
    ...(definition.unsupported?.columns ?? []).map(describeUnsupported),
  ])
  const inOrder = new Set([...keyNames(definition), ...[...all.keys()].sort()])
  return new Map(Array.from(inOrder, (name) => [name, all.get(name)!]))
}

/** A column with its name, for explain. A user-defined type is described by its name. */
function described(column: Column, table: Table): readonly [string, Value] {
  return [column.name, describe(column, keyspaceOf(table), undefined)]
}

function describeUnsupported({ name, cqlDefinition }: CqlDefinition): [string, Value] {
  const shown = new Map<string, Value>([['type', 'UNSUPPORTED']])
  return [name, shown.set('apiSupport', apiSupport(uses, cqlDefinition))]
}

/** A column in the reply of a read or insert: user-defined types with their fields. */
export function describeForProjection(column: Column, table: Table): Value {
  return describe(column, keyspaceOf(table), table.types)
}

/** An index in the reply of listIndexes with explain. */
export function describeIndex(index: TableIndex, table: Table): Value {
  return new Map<string, Value>([
    ['name', index.name],
    [
      'definition',
      new Map([
        ['column', shownColumn(index, table)],
        ['options', fromPlain(optionsOf(index, table))],
      ]),
    ],
    ['indexType', index.kind],
  ])
}

/** An index that only CQL can create, in the reply of listIndexes with explain. */
export function describeUnsupportedIndex({ name, cqlDefinition }: CqlDefinition): Value {
  const support = new Map<string, Value>([
    ['createIndex', false],
    ['filter', false],
    ['cqlDefinition', cqlDefinition],
  ])
  return new Map<string, Value>([
    ['name', name],
    [
      'definition',
      new Map<string, Value>([
        ['column', 'UNKNOWN'],
        ['apiSupport', support],
      ]),
    ],
    ['indexType', 'UNKNOWN'],
  ])
}

/** A type in the reply of listTypes with explain. */
export function describeType(
  type: UserType | Pick<UserType, 'name'>,
  keyspace: string,
): Value {
  if (!('fields' in type))
    return new Map<string, Value>([
      ['type', 'UNSUPPORTED'],
      ['udtName', type.name],
      ['apiSupport', apiSupport(uses, cqlUserType(type.name, keyspace))],
    ])
  return new Map<string, Value>([
    ['type', 'userDefined'],
    ['udtName', type.name],
    ['definition', describeFields(type)],
    ['apiSupport', apiSupport(['filter'], cqlUserType(type.name, keyspace))],
  ])
}

function describe(
  column: Column,
  keyspace: string,
  inline: UserTypes | undefined,
): Map<string, Value> {
  const shown = describeParts(column.type, inline)
  const lacking = lackingUses(column)
  if (lacking.length > 0)
    shown.set('apiSupport', apiSupport(lacking, cqlColumn(column, keyspace)))
  return shown
}

/** Operations that the API does not support for the column. */
function lackingUses({ type, isFrozen, isStatic }: Column): readonly Use[] {
  const made = isFrozen || isStatic ? (['createTable'] as const) : []
  switch (type.type) {
    case 'vector':
    case 'userDefined':
      return [...made, 'filter']
    case 'timeuuid':
      return ['createTable']
    case 'counter':
      return ['createTable', 'insert']
    default:
      return made
  }
}

function cqlColumn({ type, isFrozen, isStatic }: Column, keyspace: string): string {
  const cql = cqlType(type, keyspace)
  const frozen = isFrozen ? `frozen<${cql}>` : cql
  return isStatic ? `static ${frozen}` : frozen
}

function describeParts(
  type: ColumnType,
  inline: UserTypes | undefined,
): Map<string, Value> {
  const shown = new Map<string, Value>([['type', type.type]])
  switch (type.type) {
    case 'list':
    case 'set':
      return shown.set('valueType', describeElement(type.valueType, inline))
    case 'map':
      return shown
        .set('keyType', type.keyType)
        .set('valueType', describeElement(type.valueType, inline))
    case 'vector':
      shown.set('dimension', type.dimension)
      if (type.service !== undefined) shown.set('service', fromPlain(type.service))
      return shown
    case 'userDefined':
      for (const [name, member] of userTypeMembers(type.udtName, inline))
        shown.set(name, member)
      return shown
    default:
      return shown
  }
}

function describeElement(type: ElementType, inline: UserTypes | undefined): Value {
  if (typeof type === 'string') return type
  return new Map<string, Value>([
    ['type', 'userDefined'],
    ...userTypeMembers(type.udtName, inline),
  ])
}

function userTypeMembers(name: string, inline: UserTypes | undefined): [string, Value][] {
  const type = inline?.find((candidate) => candidate.name === name)
  const members: [string, Value][] = [['udtName', name]]
  if (type !== undefined) members.push(['definition', describeFields(type)])
  return members
}

function describeFields({ fields }: UserType): Value {
  const shown = new Map<string, Value>(
    fields.map(({ name, type }) => [name, new Map([['type', type]])]),
  )
  return new Map([['fields', shown]])
}

const uses = ['createTable', 'insert', 'read', 'filter'] as const

type Use = (typeof uses)[number]

function apiSupport(lacking: readonly Use[], cql: string): Value {
  return new Map<string, Value>([
    ...uses.map((use): [string, Value] => [use, !lacking.includes(use)]),
    ['cqlDefinition', cql],
  ])
}

/**
 * The column of an index, as replies show it. Indexes on lists and sets cover their values, which
 * the reply states.
 */
function shownColumn(index: TableIndex, table: Table): Value {
  if (index.kind !== 'regular') return index.column
  const { type } = typeOf(index, table)
  const part = type === 'list' || type === 'set' ? 'values' : index.part
  return part === 'value' ? index.column : new Map([[index.column, `$${part}`]])
}

function optionsOf(index: TableIndex, table: Table): object {
  switch (index.kind) {
    case 'vector':
      return { metric: index.metric, sourceModel: index.sourceModel }
    case 'text':
      return { analyzer: recipeOf(index.analyzer) }
    case 'regular': {
      const { type } = typeOf(index, table)
      const isText = type === 'text' || type === 'ascii'
      return index.folding ?? (isText ? plainText : {})
    }
  }
}

/** Default options of a regular index on texts. */
export const plainText = { ascii: false, caseSensitive: true, normalize: false }

function typeOf(index: TableIndex, { definition }: Table): ColumnType {
  return definition.columns.find(({ name }) => name === index.column)!.type
}
