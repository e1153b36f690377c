/**
 * Searches by terms on clusters with a term index. The cluster analyzes the query itself and ranks
 * only records that have all terms, and returns no scores. The score here is the negated rank, and
 * the next page starts after the last rank.
 */
import type { Caller } from '../../../caller/caller.ts'
import type { TermStatistics } from '../../../search/lexical/bm25.ts'
import { fixedLimits } from '../../../limits.ts'
import type { ByTerms, SearchPlace, SearchResult } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { upToSize } from '../../up-to-size.ts'
import { countsFor } from '../cluster/nearest.ts'

export interface RankedSearch {
  readonly by: ByTerms
  readonly limit: number
  readonly after?: SearchPlace | undefined
  readonly statistics?: TermStatistics | undefined
  readonly sizeMax?: number | undefined
}

/**
 * Searches by rank. `ask` returns the best records in order, with undefined in place of records
 * that do not match the filter.
 */
export async function searchRanked<Item>(
  { by, limit, after, statistics = noStatistics(by), sizeMax }: RankedSearch,
  ask: (limit: number) => Promise<readonly (Item | undefined)[]>,
  sizeOf: (record: Item) => number,
  caller: Caller,
): Promise<SearchResult<Item>> {
  if (by.having === 'some') return { hits: [] }
  const first = after === undefined ? 0 : 1 - after.score
  for (const asked of countsFor(first + limit)) {
    caller.check()
    const ranked = await ask(asked)
    const hits = ranked.flatMap((record, rank) =>
      record === undefined || rank < first ? [] : [{ record, score: -rank }],
    )
    if (hits.length < limit && ranked.length === asked) continue
    const enough = upToSize(hits.slice(0, limit), ({ record }) => sizeOf(record), sizeMax)
    return { hits: enough, statistics }
  }
  throw new EngineError(
    'unsupported',
    `the cluster ranks at most ${fixedLimits.clusterNearestMax} texts, and too few ` +
      'of these match the filter. Search for rarer words',
  )
}

/** Empty statistics, because the cluster computes its own. */
function noStatistics({ terms }: ByTerms) {
  return { documents: 0, tokens: 0, documentFrequencies: terms.map(() => 0) }
}
