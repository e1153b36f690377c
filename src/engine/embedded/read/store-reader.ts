/**
 * Reads pages of one store, counts matches and searches.
 *
 * A read is planned by counts of index entries (plan.ts), and then executed (execute.ts). On the
 * main thread, the budget of a read covers few documents. A read that exceeds it (OverBudget)
 * restarts on a reader thread. There the budget has no limit, but ends the read if it was aborted.
 */
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import type { Search } from '../../contract.ts'
import type { DocRow } from '../format/doc-row.ts'
import { planCost, type Budget } from '../store/budget.ts'
import { isText } from './checks.ts'
import { indexedPaths } from './indexed-paths.ts'
import { countMatches, execute } from './execute.ts'
import { searchLexical } from './lexical-search.ts'
import { planCount, planRead } from './plan.ts'
import { StoreLookup } from './store-lookup.ts'
import type { CountResult, Result } from './result.ts'
import type { ScoredRows, StoreQuery } from './store-query.ts'
import { searchVectors, type SearchedVectors } from './vector-search.ts'

export class StoreReader extends StoreLookup {
  /**
   * Reads a page. Must be called between `store.beginRead` and `store.endRead`. If the budget has
   * to reserve memory (`hold`), rows are returned without texts and search fields, and the caller
   * reads these later.
   */
  read(query: StoreQuery, budget: Budget): Result {
    this.begin()
    budget.spend(planCost(query.filter))
    const plan = planRead(query, this.statistics(budget))
    const result = execute(plan, query, this, budget)
    if (!query.withSearchFields || budget.hold !== undefined) return result
    return { ...result, rows: result.rows.map((row) => this.#withSearchFields(row)) }
  }

  /** Counts matches, up to `stopAt`. */
  count(filter: Filter, stopAt: number, budget: Budget): CountResult {
    this.begin()
    budget.spend(planCost(filter))
    const plan = planCount(filter, this.statistics(budget))
    return countMatches(plan, stopAt, this, budget)
  }

  /** The best rows of a search, best first; without texts if the budget has `hold`, like `read`. */
  search(search: Search, budget: Budget, vectors?: SearchedVectors): ScoredRows {
    const { by, filter: given, limit, withSearchFields, sizeMax, scoreMin } = search
    const { after, statistics } = search
    this.begin()
    budget.spend(planCost(given))
    const filter = this.#withoutSelfEvident(given)
    const found: ScoredRows =
      by.kind === 'lexical'
        ? searchLexical(this, { ...by, filter, limit, sizeMax, after, statistics }, budget)
        : {
            hits: searchVectors(
              this,
              vectors!,
              {
                query: by.numbers,
                metric: vectors!.metric,
                filter,
                limit,
                sizeMax,
                scoreMin,
              },
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

  /**
   * Whether all documents satisfy a part of the filter, decided by counts in the store; false if
   * unknown.
   */
  #holdsForAll(part: Filter): boolean {
    if (part.kind === 'and' || part.kind === 'or' || this.view.kind === 'row') return false
    const { text } = part.path
    if (isText(part)) return this.lexical(text).textCount === this.store.documentCount()
    if (part.kind !== 'exists' || !part.exists || text.startsWith('$')) return false
    if (indexedPaths(part.path).loose) return false
    return this.store.documentsWith(text) === this.store.documentCount()
  }
}
