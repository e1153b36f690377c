/**
 * Versions of stores that are recorded in other files. At the next start they prove that a store
 * has lost acknowledged writes.
 */
import { describeLogDamage } from '../files/write-ahead-log.ts'
import type { EmbeddedOptions } from '../schema/options.ts'
import {
  findLostWrites,
  markClosed,
  recordedVersion,
  describeLostWrites,
} from '../store/version-file.ts'
import { viewOf } from '../format/views.ts'
import { snapshotFolder, snapshotVersion } from '../vectors/snapshot.ts'
import type { Catalog } from './catalog.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'

/**
 * Logs which stores have lost writes, and returns the number of lost writes. Must run before
 * anything opens the stores, because SQLite discards the part of a log after the damage. A store
 * that lost writes is served with its remaining data, because there is no other copy.
 */
export function reportLostWrites(catalog: Catalog, log: EmbeddedOptions['log']): number {
  let count = 0
  for (const target of catalog.targets) {
    const file = catalog.storeFile(target)!
    const name = `${target.keyspace}.${target.name}`
    const damage = logDamageOf(file)
    if (damage !== undefined)
      log(
        'error',
        `${name}: ${damage}. Run "stela check", and compare the data with a backup`,
      )
    const known = Math.max(catalog.knownVersion(target), versionOfSnapshots(target, file))
    const lost = findLostWrites(file, known)
    if (lost === undefined) continue
    count += lost.recorded - lost.version
    log(
      'error',
      `${name}: ${describeLostWrites(lost)}. Its log was damaged or removed, or the ` +
        'store was replaced by an older copy. Compare the data with a backup',
    )
  }
  return count
}

function versionOfSnapshots(target: StoredTarget, file: string): number {
  const fields = [...viewOf(target).vectors.values()]
  return Math.max(
    0,
    ...fields.map(({ suffix }) => snapshotVersion(snapshotFolder(file, suffix))),
  )
}

/**
 * The damage of a log, if any. Also undefined for an unreadable log: opening the store reports that
 * error.
 */
function logDamageOf(file: string): string | undefined {
  try {
    return describeLogDamage(file)
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined
    throw error
  }
}

/**
 * Records the versions of stores in the catalog. Must be called after all connections to these
 * stores are closed.
 */
export async function recordVersions(
  catalog: Catalog,
  targets: readonly StoredTarget[],
): Promise<void> {
  const versions = new Map<string, number>()
  for (const target of targets) {
    const file = catalog.storeFile(target)
    if (file === undefined) continue
    markClosed(file)
    const version = recordedVersion(file)
    if (version !== undefined && version !== catalog.knownVersion(target))
      versions.set(target.uid, version)
  }
  if (versions.size > 0) await catalog.noteVersions(versions)
}
