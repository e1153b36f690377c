/** The compared indexes: the index of Stela, and hnswlib-node and usearch if they are installed. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { VectorSet } from './clusters.ts'
import { HnswlibIndex, type HnswlibModule } from './hnswlib-index.ts'
import { StelaIndex } from './stela-index.ts'
import type { TestedIndex } from './tested-index.ts'
import { UsearchIndex, type UsearchModule } from './usearch-index.ts'

/** Creates the index of Stela, and then the indexes of the installed modules. */
export function openIndexes(set: VectorSet): {
  readonly ours: StelaIndex
  readonly others: readonly TestedIndex[]
  readonly missing: readonly string[]
} {
  const others: TestedIndex[] = []
  const missing: string[] = []
  const usearch = findModule('usearch')
  if (usearch === undefined) missing.push('usearch')
  else others.push(new UsearchIndex(set, usearch as UsearchModule))
  const hnswlib = findModule('hnswlib-node')
  if (hnswlib === undefined) missing.push('hnswlib-node')
  else others.push(new HnswlibIndex(set, hnswlib as HnswlibModule))
  return { ours: new StelaIndex(set), others, missing }
}

/**
 * Loads a module from the folder in STELA_BENCH_MODULES, or from node_modules if it was installed
 * with --no-save. Undefined when the module is missing.
 */
function findModule(name: string): unknown {
  const folder = process.env['STELA_BENCH_MODULES']
  const require = createRequire(folder === undefined ? import.meta.url : join(folder, '/'))
  try {
    return require(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
