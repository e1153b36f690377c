/**
 * The records of one store, read through its own connection: finds them by number, parses them, and
 * matches them with filters. Reads and searches build on it.
 */
import type { JsonObject } from '../../../json/value.ts'
import { rootFields, type Filter } from '../../../language/filters/filter.ts'
import { matchesInSteps } from '../../../language/filters/matches.ts'
import { searchFieldsSeen, type RecordView } from '../../record-view.ts'
import { LexicalReader } from '../lexical/reader.ts'
import { bare, type DocRow } from '../format/doc-row.ts'
import { matchCost, spending, textCost, type Budget } from '../store/budget.ts'
import type { RowCache } from '../store/row-cache.ts'
import { StoreConnection } from '../store/store-connection.ts'
import { checksOf, costOf } from './checks.ts'
import { listRange, conditionOf } from './conditions.ts'
import { StoreStatistics } from './store-statistics.ts'

export class StoreLookup {
  readonly store: StoreConnection
  #view: RecordView
  /** Readers of term indexes by field suffix. */
  readonly #lexical = new Map<string, LexicalReader>()

  constructor(file: string, view: RecordView, rowCache?: RowCache) {
    this.store = new StoreConnection(file, rowCache)
    this.#view = view
  }

  /** Decodes the stored texts of records; replaced when the target's schema changes. */
  get view(): RecordView {
    return this.#view
  }

  set view(view: RecordView) {
    this.#view = view
    this.#lexical.clear()
  }

  setCache(kilobytes: number): void {
    this.store.setCache(kilobytes)
  }

  close(): void {
    this.store.close()
  }

  /** The term index of a path. */
  lexical(path: string): LexicalReader {
    const { suffix } = this.#view.texts.get(path)!
    let reader = this.#lexical.get(suffix)
    if (reader === undefined)
      this.#lexical.set(suffix, (reader = new LexicalReader(this.store, suffix)))
    return reader
  }

  /** The search fields of a document, which are stored beside its text. */
  searchFields(seq: number): NonNullable<DocRow['search']> {
    if (this.#view.kind === 'document') return this.store.searchFields(seq)
    const vectors = new Map<string, Float32Array>()
    for (const [path, { suffix }] of this.#view.vectors) {
      const vector = this.store.vectorOf(seq, suffix)
      if (vector !== undefined) vectors.set(path, vector)
    }
    return { vectors }
  }

  /** Approximate size of the search fields in bytes. */
  searchSize(seq: number): number {
    if (this.#view.kind === 'document') return this.store.searchSize(seq)
    const dimensions = [...this.#view.vectors.values()].map(({ dimension }) => dimension)
    return dimensions.reduce((sum, dimension) => sum + 8 * dimension, 0)
  }

  /** Counts for planning, charged to the budget. */
  statistics(budget: Budget): StoreStatistics {
    return new StoreStatistics(this, budget)
  }

  /** Prepares for a new snapshot of the store. Must be called before the first read in it. */
  begin(): void {
    for (const reader of this.#lexical.values()) reader.begin()
  }

  /** The row of a document; without its text if texts are read later (`budget.hold`). */
  row(seq: number, budget: Budget): DocRow {
    if (budget.hold !== undefined) return bare({ seq })
    const row = this.store.row(seq)
    budget.spend(textCost(row.text))
    return row
  }

  /** Returns a function that looks up a document, and returns its row if the document matches. */
  lookup(
    filter: Filter,
    withTexts: boolean,
    budget: Budget,
  ): (seq: number) => DocRow | undefined {
    const { check, document } = checksOf(filter, this.statistics(budget))
    const { holds } = conditionOf(check, this.store, (range) =>
      listRange(range, this.store, budget),
    )
    const cost = costOf(check)
    return (seq) => {
      budget.spend(cost)
      if (!holds({ seq, id: () => this.store.idOf(seq) })) return undefined
      if (document === undefined && !withTexts)
        return this.store.has(seq) ? bare({ seq }) : undefined
      const row = this.store.findRow(seq)
      if (row === undefined) return undefined
      budget.spend(textCost(row.text))
      return document === undefined || this.matches(document, row, budget) ? row : undefined
    }
  }

  /**
   * Whether a row matches, decided by parsing the document. Charges steps of the comparison to the
   * budget as well, because comparing long arrays and objects can take longer than reading the
   * text.
   */
  matches(filter: Filter, row: DocRow, budget: Budget): boolean {
    budget.spend(matchCost(filter))
    const document = this.#documentToMatch(filter, row)
    const answer = matchesInSteps(filter, document, (terms, path) => {
      budget.spend(terms.length)
      return this.lexical(path).has(row.seq, terms)
    })
    return typeof answer === 'boolean' ? answer : spending(answer, budget)
  }

  #documentToMatch(filter: Filter, row: DocRow): JsonObject {
    const names = rootFields(filter)
    const document = this.#view.see(row.text, names)
    if (![...names].some((name) => name.startsWith('$'))) return document
    const search = this.store.searchFields(row.seq)
    for (const [name, value] of searchFieldsSeen({ search })) document.set(name, value)
    return document
  }
}
