/**
 * Opens database files so that nothing on disk changes. A connection that may write moves the
 * log into the file and deletes it when it is closed. A read-only connection creates an empty log
 * if the file has no log.
 *
 * So a file with a log is opened read-only, which needs a "-shm" file beside it. It is removed
 * again if it was not there. A file without a log is opened as immutable, which takes no locks.
 * That holds as long as no server starts: the catalog stays locked meanwhile.
 */
import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { obstructs, troubleOf } from '../files/disk-trouble.ts'
import { inspectLog } from '../files/write-ahead-log.ts'
import { busyTimeoutMs, isBeingWritten } from '../store/layout.ts'

export interface OpenedToCheck extends Disposable {
  readonly database: DatabaseSync
}

/** A store. It may be in use if it has a log: what is read is of one moment. */
export function openStoreToCheck(file: string): OpenedToCheck {
  return isBeingWritten(file) ? openReadOnly(file, busyTimeoutMs) : openImmutable(file)
}

/**
 * The catalog, with a lock that no server gets past. Without permission to write there is no
 * lock, and a log cannot be read; a server that has it open is noticed also then.
 */
export function openCatalogToCheck(file: string): OpenedToCheck {
  try {
    return openReadOnly(file, 0)
  } catch (error) {
    const trouble = troubleOf(error, file)
    if (trouble === undefined || !obstructs(trouble) || !isLogEmpty(file)) throw error
    return openImmutable(file)
  }
}

/** A log of zeros, which a server reserves (catalog-file.ts), counts as empty. */
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
      // Before the lock goes: from then on the files may be those of a server.
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
    // The read takes the lock, and what is seen stays of that moment.
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
