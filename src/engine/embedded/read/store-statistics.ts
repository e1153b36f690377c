/**
 * The counts of one store, in the snapshot of a read. A count that needs an index lookup is charged
 * to the read's budget.
 */
import type { LexicalReader } from '../lexical/reader.ts'
import type { Tie } from '../format/entry-key.ts'
import type { EntryRange } from '../runs/runs-reader.ts'
import type { Budget } from '../store/budget.ts'
import type { StoreConnection } from '../store/store-connection.ts'
import type { RecordView } from '../../record-view.ts'
import type { Bounds } from './bounds.ts'
import { boundsSql } from './id-bounds.ts'
import type { Statistics } from './statistics.ts'

/** The parts of a store from which statistics are read. */
interface Counted {
  readonly store: StoreConnection
  readonly view: RecordView
  lexical(path: string): LexicalReader
}

export class StoreStatistics implements Statistics {
  readonly #counted: Counted
  readonly #budget: Budget
  #documents: number | undefined

  constructor(counted: Counted, budget: Budget) {
    this.#counted = counted
    this.#budget = budget
  }

  get tie(): Tie {
    return this.#counted.view.kind === 'row' ? 'id' : 'doc'
  }

  pathId(path: string): number | 'absent' | 'unindexed' {
    const { view, store } = this.#counted
    return view.covers(path) ? store.pathId(path) : 'unindexed'
  }

  documents(): number {
    return (this.#documents ??= this.#counted.store.documentCount())
  }

  documentsWith(path: string): number {
    return this.#counted.store.documentsWith(path)
  }

  entriesOf(path: number, value: Uint8Array): number {
    this.#budget.spend(1)
    return this.#counted.store.entries.countValue(path, value)
  }

  entriesWithin(range: EntryRange, max: number): number {
    this.#budget.spend(1)
    return this.#counted.store.entries.countRange(range, max)
  }

  idsWithin(bounds: Bounds, max: number): number {
    this.#budget.spend(1)
    const { sql, parameters } = boundsSql(bounds)
    const counted = `SELECT count(*) FROM (SELECT 1 FROM doc d WHERE ${sql} LIMIT ?)`
    return Number(this.#counted.store.one(counted, [...parameters, max])![0])
  }

  documentsWithTerms(path: string, terms: readonly string[]): number {
    this.#budget.spend(1)
    return this.#counted.lexical(path).sizeMax(terms)
  }
}
