import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { requestBytes } from '../client.ts'
import { copyFolder, insertAll, prepareFolder, sizeOnDisk } from '../dataset.ts'
import { Stela, token } from '../processes.ts'
import { whole } from '../report.ts'
import type { Figure } from '../run.ts'
import { askEach } from '../served.ts'
import {
  makePoints,
  measurePoints,
  pointInserts,
  pointsSchema,
  pointsTable,
} from '../tables/points.ts'
import { Readings, readingsSchema, readingsTable } from '../tables/readings.ts'
import { measureRows } from '../tables/rows.ts'
import type { VectorSet } from '../vectors/clusters.ts'
import type { Findings, Study, StudySettings } from './study.ts'

const keyspace = 'default_keyspace'
/**
 * Default numbers of rows with vectors. The numbers are low, because indexing a million vectors
 * would take an hour.
 */
const vectorSizes = [2_000, 20_000]

export const tables: Study = {
  name: 'tables',
  says: 'rows of tables over HTTP: by key, by range, by index, by vector, and inserted',
  size: 1_000_000,
  smaller: [10_000, 100_000],

  async run(settings): Promise<Findings> {
    const { folder, seed, vectors = vectorSizes, profileDir, progress } = settings
    progress('making vectors')
    const points = vectors.map((size) => makePoints(seed, size))
    const loaded = await loadTables(points, settings)
    const served = join(folder, 'served-tables')
    copyFolder(loaded.folder, served)
    const server = await Stela.start(served, { profileDir })
    try {
      const near = await measurePoints(server, points, settings)
      const rows = await measureRows(server, settings)
      return {
        tables: [...rows.tables, ...near.tables],
        figures: [...rows.figures, ...near.figures, ...loaded.figures],
      }
    } finally {
      await server.stop()
    }
  },
}

/** Loads a table of each size into one folder. */
async function loadTables(
  points: readonly VectorSet[],
  { folder, keepDir, sizes, seed, progress }: StudySettings,
) {
  if (keepDir !== undefined) mkdirSync(keepDir, { recursive: true })
  const figures: Figure[] = []
  const counts = [...sizes, ...points.map(({ vectors }) => vectors.length)]
  const name = `tables-${counts.join('-')}-seed-${seed}`
  const dataset = await prepareFolder(keepDir ?? folder, name, async (port) => {
    const load = async (
      table: string,
      [create, index]: readonly [string, string],
      size: number,
      bodyOf: (count: number) => string,
    ) => {
      const path = `/v1/${keyspace}/${table}`
      await askEach(port, [
        requestBytes(`/v1/${keyspace}`, token, create),
        requestBytes(path, token, index),
      ])
      const tally = await insertAll(port, path, size, progress, bodyOf)
      figures.push({
        what: `loading ${whole(size)} rows of ${table} by insertMany`,
        value: (size / tally.elapsedMs) * 1000,
        unit: 'rows/s',
      })
    }
    for (const size of sizes) {
      const table = readingsTable(size)
      const { insertBody } = new Readings(seed, size, 0)
      await load(table, readingsSchema(table), size, insertBody)
    }
    for (const set of points) {
      const table = pointsTable(set)
      await load(table, pointsSchema(table), set.vectors.length, pointInserts(set))
    }
  })
  for (const size of sizes)
    figures.push({
      what: `size of ${whole(size)} rows on disk`,
      value: sizeOnDisk(join(dataset.folder, keyspace, readingsTable(size))) / size,
      unit: 'bytes/row',
    })
  return { folder: dataset.folder, figures }
}
