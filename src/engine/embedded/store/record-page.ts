/** Rows of a store as the records that the contract knows. */
import type { Value } from '../../../json/value.ts'
import type { Joined, Page, Position, SearchFields, StoredRecord } from '../../contract.ts'
import type { RecordView } from '../../record-view.ts'
import { encodePosition, type Place } from './position.ts'
import { placeOf } from '../plan/sort-position.ts'
import type { Row } from './store-connection.ts'
import type { Result } from './store-query.ts'

export class EmbeddedPage implements Page {
  readonly records: readonly EmbeddedRecord[]
  readonly joined: Joined | undefined
  readonly served = { filter: true, sort: true }
  readonly next: Position | undefined
  readonly way: string
  readonly #order: Result['order']
  readonly #view: RecordView

  constructor({ rows, joined, more, order, way }: Result, view: RecordView) {
    this.way = way
    this.joined = joined?.joined
    this.records = rows.map((row) => new EmbeddedRecord(row, view))
    this.#order = order
    this.#view = view
    const last = this.records.at(-1)
    if (!more) this.next = undefined
    else if (joined?.next !== undefined) this.next = encodePosition(joined.next)
    else this.next = last === undefined ? undefined : this.positionAfter(last)
  }

  positionAfter(record: StoredRecord): Position {
    return encodePosition(this.#placeOf((record as EmbeddedRecord).row))
  }

  #placeOf(row: Row): Place {
    switch (this.#order.by) {
      case 'seq':
        return { by: 'seq', seq: row.seq }
      case 'range':
        return { by: 'range', path: this.#order.path, value: row.value!, seq: row.seq }
      case 'sort':
        return placeOf(row, this.#order.keys, this.#view)
    }
  }
}

export class EmbeddedRecord implements StoredRecord {
  readonly row: Row
  readonly #view: RecordView

  constructor(row: Row, view: RecordView) {
    this.row = row
    this.#view = view
  }

  /** Read from the text when it is asked for: most finds pass the text on unread. */
  get id(): Value {
    return this.#view.idOf(this.row.text)
  }

  get text(): string {
    return this.row.text
  }

  get version(): number {
    return this.row.version
  }

  get search(): SearchFields {
    return this.row.search ?? {}
  }
}
