/** Rows of tables, implemented on top of records. */
import { ownCaller, type Caller } from '../../../caller/caller.ts'
import type { KeyConditions } from '../../../language/columns/key-conditions.ts'
import type { RowFilter } from '../../../language/columns/row-filter.ts'
import { andThen, inTurns } from '../../../runtime/steps.ts'
import type {
  MergeOptions,
  MergeOutcome,
  RowMerge,
  RowPage,
  RowQuery,
  RowSearch,
  RowSearchResult,
} from '../../contract.ts'
import type { Table } from '../../schema.ts'
import type { StoredTable } from '../schema/stored-schema.ts'
import type { OpenStore } from './open-stores.ts'
import { RecordPage } from '../read/record-page.ts'
import type { RecordReads } from './record-reads.ts'
import type { Writing } from './record-writes.ts'
import { rowViewOf } from '../format/views.ts'
import type { Deletion, IdRange, WriteOutcome, Written } from '../write/write-batch.ts'
import { pieceSize, sizeOfMerges } from '../write/write-pieces.ts'
import type { Writer } from '../write/writer.ts'
import { deletedRanges } from '../write/deleted-ranges.ts'
import { packMerges } from '../write/pack-merges.ts'
import { recordQuery, recordSearch } from './record-query.ts'
import { recordFilter } from '../format/row-filter.ts'
import type { RowView } from '../format/row-view.ts'
import { ShownRow } from '../format/shown-row.ts'

/** Access to tables and to their writes. */
export interface Tables {
  write(
    table: Table,
    writing: Writing,
    act: (store: OpenStore) => Promise<Written>,
  ): Promise<readonly WriteOutcome[]>
  /** The stored form of a table. Throws when it was dropped or has another schema. */
  stored(table: Table): StoredTable
}

export class Rows {
  readonly #records: RecordReads
  readonly #writer: Writer
  readonly #tables: Tables

  constructor(records: RecordReads, writer: Writer, tables: Tables) {
    this.#records = records
    this.#writer = writer
    this.#tables = tables
  }

  read(table: Table, query: RowQuery, caller: Caller): RowPage | Promise<RowPage> {
    const stored = this.#tables.stored(table)
    const view = rowViewOf(stored)
    const shown = view.shown(query.columns, query.needed)
    const result = this.#records.read(stored, recordQuery(query, view), caller)
    return andThen(
      result,
      (rows) => new RecordPage(rows, view, (row) => new ShownRow(row, view, shown)),
    )
  }

  async count(
    table: Table,
    filter: RowFilter,
    stopAt: number,
    caller: Caller,
  ): Promise<number> {
    const stored = this.#tables.stored(table)
    const onRecords = recordFilter(filter, rowViewOf(stored))
    return this.#records.count(stored, onRecords, stopAt, caller)
  }

  async search(table: Table, search: RowSearch, caller: Caller): Promise<RowSearchResult> {
    const stored = this.#tables.stored(table)
    const view = rowViewOf(stored)
    const shown = view.shown(search.columns, search.needed)
    const onRecords = recordSearch(search, view)
    const { hits, statistics } = await this.#records.search(stored, onRecords, caller)
    const found = hits.map(({ row, score }) => {
      return { record: new ShownRow(row, view, shown), score }
    })
    return { hits: found, statistics }
  }

  async merge(
    table: Table,
    merges: readonly RowMerge[],
    { ordered = false, caller = ownCaller(), sizeMax }: MergeOptions,
  ): Promise<readonly MergeOutcome[]> {
    const writing = { caller, size: sizeOfMerges(merges) }
    const outcomes = await this.#tables.write(table, writing, async (store) => {
      caller.check()
      for (;;) {
        // `writeView` includes an index that is being built.
        const view = store.writeView as RowView
        const packing = packMerges(merges, view, { ordered, sizeMax })
        const batch = inTurns(packing, caller)
        if (!(batch instanceof Promise)) return this.#writer.merge(store.file, batch, view)
        const packed = await batch
        // The event loop ran while the batch was packed: the table may have been dropped, or the
        // build of an index may have started.
        this.#tables.stored(table)
        if (store.writeView === view) return this.#writer.merge(store.file, packed, view)
      }
    })
    return outcomes as readonly MergeOutcome[]
  }

  async delete(table: Table, conditions: KeyConditions, caller: Caller): Promise<void> {
    const { groups, filter } = deletedRanges(
      conditions,
      rowViewOf(this.#tables.stored(table)),
    )
    for (const group of groups)
      for (let left: readonly IdRange[] = group; left.length > 0;) {
        caller.check()
        left = await this.#deleteSome(table, { ranges: left, filter }, caller)
      }
  }

  /** Deletes some of the rows. Returns the ranges that may still have rows to delete. */
  async #deleteSome(
    table: Table,
    deletion: Deletion,
    caller: Caller,
  ): Promise<readonly IdRange[]> {
    let left: readonly IdRange[] = []
    const writing = { caller, size: pieceSize }
    await this.#tables.write(table, writing, async ({ file, writeView }) => {
      const view = writeView as RowView
      const written = await this.#writer.deleteRows(file, deletion, view)
      left = written.left ?? []
      return written
    })
    return left
  }
}
