/**
 * Reads pages of one store, counts and searches.
 *
 * A read follows an access path and checks a condition (access-paths.ts, conditions.ts) document by
 * document. On the main thread its budget covers few documents; when it is exceeded (OverBudget),
 * the read restarts on a reader thread. There it has no limit, and checks between documents whether
 * it was aborted.
 */
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import type { Search } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { searchLexical } from './lexical-search.ts'
import { accessPathsOf, type AccessPath } from './access-paths.ts'
import { documentCost, planCost, type Budget } from '../store/budget.ts'
import { indexedPaths, isText } from './conditions.ts'
import { idBoundsOf } from './id-bounds.ts'
import { readSorted } from './sorted-reader.ts'
import { searchVectors, type SearchedVectors } from './vector-search.ts'
import { StoreLookup } from './store-lookup.ts'
import type { DocRow } from '../format/doc-row.ts'
import { wantedBy, type Result, type ScoredRows, type StoreQuery } from './store-query.ts'

export class StoreReader extends StoreLookup {
  /**
   * Must be called between `store.beginRead` and `store.endRead`. If the budget has to reserve
   * memory (`hold`), rows come without texts and search fields, which are read last.
   */
  read(query: StoreQuery, budget: Budget): Result {
    const result = this.#readById(query) ?? this.#readByQuery(query, budget)
    if (!query.withSearchFields || budget.hold !== undefined) return result
    return { ...result, rows: result.rows.map((row) => this.#withSearchFields(row)) }
  }

  #readByQuery(query: StoreQuery, budget: Budget): Result {
    this.begin()
    budget.spend(planCost(query.filter))
    const sort = sortOf(query)
    return sort.length > 0
      ? readSorted(this, { ...query, sort }, budget)
      : this.#readUnsorted(query, budget)
  }

  /** Counts matches, up to `stopAt`. */
  count(filter: Filter, stopAt: number, budget: Budget): number {
    if (filter.kind === 'and' && filter.of.length === 0)
      return Math.min(this.store.documentCount(), stopAt)
    this.begin()
    budget.spend(planCost(filter))
    const accessPath = this.#pathFor({ filter, stable: false, after: undefined }, budget)
    const known = this.accessPaths.count(accessPath)
    if (known !== undefined) return Math.min(known, stopAt)
    const rows = this.accessPaths.rows(accessPath, {
      filter,
      after: undefined,
      budget,
      countOnly: true,
    })
    return rows.take(stopAt).reduce((count) => count + 1, 0)
  }

  /** The best rows of a search, best first; like `read`, without texts if the budget has `hold`. */
  search(
    { by, filter: given, limit, withSearchFields, sizeMax, after }: Search,
    budget: Budget,
    vectors?: SearchedVectors,
  ): ScoredRows {
    this.begin()
    budget.spend(planCost(given))
    const filter = this.#withoutSelfEvident(given)
    const found: ScoredRows =
      by.kind === 'lexical'
        ? searchLexical(this, { ...by, filter, limit, sizeMax, after }, budget)
        : {
            hits: searchVectors(
              this,
              vectors!,
              { query: by.numbers, metric: vectors!.metric, filter, limit, sizeMax },
              budget,
            ),
          }
    if (!withSearchFields || budget.hold !== undefined) return found
    const hits = found.hits.map(({ row, score }) => {
      return { row: this.#withSearchFields(row), score }
    })
    return { ...found, hits }
  }

  #withSearchFields(row: DocRow): DocRow {
    return { ...row, search: this.searchFields(row.seq) }
  }

  /**
   * Removes the parts of a filter that all documents satisfy, since a search checks each candidate.
   */
  #withoutSelfEvident(filter: Filter): Filter {
    const parts = flatten(filter)
    const left = parts.filter((part) => !this.#holdsForAll(part))
    return left.length === parts.length ? filter : { kind: 'and', of: left }
  }

  /** Decided by counts in the store; false if unknown. */
  #holdsForAll(part: Filter): boolean {
    if (part.kind === 'and' || part.kind === 'or' || this.view.kind === 'row') return false
    const { text } = part.path
    if (isText(part)) return this.lexical(text).textCount === this.store.documentCount()
    if (part.kind !== 'exists' || !part.exists || text.startsWith('$')) return false
    if (indexedPaths(part.path).loose) return false
    return this.store.documentsWith(text) === this.store.documentCount()
  }

  /** Fast path for the commonest read: one document by its id. */
  #readById(query: StoreQuery): Result | undefined {
    const { filter, sort, after, skip } = query
    if (filter.kind !== 'eq' || filter.path.text !== '_id') return undefined
    if (after !== undefined || skip > 0) return undefined
    const found = this.store.rowById(filter.value)
    return {
      rows: found === undefined ? [] : [found],
      more: false,
      order: sort.length > 0 ? { by: 'sort', keys: sort } : { by: 'seq' },
      way: ways.ids,
    }
  }

  #readUnsorted(query: StoreQuery, budget: Budget): Result {
    const accessPath = this.#pathFor(query, budget)
    const { filter, after, skip, limit, sizeMax } = query
    if (query.textsOnly === true && skip === 0) {
      const joined = this.accessPaths.join(accessPath, after, limit, sizeMax)
      if (joined !== undefined) {
        const more = query.lookAhead !== false && joined.next !== undefined
        return { rows: [], joined, more, order: { by: 'seq' }, way: ways[accessPath.kind] }
      }
    }
    const wanted = wantedBy(query)
    const rows: DocRow[] = []
    // With a size limit, texts are read after the rows are known.
    const isTextless = sizeMax !== undefined || budget.hold !== undefined
    const search = { filter, after, budget, countOnly: isTextless }
    for (const row of this.accessPaths.rows(accessPath, search))
      if (rows.push(isTextless ? { ...row, text: '' } : row) === wanted) break
    const page = rows.slice(skip, skip + limit)
    const filled =
      sizeMax === undefined || budget.hold !== undefined
        ? page
        : this.#withTexts(page, sizeMax, budget)
    const isMore = query.lookAhead !== false && rows.length > skip + limit
    return {
      rows: filled,
      more: isMore || filled.length < page.length,
      order:
        accessPath.kind === 'range'
          ? { by: 'range', path: accessPath.range.pathText }
          : { by: 'seq' },
      way: ways[accessPath.kind],
    }
  }

  /** Adds texts to rows, up to the one that exceeds `sizeMax`. */
  #withTexts(rows: readonly DocRow[], sizeMax: number, budget: Budget): DocRow[] {
    const filled: DocRow[] = []
    let size = 0
    for (const { seq, value } of rows) {
      if (size > sizeMax) break
      budget.spend(documentCost)
      const row = this.row(seq, budget)
      size += row.text.length
      filled.push(value === undefined ? row : { ...row, value })
    }
    return filled
  }

  /** The smallest access path that a query can follow. */
  #pathFor(
    query: Pick<StoreQuery, 'filter' | 'stable' | 'after'>,
    budget: Budget,
  ): AccessPath {
    const accessPaths = this.#pathsFor(query)
    if (accessPaths.length > 1)
      return this.accessPaths.smallest(accessPaths, idsCountedMax, budget).accessPath
    return accessPaths[0] ?? { kind: 'all', rest: query.filter }
  }

  /**
   * The access paths that a query can follow. A stable read uses the order of document numbers, which
   * updates do not change. A later page keeps the order of the first.
   */
  #pathsFor(query: Pick<StoreQuery, 'filter' | 'stable' | 'after'>): AccessPath[] {
    const { filter, stable, after } = query
    const offered = accessPathsOf(filter, this.index)
    if (offered[0]?.kind === 'ids') return offered
    const accessPaths = offered.filter((accessPath) => {
      // A later page would be read in id order; this access path is only for counting.
      if (accessPath.kind === 'idRange') return after === undefined
      if (after?.by === 'range')
        return accessPath.kind === 'range' && accessPath.range.pathText === after.path
      return accessPath.kind !== 'range' || (!stable && after === undefined)
    })
    if (after?.by === 'range' && accessPaths.length === 0)
      throw new EngineError('position', 'the position belongs to another query')
    return accessPaths
  }
}

const ways: Readonly<Record<AccessPath['kind'], string>> = {
  all: 'scanning all',
  ids: '_id',
  idRange: 'a range of ids',
  keys: 'values in the index',
  terms: 'terms in the index',
  range: 'a range in the index',
}

/** Maximum ids that are counted one by one within bounds. */
const idsCountedMax = 8192

/** Reads without a sort go in id order when ids are bounded. */
function sortOf({ sort, filter, after }: StoreQuery): readonly SortKey[] {
  const isById = sort.length === 0 && idBoundsOf(filter).bounds !== undefined
  return isById && (after === undefined || after.by === 'sort') ? byId : sort
}

const byId: readonly SortKey[] = [
  { path: { text: '_id', segments: ['_id'] }, direction: 1 },
]
