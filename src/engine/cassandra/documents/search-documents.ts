/**
 * Searches documents. A vector search lets the cluster return the nearest documents that satisfy
 * the terms of a branch, and raises the limit if too few of them match the whole filter. A search
 * by terms uses our own index (postings.ts) or that of the cluster.
 */
import type { types } from 'cassandra-driver'
import type { Caller } from '../../../caller/caller.ts'
import type { Value } from '../../../json/value.ts'
import { compareValues } from '../../../language/values/order.ts'
import { idKey } from '../../../language/values/record-id.ts'
import { fixedLimits } from '../../../limits.ts'
import { similarityTo } from '../../../search/vector/similarity.ts'
import type {
  ByTerms,
  ByVector,
  Collection,
  Hit,
  Search,
  SearchResult,
  StoredRecord,
} from '../../contract.ts'
import type { Session } from '../cluster/session.ts'
import { preparedTarget, type Statement } from '../cluster/statement.ts'
import { lexicalColumn, vectorColumn } from '../catalog/collection-table.ts'
import { digestOf, type ClusterPostings } from '../lexical/postings.ts'
import { searchRanked } from '../lexical/search-ranked.ts'
import { searchTerms, type FoundText } from '../lexical/search-terms.ts'
import { upToSize } from '../../up-to-size.ts'
import { countsFor, isEnough } from '../cluster/nearest.ts'
import { textsMaxOf } from '../system/read-limits.ts'
import { bytesOfVector } from '../cql/cql-values.ts'
import { isComparable } from '../cql/zero-vector.ts'
import { conditionsOf } from './columns.ts'
import { findsNothing, type Branch } from './filter-plan.ts'
import { planWith } from './filter-capabilities.ts'
import { matcherOf } from './document-filter.ts'
import { idOfTextKey, textIn, textPlace } from './document-texts.ts'
import { versionIn } from './document-version.ts'
import { readByTextKeys, type DocumentAccess } from './read-documents.ts'
import { readInTurns, readVector, splitText } from './stored-text.ts'

/**
 * Searches for the nearest documents; undefined: the caller must compare all documents that match
 * the filter.
 */
export async function searchNearest(
  { session, more }: DocumentAccess,
  collection: Collection,
  search: Search & { readonly by: ByVector },
  caller: Caller,
): Promise<SearchResult | undefined> {
  const { filter, limit, by, sizeMax } = search
  const plan = planWith(filter, more)
  const { metric } = collection.options.vector!
  if (plan.kind === 'keys' || !isComparable(by.numbers, metric)) return undefined
  const hits = new Map<string, Hit>()
  for (const branch of plan.branches) {
    const found = await nearestOf(session, collection, branch, search, caller)
    if (found === undefined) return undefined
    for (const hit of found) hits.set(idKey(hit.record.id), hit)
  }
  const best = [...hits.values()].toSorted(
    (a, b) => b.score - a.score || compareValues(a.record.id, b.record.id),
  )
  return {
    hits: upToSize(best.slice(0, limit), ({ record }) => record.text.length, sizeMax),
  }
}

/**
 * The nearest documents of one branch; undefined: even the largest limit did not yield enough
 * matches.
 */
async function nearestOf(
  session: Session,
  collection: Collection,
  branch: Branch,
  search: Search & { readonly by: ByVector },
  caller: Caller,
): Promise<Hit[] | undefined> {
  const { filter, by, limit, withSearchFields } = search
  const { scoreMin = -Infinity } = search
  const isMatch = matcherOf(filter, collection, caller)
  const scoreTo = similarityTo(collection.options.vector!.metric, by.numbers)
  for (const asked of countsFor(limit)) {
    caller.check()
    const statement = selectNearest(collection, branch, by.numbers, asked)
    const { rows } = await session.run(statement, 'search', {
      fetchSize: fixedLimits.clusterNearestMax,
    })
    const hits: Hit[] = []
    let farthest = Infinity
    for (const row of rows) {
      const stored = row['doc_json'] as string | null
      if (stored === null) continue
      const document = await readInTurns(stored, caller)
      const vector = readVector(document.get('$vector') ?? null)
      if (vector === null) continue
      const score = scoreTo(Float32Array.from(vector.numbers))
      farthest = Math.min(farthest, score)
      if (score < scoreMin || !(await isMatch(document))) continue
      hits.push({
        record: splitText(stored, versionIn(row), withSearchFields, { document }),
        score,
      })
    }
    const scores = hits.map(({ score }) => score)
    const found = { asked, count: rows.length, scores, farthest }
    if (isEnough(found, { limit, scoreMin })) return hits
  }
  return undefined
}

export function selectNearest(
  collection: Collection,
  branch: Branch,
  numbers: Float32Array,
  limit: number,
): Statement {
  const order = { text: `${vectorColumn} ANN OF ?`, values: [bytesOfVector(numbers)] }
  return selectOrdered(collection, branch, order, limit)
}

/** The statement that ranks documents by the cluster's own term index. */
export function selectRanked(
  collection: Collection,
  branch: Branch,
  text: string,
  limit: number,
): Statement {
  const order = { text: `${lexicalColumn} BM25 OF ?`, values: [text] }
  return selectOrdered(collection, branch, order, limit)
}

function selectOrdered(
  collection: Collection,
  branch: Branch,
  order: Statement,
  limit: number,
): Statement {
  const conditions = conditionsOf(branch)
  return {
    text:
      `SELECT doc_json, tx_id FROM ${preparedTarget(collection)}` +
      (branch.length === 0 ? '' : ` WHERE ${conditions.text}`) +
      ` ORDER BY ${order.text} LIMIT ${limit}`,
    values: [...conditions.values, ...order.values],
  }
}

/**
 * Searches with the cluster's term index. Ranks of different branches are not comparable. A plan
 * with several branches is therefore replaced by a search without conditions, and the filter is
 * checked on its results.
 */
export async function searchByRank(
  { session, more }: DocumentAccess,
  collection: Collection,
  search: Search & { readonly by: ByTerms },
  caller: Caller,
): Promise<SearchResult> {
  const { by, filter, withSearchFields } = search
  const plan = planWith(filter, more)
  if (findsNothing(plan)) return { hits: [] }
  const isMatch = matcherOf(filter, collection, caller)
  const branches = plan.kind === 'branches' ? plan.branches : []
  const branch = branches.length === 1 ? branches[0]! : []
  const ask = async (limit: number) => {
    const statement = selectRanked(collection, branch, by.text, limit)
    const { rows } = await session.run(statement, 'search', {
      fetchSize: fixedLimits.clusterNearestMax,
    })
    const found: (StoredRecord | undefined)[] = []
    for (const row of rows) {
      const stored = row['doc_json'] as string | null
      const document = stored === null ? undefined : await readInTurns(stored, caller)
      const isWanted = document !== undefined && (await isMatch(document))
      found.push(
        isWanted
          ? splitText(stored!, versionIn(row), withSearchFields, { document })
          : undefined,
      )
    }
    return found
  }
  return searchRanked(search, ask, ({ text }) => text.length, caller)
}

export async function searchByTerms(
  { session, limits, more }: DocumentAccess,
  postings: ClusterPostings,
  collection: Collection,
  search: Search & { readonly by: ByTerms },
  caller: Caller,
): Promise<SearchResult> {
  const { by, filter, limit, after, statistics, sizeMax, withSearchFields } = search
  if (findsNothing(planWith(filter, more))) return { hits: [] }
  const isMatch = matcherOf(filter, collection, caller)
  const compareTo = (key: string, id: Value) => compareValues(idOfTextKey(key), id)
  return searchTerms(
    postings,
    textPlace(collection),
    { by, limit, after, statistics, sizeMax, textsMax: textsMaxOf(limits) },
    {
      compare: (a, b) => compareTo(a, idOfTextKey(b)),
      compareTo,
      sizeOf: ({ text }) => text.length,
      async load(texts) {
        const keys = texts.map(({ key }) => key)
        const rows = await readByTextKeys(session, collection, keys)
        const load = async (row: types.Row | undefined, { digest }: FoundText) => {
          const stored = (row?.['doc_json'] ?? null) as string | null
          if (stored === null) return 'stale'
          const document = await readInTurns(stored, caller)
          const text = textIn(document)
          if (text === undefined || digestOf(text) !== digest) return 'stale'
          if (!(await isMatch(document))) return undefined
          return splitText(stored, versionIn(row!), withSearchFields, { document })
        }
        return Promise.all(rows.map((row, at) => load(row, texts[at]!)))
      },
    },
    caller,
  )
}
