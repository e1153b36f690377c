/** Operations on the files of data folders: copies, digests, and the list of stores. */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Paths of all files, relative to the folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()
}

/** Copies a folder that may be in use; skips files that vanish meanwhile. */
export function copyFolder(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const copy = join(to, path.slice(from.length + 1))
    try {
      if (entry.isDirectory()) mkdirSync(copy, { recursive: true, mode: 0o700 })
      else if (entry.isFile()) {
        mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
        copyFileSync(path, copy)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/**
 * Digests by file. Shared memory and empty logs are left out: every reader of a SQLite database
 * creates them.
 */
export function digestsOf(folder: string): Map<string, string> {
  return new Map(
    filesIn(folder)
      .filter((file) => !file.endsWith('-shm'))
      .map((file): [string, Buffer] => [file, readFileSync(join(folder, file))])
      .filter(([file, bytes]) => !file.endsWith('-wal') || bytes.length > 0)
      .map(([file, bytes]) => [file, createHash('sha256').update(bytes).digest('hex')]),
  )
}

/** Describes files that were added, removed or changed. */
export function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const files = new Set([...before.keys(), ...after.keys()])
  return [...files]
    .filter((file) => before.get(file) !== after.get(file))
    .map((file) => {
      if (!before.has(file)) return `${file} was added`
      return after.has(file) ? `${file} was changed` : `${file} was removed`
    })
}

/** The folder to which a server moves stores that its catalog does not list. */
export const quarantineFolder = 'quarantine.stores'

/** A store that a catalog lists as ready. */
export interface ReadyStore {
  /** "keyspace.target" */
  readonly target: string
  readonly folder: string
}

/** Reads the catalog of an intact and unused folder. */
export function readyStores(folder: string, scratch: string): ReadyStore[] {
  // Opens a copy, because opening a database may checkpoint its log.
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { recursive: true })
  for (const file of ['catalog.db', 'catalog.db-wal'])
    if (existsSync(join(folder, file)))
      copyFileSync(join(folder, file), join(scratch, file))
  const database = new DatabaseSync(join(scratch, 'catalog.db'))
  try {
    const rows = database
      .prepare(
        'SELECT t.keyspace, t.name, k.folder AS parent, t.folder FROM target t ' +
          "JOIN keyspace k ON k.name = t.keyspace WHERE t.state = 'ready'",
      )
      .all() as Record<'keyspace' | 'name' | 'parent' | 'folder', string>[]
    return rows.map(({ keyspace, name, parent, folder: own }) => ({
      target: `${keyspace}.${name}`,
      folder: join(parent, own),
    }))
  } finally {
    database.close()
  }
}

/** A store in one copy of the folder. Its inode identifies the store after it was moved. */
export interface PlacedStore extends ReadyStore {
  readonly inode: number
}

export function placeStores(dataDir: string, stores: readonly ReadyStore[]): PlacedStore[] {
  return stores.map((store) => ({
    ...store,
    inode: statSync(join(dataDir, store.folder)).ino,
  }))
}

/** The present location of a store. */
export function whereIs(
  { folder, inode }: PlacedStore,
  dataDir: string,
): 'in place' | 'quarantine' | 'deleted' {
  const there = statSync(join(dataDir, folder), { throwIfNoEntry: false })
  if (there?.ino === inode) return 'in place'
  const quarantine = join(dataDir, quarantineFolder)
  if (!existsSync(quarantine)) return 'deleted'
  const isThere = readdirSync(quarantine, { recursive: true, encoding: 'utf8' }).some(
    (entry) => statSync(join(quarantine, entry)).ino === inode,
  )
  return isThere ? 'quarantine' : 'deleted'
}
