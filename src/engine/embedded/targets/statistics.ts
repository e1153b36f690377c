/** Statistics of the engine. */
import type { EngineStatistics } from '../../operations.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { FolderMeter } from '../catalog/folder-sizes.ts'
import type { OpenStores } from './open-stores.ts'
import type { RecordWrites } from './record-writes.ts'
import type { Readers } from '../reader-threads/readers.ts'
import type { Vectors } from '../vectors/vectors.ts'
import type { Writer } from '../write/writer.ts'

/** Sources of the statistics. */
export interface Counted {
  readonly catalog: Catalog
  readonly stores: OpenStores
  readonly writer: Writer
  readonly writes: RecordWrites
  readonly readers: Readers
  readonly vectors: Vectors
  readonly folder: FolderMeter
  readonly movedReads: number
  readonly damagedRecords: number
  readonly lostWrites: number
}

export async function statisticsOf(counted: Counted): Promise<EngineStatistics> {
  const { catalog, stores, writer, writes, readers, vectors, folder } = counted
  const { movedReads, damagedRecords, lostWrites } = counted
  const { keyspaces, targets } = catalog
  const tables = targets.filter(({ kind }) => kind === 'table').length
  const now = {
    keyspaces: keyspaces.length,
    collections: targets.length - tables,
    tables,
    ...writer.counts,
    indexDebt: writer.indexDebt,
    movedReads,
    damagedRecords,
    lostWrites,
    waitingWrites: writes.waiting + writer.waiting,
    waitingReads: readers.waiting,
    openStores: stores.size,
    indexedVectors: vectors.count,
    vectorMemory: vectors.size,
  }
  const [diskUse, ...threads] = await Promise.all([
    folder.sizes(),
    writer.memory(),
    readers.memory(),
    vectors.threadMemory(),
  ])
  // A thread that is starting or has ended has no heap statistics.
  const known = threads.flat().filter((memory) => memory !== undefined)
  return { ...now, diskUse: { ...diskUse }, threads: known }
}
