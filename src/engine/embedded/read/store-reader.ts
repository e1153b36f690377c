/**
 * Reads pages of one store, counts and searches in it.
 *
 * A page is read by a lead and a condition (access-paths.ts, conditions.ts), document by
 * document: on the thread that answers requests a read may look at few before it gives up
 * (OverBudget) and starts again on a reading thread, which looks at as many as it needs and
 * sees between them whether it is still wanted.
 */
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import type { Search } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { searchLexical } from './lexical-search.ts'
import { leadsOf, type Lead } from './access-paths.ts'
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
   * Between `store.beginRead` and `store.endRead`. Where the budget has to be asked before
   * anything large is kept, rows come as they were found: without what is read last.
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

  /** Counts matches, giving up counting at `stopAt`. */
  count(filter: Filter, stopAt: number, budget: Budget): number {
    if (filter.kind === 'and' && filter.of.length === 0)
      return Math.min(this.store.documentCount(), stopAt)
    this.begin()
    budget.spend(planCost(filter))
    const lead = this.#leadFor({ filter, stable: false, after: undefined }, budget)
    const known = this.leads.count(lead)
    if (known !== undefined) return Math.min(known, stopAt)
    const rows = this.leads.rows(lead, {
      filter,
      after: undefined,
      budget,
      countOnly: true,
    })
    return rows.take(stopAt).reduce((count) => count + 1, 0)
  }

  /** The best rows of a search, best first; as they were found, where `read` does that. */
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

  /** A filter without what every document has, which a search would ask of each it meets. */
  #withoutSelfEvident(filter: Filter): Filter {
    const parts = flatten(filter)
    const left = parts.filter((part) => !this.#holdsForAll(part))
    return left.length === parts.length ? filter : { kind: 'and', of: left }
  }

  /** As far as the store's own counts tell. */
  #holdsForAll(part: Filter): boolean {
    if (part.kind === 'and' || part.kind === 'or' || this.view.kind === 'row') return false
    const { text } = part.path
    if (isText(part)) return this.lexical(text).textCount === this.store.documentCount()
    if (part.kind !== 'exists' || !part.exists || text.startsWith('$')) return false
    if (indexedPaths(part.path).loose) return false
    return this.store.documentsWith(text) === this.store.documentCount()
  }

  /** The commonest read of all: one document by its id, and nothing else asked. */
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
    const lead = this.#leadFor(query, budget)
    const { filter, after, skip, limit, sizeMax } = query
    if (query.textsOnly === true && skip === 0) {
      const joined = this.leads.join(lead, after, limit, sizeMax)
      if (joined !== undefined) {
        const more = query.lookAhead !== false && joined.next !== undefined
        return { rows: [], joined, more, order: { by: 'seq' }, way: ways[lead.kind] }
      }
    }
    const wanted = wantedBy(query)
    const rows: DocRow[] = []
    // Where texts may be too many, they are read once it is known whose.
    const isTextless = sizeMax !== undefined || budget.hold !== undefined
    const search = { filter, after, budget, countOnly: isTextless }
    for (const row of this.leads.rows(lead, search))
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
        lead.kind === 'range' ? { by: 'range', path: lead.range.pathText } : { by: 'seq' },
      way: ways[lead.kind],
    }
  }

  /** Rows and their texts, up to the one by which these are enough. */
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

  /** The best lead that a query can follow. */
  #leadFor(query: Pick<StoreQuery, 'filter' | 'stable' | 'after'>, budget: Budget): Lead {
    const leads = this.#leadsFor(query)
    if (leads.length > 1) return this.leads.smallest(leads, idsCountedMax, budget).lead
    return leads[0] ?? { kind: 'all', rest: query.filter }
  }

  /**
   * The leads that a query can follow. A stable read goes by the documents' numbers, which
   * no update changes; a page that continues another keeps that one's order.
   */
  #leadsFor(query: Pick<StoreQuery, 'filter' | 'stable' | 'after'>): Lead[] {
    const { filter, stable, after } = query
    const offered = leadsOf(filter, this.index)
    if (offered[0]?.kind === 'ids') return offered
    const leads = offered.filter((lead) => {
      // Then the page would be read in the order of the ids; here they are counted.
      if (lead.kind === 'idRange') return after === undefined
      if (after?.by === 'range')
        return lead.kind === 'range' && lead.range.pathText === after.path
      return lead.kind !== 'range' || (!stable && after === undefined)
    })
    if (after?.by === 'range' && leads.length === 0)
      throw new EngineError('position', 'the position belongs to another query')
    return leads
  }
}

const ways: Readonly<Record<Lead['kind'], string>> = {
  all: 'looking at all',
  ids: '_id',
  idRange: 'a range of ids',
  keys: 'values in the index',
  terms: 'terms in the index',
  range: 'a range in the index',
}

/** Ids within bounds are counted one by one, up to so many. */
const idsCountedMax = 8192

/** Where nobody cares for the order and ids are bounded, theirs is the one to go by. */
function sortOf({ sort, filter, after }: StoreQuery): readonly SortKey[] {
  const isById = sort.length === 0 && idBoundsOf(filter).bounds !== undefined
  return isById && (after === undefined || after.by === 'sort') ? byId : sort
}

const byId: readonly SortKey[] = [
  { path: { text: '_id', segments: ['_id'] }, direction: 1 },
]
