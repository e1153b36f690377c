/** Presents stored records as rows of the contract. */
import { parseStoredInSteps } from '../../../json/parse.ts'
import { storedFields } from '../../../json/stored-fields.ts'
import type { JsonObject } from '../../../json/value.ts'
import type { Column, ColumnValue } from '../../../language/columns/column.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { Row } from '../../contract.ts'
import type { DocRow, RowFields } from './doc-row.ts'
import type { RowView, ShownColumns } from './row-view.ts'

export class ShownRow implements Row {
  readonly row: DocRow
  readonly #view: RowView
  readonly #shown: ShownColumns
  #fields: JsonObject | undefined

  constructor(row: DocRow, view: RowView, shown: ShownColumns) {
    this.row = row
    this.#view = view
    this.#shown = shown
  }

  get text(): string | undefined {
    return this.#shown.isWhole ? this.row.text.trimEnd() : undefined
  }

  get size(): number {
    return this.row.text.length
  }

  get unread() {
    const { text } = this.row
    return this.#fields === undefined && text.length > readAtOnceMax
      ? { text, steps: this.#read() }
      : undefined
  }

  *#read(): Steps<void> {
    this.#fields = (yield* parseStoredInSteps(this.row.text)) as JsonObject
  }

  get(column: Column): ColumnValue | undefined {
    if (this.#view.isBeside(column)) {
      const { vectors } = (this.row.search ?? {}) as RowFields
      return vectors?.get(this.#view.path(column).text)
    }
    this.#fields ??= storedFields(this.row.text, this.#shown.names)
    const { key, type } = this.#view.column(column)
    const stored = this.#fields.get(key)
    return stored === undefined ? undefined : this.#view.fieldKeys.named(type, stored)
  }
}

/** Maximum characters of a row that is parsed at once, in less than a tenth of a millisecond. */
const readAtOnceMax = 4_096
