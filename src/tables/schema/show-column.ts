import { keyspaceOf, type Column, type Table } from '../../engine/schema.ts'

/** Label of a column in messages: "tags(set)". */
export function showColumn({ name, type }: Column): string {
  return `${name}(${type.type})`
}

/** Name of a table in messages: "library.books". */
export function nameOf(table: Table): string {
  return `${keyspaceOf(table)}.${table.name}`
}

/** Table and columns, for the messages of schema errors. */
export function factsOf(table: Table): { table: string; columns: string[] } {
  return { table: nameOf(table), columns: table.definition.columns.map(showColumn) }
}
