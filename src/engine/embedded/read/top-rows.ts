/** Collects the first rows in the order of a sort. */
import type { JsonObject, Value } from '../../../json/value.ts'
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

/** A row's number, and the values that it is sorted by; _id is the last. */
interface Placed {
  readonly seq: number
  readonly values: readonly (Value | undefined)[]
}

/** Minimum number of rows to collect before they are sorted together with the best rows so far. */
const collectedMin = 512

export class TopRows {
  readonly #keys: readonly SortKey[]
  /** Directions of the sort keys, and of the _id that breaks ties. */
  readonly #directions: readonly (1 | -1)[]
  readonly #after: Placed['values'] | undefined
  readonly #view: RecordView
  readonly #fields: ReadonlySet<string>
  readonly #budget: Budget
  readonly #pace = new Pace()
  #best: readonly Placed[] = []
  #collected: Placed[] = []

  /** With `after`, only rows after that position are kept. */
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

  /** Adds a row that may be among the first `count` rows. */
  add(row: DocRow, count: number): void {
    const fields = this.fieldsIn(row)
    const values = this.#keys.map(({ path }) => valueAt(fields, path))
    values.push(fields.get('_id'))
    if (
      this.#collected.push({ seq: row.seq, values }) >= Math.max(collectedMin, count >> 1)
    )
      this.#sort(count)
  }

  /** Removes all rows, and returns the document numbers of the first `count` rows in order. */
  take(count: number): number[] {
    this.#sort(count)
    const best = this.#best
    this.#best = []
    return best.map(({ seq }) => seq)
  }

  #sort(count: number): void {
    const compare = (a: Placed['values'], b: Placed['values']) =>
      compareLists(a, b, this.#directions, this.#pace)
    const after = this.#after
    const behind =
      after === undefined
        ? this.#collected
        : this.#collected.filter(({ values }) => compare(values, after) > 0)
    this.#collected = []
    const rows = [...this.#best, ...behind]
    const sorting = sortInSteps(rows, (a, b) => compare(a.values, b.values), this.#pace)
    this.#best = spending(sorting, this.#budget).slice(0, count)
  }
}
