/** Puts rows in the order of a sort, by what it looks at of them. */
import type { JsonObject } from '../../../json/value.ts'
import type { SortKey } from '../../../language/sorts/sort.ts'
import { compareBy } from '../../../language/values/order.ts'
import type { RecordView } from '../../record-view.ts'
import type { DocRow } from '../store/doc-row.ts'
import type { SortPosition } from '../store/position.ts'
import { fieldsOf, isAfter } from './sort-position.ts'
import type { Placed } from './value-groups.ts'

export class RowsInOrder {
  readonly #keys: readonly SortKey[]
  readonly #after: SortPosition | undefined
  readonly #view: RecordView
  readonly #fields: ReadonlySet<string>

  /** Those that come after a position, if there is one. */
  constructor(keys: readonly SortKey[], after: SortPosition | undefined, view: RecordView) {
    this.#keys = keys
    this.#after = after
    this.#view = view
    this.#fields = fieldsOf(keys)
  }

  /** What the sort looks at. */
  fieldsIn({ text }: DocRow): JsonObject {
    return this.#view.fields(text, this.#fields)
  }

  placed(row: DocRow): Placed {
    return { seq: row.seq, version: row.version, text: '', fields: this.fieldsIn(row) }
  }

  /** The first of some, at most so many. */
  first(rows: readonly Placed[], count: number): Placed[] {
    const after = this.#after
    const compare = compareBy(this.#keys)
    return rows
      .filter(({ fields }) => after === undefined || isAfter(fields, after, this.#keys))
      .sort((a, b) => compare(a.fields, b.fields))
      .slice(0, count)
  }
}
