/**
 * Stores that the catalog does not list. A damaged catalog, or an older copy of it, lacks targets
 * that were created later. Their stores are never removed: a start rejects the folder until the
 * operator rebuilds the catalog or accepts the loss, which moves the stores into quarantine.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { EngineError } from '../../errors.ts'
import { privateFolderMode } from '../../private-files.ts'
import { isBeingWritten, isOurFile, storeFile, syncFolder } from '../store/layout.ts'
import { storeVersion } from '../store/version-file.ts'
import { unusedFolderName, isCopiesFolder } from '../store/folder-names.ts'
import { targetFile } from './target-file.ts'

/** Folder of quarantined stores. The dot distinguishes its name from names of keyspaces. */
const quarantineFolder = 'quarantine.stores'

/** Folders of all stores in a data folder, as "keyspace/target". Does not follow links. */
export function storeFolders(dataDir: string): string[] {
  return unlistedStores(dataDir, [])
}

/**
 * Folders of stores that are not listed. Paths are compared without case, because some file systems
 * ignore it.
 */
export function unlistedStores(dataDir: string, listed: Iterable<string>): string[] {
  const known = new Set(Array.from(listed, (folder) => folder.toLowerCase()))
  return foldersIn(dataDir)
    .filter((name) => name !== quarantineFolder && !isCopiesFolder(name))
    .flatMap((keyspace) => storesIn(dataDir, keyspace, known))
}

/** Folders of the stores in a keyspace's folder, except the known ones. */
export function storesIn(
  dataDir: string,
  keyspace: string,
  known: ReadonlySet<string> = new Set(),
): string[] {
  const found = lstatSync(join(dataDir, keyspace), { throwIfNoEntry: false })
  if (found?.isDirectory() !== true) return []
  return foldersIn(join(dataDir, keyspace))
    .map((target) => join(keyspace, target))
    .filter((folder) => !known.has(folder.toLowerCase()))
    .filter((folder) => holdsStore(join(dataDir, folder)))
}

/** Folders at a path; none if the path cannot be read, such as the folder lost+found. */
function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM' || code === 'ENOENT') return []
    throw error
  }
}

function holdsStore(folder: string): boolean {
  const file = join(folder, storeFile)
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
  return isOurFile(file) || existsSync(join(folder, targetFile))
}

/**
 * Whether a store was ever written to. An unreadable store counts as written, unless a crash
 * interrupted its creation: the file is then empty, or has the rollback journal of its first
 * transaction. Later transactions use a write-ahead log.
 */
export function mayHoldData(file: string): boolean {
  if (!existsSync(file) || existsSync(`${file}-journal`)) return false
  const isEmpty = statSync(file).size === 0 && !isBeingWritten(file)
  return !isEmpty && storeVersion(file) !== 0
}

/** Moves a store into quarantine, and returns its new folder. */
export function quarantine(dataDir: string, folder: string): string {
  const parent = join(quarantineFolder, dirname(folder))
  mkdirSync(join(dataDir, parent), { recursive: true, mode: privateFolderMode })
  const name = unusedFolderName(
    join(dataDir, parent),
    folder.slice(dirname(folder).length + 1),
    [],
  )
  const place = join(parent, name)
  renameSync(join(dataDir, folder), join(dataDir, place))
  syncFolder(join(dataDir, parent))
  syncFolder(join(dataDir, dirname(folder)))
  return place
}

/** The error for a folder whose catalog has lost data. */
export function lostCatalog(dataDir: string, findings: readonly string[]): EngineError {
  return new EngineError(
    'damaged',
    `${dataDir} is not served, because its catalog has lost data: ` +
      `${findings.join('; ')}. Run "stela repair --catalog --data ${dataDir}" to ` +
      'rebuild the catalog from the stores, or start with --accept-lost-catalog to use ' +
      'the catalog as it is: stores that it does not list are moved to ' +
      `${quarantineFolder}. Restore a backup if neither helps`,
  )
}
