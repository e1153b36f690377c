/** Looks up the indexes of a table's columns. */
import type { Column, ColumnPart } from '../../language/columns/column.ts'
import type { RegularIndex, TableIndex } from '../../engine/schema.ts'
import type { RowStore } from '../row-store.ts'

type Indexed = Pick<RowStore, 'table' | 'columns'>

/** Distinct columns with an index of this kind, or of any kind. */
export function indexedColumns(
  { table, columns }: Indexed,
  kind?: TableIndex['kind'],
): Column[] {
  const indexes = table.definition.indexes.filter(
    (index) => kind === undefined || index.kind === kind,
  )
  return [...new Set(indexes.map(({ column }) => columns.get(column)!))]
}

/** The index on a part of a column's values. */
export function regularIndexOn(
  { table }: Indexed,
  { name }: Column,
  part: ColumnPart,
): RegularIndex | undefined {
  return table.definition.indexes.find(
    (index): index is RegularIndex =>
      index.kind === 'regular' && index.column === name && index.part === part,
  )
}
