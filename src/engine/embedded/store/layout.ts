/**
 * The store of one collection: a SQLite file in the collection's folder.
 *
 *   doc     documents as JSON text; `id` is the _id as a key (key.ts)
 *   search  $vector, $vectorize and $lexical of the documents that have any
 *   path    paths that occur, and the number of documents with each
 *   recent, run, segment, block, manifest
 *           the value index: which document has which value at which path (entries.ts, runs/)
 *   feed    documents whose vectors changed, by write, for the vector index
 *   term, textsegment, posting, waiting
 *           the term index: which document's $lexical has which term (lexical/writer.ts)
 *   meta    number of documents; version of the latest write; digest: sum of all checksums of
 *           records; start of the feed; numbers of indexed texts and of their tokens; numbers
 *           given to terms and segments; a random stamp, new with the first write after opening
 *
 * The store of a table has the same tables, with rows in `doc`. Its vectors are in a table
 * `vector_<column>` per vector column instead of `search`. It has a feed `feed_<column>` per
 * indexed vector column, and `term_<index>` and the other three tables per text index.
 *
 * See docs/internals/store.md. The file header names the program and the format; both are checked
 * before anything else in the file is trusted.
 */
import { closeSync, existsSync, fsyncSync, openSync, readSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { EngineError } from '../../errors.ts'
import { createPrivateFile, privateFileMode } from '../../private-files.ts'
import { findEntry } from '../files/async-files.ts'
import { findForeignObject, ownTables } from '../files/foreign-objects.ts'
import { runsSchema } from '../runs/layout.ts'

/** "STLA", in the header of all SQLite files that Stela creates. */
const applicationId = 0x53544c41
/** Increased with every change of the file layout that older versions cannot read. */
export const formatVersion = 4
/**
 * First format with indexes that are read. Indexes of earlier formats lack checksums or have
 * another structure.
 */
export const indexFormat = 4

export const storeFile = 'store.db'

/**
 * Prefix of the folders in which a backup makes its copies. No folder of a keyspace has it: such a
 * folder has a dot only after the id of a database.
 */
export const copiesFolder = 'backup.partial-'

/** The table with the vectors of a column. The vectors of a collection are in `search`. */
export function vectorTable(suffix: string): string {
  return suffix === '' ? 'search' : `vector${suffix}`
}

export function createVectors(suffix: string): string {
  return `
    CREATE TABLE IF NOT EXISTS ${vectorTable(suffix)}(
      doc INTEGER PRIMARY KEY,
      vector_form INTEGER NOT NULL,
      vector BLOB NOT NULL,
      checksum INTEGER
    ) STRICT;
  `
}

export function dropVectors(suffix: string): string {
  return `DROP TABLE IF EXISTS ${vectorTable(suffix)};`
}

/** Creates a feed that starts after the latest write. */
export function createFeed(suffix: string): string {
  return `
    CREATE TABLE feed${suffix}(version INTEGER PRIMARY KEY, doc INTEGER NOT NULL) STRICT;
    INSERT INTO meta SELECT 'feed${suffix}', value FROM meta WHERE name = 'version';
  `
}

export function dropFeed(suffix: string): string {
  return `
    DROP TABLE IF EXISTS feed${suffix};
    DELETE FROM meta WHERE name = 'feed${suffix}';
  `
}

export function createTerms(suffix: string): string {
  return `
    CREATE TABLE term${suffix}(id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE textsegment${suffix}(
      id INTEGER PRIMARY KEY,
      newest INTEGER NOT NULL,
      state TEXT NOT NULL,
      sources TEXT NOT NULL,
      progress INTEGER NOT NULL,
      size INTEGER NOT NULL,
      postings INTEGER NOT NULL,
      directory BLOB NOT NULL,
      documents BLOB NOT NULL,
      replaced BLOB NOT NULL,
      checksum INTEGER
    ) STRICT;
    CREATE TABLE posting${suffix}(
      id INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL,
      checksum INTEGER
    ) STRICT;
    CREATE TABLE waiting${suffix}(
      doc INTEGER PRIMARY KEY,
      terms BLOB,
      checksum INTEGER
    ) STRICT;
    INSERT INTO meta VALUES ('texts${suffix}', 0), ('tokens${suffix}', 0),
      ('terms${suffix}', 0), ('segments${suffix}', 1);
  `
}

export function dropTerms(suffix: string): string {
  return `
    DROP TABLE IF EXISTS term${suffix};
    DROP TABLE IF EXISTS textsegment${suffix};
    DROP TABLE IF EXISTS posting${suffix};
    DROP TABLE IF EXISTS waiting${suffix};
    DELETE FROM meta WHERE name IN
      ('texts${suffix}', 'tokens${suffix}', 'terms${suffix}', 'segments${suffix}');
  `
}

/** Tables of all stores since format 2. */
export const searchSchema = createFeed('') + createTerms('')

const storeSchema = `
  CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  INSERT INTO meta VALUES ('documents', 0), ('version', 0), ('digest', 0);
  CREATE TABLE doc(
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    checksum INTEGER
  ) STRICT;
  CREATE TABLE search(
    doc INTEGER PRIMARY KEY,
    vector_form INTEGER NOT NULL,
    vector BLOB,
    vectorize TEXT,
    lexical TEXT,
    checksum INTEGER
  ) STRICT;
  CREATE TABLE path(
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    documents INTEGER NOT NULL
  ) STRICT;
  ${searchSchema}
`

/** Tables of earlier formats: the value index, and the terms of each text. */
const earlierSchema = 'CREATE TABLE entry; CREATE TABLE indexed'

export const storeTables = ownTables(
  storeSchema + runsSchema('doc') + earlierSchema,
  createVectors('_0') + createFeed('_0') + createTerms('_0') + 'CREATE TABLE indexed_0',
)

/** Creates the store of a collection. */
export function createStore(file: string): Promise<void> {
  return writeStore(file, storeSchema + runsSchema('doc'))
}

/**
 * Creates the store of a table; `vectors` are the suffixes of its vector columns. Index entries use
 * row ids as ties, because reads of rows always need the order of ids.
 */
export function createTableStore(file: string, vectors: readonly string[]): Promise<void> {
  return writeStore(
    file,
    storeSchema + runsSchema('id') + vectors.map(createVectors).join(''),
  )
}

/**
 * Writes a new store without blocking the thread: SQLite copies it from memory on another thread.
 * Resolves when the file is durable; its entry in the folder may not be.
 */
async function writeStore(file: string, schema: string): Promise<void> {
  const handle = await open(file, 'wx', privateFileMode)
  try {
    const template = new DatabaseSync(':memory:')
    try {
      template.exec(markedSchema(schema, formatVersion))
      await backup(template, file)
    } finally {
      template.close()
    }
    await handle.write(walVersions, 0, walVersions.length, walVersionsAt)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Read and write versions in the file header; 2 means that the file has a write-ahead log. */
const walVersions = Buffer.of(2, 2)
const walVersionsAt = 18

function markedSchema(schema: string, format: number): string {
  return `
    BEGIN IMMEDIATE;
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${format};
    ${schema}
    COMMIT;
  `
}

/**
 * Creates a SQLite file with Stela's application id in the header. SQLite gives its log and
 * shared-memory file the same permissions.
 */
export function createFile(file: string, schema: string, format: number): void {
  createPrivateFile(file)
  const database = new DatabaseSync(file)
  try {
    // The id must reach the file itself and not only its log, so WAL mode starts afterwards.
    database.exec(`
      PRAGMA synchronous = FULL;
      ${markedSchema(schema, format)}
      PRAGMA journal_mode = WAL;
    `)
  } finally {
    database.close()
  }
}

/** Throws when a file is missing, truncated, not created by Stela, or of a later format. */
export function checkFile(file: string, formatMax = formatVersion, advice?: Advice): void {
  if (!existsSync(file)) throw damaged(file, 'is missing', advice)
  const header = readHeader(file)
  if (header === undefined)
    throw damaged(file, 'is not a database file, or is truncated', advice)
  if (header.readUInt32BE(68) !== applicationId)
    throw damaged(file, 'was not written by Stela', advice)
  const version = header.readUInt32BE(60)
  if (version > formatMax)
    throw new EngineError(
      'damaged',
      `${file} has format ${version}; this version of Stela reads formats up to ` +
        `${formatMax}. Use the version that wrote it, or a newer one`,
    )
  if (sizeOf(file) < sizeSaidBy(header) && sizeOf(`${file}-wal`) === 0)
    throw damaged(file, 'is truncated', advice)
}

/** Whether the header of a file has Stela's application id. */
export function isOurFile(file: string): boolean {
  return readHeader(file)?.readUInt32BE(68) === applicationId
}

/**
 * Format in the header of a file. The actual format may be later, because the log may contain an
 * upgrade.
 */
export function formatOf(file: string): number {
  return readHeader(file)?.readUInt32BE(60) ?? 0
}

/** Advice for the operator about a file that cannot be used. */
export type Advice =
  | 'Rebuild it with "stela repair --catalog". Restore a backup if that does not help'
  | 'Restore the data folder from a backup, or start with another one'
  | 'Restore another backup'
  | 'Restore into another folder'

/** The error for a file that cannot be used. */
export function damaged(
  file: string,
  problem: string,
  advice: Advice = 'Restore the data folder from a backup, or start with another one',
): EngineError {
  return new EngineError('damaged', `${file} ${problem}. ${advice}`)
}

function readHeader(file: string): Buffer | undefined {
  const header = Buffer.alloc(100)
  const handle = openSync(file, 'r')
  try {
    const size = readSync(handle, header, 0, header.length, 0)
    if (size < header.length) return undefined
  } catch {
    // The path may be a folder.
    return undefined
  } finally {
    closeSync(handle)
  }
  return header.toString('latin1', 0, 16) === 'SQLite format 3\0' ? header : undefined
}

/**
 * Minimum size of a file in bytes, according to its header. Pages at the end may be missing only
 * while there is a log: a crash may have happened between writing the first page and the last.
 */
function sizeSaidBy(header: Buffer): number {
  const pageSize = header.readUInt16BE(16)
  // The page count is valid only if the latest write set it.
  const holds = header.readUInt32BE(24) === header.readUInt32BE(92)
  return holds ? header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize) : 0
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** Opens a store for reading. The connection sees only committed data, and cannot write. */
export function openToRead(file: string): DatabaseSync {
  return openDatabase(existing(file), `PRAGMA query_only = 1; ${readingPragmas}`)
}

/** Opens a store for reading without locks. Valid only while nothing writes to it. */
export function openUnshared(file: string): DatabaseSync {
  const url = pathToFileURL(file)
  url.search = 'mode=ro&immutable=1'
  return openDatabase(url, readingPragmas)
}

/** Whether the store has a log. If so, it may be open for writing. */
export function isBeingWritten(file: string): boolean {
  return sizeOf(`${file}-wal`) > 0
}

/** Asynchronous version of `isBeingWritten`. */
export async function hasLog(file: string): Promise<boolean> {
  return ((await findEntry(`${file}-wal`))?.size ?? 0) > 0
}

/** Bytes of a file that a connection maps into memory. */
const mappedSize = 1_073_741_824

/** `schema_version` reads the file, so that opening an unreadable file fails. */
const readingPragmas = `PRAGMA mmap_size = ${mappedSize}; PRAGMA schema_version;`

/** Opens a store for writing. `durable`: an acknowledged write survives a power loss. */
export function openToWrite(file: string, durable: boolean): DatabaseSync {
  // Temporary data of statements is small, and must not need space on another disk.
  return openDatabase(
    existing(file),
    `
    PRAGMA temp_store = MEMORY;
    PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'};
    PRAGMA mmap_size = ${mappedSize};
    PRAGMA wal_autocheckpoint = 8000;
    PRAGMA journal_size_limit = 67108864;
  `,
  )
}

/** Maps the file of a connection into memory, or ends the mapping. Not in a transaction. */
export function setMapped(database: DatabaseSync, isMapped: boolean): void {
  database.exec(`PRAGMA mmap_size = ${isMapped ? mappedSize : 0}`)
}

/** Sets the size of the page cache of a connection. */
export function setCache(database: DatabaseSync, kilobytes: number): void {
  try {
    database.exec(`PRAGMA cache_size = -${kilobytes}`)
  } catch {
    // A failure is ignored: the next read or write fails with the cause.
  }
}

function openDatabase(file: URL, pragmas: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    database.exec(`PRAGMA trusted_schema = OFF; ${pragmas}`)
    refuseForeignObjects(database, file)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function refuseForeignObjects(database: DatabaseSync, file: URL): void {
  const found = findForeignObject(database, storeTables)
  if (found === undefined) return
  const problem = `has ${found}`
  throw new EngineError('damaged', `the store ${problem}. Run "stela check"`, {
    cause: damaged(fileURLToPath(file), problem),
  })
}

/** URL that opens only an existing file: SQLite would create a missing one. */
export function existing(file: string): URL {
  const url = pathToFileURL(file)
  url.search = 'mode=rw'
  return url
}

/**
 * Maximum milliseconds to wait for a lock. Only a checkpoint can hold a lock for long, and never
 * for this long.
 */
export const busyTimeoutMs = 10_000

/** Makes a new or renamed entry of a folder durable. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * A path as it is stored. SQLite stores UTF-8, which cannot represent lone surrogates. A path with
 * lone surrogates is stored as JSON after a mark with which no path starts.
 */
export function storedPath(path: string): string {
  return path.isWellFormed() ? path : spelled + JSON.stringify(path)
}

/**
 * A term as it is stored. Terms may start with the mark of `storedPath`, so such terms are stored
 * as JSON, too.
 */
export function storedTerm(term: string): string {
  const isPlain = term.isWellFormed() && !term.startsWith(spelled)
  return isPlain ? term : spelled + JSON.stringify(term)
}

const spelled = '&"'
