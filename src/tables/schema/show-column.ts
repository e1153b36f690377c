import { keyspaceOf, type Column, type Table } from '../../engine/schema.ts'

/** A column as messages name it: "tags(set)". */
export function showColumn({ name, type }: Column): string {
  return `${name}(${type.type})`
}

/** A table as messages name it: "library.books". */
export function nameOf(table: Table): string {
  return `${keyspaceOf(table)}.${table.name}`
}

/** What most refusals of a schema say first. */
export function factsOf(table: Table): { table: string; columns: string[] } {
  return { table: nameOf(table), columns: table.definition.columns.map(showColumn) }
}
