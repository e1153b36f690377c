/** Places in a sort: what of a document the next page needs to go on after it. */
import { valueAt } from '../../../language/values/value-at.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import { shortestTied } from '../../../language/sorts/sort-place.ts'
import type { RecordView } from '../../record-view.ts'
import type { SortPosition } from '../format/position.ts'

/** Where a document stands in a sort: the part of it that the next page needs. */
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

/** The root fields that a sort looks at. */
export function fieldsOf(keys: readonly SortKey[]): ReadonlySet<string> {
  return new Set(['_id', ...keys.map(({ path }) => path.segments[0]!)])
}
