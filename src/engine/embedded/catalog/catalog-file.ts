/**
 * The file catalog.db: its schema, and the protection of its changes against unnoticed loss.
 *
 * Each change raises the catalog's generation, seals all rows with a checksum, and is checkpointed
 * into the file before it is acknowledged. Then the generation is written to a second file
 * (catalog-mirror.ts). So the next start detects damage to either file, an older copy, and a lost
 * log.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import { firstKeyspace } from '../../schema.ts'
import { isFull, OpenedFiles, refuseIfLostAsync, problemOf } from '../files/disk-trouble.ts'
import { ownTables } from '../files/foreign-objects.ts'
import { identify, type FileIdentity } from '../files/file-identity.ts'
import { CatalogChecksum } from './catalog-checksum.ts'
import { readMirror, writeMirror } from './catalog-mirror.ts'
import { catalogFile, openExclusively } from './data-folder.ts'

/** Format of the catalog. Increase it when older versions could not read the new layout. */
export const catalogFormat = 4

/** The first format with a generation and a checksum. */
export const sealedFormat = 4

const tables = `
  CREATE TABLE keyspace(name TEXT PRIMARY KEY, folder TEXT NOT NULL UNIQUE) STRICT;
  INSERT INTO keyspace VALUES ('${firstKeyspace}', '${firstKeyspace}');
  CREATE TABLE target(
    uid TEXT PRIMARY KEY,
    keyspace TEXT NOT NULL REFERENCES keyspace(name),
    name TEXT NOT NULL,
    folder TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    UNIQUE (keyspace, name)
  ) STRICT;
  CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`

/** Format 3 added user-defined types. Earlier formats have no tables of the Data API either. */
const typeTable = `
  CREATE TABLE type(
    keyspace TEXT NOT NULL REFERENCES keyspace(name),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (keyspace, name)
  ) STRICT;
`

/** Generation of a catalog that is not sealed yet. */
const unsealed = 0

/**
 * Format 4 added the seal (generation and checksum), and the last known version of each store.
 */
const sealTable = `
  CREATE TABLE seal(generation INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
  INSERT INTO seal VALUES (${unsealed}, 0);
  ALTER TABLE target ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
`

/** Schema of a catalog without targets. The first start seals it. */
export const catalogSchema = tables + typeTable + sealTable

export const catalogTables = ownTables(catalogSchema)

/**
 * Bytes reserved on disk for the catalog's log: 16 pages, enough to drop a target on a full disk.
 */
const reservedLogSize = 64 * 1024

export type CatalogParameter = string | number

/** An SQL statement and its parameters. */
export type CatalogChange = readonly [sql: string, ...parameters: CatalogParameter[]]

export class CatalogFile {
  readonly #dataDir: string
  readonly #database: DatabaseSync
  readonly #files: OpenedFiles
  readonly #checksum = new CatalogChecksum()
  #commits = 0
  /** The latest write of the mirror, and the write that is queued after it. */
  #recorded: Promise<void> = Promise.resolve()
  #nextRecord: Promise<void> | undefined

  /** Opens the catalog, and locks the data folder until the catalog is closed. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir
    const file = join(dataDir, catalogFile)
    this.#files = new OpenedFiles(identify(file))
    this.#database = openExclusively(file, dataDir, catalogTables)
  }

  get database(): DatabaseSync {
    return this.#database
  }

  get identity(): FileIdentity {
    return this.#files.identity
  }

  /** Number of durable changes. */
  get commits(): number {
    return this.#commits
  }

  get generation(): number {
    return generationOf(this.#database)
  }

  /**
   * Upgrades the catalog to the current format, if it is new or of an earlier version, and updates
   * the mirror if it does not have the catalog's generation.
   */
  async upgrade(): Promise<void> {
    const format = formatOf(this.#database)
    if (format < catalogFormat)
      this.#database.exec(`
        BEGIN IMMEDIATE;
        ${format < 3 ? typeTable : ''}
        ${sealTable}
        PRAGMA user_version = ${catalogFormat};
        COMMIT;
      `)
    if (this.generation === unsealed) await this.raiseGeneration(unsealed)
    const mirror = readMirror(this.#dataDir)
    const recorded = typeof mirror === 'object' ? mirror.content.generation : unsealed
    if (recorded !== this.generation) await this.secure()
    // Caches the checksums of definitions. The first change would otherwise read all definitions
    // while requests wait.
    this.#checksum.of(this.#database, this.generation)
  }

  all(sql: string, ...parameters: CatalogParameter[]): Record<string, unknown>[] {
    return this.#database.prepare(sql).all(...parameters)
  }

  /** The stored options of a collection, or the stored definition of a table. */
  readDefinition(uid: string): object {
    const [row] = this.all('SELECT options FROM target WHERE uid = ?', uid)
    if (row === undefined)
      throw new EngineError('gone', 'the collection or table no longer exists')
    return JSON.parse(String(row['options'])) as object
  }

  /**
   * Makes changes atomically. When `run` returns, the changes are durable in the log. `secure` must
   * follow before the changes are acknowledged, unless no client waits for them.
   */
  run(...changes: readonly CatalogChange[]): void {
    try {
      this.#commit(changes)
    } catch (error) {
      if (!isFull(error)) throw error
      // A checkpoint usually empties the log even on a full disk, because the file already has the
      // log's content. The space of the log is then enough to drop a target.
      this.#checkpoint()
      this.#commit(changes)
    }
  }

  /**
   * Seals the catalog with a generation greater than `above`, the generation that another file
   * recorded.
   */
  async raiseGeneration(above: number): Promise<void> {
    this.run(['UPDATE seal SET generation = max(generation, ?)', above])
    await this.secure()
  }

  /**
   * Checkpoints the log and records the generation in the mirror. A disk error, such as a full
   * disk, is ignored: the change is durable in the log.
   */
  async secure(): Promise<void> {
    try {
      this.#checkpoint()
      this.#reserveLog()
      await this.#record()
    } catch (error) {
      if (problemOf(error, this.identity.path) === undefined) throw error
    }
  }

  /**
   * Writes the mirror, one write at a time. Each write includes all changes made before it starts.
   */
  #record(): Promise<void> {
    this.#nextRecord ??= this.#recorded.then(() => {
      this.#nextRecord = undefined
      return writeMirror(this.#dataDir, this.generation, this.#database)
    })
    this.#recorded = this.#nextRecord.catch(() => undefined)
    return this.#nextRecord
  }

  /**
   * Runs optional work and ignores disk errors. Does nothing when another folder has replaced the
   * data folder.
   */
  async attempt(act: () => Promise<void>): Promise<void> {
    try {
      await refuseIfLostAsync(this.identity)
      await act()
    } catch (error) {
      const { syscall } = error as NodeJS.ErrnoException
      if (error instanceof EngineError && error.kind === 'damaged') return
      if (syscall === undefined && problemOf(error, this.identity.path) === undefined)
        throw error
    }
  }

  /** Copies the catalog through this connection, which holds the exclusive lock. */
  async copyTo(file: string): Promise<void> {
    await backup(this.#database, file)
  }

  async close(): Promise<void> {
    await this.#recorded
    this.#database.close()
  }

  #checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /**
   * Reserves disk blocks for the empty log, so that a target can be dropped on a full disk. Its
   * content is zeros: without a valid header, SQLite treats the log as empty.
   */
  #reserveLog(): void {
    const handle = openSync(`${this.identity.path}-wal`, 'r+')
    try {
      if (fstatSync(handle).size === 0) writeSync(handle, Buffer.alloc(reservedLogSize))
    } finally {
      closeSync(handle)
    }
  }

  #commit(changes: readonly CatalogChange[]): void {
    this.#transact(() => {
      for (const [sql, ...parameters] of changes) {
        this.#database.prepare(sql).run(...parameters)
        if (/^UPDATE target SET options\b/.test(sql))
          for (const value of parameters) this.#checksum.forget(String(value))
      }
    })
  }

  #transact(change: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      change()
      seal(this.#database, this.generation + 1, this.#checksum)
      this.#files.refuseIfLost()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#checksum.clear()
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
    this.#files.refuseIfLost('after commit')
    this.#commits++
  }
}

/** Sets the generation of a catalog, and the checksum of its content. */
export function seal(
  database: DatabaseSync,
  generation: number,
  checksum = new CatalogChecksum(),
): void {
  database.prepare('UPDATE seal SET generation = ?').run(generation)
  const sum = checksum.of(database, generation)
  database.prepare('UPDATE seal SET checksum = ?').run(sum)
}

/** Generation of a catalog. Catalogs of earlier formats have no generation: `unsealed`. */
export function generationOf(database: DatabaseSync): number {
  if (formatOf(database) < sealedFormat) return unsealed
  return Number(database.prepare('SELECT generation FROM seal').get()?.['generation'])
}

/** Findings for the operator: whether the rows match the checksum. */
export function checksumFindings(database: DatabaseSync): string[] {
  const generation = generationOf(database)
  if (generation === unsealed) return []
  const { checksum } = database.prepare('SELECT checksum FROM seal').get() ?? {}
  return checksum === new CatalogChecksum().of(database, generation)
    ? []
    : [`the content of ${catalogFile} does not match its checksum`]
}

function formatOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()!['user_version'])
}
