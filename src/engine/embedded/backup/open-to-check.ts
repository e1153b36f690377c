/**
 * Opens database files without changing anything on disk. A writable connection would checkpoint
 * the log and delete it when it is closed. A read-only connection would create an empty log for a
 * file without a log.
 *
 * So a file with a log is opened read-only. This needs a "-shm" file, which is removed again if it
 * did not exist before. A file without a log is opened as immutable, which takes no locks. This is
 * safe only while no server starts: the catalog stays locked meanwhile.
 */
import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { preventsCheck, problemOf } from '../files/disk-trouble.ts'
import { inspectLog } from '../files/write-ahead-log.ts'
import { busyTimeoutMs, isBeingWritten } from '../store/layout.ts'

export interface OpenedToCheck extends Disposable {
  readonly database: DatabaseSync
}

/** Opens a store. If it has a log, it may be in use, and the connection reads one snapshot. */
export function openStoreToCheck(file: string): OpenedToCheck {
  return isBeingWritten(file) ? openReadOnly(file, busyTimeoutMs) : openImmutable(file)
}

/**
 * Opens the catalog, and locks it so that no server can start. Without permission to write, the
 * catalog is not locked, and a catalog with a log cannot be read. A server that has the catalog
 * open is detected in both cases.
 */
export function openCatalogToCheck(file: string): OpenedToCheck {
  try {
    return openReadOnly(file, 0)
  } catch (error) {
    const trouble = problemOf(error, file)
    if (trouble === undefined || !preventsCheck(trouble) || !isLogEmpty(file)) throw error
    return openImmutable(file)
  }
}

/**
 * Whether a log is missing or has no frames. A log of zeros, which a server reserves
 * (catalog-file.ts), has no frames.
 */
function isLogEmpty(file: string): boolean {
  const { kind } = inspectLog(file)
  return kind === 'absent' || kind === 'empty'
}

function openReadOnly(file: string, timeout: number): OpenedToCheck {
  const absent = ['-wal', '-shm']
    .map((end) => file + end)
    .filter((path) => !existsSync(path))
  const database = open(file, 'mode=ro', timeout)
  return {
    database,
    [Symbol.dispose]: () => {
      // The files are removed before the lock is released: after that, they may belong to a server.
      for (const path of absent)
        if (existsSync(path) && !(path.endsWith('-wal') && isBeingWritten(file)))
          rmSync(path)
      database.close()
    },
  }
}

function openImmutable(file: string): OpenedToCheck {
  const database = open(file, 'mode=ro&immutable=1', 0)
  return { database, [Symbol.dispose]: () => database.close() }
}

function open(file: string, mode: string, timeout: number): DatabaseSync {
  const url = pathToFileURL(file)
  url.search = mode
  const database = new DatabaseSync(url, { readOnly: true, timeout })
  try {
    // PRAGMA schema_version reads the file, which takes the lock and starts the snapshot.
    database.exec(`
      PRAGMA trusted_schema = OFF;
      PRAGMA temp_store = MEMORY;
      PRAGMA mmap_size = 1073741824;
      BEGIN;
      PRAGMA schema_version;
    `)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
