/** Rows with vectors: search over HTTP, compared with a full scan. */
import type { ScanAnswer, ScanQuestion } from '../baselines/scanned-vectors.ts'
import { requestBytes } from '../client.ts'
import { Baseline, token, type Stela } from '../processes.ts'
import { decimal } from '../report.ts'
import { askEach, overHttp } from '../served.ts'
import type { Findings, StudySettings } from '../workloads/study.ts'
import { makeVectors, type VectorSet } from '../vectors/clusters.ts'
import { binary } from '../vectors/documents.ts'
import { findTruth, recallOf, wanted } from '../vectors/exact.ts'
import { compare, comparedCells, comparedHead, growthOf, type Trial } from './compared.ts'

const dimension = 384
/** Maximum growth of the time of a search for ten times the vectors. */
const growthMax = 2

const says = `find the ${wanted} nearest`

export function makePoints(seed: number, size: number): VectorSet {
  return makeVectors(seed, dimension, size)
}

export function pointsTable({ vectors }: VectorSet): string {
  return `points_${vectors.length}`
}

/**
 * Bodies of the requests that create the table and its index. The first request is sent to the
 * keyspace, the second to the table.
 */
export function pointsSchema(name: string): readonly [string, string] {
  return [
    `{"createTable":{"name":"${name}","definition":{"columns":{"id":"text",` +
      `"place":{"type":"vector","dimension":${dimension}}},"primaryKey":"id"}}}`,
    `{"createVectorIndex":{"name":"${name}_place","definition":{"column":"place",` +
      `"options":{"metric":"cosine"}}}}`,
  ]
}

/** Returns a function that creates the body of the next insert. */
export function pointInserts({ vectors }: VectorSet): (count: number) => string {
  let next = 0
  return (count) => {
    const rows = Array.from({ length: count }, () => {
      const number = next++
      return `{"id":"${idOf(number)}","place":${binary(vectors[number]!)}}`
    })
    return `{"insertMany":{"documents":[${rows.join(',')}]}}`
  }
}

export async function measurePoints(
  server: Stela,
  sets: readonly VectorSet[],
  { seed, connections, seconds, progress }: StudySettings,
): Promise<Findings> {
  const scans = sets.map(startScan)
  try {
    const recalls = new Map<number, number>()
    const trials: Trial[] = []
    for (const [i, set] of sets.entries()) {
      const size = set.vectors.length
      const path = `/v1/default_keyspace/${pointsTable(set)}`
      const requests = set.queries.map((query) =>
        requestBytes(path, token, findNearestBody(query)),
      )
      progress(`comparing ${size} vectors with what is found`)
      const replies = await askEach(server.port, requests)
      const recall = recallOf(findTruth(set).all, (query) => numbersIn(replies[query]!))
      recalls.set(size, recall)
      await scans[i]!.ask({ seed, dimension, size })
      trials.push({
        size,
        rowsPerRequest: Math.min(wanted, size),
        serve: (count) => overHttp('Stela', server.port, count, requests),
        raw: {
          name: 'comparing all, in JavaScript',
          run: (forMs) => scans[i]!.ask({ forMs }),
        },
      })
    }
    progress(says)
    const compared = await compare({ says, trials }, connections, seconds)
    return {
      tables: [
        {
          title: `Nearest of ${dimension} numbers, over HTTP`,
          head: [...comparedHead, 'recall@10'],
          rows: compared.flatMap((one) =>
            comparedCells(one).map((cells) => [...cells, decimal(recalls.get(one.size)!)]),
          ),
        },
      ],
      figures: growthOf(compared, growthMax),
    }
  } finally {
    await Promise.all(scans.map((scan) => scan.stop()))
  }
}

function startScan(): Baseline<ScanQuestion, ScanAnswer> {
  return new Baseline(new URL('../baselines/scanned-vectors.ts', import.meta.url))
}

/**
 * The body of a search. Its projection excludes the vectors, because ten vectors would be most of a
 * reply.
 */
function findNearestBody(query: Float32Array): string {
  return (
    `{"find":{"sort":{"place":${binary(query)}},"projection":{"id":true},` +
    `"options":{"limit":${wanted}}}}`
  )
}

function idOf(number: number): string {
  return `p-${String(number).padStart(9, '0')}`
}

/** Numbers of the points in a reply, in the order of the reply. */
function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(/"id":"p-(\d+)"/g), ([, number]) => Number(number))
}
