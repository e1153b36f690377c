/**
 * catalog.db, as a file: its schema, and what keeps a change of it from being lost unnoticed.
 *
 * Each change raises the catalog's generation, seals all rows with a checksum, and is moved
 * from the log into the file before it is answered. Then the generation is written to another
 * file (catalog-mirror.ts). So damage to either file, an older copy and a lost log show when
 * the folder is opened next.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { EngineError } from '../../errors.ts'
import { firstKeyspace } from '../../schema.ts'
import { isFull, OpenedFiles, refuseIfLostAsync, troubleOf } from '../files/disk-trouble.ts'
import { ownTables } from '../files/foreign-objects.ts'
import { identify, type FileIdentity } from '../files/file-identity.ts'
import { readMirror, writeMirror } from './catalog-mirror.ts'
import { catalogFile, openExclusively } from './data-folder.ts'

/** Raised with every change to the catalog's layout that older code could not read. */
export const catalogFormat = 4

/** From this format on a catalog has a generation and a checksum. */
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

/** Format 3 added user-defined types. Earlier ones had no tables either. */
const typeTable = `
  CREATE TABLE type(
    keyspace TEXT NOT NULL REFERENCES keyspace(name),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (keyspace, name)
  ) STRICT;
`

/** The generation of a catalog that was made and not opened yet. */
const unsealed = 0

/** Format 4 added the seal, and the last version of each store that the catalog knows of. */
const sealTable = `
  CREATE TABLE seal(generation INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
  INSERT INTO seal VALUES (${unsealed}, 0);
  ALTER TABLE target ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
`

/** A catalog without targets. The first start seals it. */
export const catalogSchema = tables + typeTable + sealTable

export const catalogTables = ownTables(catalogSchema)

/** Bytes that the log of the catalog has on the disk: room for 16 pages, which a drop fits in. */
const reservedLogSize = 64 * 1024

export type CatalogParameter = string | number

/** A statement, and what it is given. */
export type CatalogChange = readonly [sql: string, ...parameters: CatalogParameter[]]

export class CatalogFile {
  readonly #dataDir: string
  readonly #database: DatabaseSync
  readonly #files: OpenedFiles
  #commits = 0
  /** The latest write of the other file, and the one that follows it. */
  #recorded: Promise<void> = Promise.resolve()
  #nextRecord: Promise<void> | undefined

  /** Holds the folder until it is closed. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir
    const file = join(dataDir, catalogFile)
    this.#files = new OpenedFiles(identify(file))
    this.#database = openExclusively(file, dataDir, catalogTables)
  }

  get database(): DatabaseSync {
    return this.#database
  }

  /** The file that was opened. */
  get identity(): FileIdentity {
    return this.#files.identity
  }

  /** Changes that were made durable. */
  get commits(): number {
    return this.#commits
  }

  get generation(): number {
    return generationOf(this.#database)
  }

  /**
   * Brings a catalog that is new, or that an earlier version wrote, to the present format, and
   * the other file to its generation.
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
  }

  all(sql: string, ...parameters: CatalogParameter[]): Record<string, unknown>[] {
    return this.#database.prepare(sql).all(...parameters)
  }

  /** The options of a collection or the definition of a table, as they are stored. */
  readDefinition(uid: string): object {
    const [row] = this.all('SELECT options FROM target WHERE uid = ?', uid)
    if (row === undefined) throw new EngineError('gone', 'the collection or table is gone')
    return JSON.parse(String(row['options'])) as object
  }

  /**
   * Makes changes together or not at all. When it returns they are durable, in the log. To be
   * followed by `secure` before the changes are answered, unless no client waits for them.
   */
  run(...changes: readonly CatalogChange[]): void {
    try {
      this.#commit(changes)
    } catch (error) {
      if (!isFull(error)) throw error
      // The log's content is in the file already, often enough. Then the log can start over,
      // and there is room to drop something.
      this.#checkpoint()
      this.#commit(changes)
    }
  }

  /** Seals the catalog with a generation above one that another file recorded. */
  async raiseGeneration(above: number): Promise<void> {
    this.run(['UPDATE seal SET generation = max(generation, ?)', above])
    await this.secure()
  }

  /**
   * Moves the log into the file and records the generation. Without room on the disk neither
   * is done: the change itself is durable, in the log.
   */
  async secure(): Promise<void> {
    try {
      this.#checkpoint()
      this.#reserveLog()
      await this.#record()
    } catch (error) {
      if (troubleOf(error, this.identity.path) === undefined) throw error
    }
  }

  /** Writes the other file: one write at a time, which has all changes that were made before. */
  #record(): Promise<void> {
    this.#nextRecord ??= this.#recorded.then(() => {
      this.#nextRecord = undefined
      return writeMirror(this.#dataDir, this.generation, this.#database)
    })
    this.#recorded = this.#nextRecord.catch(() => undefined)
    return this.#nextRecord
  }

  /** Does what need not succeed, but never in a folder that took the place of ours. */
  async attempt(act: () => Promise<void>): Promise<void> {
    try {
      await refuseIfLostAsync(this.identity)
      await act()
    } catch (error) {
      const { syscall } = error as NodeJS.ErrnoException
      if (error instanceof EngineError && error.kind === 'damaged') return
      if (syscall === undefined && troubleOf(error, this.identity.path) === undefined)
        throw error
    }
  }

  /** Copies the catalog through this connection, which holds the only lock on it. */
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
   * Gives the empty log its blocks on the disk back, so that a target can be dropped when the
   * disk is full. A log of zeros has no valid header: SQLite takes it for an empty one.
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
      for (const [sql, ...parameters] of changes)
        this.#database.prepare(sql).run(...parameters)
    })
  }

  #transact(change: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      change()
      seal(this.#database, this.generation + 1)
      this.#files.refuseIfLost()
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
    this.#files.refuseIfLost('after commit')
    this.#commits++
  }
}

/** Gives a catalog a generation, and the checksum of what it holds. */
export function seal(database: DatabaseSync, generation: number): void {
  database.prepare('UPDATE seal SET generation = ?').run(generation)
  database.prepare('UPDATE seal SET checksum = ?').run(checksumOf(database))
}

/** Earlier formats have none. */
export function generationOf(database: DatabaseSync): number {
  if (formatOf(database) < sealedFormat) return unsealed
  return Number(database.prepare('SELECT generation FROM seal').get()?.['generation'])
}

/** CRC-32 over all rows in key order, which does not depend on how they are stored. */
function checksumOf(database: DatabaseSync): number {
  let sum = generationOf(database)
  for (const table of ['keyspace', 'target', 'type', 'setting'])
    for (const row of database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).iterate())
      sum = crc32(JSON.stringify([table, ...Object.values(row)]), sum)
  return sum
}

/** Findings for the operator: whether the rows match the checksum. */
export function sealFindings(database: DatabaseSync): string[] {
  if (generationOf(database) === unsealed) return []
  const { checksum } = database.prepare('SELECT checksum FROM seal').get() ?? {}
  return checksum === checksumOf(database)
    ? []
    : [`the content of ${catalogFile} does not match its checksum`]
}

function formatOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()!['user_version'])
}
