import { documentView, type RecordView } from '../../record-view.ts'
import type { Collection } from '../../schema.ts'
import type { StoredTable, StoredTarget } from '../schema/stored-schema.ts'
import { RowView } from './row-view.ts'

const documentViews = new WeakMap<Collection, RecordView>()
const rowViews = new WeakMap<StoredTable, RowView>()

/** The view of a target's records, cached by the target object. */
export function viewOf(target: StoredTarget): RecordView {
  if (target.kind === 'table') return rowViewOf(target)
  let view = documentViews.get(target)
  if (view === undefined) documentViews.set(target, (view = documentView(target.options)))
  return view
}

export function rowViewOf(table: StoredTable): RowView {
  let view = rowViews.get(table)
  if (view === undefined) rowViews.set(table, (view = new RowView(table)))
  return view
}
