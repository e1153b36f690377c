/**
 * Restores a data folder from a backup. Each file is verified against the manifest during the copy,
 * and then checked as a database. The catalog file gets its final name last, so an interrupted
 * restore leaves no valid data folder.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, realpathSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { EngineError } from '../../errors.ts'
import { privateFileMode, PermissionFixer } from '../../private-files.ts'
import { catalogFile, catalogFormat, unfinishedFile } from '../catalog/catalog.ts'
import { catalogTables } from '../catalog/catalog-file.ts'
import { makeFolderIfAbsent, readFolders, refuseUnlessReal } from '../store/folder-names.ts'
import { findForeignObject, type OwnTables } from '../files/foreign-objects.ts'
import {
  checkFile,
  damaged,
  formatVersion,
  storeFile,
  storeTables,
  syncFolder,
  type Advice,
} from '../store/layout.ts'
import { messageOf } from '../../../errors/reason.ts'

const otherBackup: Advice = 'Restore another backup'
const otherFolder: Advice = 'Restore into another folder'

/** A file of a backup, with the size and checksum from its manifest. */
export interface RestoredFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

export interface Restorable {
  readonly catalog: RestoredFile
  /** Files of stores by uid of their targets. */
  readonly stores: ReadonlyMap<string, RestoredFile>
}

/**
 * Restores into an empty folder. Throws an EngineError that states what is wrong with the backup.
 */
export async function restoreDataFolder(
  backup: Restorable,
  dataDir: string,
  onCopied: (size: number) => void,
  onNotice: (line: string) => void,
): Promise<void> {
  const access = new PermissionFixer()
  access.tighten(realpathSync(dataDir))
  // The folder is empty, so its permissions exposed no data. Only failures to change them are
  // reported.
  access.report(dataDir, (level, line) => {
    if (level === 'warn') onNotice(line)
  })
  const unfinished = join(dataDir, `${unfinishedFile}-${randomUUID()}`)
  const ofCatalog = { formatMax: catalogFormat, tables: catalogTables }
  await copyChecked(backup.catalog, unfinished, ofCatalog, onCopied)
  for (const { uid, folder } of readStores(unfinished, backup.catalog.path)) {
    const store = backup.stores.get(uid)
    if (store === undefined)
      throw new EngineError(
        'damaged',
        `the backup has no file for ${folder}. ${otherBackup}`,
      )
    const path = join(dataDir, folder)
    makeFolderIfAbsent(dirname(path), otherFolder)
    makeFolderIfAbsent(path, otherFolder)
    const ofStore = { formatMax: formatVersion, tables: storeTables }
    await copyChecked(store, join(path, storeFile), ofStore, onCopied)
    syncFolder(path)
    syncFolder(dirname(path))
  }
  syncFolder(dataDir)
  renameSync(unfinished, join(dataDir, catalogFile))
  syncFolder(dataDir)
}

/** Requirements for a file of a backup. */
interface Expected {
  readonly formatMax: number
  readonly tables: OwnTables
}

async function copyChecked(
  { path, size, sha256 }: RestoredFile,
  to: string,
  { formatMax, tables }: Expected,
  onCopied: (size: number) => void,
): Promise<void> {
  refuseUnlessReal(path, 'file', otherBackup)
  const hash = createHash('sha256')
  let copied = 0
  await pipeline(
    createReadStream(path, { highWaterMark: 1 << 20 }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        copied += chunk.length
        onCopied(chunk.length)
        yield chunk
      }
    },
    createWriteStream(to, { flush: true, flags: 'wx', mode: privateFileMode }),
  )
  if (copied !== size)
    throw damagedBackup(path, `has ${copied} bytes, but ${size} were backed up`)
  if (hash.digest('hex') !== sha256)
    throw damagedBackup(path, 'was changed after the backup: its digest differs')
  try {
    checkFile(to, formatMax, otherBackup)
  } catch (error) {
    // The original message names the copy, which will be deleted. The new one names the file of the
    // backup.
    throw new EngineError('damaged', messageOf(error).replace(to, path))
  }
  checkContent(to, path, tables)
}

/** Rejects foreign objects, and a file that was damaged before its backup. */
function checkContent(file: string, original: string, tables: OwnTables): void {
  reading(file, original, (database) => {
    const foreign = findForeignObject(database, tables)
    if (foreign !== undefined) throw damagedBackup(original, `has ${foreign}`)
    const [row] = database.prepare('PRAGMA quick_check(1)').all()
    const verdict = String(row?.['quick_check'])
    if (verdict !== 'ok')
      throw damagedBackup(original, `was already damaged when it was backed up: ${verdict}`)
  })
}

interface StoreRow {
  readonly uid: string
  /** Folder of the target, relative to the data folder. */
  readonly folder: string
}

function readStores(catalog: string, original: string): StoreRow[] {
  return reading(catalog, original, (database) => {
    const { targets } = readFolders(database, original, otherBackup)
    const ready = database.prepare("SELECT uid FROM target WHERE state = 'ready'").all()
    return ready.map(({ uid }) => ({
      uid: String(uid),
      folder: targets.get(String(uid))!,
    }))
  })
}

function reading<T>(
  file: string,
  original: string,
  read: (database: DatabaseSync) => T,
): T {
  try {
    const database = new DatabaseSync(file)
    try {
      database.exec('PRAGMA trusted_schema = OFF')
      return read(database)
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw damagedBackup(original, `cannot be read: ${messageOf(error)}`)
  }
}

function damagedBackup(path: string, problem: string): EngineError {
  return damaged(path, problem, otherBackup)
}
