/** Measures the rates of indexes at several recalls. */
import type { Line, Point } from '../plot.ts'
import { decimal, whole } from '../report.ts'
import { ratePerSecond, repeating, takeTurns } from '../turns.ts'
import type { Table } from '../workloads/study.ts'
import type { VectorSet } from './clusters.ts'
import { recallOf, type Truth } from './exact.ts'
import type { TestedIndex } from './tested-index.ts'

/** Breadths: numbers of candidates that a graph search keeps. */
const breadths = [10, 16, 24, 32, 48, 64, 96, 128, 192, 256]

/** A line per index, with a point per breadth. */
export async function measureCurve(
  indexes: readonly TestedIndex[],
  { queries }: VectorSet,
  truth: Truth,
  seconds: number,
  progress: (line: string) => void,
): Promise<Line[]> {
  const points = indexes.map((): Point[] => [])
  for (const breadth of breadths) {
    progress(`searching with a breadth of ${breadth}`)
    const searches = indexes.map(
      (index) => (query: number) => index.nearest(query, breadth),
    )
    const standings = await takeTurns(
      searches.map((search, i) => repeating(indexes[i]!.name, queries.length, search)),
      seconds,
    )
    for (const [i, standing] of standings.entries())
      points[i]!.push({
        recall: recallOf(truth.all, searches[i]!),
        queriesPerSecond: ratePerSecond(standing),
      })
  }
  return indexes.map(({ name }, i) => ({ name, points: points[i]! }))
}

export function curveTable(lines: readonly Line[]): Table {
  return {
    title: 'Queries per second by breadth',
    head: ['breadth', ...lines.flatMap(({ name }) => [`${name} recall@10`, 'queries/s'])],
    rows: breadths.map((breadth, i) => [
      whole(breadth),
      ...lines.flatMap(({ points }) => {
        const { recall, queriesPerSecond } = points[i]!
        return [decimal(recall), whole(queriesPerSecond)]
      }),
    ]),
  }
}

/** Recalls at which the rates of indexes are compared. */
const compared = [0.9, 0.95, 0.99]

export function atRecallTable(lines: readonly Line[], missing: readonly string[]): Table {
  const ours = lines[0]!
  return {
    title: 'Queries per second at a recall',
    head: ['index', ...compared.flatMap((recall) => [`at ${recall}`, 'of ours'])],
    rows: [
      ...lines.map((line) => [
        line.name,
        ...compared.flatMap((recall) => {
          const rate = rateAt(line, recall)
          const own = rateAt(ours, recall)
          return rate === undefined
            ? ['not reached', '-']
            : [whole(rate), own === undefined ? '-' : decimal(rate / own)]
        }),
      ]),
      ...missing.map((name) => [
        name,
        'not installed',
        ...compared.slice(1).flatMap(() => ['', '']),
        '',
      ]),
    ],
  }
}

/**
 * The rate at a recall, interpolated between two measured points on a logarithmic scale of rates.
 * Undefined when no measured point reaches the recall.
 */
export function rateAt({ points }: Line, recall: number): number | undefined {
  const after = points.findIndex((point) => point.recall >= recall)
  if (after < 0) return undefined
  const high = points[after]!
  const low = points[after - 1]
  if (low === undefined) return high.queriesPerSecond
  const share = (recall - low.recall) / (high.recall - low.recall)
  return low.queriesPerSecond * (high.queriesPerSecond / low.queriesPerSecond) ** share
}
