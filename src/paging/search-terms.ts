/**
 * Searches by terms. With the operator `any`, records that have all terms come before records that
 * have only some of them; both groups are ordered by score. The engine searches one group at a
 * time, and the second group is searched only if the first does not fill the page.
 */
import type { Caller } from '../caller/caller.ts'
import type { ByTerms, Hit, SearchPlace } from '../engine/contract.ts'
import type { LexicalOperator } from '../language/sorts/sort.ts'
import type { TermStatistics } from '../search/lexical/bm25.ts'
import { sizeMaxOf } from './reply-size.ts'
import { searchUpToSize } from './search.ts'
import type { AnyQuery, AnySearch, Source } from './source.ts'

/** Position directly after a hit of a search by terms. */
export interface HitPlace extends SearchPlace {
  /** The group of the hit. */
  readonly having: ByTerms['having']
  /** Statistics of the first page. */
  readonly statistics: TermStatistics
}

export type TermsSearch<S extends AnySearch> = Omit<S, 'by' | 'after' | 'sizeMax'> & {
  readonly by: ByTerms
  readonly operator: LexicalOperator
  readonly limit: number
  readonly after?: HitPlace | undefined
}

export interface TermsResult<Item> {
  /** The best hits in order, up to the size of a reply. */
  readonly hits: readonly Hit<Item>[]
  /** The position after a hit, by its index. */
  placeAfter(index: number): HitPlace
}

export async function searchTerms<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  { operator, ...wanted }: TermsSearch<S>,
  caller: Caller,
): Promise<TermsResult<Item>> {
  const { by, limit, after } = wanted
  const hits: Hit<Item>[] = []
  /** Index of the first hit that has only some of the terms. */
  let someFrom = Infinity
  let statistics = after?.statistics
  let sizeLeft = sizeMaxOf(limit, source.limits) ?? Infinity
  const groups = groupsOf(by, operator, after)
  for (const [at, having] of groups.entries()) {
    const search = {
      ...wanted,
      by: { ...by, having, isContinued: at < groups.length - 1 },
      limit: limit - hits.length,
      sizeMax: sizeLeft,
      after: after?.having === having ? after : undefined,
      statistics,
    }
    const found = await searchUpToSize(source, search as unknown as S, caller)
    statistics = found.statistics ?? statistics
    if (having === 'some') someFrom = hits.length
    hits.push(...found.hits)
    for (const { record } of found.hits) sizeLeft -= source.sizeOf(record)
    if (hits.length === limit || sizeLeft < 0) break
  }
  return {
    hits,
    placeAfter(index) {
      const { score, record } = hits[index]!
      const having = index < someFrom ? 'all' : 'some'
      return { statistics: statistics!, score, id: source.idOf(record), having }
    },
  }
}

/** The groups to search, in order. */
function groupsOf(
  { terms }: ByTerms,
  operator: LexicalOperator,
  after: HitPlace | undefined,
): readonly ByTerms['having'][] {
  if (after?.having === 'some') return ['some']
  return operator === 'any' && terms.length > 1 ? ['all', 'some'] : ['all']
}
