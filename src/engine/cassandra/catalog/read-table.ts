/** Reads tables and user-defined types from system_schema, including those created with CQL. */
import {
  userTypeNameOf,
  type UserField,
  type UserType,
  type UserTypes,
} from '../../../language/columns/column-type.ts'
import type { Column, CqlDefinition, Table } from '../../schema.ts'
import { readPrimitive, readType } from './cql-type.ts'
import { notedIndexes, printIndex, readIndex, type IndexRow } from './read-index.ts'
import { readNotes, type NoteSource, type TableNotes } from './table-notes.ts'

/** Columns of system_schema.tables that this module reads. */
export interface TableRow extends NoteSource {
  readonly keyspace_name: string
  readonly table_name: string
  readonly id: { toString(): string }
}

/** Columns of system_schema.columns that this module reads. */
export interface ColumnRow {
  readonly column_name: string
  readonly clustering_order: string
  readonly kind: string
  readonly position: number
  readonly type: string
}

/** A row of system_schema.types. */
export interface TypeRow {
  readonly type_name: string
  readonly field_names: readonly string[]
  readonly field_types: readonly string[]
}

/** The user-defined types with only primitive fields. The Data API does not support other types. */
export function readUserTypes(rows: readonly TypeRow[]): UserTypes {
  return rows.flatMap(({ type_name, field_names, field_types }): UserType[] => {
    const fields = field_names.flatMap((name, position): UserField[] => {
      const type = readPrimitive(field_types[position]!)
      return type === undefined ? [] : [{ name, type }]
    })
    return fields.length === field_names.length ? [{ name: type_name, fields }] : []
  })
}

/**
 * Builds a table from its rows in system_schema. Columns and indexes that the Data API does not
 * support appear only in `unsupported`.
 */
export function readTable(
  row: TableRow,
  columnRows: readonly ColumnRow[],
  indexRows: readonly IndexRow[],
  types: UserTypes,
): Table {
  const notes = readNotes(row)
  const read = columnRows.map((column) => ({
    column,
    is: readColumn(column, notes, types),
  }))
  const columns = read.flatMap(({ is }) => (is === undefined ? [] : [is]))
  const unknown = read.flatMap(({ column, is }) => (is === undefined ? [column] : []))
  const indexes = indexRows.map((index) => ({
    index,
    is: readIndex(index, columns, notes.indexes.get(index.index_name)),
  }))
  const strange = indexes.flatMap(({ index, is }) =>
    is === undefined ? [printIndex(index)] : [],
  )
  const named = new Set(columns.map(({ type }) => userTypeNameOf(type)))
  return {
    kind: 'table',
    keyspace: row.keyspace_name,
    name: row.table_name,
    uid: row.id.toString(),
    definition: {
      columns,
      partitionBy: inOrder(columnRows, 'partition_key').map(
        ({ column_name }) => column_name,
      ),
      partitionSort: inOrder(columnRows, 'clustering').map((column) => ({
        column: column.column_name,
        direction: column.clustering_order.toLowerCase() === 'desc' ? -1 : 1,
      })),
      indexes: [
        ...indexes.flatMap(({ is }) => (is === undefined ? [] : [is])),
        ...notedIndexes(notes.indexes, columns),
      ],
      ...(unknown.length + strange.length > 0 && {
        unsupported: { columns: unknown.map(printUnknown), indexes: strange },
      }),
    },
    types: types.filter(({ name }) => named.has(name)),
  }
}

function readColumn(
  { column_name: name, kind, type: text }: ColumnRow,
  { services }: TableNotes,
  types: UserTypes,
): Column | undefined {
  const read = readType(text, types)
  if (read === undefined) return undefined
  const service = services.get(name)
  const type =
    read.type.type === 'vector' && service ? { ...read.type, service } : read.type
  return { name, ...read, type, ...(kind === 'static' && { isStatic: true }) }
}

function printUnknown({ column_name: name, kind, type }: ColumnRow): CqlDefinition {
  return { name, cqlDefinition: kind === 'static' ? `static ${type}` : type }
}

function inOrder(rows: readonly ColumnRow[], kind: string): readonly ColumnRow[] {
  return rows.filter((row) => row.kind === kind).toSorted((a, b) => a.position - b.position)
}
