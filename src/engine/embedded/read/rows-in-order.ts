/** Sorts rows by the sort's fields. */
import type { JsonObject } from '../../../json/value.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import { compareLists } from '../../../language/values/order.ts'
import { valueAt } from '../../../language/values/value-at.ts'
import { sortInSteps } from '../../../runtime/sort-in-steps.ts'
import { Pace } from '../../../runtime/steps.ts'
import type { RecordView } from '../../record-view.ts'
import type { DocRow } from '../format/doc-row.ts'
import type { SortPosition } from '../format/position.ts'
import { spending, type Budget } from '../store/budget.ts'
import { fieldsOf } from './sort-position.ts'
import type { Placed } from './value-groups.ts'

export class RowsInOrder {
  readonly #keys: readonly SortKey[]
  /** Directions of the sort keys, and of the _id that breaks ties. */
  readonly #directions: readonly (1 | -1)[]
  readonly #after: Placed['values'] | undefined
  readonly #view: RecordView
  readonly #fields: ReadonlySet<string>
  readonly #budget: Budget
  readonly #pace = new Pace()

  /** With `after`, only rows behind that position are kept. */
  constructor(
    keys: readonly SortKey[],
    after: SortPosition | undefined,
    view: RecordView,
    budget: Budget,
  ) {
    this.#keys = keys
    this.#directions = [...keys.map(({ direction }) => direction), 1]
    this.#after = after && [...after.values, after.id]
    this.#view = view
    this.#fields = fieldsOf(keys)
    this.#budget = budget
  }

  /** The fields that the sort compares. */
  fieldsIn({ text }: DocRow): JsonObject {
    return this.#view.fields(text, this.#fields)
  }

  placed(row: DocRow): Placed {
    const fields = this.fieldsIn(row)
    const values = this.#keys.map(({ path }) => valueAt(fields, path))
    values.push(fields.get('_id'))
    return { seq: row.seq, version: row.version, text: '', values }
  }

  /** The first `count` rows in order. */
  first(rows: readonly Placed[], count: number): Placed[] {
    const compare = (a: Placed['values'], b: Placed['values']) =>
      compareLists(a, b, this.#directions, this.#pace)
    const after = this.#after
    const behind =
      after === undefined ? rows : rows.filter(({ values }) => compare(values, after) > 0)
    const sorting = sortInSteps(behind, (a, b) => compare(a.values, b.values), this.#pace)
    return spending(sorting, this.#budget).slice(0, count)
  }
}
