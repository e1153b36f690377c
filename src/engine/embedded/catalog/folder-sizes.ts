/** How much of the disk a data folder takes, and for what. */
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { catalogFile } from './data-folder.ts'
import { storeFile } from '../store/layout.ts'

/** In bytes. */
export interface FolderSizes {
  /** Records and their indexes, and the catalog. */
  readonly data: number
  /** What was written since it was last moved into the files of the data. */
  readonly logs: number
  /** Vector indexes as they were last saved. */
  readonly vectors: number
}

/** A folder may have very many files, and anybody may ask: they are not counted more often. */
const countedMs = 5_000

export class FolderMeter {
  readonly #dataDir: string
  #counted: Promise<Partial<FolderSizes>> | undefined
  #countedAt = -Infinity

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  /** Of a folder that cannot be read there are none. */
  sizes(): Promise<Partial<FolderSizes>> {
    const now = performance.now()
    if (this.#counted === undefined || now - this.#countedAt >= countedMs) {
      this.#counted = sizesIn(this.#dataDir).catch(() => ({}))
      this.#countedAt = now
    }
    return this.#counted
  }
}

/** Of a data folder, or of the folder of one collection or table. */
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
  // Stores have beside them what their connections share, which is no data.
  return folder.startsWith('vectors') && !name.startsWith(storeFile) ? 'vectors' : 'other'
}

/** Files come and go meanwhile. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch {
    return 0
  }
}
