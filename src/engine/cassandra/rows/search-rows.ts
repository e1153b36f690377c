/**
 * Searches rows. A search by terms uses our own index (postings.ts) or that of the cluster. A
 * vector search lets the cluster return the nearest rows of a branch, and raises the limit if too
 * few of them match the whole filter.
 */
import type { Caller } from '../../../caller/caller.ts'
import type { Value } from '../../../json/value.ts'
import type { Column } from '../../../language/columns/column.ts'
import { conditionsOf } from '../../../language/filters/filter-clause.ts'
import { fixedLimits } from '../../../limits.ts'
import { similarityTo } from '../../../search/vector/similarity.ts'
import { inTurns } from '../../../runtime/steps.ts'
import type {
  ByTerms,
  ByVector,
  Hit,
  Row,
  RowSearch,
  RowSearchResult,
} from '../../contract.ts'
import { keyColumns, keyNames, type Table } from '../../schema.ts'
import { pageSizeOf } from '../cluster/page-size.ts'
import type { ResultRow } from '../cluster/session.ts'
import { digestOf } from '../lexical/postings.ts'
import { searchRanked } from '../lexical/search-ranked.ts'
import { searchTerms } from '../lexical/search-terms.ts'
import { upToSize } from '../../up-to-size.ts'
import { countsFor, isEnough } from '../cluster/nearest.ts'
import { textsMaxOf } from '../system/read-limits.ts'
import { FoundRow, keyOf, keyValues, RowFilters } from './found-row.ts'
import { KeyOrder } from './key-order.ts'
import { readByKey, type RowAccess } from './read-rows.ts'
import type { RowBranch } from './row-branch.ts'
import { rowConditions } from './row-conditions.ts'
import {
  readRow,
  selectBestMatches,
  selectedColumns,
  selectNearest,
  selectRows,
} from './row-statements.ts'
import { textPlaceOf, valuesOfKey } from './row-texts.ts'
import { isComparable, vectorIndexOn } from '../cql/zero-vector.ts'

type NearestSearch = RowSearch & { readonly by: ByVector & { readonly column: Column } }

/**
 * Searches for the nearest rows; undefined: the caller must compare all rows that match the filter.
 */
export async function searchNearestRows(
  access: RowAccess,
  table: Table,
  search: NearestSearch,
  caller: Caller,
): Promise<RowSearchResult | undefined> {
  const { filter, limit, by, sizeMax } = search
  const plan = rowConditions(table, filter, access.can, 'search')
  const { metric } = vectorIndexOn(table.definition, by.column.name)!
  // An index on a vector column of the key finds only some of the rows.
  const isInKey = keyNames(table.definition).includes(by.column.name)
  if (isInKey || !isComparable(by.numbers, metric)) return undefined
  const hits = new Map<string, Hit<Row>>()
  let mayMiss = false
  for (const branch of plan.branches) {
    const found = await nearestOf(access, table, branch, search, caller)
    if (found === undefined) return undefined
    for (const [key, hit] of found.hits) hits.set(key, hit)
    mayMiss ||= found.mayMiss
  }
  const order = new KeyOrder(table)
  const keyIn = ({ record }: Hit<Row>) =>
    order.comparable(keyValues((record as FoundRow).values, table))
  const best = [...hits.values()].toSorted(
    (a, b) => b.score - a.score || order.compare(keyIn(a), keyIn(b)),
  )
  return {
    hits: upToSize(best.slice(0, limit), ({ record }) => record.size, sizeMax),
    ...(mayMiss && { comparedMax: access.limits.comparedMax }),
  }
}

interface NearestInBranch {
  /** Hits by row key. */
  readonly hits: ReadonlyMap<string, Hit<Row>>
  /** Whether the index may have missed rows. */
  readonly mayMiss: boolean
}

/**
 * The nearest rows of one branch; undefined: even the largest limit did not yield enough matches.
 */
async function nearestOf(
  access: RowAccess,
  table: Table,
  branch: RowBranch,
  { filter, by, limit, scoreMin = -Infinity, columns: shown, needed = [] }: NearestSearch,
  caller: Caller,
): Promise<NearestInBranch | undefined> {
  const { session } = access
  const hitsIn = async (
    rows: Iterable<ResultRow> | AsyncIterable<ResultRow>,
    count: number,
  ) => {
    const hits = new NearestHits(count)
    let farthest = Infinity
    for await (const row of rows) {
      const pause = caller.pause()
      if (pause !== undefined) await pause
      const values = (await inTurns(readRow(table, columns, row), caller))?.values
      const vector = values?.get(by.column.name)
      if (!values || !vector) continue
      const score = scoreTo(vector as Float32Array)
      farthest = Math.min(farthest, score)
      if (Number.isNaN(score) || score < scoreMin) continue
      if (!(await filters.matches(branch.rest, values))) continue
      hits.add(keyOf(values, table), { record: new FoundRow(values, shown), score })
    }
    return { hits: hits.nearest(), farthest }
  }
  const { metric } = vectorIndexOn(table.definition, by.column.name)!
  const scoreTo = similarityTo(metric, by.numbers)
  const checked = conditionsOf(filter).map(({ column }) => column)
  const columns = selectedColumns(table, [...shown, ...needed, by.column, ...checked])
  const filters = new RowFilters(table, caller)
  if (branch.isByKeyAlone && (await isComparedWhole(access, table, branch, caller))) {
    const statement = selectRows(table, { columns, branch })
    const size = pageSizeOf(table)
    const rows = session.rowsOf(statement, 'read', rowsAtATime, rowsAtATime, size)
    return { hits: (await hitsIn(rows, limit)).hits, mayMiss: false }
  }
  for (const asked of countsFor(limit)) {
    caller.check()
    const statement = selectNearest(table, {
      columns,
      branch,
      column: by.column,
      numbers: by.numbers,
      limit: asked,
    })
    const { rows } = await session.run(statement, 'search', {
      fetchSize: fixedLimits.clusterNearestMax,
    })
    const { hits, farthest } = await hitsIn(rows, asked)
    const scores = Array.from(hits.values(), ({ score }) => score)
    const found = { asked, count: rows.length, scores, farthest }
    if (isEnough(found, { limit, scoreMin })) return { hits, mayMiss: branch.isByKeyAlone }
  }
  return undefined
}

/** Rows per page; few, to keep pages small. */
const rowsAtATime = 100

/** Keys per page when rows are only counted. */
const keysAtATime = 5_000

/**
 * Whether the partition has so few matching rows that all of them can be compared. The memtable
 * index of a node (VectorMemoryIndex, Cassandra 5.0) contains only keys of rows that were inserted
 * with a vector. Until a flush, a search within a partition therefore misses vectors that were set
 * after the insert of their rows. Searches with other indexed conditions, or over all partitions,
 * find these vectors.
 */
async function isComparedWhole(
  { session, limits }: RowAccess,
  table: Table,
  branch: RowBranch,
  caller: Caller,
): Promise<boolean> {
  const { comparedMax } = limits
  // Partitions may be large, so their keys are counted before rows are read.
  const columns = keyColumns(table.definition)
  const statement = selectRows(table, { columns, branch, limit: comparedMax + 1 })
  const keys = session.rowsOf(statement, 'search', keysAtATime)
  for (let count = 0; count <= comparedMax; count++) {
    caller.check()
    if ((await keys.next()).done) return true
  }
  await keys.return(undefined)
  return false
}

/** Collects the nearest rows; holds at most twice as many rows as the limit. */
class NearestHits {
  readonly #limit: number
  #hits: (readonly [key: string, hit: Hit<Row>])[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  add(key: string, hit: Hit<Row>): void {
    if (this.#hits.push([key, hit]) >= 2 * this.#limit) this.#cut()
  }

  /** The nearest hits by row key. Ties keep the order in which rows were added. */
  nearest(): ReadonlyMap<string, Hit<Row>> {
    this.#cut()
    return new Map(this.#hits)
  }

  #cut(): void {
    const inOrder = this.#hits.toSorted(([, a], [, b]) => b.score - a.score)
    this.#hits = inOrder.slice(0, this.#limit)
  }
}

type TermSearch = RowSearch & { readonly by: ByTerms & { readonly column: Column } }

/**
 * Searches with the cluster's term index. Ranks of different branches are not comparable. A plan
 * with several branches is therefore replaced by a search without conditions, and the filter is
 * checked on its results.
 */
async function searchRowsByRank(
  { session, can }: RowAccess,
  table: Table,
  search: TermSearch,
  caller: Caller,
): Promise<RowSearchResult> {
  const { by, filter, columns: shown, needed = [] } = search
  const { branches } = rowConditions(table, filter, can, 'search')
  if (branches.length === 0) return { hits: [] }
  const branch = branches.length === 1 ? branches[0]! : { ...branches[0]!, terms: [] }
  const checked = conditionsOf(filter).map(({ column }) => column)
  const columns = selectedColumns(table, [...shown, ...needed, by.column, ...checked])
  const filters = new RowFilters(table, caller)
  const ask = async (limit: number) => {
    const { column, text } = by
    const statement = selectBestMatches(table, { columns, branch, column, text, limit })
    const { rows } = await session.run(statement, 'search', {
      fetchSize: fixedLimits.clusterNearestMax,
    })
    const found: (FoundRow | undefined)[] = []
    for (const row of rows) {
      const values = (await inTurns(readRow(table, columns, row), caller))?.values
      const isWanted = values !== undefined && (await filters.matches(filter, values))
      found.push(isWanted ? new FoundRow(values, shown) : undefined)
    }
    return found
  }
  return searchRanked<Row>(search, ask, ({ size }) => size, caller)
}

/** Searches rows by terms; undefined: the column has no text index. */
export async function searchRowsByTerms(
  access: RowAccess,
  table: Table,
  search: TermSearch,
  caller: Caller,
): Promise<RowSearchResult | undefined> {
  const { by, filter, limit, after, statistics, sizeMax } = search
  const { columns: shown, needed = [] } = search
  const { can, limits, postings } = access
  const place = textPlaceOf(table, by.column.name)
  if (place === undefined) return undefined
  if (can.indexAnalyzer) return searchRowsByRank(access, table, search, caller)
  if (rowConditions(table, filter, can, 'search').branches.length === 0) return { hits: [] }
  const checked = conditionsOf(filter).map(({ column }) => column)
  const columns = selectedColumns(table, [...shown, ...needed, by.column, ...checked])
  const order = new KeyOrder(table)
  const filters = new RowFilters(table, caller)
  const read = (key: string) => order.comparable(valuesOfKey(key))
  return searchTerms<Row>(
    postings,
    place,
    { by, limit, after, statistics, sizeMax, textsMax: textsMaxOf(limits) },
    {
      compare: (a, b) => order.compare(read(a), read(b)),
      compareTo: (key, id) => order.compare(read(key), order.comparable(id as Value[])),
      sizeOf: ({ size }) => size,
      load: (texts) =>
        Promise.all(
          texts.map(async ({ key, digest }) => {
            const values = await readByKey(access, table, key, columns, caller)
            const text = values?.get(by.column.name)
            if (typeof text !== 'string' || digestOf(text) !== digest) return 'stale'
            if (!(await filters.matches(filter, values!))) return undefined
            return new FoundRow(values!, shown)
          }),
        ),
    },
    caller,
  )
}
