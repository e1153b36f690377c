/** Lists of columns in messages: "age(int), name(text)". */
import type { Column } from '../../engine/schema.ts'
import { list } from '../../errors/catalog-entry.ts'
import { labelsOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'

/** Labels of the columns, sorted and distinct. */
export function listColumns(columns: Iterable<Column>): string {
  return list(labelsOf(new Set(columns)).sort())
}

/** Labels of all columns of the table. */
export function allColumns({ columns }: Pick<RowStore, 'columns'>): string {
  return listColumns(columns.values())
}

/** Labels of the columns of the primary key, in key order. */
export function keyColumns({ key }: Pick<RowStore, 'key'>): string {
  return list(labelsOf(key))
}
