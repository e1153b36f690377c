/** Applies schema changes to the in-memory store. */
import type { KeyspaceSchema, Table } from '../../../src/engine/contract.ts'
import type {
  KeyspaceCounts,
  SchemaChange,
  TableChange,
  TypeAlteration,
} from '../../../src/engine/schema-change.ts'
import type { JsonObject, Value } from '../../../src/json/value.ts'
import { entriesOf } from '../../../src/language/columns/collections.ts'
import type { ColumnValue } from '../../../src/language/columns/column.ts'
import {
  userTypeNameOf,
  type ColumnType,
  type UserType,
} from '../../../src/language/columns/column-type.ts'
import type { MemoryKeyspace, MemoryStore } from './memory-store.ts'

export function schemaOf({ targets, types }: MemoryKeyspace): KeyspaceSchema {
  return { targets: [...targets.values()], types: [...types.values()] }
}

export function countsOf({ keyspaces }: MemoryStore): KeyspaceCounts[] {
  return Array.from(keyspaces, ([keyspace, { targets }]) => {
    const tables = [...targets.values()].filter(({ kind }) => kind === 'table').length
    return { keyspace, collections: targets.size - tables, tables }
  })
}

export function changeSchema(store: MemoryStore, keyspace: string, change: SchemaChange) {
  const { targets, types } = store.keyspaces.get(keyspace)!
  const uid = `${store.nextNumber()}`
  switch (change.kind) {
    case 'createCollection':
      store.add({ ...change, kind: 'collection', keyspace, uid })
      return
    case 'createTable': {
      const { name, partitionBy, partitionSort, columns } = change
      const key = { partitionBy, partitionSort }
      const definition = { ...key, columns, indexes: [] }
      store.add(
        withTypes({ kind: 'table', keyspace, name, uid, definition, types: [] }, types),
      )
      return
    }
    case 'dropTarget':
      targets.delete(change.name)
      return
    case 'createType':
      types.set(change.name, { name: change.name, fields: change.fields })
      return
    case 'alterType': {
      const type = altered(types.get(change.name)!, change)
      types.set(change.name, type)
      for (const table of targets.values())
        if (table.kind === 'table' && table.types.some(({ name }) => name === type.name))
          renameFields(store, withTypes(table, types), change)
      return
    }
    case 'dropType':
      types.delete(change.name)
      return
    default: {
      const before = targets.get(change.table) as Table
      const definition = redefined(before.definition, change)
      const table = withTypes({ ...before, definition }, types)
      targets.set(table.name, table)
      if (change.kind === 'dropColumns')
        store.rows.get(table.uid)!.rewrite(table, (values) => {
          for (const name of change.names) values.delete(name)
        })
    }
  }
}

function redefined(definition: Table['definition'], change: TableChange) {
  const { columns, indexes } = definition
  switch (change.kind) {
    case 'addColumns':
      return { ...definition, columns: [...columns, ...change.columns] }
    case 'dropColumns': {
      const left = columns.filter(({ name }) => !change.names.includes(name))
      return { ...definition, columns: left }
    }
    case 'putServices': {
      const served = columns.map((column) => {
        const service = change.services.get(column.name)
        if (service === undefined || column.type.type !== 'vector') return column
        const { type, dimension } = column.type
        return { ...column, type: { type, dimension, ...(service && { service }) } }
      })
      return { ...definition, columns: served }
    }
    case 'createIndex':
      return { ...definition, indexes: [...indexes, change.index] }
    case 'dropIndex':
      return { ...definition, indexes: indexes.filter(({ name }) => name !== change.name) }
  }
}

/** The table with the current definitions of the user-defined types of its columns. */
function withTypes(table: Table, types: MemoryKeyspace['types']): Table {
  const names = table.definition.columns.map(({ type }) => userTypeNameOf(type))
  return { ...table, types: [...types.values()].filter(({ name }) => names.includes(name)) }
}

function altered({ name, fields }: UserType, { renamed, added }: TypeAlteration): UserType {
  const before = fields.map((field) => ({ ...field, name: nameAfter(field.name, renamed) }))
  return { name, fields: [...before, ...added] }
}

/** The name of a field after a sequence of renamings. */
function nameAfter(name: string, renamed: TypeAlteration['renamed']): string {
  return renamed.reduce((now, [from, to]) => (now === from ? to : now), name)
}

/** Renames the fields of a user-defined type in all rows that have values of this type. */
function renameFields(
  store: MemoryStore,
  table: Table,
  { name, renamed }: TypeAlteration & { readonly name: string },
): void {
  store.keyspaces.get(table.keyspace)!.targets.set(table.name, table)
  const of = (value: Value) => {
    const fields = [...(value as JsonObject)]
    return new Map(fields.map(([field, held]) => [nameAfter(field, renamed), held]))
  }
  const rename = ({ type }: ColumnType, value: Value): ColumnValue => {
    if (type === 'userDefined') return of(value)
    if (type !== 'map') return (value as Value[]).map(of)
    const entries = entriesOf(value).map(([key, held]): [Value, Value] => [key, of(held)])
    return Array.isArray(value) ? entries : new Map(entries as [string, Value][])
  }
  store.rows.get(table.uid)!.rewrite(table, (values) => {
    for (const column of table.definition.columns) {
      const value = values.get(column.name) as Value | undefined
      if (userTypeNameOf(column.type) === name && value !== undefined)
        values.set(column.name, rename(column.type, value))
    }
  })
}
