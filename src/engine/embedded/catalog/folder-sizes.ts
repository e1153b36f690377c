/** Disk usage of a data folder by purpose. */
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { catalogFile } from './data-folder.ts'
import { storeFile } from '../store/layout.ts'

/** Sizes in bytes. */
export interface FolderSizes {
  /** Records with their indexes, and the catalog. */
  readonly data: number
  /** Write-ahead logs. */
  readonly logs: number
  /** Saved vector indexes. */
  readonly vectors: number
}

/**
 * Minimum milliseconds between two scans: a folder may have many files, and clients can ask often.
 */
const countedMs = 5_000

export class FolderMeter {
  readonly #dataDir: string
  #counted: Promise<Partial<FolderSizes>> | undefined
  #countedAt = -Infinity

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  /** Sizes in the data folder; empty when the folder cannot be read. */
  sizes(): Promise<Partial<FolderSizes>> {
    const now = performance.now()
    if (this.#counted === undefined || now - this.#countedAt >= countedMs) {
      this.#counted = sizesIn(this.#dataDir).catch(() => ({}))
      this.#countedAt = now
    }
    return this.#counted
  }
}

/**
 * Sums the sizes of the files in a data folder, or in the folder of one collection or table.
 */
export async function sizesIn(folder: string): Promise<FolderSizes> {
  const sizes = { data: 0, logs: 0, vectors: 0 }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const kind = entry.isFile() ? kindOf(entry.name, basename(entry.parentPath)) : 'other'
    if (kind !== 'other') sizes[kind] += await sizeOf(join(entry.parentPath, entry.name))
  }
  return sizes
}

function kindOf(name: string, folder: string): keyof FolderSizes | 'other' {
  if (name === storeFile || name === catalogFile) return 'data'
  if (name === `${storeFile}-wal` || name === `${catalogFile}-wal`) return 'logs'
  // The folder of a target can also have a name that starts with "vectors". Files beside its store,
  // such as "store.db-shm", are not vector indexes.
  return folder.startsWith('vectors') && !name.startsWith(storeFile) ? 'vectors' : 'other'
}

/** Size of a file; 0 if it was removed during the scan. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch {
    return 0
  }
}
