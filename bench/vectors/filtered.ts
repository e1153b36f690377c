/** Compares all methods of filtered search. */
import { decimal, whole } from '../report.ts'
import { ratePerSecond, repeating, takeTurns } from '../turns.ts'
import type { Table } from '../workloads/study.ts'
import { shares } from './clusters.ts'
import { recallOf, type Truth } from './exact.ts'
import type { TestedIndex } from './tested-index.ts'

/**
 * Number of queries that measure recall. The number is low, because some methods are slow with a
 * filter.
 */
const filteredQueries = 200

export async function measureFiltered(
  indexes: readonly TestedIndex[],
  truth: Truth,
  seconds: number,
  progress: (line: string) => void,
): Promise<Table> {
  const rows: string[][] = []
  for (const share of shares) {
    progress(`searching where ${share.says} match`)
    const nearest = truth.matching.get(share)!.slice(0, filteredQueries)
    const ways = indexes.flatMap((index) =>
      index.matching(share).map((way) => ({
        name: index.name,
        says: way.says,
        recall: recallOf(nearest, (query) => way.nearest(query)),
        contender: repeating(index.name, nearest.length, (query) => way.nearest(query)),
      })),
    )
    const standings = await takeTurns(
      ways.map(({ contender }) => contender),
      seconds,
    )
    const rates = standings.map(ratePerSecond)
    const scan = rates[ways.findIndex(({ says }) => says === 'scan')]!
    for (const [i, { name, says, recall }] of ways.entries())
      rows.push([
        share.says,
        name,
        says,
        decimal(recall),
        whole(rates[i]!),
        decimal(rates[i]! / scan),
      ])
  }
  return {
    title: 'Filtered search',
    head: ['matching', 'index', 'how', 'recall@10', 'queries/s', 'of scanning'],
    rows,
  }
}
