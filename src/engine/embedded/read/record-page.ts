/** Converts results of a store to pages and records of the engine contract. */
import type { Value } from '../../../json/value.ts'
import type {
  Joined,
  Page,
  Position,
  SearchFields,
  StoredRecord,
  Write,
} from '../../contract.ts'
import type { RecordView } from '../../record-view.ts'
import { encodePosition } from '../format/position.ts'
import { positionOf } from './sort-position.ts'
import type { DocRow } from '../format/doc-row.ts'
import type { RowCache, RowChange, OnSettled } from '../store/row-cache.ts'
import type { Result } from './result.ts'

/** A page of documents or rows, made from stored rows by `make`. */
export class RecordPage<Item extends { readonly row: DocRow }> implements Page<Item> {
  readonly records: readonly Item[]
  readonly joined: Joined | undefined
  readonly served = { filter: true, sort: true }
  readonly next: Position | undefined
  readonly #order: Result['order']
  readonly #view: RecordView

  constructor(
    { rows, joined, more, order }: Result,
    view: RecordView,
    make: (row: DocRow, view: RecordView) => Item,
  ) {
    this.joined = joined?.joined
    this.records = rows.map((row) => make(row, view))
    this.#order = order
    this.#view = view
    const last = this.records.at(-1)
    if (!more) this.next = undefined
    else if (joined?.next !== undefined) this.next = encodePosition(joined.next)
    else this.next = last === undefined ? undefined : this.positionAfter(last)
  }

  positionAfter({ row }: Item): Position {
    return encodePosition(positionOf(row, this.#order, this.#view))
  }
}

export class EmbeddedRecord implements StoredRecord {
  readonly row: DocRow
  readonly search?: SearchFields
  readonly #view: RecordView
  #id: Value | undefined

  constructor(row: DocRow, view: RecordView) {
    this.row = row
    this.#view = view
    if (row.search !== undefined) this.search = row.search
  }

  /** Parsed from the text on demand: most find commands forward the text without parsing it. */
  get id(): Value {
    return (this.#id ??= this.#view.idOf(this.row.text))
  }

  get text(): string {
    return this.row.text
  }

  get version(): number {
    return this.row.version
  }
}

/** The document number of a record; undefined for a record that this engine did not create. */
export function seqOf(record: StoredRecord): number | undefined {
  return record instanceof EmbeddedRecord ? record.row.seq : undefined
}

/** Invalidates cached rows before writes change them. */
export function invalidateRows(writes: readonly Write[], cache: RowCache): OnSettled {
  const changes: (RowChange | undefined)[] = []
  for (const write of writes) {
    if (write.kind === 'insert') {
      changes.push(undefined)
      continue
    }
    const seq = seqOf(write.before)
    if (seq === undefined) return cache.invalidateAll()
    const after = write.kind === 'replace' ? write.after : undefined
    const isAlone = after !== undefined && isEmpty(after.search)
    const { id } = write.before
    changes.push({
      seq,
      id: typeof id === 'string' ? id : undefined,
      text: after?.text,
      isAlone,
    })
  }
  return cache.invalidate(changes)
}

function isEmpty({ vector, vectorize, lexical }: SearchFields): boolean {
  return vector === undefined && vectorize === undefined && lexical === undefined
}
