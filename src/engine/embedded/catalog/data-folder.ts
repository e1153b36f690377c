/** The data folder: creates it, locks it for one server, and cleans it up. */
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import { makePrivateFolder, type PermissionFixer } from '../../private-files.ts'
import { startupMessage, problemOf } from '../files/disk-trouble.ts'
import { findForeignObject, type OwnTables } from '../files/foreign-objects.ts'
import { isCopiesFolder } from '../store/folder-names.ts'
import { damaged, existing, syncFolder, type Advice } from '../store/layout.ts'
import { mirrorFile } from './catalog-mirror.ts'
import { lostCatalog, storeFolders } from './lost-stores.ts'
import { messageOf } from '../../../errors/reason.ts'

export const catalogFile = 'catalog.db'

/** Advice to the operator for an unusable catalog. */
export const catalogAdvice: Advice =
  'Rebuild it with "stela repair --catalog". Restore a backup if that does not help'

/** Prefix of the name of an incomplete catalog. */
export const unfinishedFile = `${catalogFile}.new`

/**
 * Creates the data folder and a catalog, which `make` writes, unless the folder has a catalog. A
 * folder whose catalog was lost gets a new catalog only with `acceptsLoss`.
 */
export function makeDataDir(
  dataDir: string,
  acceptsLoss: boolean,
  make: (file: string) => void,
): void {
  const file = join(dataDir, catalogFile)
  if (existsSync(file)) return
  makeFolder(dataDir)
  if (!acceptsLoss && catalogExisted(dataDir))
    throw lostCatalog(dataDir, [`${catalogFile} is missing, but the folder contains data`])
  if (acceptsLoss) setCatalogAside(dataDir)
  // The catalog is written under a temporary name first: an interrupted start leaves no partial
  // catalog, and of two concurrent starts, the second uses the catalog of the first.
  const unfinished = join(dataDir, `${unfinishedFile}-${randomUUID()}`)
  try {
    make(unfinished)
    publish(unfinished, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
  syncFolder(dataDir)
}

function makeFolder(dataDir: string): void {
  try {
    makePrivateFolder(dataDir)
  } catch (error) {
    const problem = whyNotMade(dataDir) ?? error
    const { code } = problem as NodeJS.ErrnoException
    if (code === 'EROFS' || code === 'ENOSPC') throw problem
    const words =
      code === 'EEXIST' || code === 'ENOTDIR'
        ? 'is not a folder, or its parent is not a folder'
        : `cannot be created: ${lineOf(problem)}`
    throw new EngineError('damaged', `${dataDir} ${words}. Start with another folder`)
  }
}

/**
 * The reason why a folder cannot be created. Node's error is vague when several levels of folders
 * are to be created, and exact for one level.
 */
function whyNotMade(dataDir: string): unknown {
  const isMissing = (path: string): boolean =>
    statSync(path, { throwIfNoEntry: false }) === undefined
  try {
    let folder = dataDir
    while (isMissing(dirname(folder))) folder = dirname(folder)
    mkdirSync(folder)
    return undefined
  } catch (error) {
    return error
  }
}

/**
 * Renames the catalog and its log, even if only the log is left, because SQLite would apply the log
 * to a new catalog. Returns the new path of the old catalog; undefined if it did not exist.
 */
export function setCatalogAside(dataDir: string): string | undefined {
  const file = join(dataDir, catalogFile)
  const ends = ['-wal', '-shm', '']
  const isTaken = (path: string) => ends.some((end) => existsSync(path + end))
  let number = 1
  while (isTaken(`${file}.replaced-${number}`)) number++
  const kept = `${file}.replaced-${number}`
  for (const end of ends) if (existsSync(file + end)) renameSync(file + end, kept + end)
  return existsSync(kept) ? kept : undefined
}

/** Gives a file its final name. Throws if the name is taken. */
function publish(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file)
  } catch (error) {
    // Some file systems have no hard links. Renaming is equivalent, except for concurrent starts.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT' || existsSync(file)) throw error
    renameSync(unfinished, file)
  }
}

/** Removes the permissions of other users on the data folder and its catalog. */
export function restrictDataDir(dataDir: string, access: PermissionFixer): void {
  if (!statSync(dataDir, { throwIfNoEntry: false })?.isDirectory()) return
  const folder = realpathSync(dataDir)
  access.tighten(folder)
  for (const end of ['', '-wal', '-shm', '-journal'])
    access.tighten(join(folder, catalogFile + end))
  access.tighten(join(folder, mirrorFile))
}

/**
 * Removes remains of interrupted starts and backups. The caller must hold the lock of the folder.
 */
export function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir))
    if (name.startsWith(unfinishedFile) || isCopiesFolder(name))
      rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** Whether a folder contains stores, or a mirror of a catalog. */
export function catalogExisted(dataDir: string): boolean {
  return existsSync(join(dataDir, mirrorFile)) || storeFolders(dataDir).length > 0
}

/** Opens the catalog and locks the folder until the catalog is closed. */
export function openExclusively(
  file: string,
  dataDir: string,
  own: OwnTables,
): DatabaseSync {
  for (let left = triesMax; ; left--) {
    const opened = tryExclusively(file, dataDir, own)
    if (opened !== 'locked') return opened
    if (left === 1)
      throw new EngineError(
        'closed',
        `${dataDir} is in use by another running server. Stop that server, or start ` +
          'with another folder',
      )
    // Two concurrent starts may have blocked each other: wait a random time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * waitMsMax)
  }
}

const triesMax = 5
const waitMsMax = 100

function tryExclusively(
  file: string,
  dataDir: string,
  own: OwnTables,
): DatabaseSync | 'locked' {
  const database = new DatabaseSync(existing(file), { timeout: 0 })
  try {
    database.exec(`
      PRAGMA trusted_schema = OFF;
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA synchronous = FULL;
      BEGIN IMMEDIATE;
      COMMIT;
    `)
    const foreign = findForeignObject(database, own)
    if (foreign !== undefined) throw damaged(file, `has ${foreign}`)
    // integrity_check also verifies the indexes. With a corrupt index, an update would not find
    // its row, and would silently change nothing.
    const [verdict] = database.prepare('PRAGMA integrity_check(1)').all()
    if (verdict?.['integrity_check'] !== 'ok')
      throw damaged(
        file,
        `is damaged: ${oneLine(String(verdict?.['integrity_check']))}`,
        catalogAdvice,
      )
    return database
  } catch (error) {
    database.close()
    const refusal = refusalFor(error, dataDir, file)
    if (refusal !== undefined) throw refusal
    const reason = lineOf(error)
    if (reason.includes('locked')) return 'locked'
    throw damaged(file, `cannot be opened: ${reason}`, catalogAdvice)
  }
}

/**
 * The error to report for a folder that cannot be opened, if its cause is known; undefined if the
 * cause is damage of the file itself.
 */
export function refusalFor(
  error: unknown,
  dataDir: string,
  file: string,
): Error | undefined {
  if (error instanceof EngineError) return error
  const trouble = problemOf(error, file)
  if (trouble !== undefined)
    return new EngineError('write', startupMessage(trouble, dataDir), { cause: error })
  const isTelling = error instanceof Error && 'syscall' in error
  return isTelling ? error : undefined
}

/** An error's message in one line. */
export function lineOf(error: unknown): string {
  return oneLine(messageOf(error))
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
