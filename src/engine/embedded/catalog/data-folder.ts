/** The folder that holds everything: made, held by one server at a time, and tidied. */
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
import { makePrivateFolder, type Tightening } from '../../private-files.ts'
import { tellAtStart, troubleOf } from '../files/disk-trouble.ts'
import { findForeignObject, type OwnTables } from '../files/foreign-objects.ts'
import { isCopiesFolder } from '../store/folder-names.ts'
import { damaged, existing, syncFolder, type Advice } from '../store/layout.ts'
import { mirrorFile } from './catalog-mirror.ts'
import { lostCatalog, storeFolders } from './lost-stores.ts'
import { messageOf } from '../../../errors/reason.ts'

export const catalogFile = 'catalog.db'

/** What to do about a catalog that cannot be used. */
export const catalogAdvice: Advice =
  'Rebuild it with "stela repair --catalog". Restore a backup if that does not help'

/** What a catalog is called until it is whole. */
export const unfinishedFile = `${catalogFile}.new`

/**
 * Makes a folder with a catalog in it, unless there is one; `make` writes the catalog. A folder
 * that had a catalog gets no other one unless `acceptsLoss`.
 */
export function makeDataDir(
  dataDir: string,
  acceptsLoss: boolean,
  make: (file: string) => void,
): void {
  const file = join(dataDir, catalogFile)
  if (existsSync(file)) return
  makeFolder(dataDir)
  if (!acceptsLoss && hadCatalog(dataDir))
    throw lostCatalog(dataDir, [`${catalogFile} is missing, while there is data`])
  // Made under a name of its own first: a start that is cut short leaves no half catalog,
  // and of two starts at once one finds what the other has made.
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
        ? 'is not a folder, or stands inside of a file'
        : `cannot be made: ${lineOf(problem)}`
    throw new EngineError('damaged', `${dataDir} ${words}. Start with another folder`)
  }
}

/** Of several folders, Node makes all or says something vague; of one it tells the truth. */
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

/** Gives a file its name, unless another has it. */
function publish(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file)
  } catch (error) {
    // Not every file system has links; renaming is as good, but for two starts at once.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT' || existsSync(file)) throw error
    renameSync(unfinished, file)
  }
}

/** Takes away what other users may do with the folder itself and with its catalog. */
export function tightenDataDir(dataDir: string, access: Tightening): void {
  if (!statSync(dataDir, { throwIfNoEntry: false })?.isDirectory()) return
  const folder = realpathSync(dataDir)
  access.tighten(folder)
  for (const end of ['', '-wal', '-shm', '-journal'])
    access.tighten(join(folder, catalogFile + end))
  access.tighten(join(folder, mirrorFile))
}

/** What earlier starts left behind. Only the holder of the folder may say so. */
export function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir))
    if (name.startsWith(unfinishedFile) || isCopiesFolder(name))
      rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** Whether a folder has stores, or what is written beside a catalog. */
export function hadCatalog(dataDir: string): boolean {
  return existsSync(join(dataDir, mirrorFile)) || storeFolders(dataDir).length > 0
}

/** Locks the folder for as long as this process lives. */
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
        `${dataDir} is in use by another running server. Stop it, or start with another folder`,
      )
    // Of two that start at once, each may have been in the way of the other.
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
    // Indexes included: a change that does not find its row through one would change nothing.
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

/** Errors that say what an operator can do; undefined: the file is to blame. */
export function refusalFor(
  error: unknown,
  dataDir: string,
  file: string,
): Error | undefined {
  if (error instanceof EngineError) return error
  const trouble = troubleOf(error, file)
  if (trouble !== undefined)
    return new EngineError('write', tellAtStart(trouble, dataDir), { cause: error })
  const isTelling = error instanceof Error && 'syscall' in error
  return isTelling ? error : undefined
}

/** What an error says, in one line. */
export function lineOf(error: unknown): string {
  return oneLine(messageOf(error))
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
