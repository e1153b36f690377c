/**
 * The records of one store, through its own connection: by number, by access path, and by parsing
 * them. Reads, sorts and searches build on it.
 */
import type { JsonObject } from '../../../json/value.ts'
import { rootFields, type Filter } from '../../../language/filters/filter.ts'
import { matchesInSteps } from '../../../language/filters/matches.ts'
import { searchFieldsSeen, type RecordView } from '../../record-view.ts'
import { LexicalReader } from '../lexical/reader.ts'
import { AccessPathReader } from './access-path-reader.ts'
import { accessPathsOf, type AccessPath } from './access-paths.ts'
import { matchCost, spending, textCost, type Budget } from '../store/budget.ts'
import { conditionOf, costOf, type Index } from './conditions.ts'
import type { RowCache } from '../store/row-cache.ts'
import type { DocRow } from '../format/doc-row.ts'
import { StoreConnection } from '../store/store-connection.ts'

export class StoreLookup {
  readonly store: StoreConnection
  readonly index: Index
  #view: RecordView
  readonly accessPaths: AccessPathReader
  /** Readers of term indexes by field suffix. */
  readonly #lexical = new Map<string, LexicalReader>()

  constructor(file: string, view: RecordView, rowCache?: RowCache) {
    this.store = new StoreConnection(file, rowCache)
    this.#view = view
    this.index = this.#makeIndex()
    this.accessPaths = new AccessPathReader(this.index, {
      lexical: (path) => this.lexical(path),
      matches: (filter, row, budget) => this.matches(filter, row, budget),
    })
  }

  /** How records are seen; replaced when the target's schema changes. */
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

  #makeIndex(): Index {
    const pathId = (path: string) =>
      this.#view.covers(path) ? this.store.pathId(path) : 'unindexed'
    const { store } = this
    return { pathId, tie: this.#view.kind === 'row' ? 'id' : 'doc', store }
  }

  /** Must be called before reading a new snapshot of the store. */
  begin(): void {
    for (const reader of this.#lexical.values()) reader.begin()
  }

  /** The row of a document; without its text when texts are read last. */
  row(seq: number, budget: Budget): DocRow {
    if (budget.hold !== undefined) return bare(seq)
    const row = this.store.row(seq)
    budget.spend(textCost(row.text))
    return row
  }

  /** Document numbers of all matches of a selective filter, sorted. */
  allNumbers(filter: Filter, accessPath: AccessPath, budget: Budget): Float64Array {
    const search = { filter, after: undefined, budget, countOnly: true }
    const seqs: number[] = []
    for (const { seq } of this.accessPaths.rows(accessPath, search)) seqs.push(seq)
    return Float64Array.from(seqs).sort()
  }

  /** The access path with the fewest documents, if fewer than `max`. */
  selectivePath(filter: Filter, max: number, budget: Budget): AccessPath | undefined {
    const best = this.smallestPath(filter, max, budget)
    return best !== undefined && best.size < max ? best.accessPath : undefined
  }

  /** The access path with the fewest documents and its size. Expensive counts stop at `max`. */
  smallestPath(
    filter: Filter,
    max: number,
    budget: Budget,
  ): { accessPath: AccessPath; size: number } | undefined {
    const accessPaths = accessPathsOf(filter, this.index)
    return accessPaths.length === 0
      ? undefined
      : this.accessPaths.smallest(accessPaths, max, budget)
  }

  /** A function that looks up a document and returns its row if it matches. */
  lookup(
    filter: Filter,
    withTexts: boolean,
    budget: Budget,
  ): (seq: number) => DocRow | undefined {
    const condition = conditionOf(filter, this.index)
    const { holds, exact } = condition
    const cost = costOf(condition)
    return (seq) => {
      budget.spend(cost)
      const candidate = { seq, id: () => this.store.idOf(seq) }
      if (!holds(candidate)) return undefined
      if (exact && !withTexts) return this.store.has(seq) ? bare(seq) : undefined
      const row = this.store.findRow(seq)
      if (row === undefined) return undefined
      budget.spend(textCost(row.text))
      return exact || this.matches(filter, row, budget) ? row : undefined
    }
  }

  /**
   * Whether a row matches, decided by parsing the document. Spends budget between steps as well:
   * reading the text was charged, but comparing long arrays and objects can take longer.
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

/** A row with only its number. */
export function bare(seq: number): DocRow {
  return { seq, version: 0, text: '' }
}
