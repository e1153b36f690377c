/**
 * A thread that repeatedly opens a catalog at the same moment as other threads, and counts its
 * successes.
 */
import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { catalogTables } from '../../../src/engine/embedded/catalog/catalog-file.ts'
import { openExclusively } from '../../../src/engine/embedded/catalog/data-folder.ts'

export interface OpeningTask {
  readonly folder: string
  readonly file: string
  readonly threads: number
  /** Number of arrivals at the barrier. */
  readonly met: Int32Array
  /** Number of threads that opened the catalog, by round. */
  readonly holders: Int32Array
}

const { folder, file, threads, met, holders } = workerData as OpeningTask

/**
 * Waits until all threads have arrived at the barrier. The function spins instead of sleeping,
 * because threads do not wake up at the same moment.
 */
function meet(round: number): void {
  Atomics.add(met, 0, 1)
  while (Atomics.load(met, 0) < threads * (round + 1));
}

function open(): DatabaseSync | undefined {
  try {
    return openExclusively(file, folder, catalogTables)
  } catch {
    return undefined
  }
}

for (let round = 0; round < holders.length; round++) {
  meet(round)
  const database = open()
  if (database !== undefined) Atomics.add(holders, round, 1)
  database?.close()
}
