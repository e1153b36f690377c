/** Positions of rows, from which the next page continues. */
import { valueAt } from '../../../language/values/value-at.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import { shortestTied } from '../../../language/sorts/sort-place.ts'
import type { RecordView } from '../../record-view.ts'
import type { DocRow } from '../format/doc-row.ts'
import type { SortPosition, StoredPosition } from '../format/position.ts'
import type { ResultOrder } from './store-query.ts'

/** Position of a row in a result. */
export function positionOf(
  row: DocRow,
  order: ResultOrder,
  view: RecordView,
): StoredPosition {
  switch (order.by) {
    case 'seq':
      return { by: 'seq', seq: row.seq }
    case 'range':
      return { by: 'range', path: order.path, value: row.value!, seq: row.seq }
    case 'sort':
      return placeOf(row, order.keys, view)
  }
}

/** Position of a document in a sort: only the values that the next page needs. */
export function placeOf(
  row: { readonly text: string },
  keys: readonly SortKey[],
  view: RecordView,
): SortPosition {
  const document = view.fields(row.text, fieldsOf(keys))
  return {
    by: 'sort',
    values: keys.map(({ path }) => shortestTied(valueAt(document, path))),
    id: document.get('_id')!,
  }
}

/** Root fields that a sort compares. */
export function fieldsOf(keys: readonly SortKey[]): ReadonlySet<string> {
  return new Set(['_id', ...keys.map(({ path }) => path.segments[0]!)])
}
