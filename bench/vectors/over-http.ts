/** Measures vector search over HTTP, in a collection that was loaded over HTTP. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { requestBytes } from '../client.ts'
import {
  copyFolder,
  createCollection,
  insertAll,
  prepareFolder,
  sizeOnDisk,
  storeIn,
  type Dataset,
} from '../dataset.ts'
import { Stela, token } from '../processes.ts'
import { decimal, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import {
  askEach,
  measureServed,
  servedCells,
  servedHead,
  startBareFastify,
} from '../served.ts'
import type { Findings, StudySettings } from '../workloads/study.ts'
import { shares, type VectorSet } from './clusters.ts'
import {
  findNearestBody,
  insertVectorsBody,
  numbersIn,
  vectorDocument,
  vectorsPath,
} from './documents.ts'
import { recallOf, type Truth } from './exact.ts'
import { studyStore } from './stored.ts'

export async function studyOverHttp(
  set: VectorSet,
  truth: Truth,
  settings: StudySettings,
): Promise<Findings> {
  const { folder, keepDir, profileDir, seconds, progress } = settings
  if (keepDir !== undefined) mkdirSync(keepDir, { recursive: true })
  const dataset = await loadVectors(set, settings)
  const served = join(folder, 'served-vectors')
  copyFolder(dataset.folder, served)
  const figures = loadFigures(dataset, set)
  progress('searching in the store')
  const stored = await studyStore(storeIn(served), set, truth, seconds)
  const server = await Stela.start(served, { profileDir })
  const fastify = startBareFastify()
  try {
    figures.push(await measureOpening(server, set))
    const rows: string[][] = []
    for (const connections of settings.connections)
      for (const share of [undefined, ...shares]) {
        const says = share?.says ?? 'all'
        progress(`over HTTP, ${says}, connections: ${connections}`)
        const answered = await measureServed(server, fastify, {
          path: vectorsPath,
          bodies: set.queries.map((query) => findNearestBody(query, share)),
          connections,
          seconds,
        })
        const nearest = share === undefined ? truth.all : truth.matching.get(share)!
        const recall = recallOf(nearest, (query) => numbersIn(answered.replies[query]!))
        rows.push([says, whole(connections), decimal(recall), ...servedCells(answered)])
      }
    const memory = server.memory()
    if (memory !== undefined)
      figures.push({ what: 'memory of the server', value: memory.own, unit: 'bytes' })
    const head = ['matching', 'connections', 'recall@10', ...servedHead]
    return {
      tables: [...stored.tables, { title: 'Over HTTP, the ten nearest', head, rows }],
      figures: [...stored.figures, ...figures],
    }
  } finally {
    await Promise.all([server.stop(), fastify.stop()])
  }
}

function loadVectors(
  { vectors, dimension }: VectorSet,
  { folder, keepDir, size, seed, progress }: StudySettings,
): Promise<Dataset> {
  const name = `vectors-${size}x${dimension}-seed-${seed}`
  return prepareFolder(keepDir ?? folder, name, async (port) => {
    await createCollection(
      port,
      'vectors',
      `{"vector":{"dimension":${dimension},"metric":"cosine"},"lexical":{"enabled":false},"rerank":{"enabled":false}}`,
    )
    let at = 0
    await insertAll(port, vectorsPath, size, progress, (count) => {
      const batch = vectors.slice(at, at + count)
      const documents = batch.map((vector, i) => vectorDocument(at + i, vector))
      at += count
      return insertVectorsBody(documents)
    })
  })
}

function loadFigures(
  { folder, loadMs, settleMs }: Dataset,
  { vectors }: VectorSet,
): Figure[] {
  const figures: Figure[] = []
  if (loadMs !== undefined && settleMs !== undefined)
    figures.push(
      {
        what: 'inserting documents with vectors over HTTP',
        value: (vectors.length / loadMs) * 1000,
        unit: 'documents/s',
      },
      {
        what: 'the same, until the graph contains all of them',
        value: (vectors.length / (loadMs + settleMs)) * 1000,
        unit: 'documents/s',
      },
    )
  return [
    ...figures,
    {
      what: 'size on disk, snapshot included',
      value: sizeOnDisk(folder) / vectors.length,
      unit: 'bytes/document',
    },
  ]
}

/** Measures the first search after a start, which opens the index. */
async function measureOpening(
  { port, readyMs }: Stela,
  { queries }: VectorSet,
): Promise<Figure> {
  const request = requestBytes(vectorsPath, token, findNearestBody(queries[0]!))
  const startedAt = performance.now()
  await askEach(port, [request])
  const firstMs = performance.now() - startedAt
  return {
    what: `the first search after a start, which took ${whole(readyMs)} ms`,
    value: firstMs,
    unit: 'ms',
    max: 1000,
  }
}
