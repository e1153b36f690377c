/**
 * Applies changes to tables and user-defined types. Columns and indexes get an id here, which is
 * part of table names and paths in the store. Columns and fields get a key, under which rows hold
 * values. Ids and keys are not reused, because data of a dropped column may still be stored.
 */
import type { UserType } from '../../../language/columns/column-type.ts'
import type { Column } from '../../schema.ts'
import type { NewTable, TableChange, TypeAlteration } from '../../schema-change.ts'
import type {
  StoredColumn,
  StoredDefinition,
  StoredField,
  StoredType,
} from './stored-schema.ts'

export function defineTable(table: NewTable): StoredDefinition {
  const { partitionBy, partitionSort } = table
  const key = { partitionBy, partitionSort }
  const empty = { columns: [], ...key, indexes: [], dropped: [], lastId: 0 }
  return addColumns(empty, table.columns)
}

export function redefineTable(
  definition: StoredDefinition,
  change: TableChange,
): StoredDefinition {
  const { columns, indexes, dropped, lastId } = definition
  switch (change.kind) {
    case 'addColumns':
      return addColumns(definition, change.columns)
    case 'dropColumns': {
      const goes = ({ name }: StoredColumn) => change.names.includes(name)
      return {
        ...definition,
        columns: columns.filter((column) => !goes(column)),
        dropped: [...dropped, ...columns.filter(goes)],
      }
    }
    case 'putServices':
      return { ...definition, columns: withServices(columns, change.services) }
    case 'createIndex': {
      const index = { ...change.index, id: lastId + 1 }
      return { ...definition, indexes: [...indexes, index], lastId: index.id }
    }
    case 'dropIndex':
      return { ...definition, indexes: indexes.filter(({ name }) => name !== change.name) }
  }
}

export function defineType({ name, fields }: UserType): StoredType {
  return redefineType({ name, fields: [] }, { renamed: [], added: fields })
}

export function redefineType(type: StoredType, alteration: TypeAlteration): StoredType {
  const fields: StoredField[] = [...type.fields]
  const positions = new Map(fields.map(({ name }, position) => [name, position]))
  for (const [from, to] of alteration.renamed) {
    const position = positions.get(from)!
    fields[position] = { ...fields[position]!, name: to }
    positions.delete(from)
    positions.set(to, position)
  }
  const taken = keysOf(fields)
  for (const field of alteration.added)
    fields.push({ ...field, key: takeKey(field.name, taken) })
  return { ...type, fields }
}

function addColumns(
  definition: StoredDefinition,
  added: readonly Column[],
): StoredDefinition {
  const columns = [...definition.columns]
  const taken = keysOf([...columns, ...definition.dropped])
  let { lastId } = definition
  for (const { name, type } of added) {
    const key = takeKey(name, taken)
    columns.push({ name, id: ++lastId, key, type, floatsTyped: true })
  }
  return { ...definition, columns, lastId }
}

type Services = (TableChange & { readonly kind: 'putServices' })['services']

function withServices(
  columns: readonly StoredColumn[],
  services: Services,
): StoredColumn[] {
  return columns.map((column) => {
    const { name, type } = column
    const service = services.get(name)
    if (service === undefined || type.type !== 'vector') return column
    const { dimension } = type
    return { ...column, type: { type: 'vector', dimension, ...(service && { service }) } }
  })
}

function keysOf(things: readonly { readonly key: string }[]): Set<string> {
  return new Set(things.map(({ key }) => key))
}

/**
 * A key for a column or field: its name, or the name with a number when another column or field has
 * or had that key.
 */
function takeKey(name: string, taken: Set<string>): string {
  let key = name
  for (let count = 2; taken.has(key); count++) key = `${name}~${count}`
  taken.add(key)
  return key
}
