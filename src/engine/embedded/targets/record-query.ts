/** Translates queries and searches for rows into queries and searches for records. */
import type { Value } from '../../../json/value.ts'
import { storedDirection } from '../../../language/columns/stored-order.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import { idPath } from '../../../language/values/record-id.ts'
import type { Query, RowQuery, RowSearch, Search } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { keyText } from '../schema/key-text.ts'
import { recordFilter } from '../format/row-filter.ts'
import type { RowView } from '../format/row-view.ts'

export function recordQuery(query: RowQuery, view: RowView): Query {
  const { skip, limit, after, sizeMax, lookAhead, textsOnly } = query
  const { isWhole, withVectors } = view.shown(query.columns, query.needed)
  return {
    filter: recordFilter(query.filter, view),
    sort: recordSort(query, view),
    ...{ skip, limit, after, stable: false, withSearchFields: withVectors },
    textsOnly: textsOnly === true && isWhole,
    ...(sizeMax !== undefined && { sizeMax }),
    ...(lookAhead !== undefined && { lookAhead }),
  }
}

export function recordSearch(search: RowSearch, view: RowView): Search {
  const { column, ...by } = search.by
  const { after, statistics, sizeMax, scoreMin } = search
  return {
    by: { ...by, path: view.path(column).text },
    filter: recordFilter(search.filter, view),
    limit: search.limit,
    withSearchFields: view.shown(search.columns, search.needed).withVectors,
    ...(sizeMax !== undefined && { sizeMax }),
    ...(after !== undefined && { after: { ...after, id: idOfKey(after.id, view) } }),
    ...(scoreMin !== undefined && { scoreMin }),
    statistics,
  }
}

/** The sort keys of records for a query on rows. The order of ids is the stored order of rows. */
function recordSort({ sort, filter }: RowQuery, view: RowView): readonly SortKey[] {
  const { key, table, types } = view
  const columns = key.map(({ column }) => column)
  const direction =
    sort.length === 0
      ? 1
      : storedDirection({ sort, filter }, table.definition, columns, types)
  if (direction !== undefined) return [{ path: idPath, direction }]
  return sort.map((key) => ({ path: view.path(key.column), direction: key.direction }))
}

/** The id of the row with this key: an array of values that a client sent back. */
function idOfKey(key: Value, view: RowView): string {
  try {
    if (Array.isArray(key) && key.length === view.key.length)
      return keyText(
        view.key.map(({ direction, toComparable }, position) => {
          return { value: toComparable(key[position]!), direction }
        }),
      )
  } catch {
    // The key has a value that is not of the type of its column.
  }
  throw new EngineError('position', 'the position does not belong to this table')
}
