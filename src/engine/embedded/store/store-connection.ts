/** Connection that reads one store: its prepared statements, and the decoding of their results. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { parseStored } from '../../../json/parse.ts'
import type { Value } from '../../../json/value.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { SearchFields } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { problemOf } from '../files/disk-trouble.ts'
import {
  isBeingWritten,
  openToRead,
  openUnshared,
  setCache,
  storedPath,
  vectorTable,
} from './layout.ts'
import type { Tie } from '../format/entry-key.ts'
import { RunsReader } from '../runs/runs-reader.ts'
import {
  isSearchSound,
  isTextSound,
  textChecksum,
  type RowChecksum,
  type StoredSearch,
} from '../format/checksums.ts'
import { damagedRecord, danglingIndexEntry, type RecordPart } from '../format/damage.ts'
import { rowColumns, type DocRow, type RowColumns } from '../format/doc-row.ts'
import { FileMapping } from './file-mapping.ts'
import { joinVerified } from './joined-texts.ts'
import type { RowCache } from './row-cache.ts'
import { decodeVector, singlesOf } from '../format/vector-bytes.ts'

/** A value that is bound to a parameter of a statement. */
export type Parameter = number | string | Uint8Array

/** Bytes of the block cache per kilobyte of page cache. */
const blockCacheShare = 512

/**
 * One statement joins texts of about `joinedSize` bytes together, or any number of texts of at most
 * `shortText` bytes each.
 */
const joinedSize = 1_000_000
const shortText = 4_096

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const characterBytesMax = 3

/**
 * Reads a row by its id. The index of ids yields the row number. The row's own id is compared, in
 * case the index is damaged.
 */
const rowByIdSql =
  `SELECT ${rowColumns}, d.id = ?1 FROM doc d ` +
  'WHERE d.seq = (SELECT e.seq FROM doc e WHERE e.id = ?1)'
const numberByIdSql =
  'SELECT d.seq, d.id = ?1 FROM doc d WHERE d.seq = (SELECT e.seq FROM doc e WHERE e.id = ?1)'
/**
 * Checks the index entries directly before and after an id. Selects an entry if its row is missing
 * or has another id: the entry may be that of the wanted id, with a flipped bit.
 */
const misleadingEntrySql =
  'SELECT e.seq FROM (' +
  'SELECT * FROM (SELECT id, seq FROM doc WHERE id >= ?1 ORDER BY id LIMIT 1) UNION ALL ' +
  'SELECT * FROM (SELECT id, seq FROM doc WHERE id < ?1 ORDER BY id DESC LIMIT 1)' +
  ') e LEFT JOIN doc d ON d.seq = e.seq WHERE d.id IS NOT e.id'
/** Position of the comparison of the ids in the result of `rowByIdSql`, after `rowColumns`. */
const rowIsOfId = 4
const rowBySeqSql = `SELECT ${rowColumns} FROM doc d WHERE d.seq = ?`

/** Joins texts, separated by line feeds. No text contains a line feed, because JSON escapes it. */
const joinSql =
  "SELECT CAST(group_concat(d.text, '\n') AS BLOB), count(*), count(d.checksum), " +
  'sum(d.checksum - d.version) ' +
  'FROM json_each(?) page CROSS JOIN doc d ON d.seq = page.value ' +
  'WHERE octet_length(d.text) <= ?'

/** Columns to select for a vector, or for all search fields of a document. */
export function vectorColumns(suffix: string): string {
  const rest = suffix === '' ? ', vectorize, lexical' : ''
  return `doc, vector_form, vector, checksum${rest}`
}

/** A row of `search`. */
export interface SearchRow extends StoredSearch {
  readonly vectorize: string | null
  readonly lexical: string | null
}

type VectorColumns = readonly [
  seq: number,
  form: number,
  vector: Uint8Array | null,
  checksum: RowChecksum,
  vectorize?: string | null,
  lexical?: string | null,
]

function storedVectorSql(suffix: string): string {
  return `SELECT ${vectorColumns(suffix)} FROM ${vectorTable(suffix)} WHERE doc = ?`
}

const noId = new Uint8Array()

export class StoreConnection {
  readonly #file: string
  #database: DatabaseSync
  /**
   * Whether `openUnshared` opened the connection: it is then valid only while nothing writes to the
   * store.
   */
  #isMakeshift = false
  readonly #statements = new Map<string, StatementSync>()
  readonly #pathIds = new Map<string, number>()
  /** Numbers of `meta` and document counts of paths in the snapshot of the current read. */
  readonly #metaNumbers = new Map<string, number>()
  readonly #pathCounts = new Map<string, number>()
  /**
   * Whether a read has started, and whether its snapshot was taken: the first statement takes it.
   */
  #isReading = false
  #isBegun = false
  #entries: RunsReader | undefined
  /** Whether `#entries` has caught up with the snapshot. */
  #isCaughtUp = false
  #cacheKb: number | undefined
  #mapping = new FileMapping()

  /** Row cache of the thread; undefined: the thread has none. */
  readonly rowCache: RowCache | undefined

  constructor(file: string, rowCache?: RowCache) {
    this.#file = file
    this.rowCache = rowCache
    this.#database = this.#open()
  }

  setCache(kilobytes: number): void {
    this.#cacheKb = kilobytes
    setCache(this.#database, kilobytes)
    this.#entries?.setCache(kilobytes * blockCacheShare)
    this.rowCache?.setMax(kilobytes * 1024)
  }

  /**
   * Opens the store. Readers need a shared-memory file beside the store. When the disk is full or
   * read-only, a store without a write-ahead log can be read without that file.
   */
  #open(): DatabaseSync {
    try {
      const database = openToRead(this.#file)
      this.#isMakeshift = false
      return database
    } catch (error) {
      const trouble = problemOf(error, this.#file)?.kind
      if (trouble === undefined || trouble === 'gone' || isBeingWritten(this.#file))
        throw error
      this.#isMakeshift = true
      return openUnshared(this.#file)
    }
  }

  #openAgain(): void {
    const before = this.#database
    this.#database = this.#open()
    this.#mapping = new FileMapping()
    this.#statements.clear()
    this.#entries = undefined
    before.close()
    if (this.#cacheKb !== undefined) setCache(this.#database, this.#cacheKb)
  }

  close(): void {
    this.#database.close()
  }

  /**
   * Starts a read: all statements up to `endRead` see the same snapshot. A further call before
   * `endRead` changes nothing: reads that run together share a snapshot and the cost of its locks.
   */
  beginRead(): void {
    this.#isReading = true
  }

  #begin(): void {
    this.#isBegun = true
    try {
      if (this.#isMakeshift) this.#openAgain()
      this.#mapping.update(this.#database)
      this.prepared('BEGIN').run()
    } catch (error) {
      this.#isBegun = false
      throw error
    }
  }

  /** The value index in the current snapshot. It catches up at its first use. */
  get entries(): RunsReader {
    if (this.#isCaughtUp && this.#entries !== undefined) return this.#entries
    if (this.#isReading && !this.#isBegun) this.#begin()
    if (this.#entries === undefined) {
      this.#entries = new RunsReader(this.#database)
      if (this.#cacheKb !== undefined)
        this.#entries.setCache(this.#cacheKb * blockCacheShare)
    }
    this.#entries.begin()
    this.#isCaughtUp = this.#isReading
    return this.#entries
  }

  endRead(): void {
    if (!this.#isReading) return
    this.#isReading = false
    this.#isCaughtUp = false
    this.#metaNumbers.clear()
    this.#pathCounts.clear()
    if (!this.#isBegun) return
    this.#isBegun = false
    if (!this.#database.isOpen || !this.#database.isTransaction) return
    try {
      this.prepared('COMMIT').run()
    } catch {
      // COMMIT can fail in a damaged file. The read has failed already, and nothing was changed.
      this.#abandonRead()
    }
  }

  /** Ends the read, so that later reads see a write. */
  noteWrite(): void {
    this.endRead()
    this.#mapping.noteWrite()
  }

  #abandonRead(): void {
    try {
      this.prepared('ROLLBACK').run()
    } catch {
      // The transaction has ended already.
    }
  }

  all(sql: string, parameters: readonly Parameter[]): unknown[][] {
    return this.prepared(sql).all(...parameters) as unknown as unknown[][]
  }

  one(sql: string, parameters: readonly Parameter[]): unknown[] | undefined {
    return this.prepared(sql).get(...parameters) as unknown as unknown[] | undefined
  }

  /** A cached statement for the SQL, which returns rows as arrays. */
  prepared(sql: string): StatementSync {
    if (this.#isReading && !this.#isBegun) this.#begin()
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      statement.setReturnArrays(true)
      // The number of different statements is not limited, but common statements are few and soon
      // cached again.
      if (this.#statements.size >= 500) this.#statements.clear()
      this.#statements.set(sql, statement)
    }
    return statement
  }

  documentCount(): number {
    return this.meta('documents')
  }

  /** Reads a number of the table `meta`. */
  meta(name: string): number {
    const known = this.#metaNumbers.get(name)
    if (known !== undefined) return known
    const found = this.one('SELECT value FROM meta WHERE name = ?', [name])
    if (found === undefined) throw new EngineError('damaged', `the store has no ${name}`)
    const number = Number(found[0])
    if (this.#isReading) this.#metaNumbers.set(name, number)
    return number
  }

  /** The vector of a document in single precision, which search uses. */
  vectorOf(seq: number, suffix: string): Float32Array | undefined {
    const search =
      suffix === ''
        ? this.storedSearch(seq)
        : this.storedVector(this.one(storedVectorSql(suffix), [seq]))
    return search?.vector ? singlesOf(search.form, search.vector) : undefined
  }

  /** Decodes columns selected by `vectorColumns`; throws when they are damaged. */
  storedVector(found: readonly unknown[] | undefined): StoredSearch | undefined {
    if (found === undefined) return undefined
    const [seq, form, vector, checksum, vectorize, lexical] = found as VectorColumns
    const search = { form, vector, vectorize, lexical }
    if (!isSearchSound(seq, search, checksum))
      throw this.#damaged(seq, vectorize === undefined ? 'vector' : 'search fields')
    return search
  }

  /** The row of `search` of a document; undefined when it does not exist. */
  storedSearch(seq: number): SearchRow | undefined {
    return this.storedVector(this.one(storedVectorSql(''), [seq])) as SearchRow | undefined
  }

  #damaged(seq: number, part: RecordPart): EngineError {
    return damagedRecord(this.idOf(seq), this.#tie(), part)
  }

  #tie(): Tie {
    const [tie] = this.one('SELECT tie FROM manifest', []) as [Tie]
    return tie
  }

  /** Version of a row, and the size of its text in bytes, found without reading the text. */
  measure(seq: number): { readonly version: number; readonly size: number } {
    const sql = 'SELECT version, octet_length(text) FROM doc WHERE seq = ?'
    const [version, size] = (this.one(sql, [seq]) ?? this.#missing(seq)) as [number, number]
    return { version, size }
  }

  text(seq: number): string {
    return (this.#readRow(seq) ?? this.#missing(seq)).text
  }

  /** The text of a row in UTF-8. */
  textBytes(seq: number): Uint8Array<ArrayBuffer> {
    const sql = 'SELECT version, CAST(text AS BLOB), checksum FROM doc WHERE seq = ?'
    const found = this.one(sql, [seq]) ?? this.#missing(seq)
    const [version, bytes, checksum] = found as [
      ...[number, Uint8Array<ArrayBuffer>, RowChecksum],
    ]
    if (checksum !== null && textChecksum(bytes, version) !== checksum)
      throw this.#damaged(seq, 'text')
    return bytes
  }

  /**
   * Texts of documents in the given order, joined by commas, in a third of the time of reading the
   * texts one by one. Undefined if a text is missing or long, or if the texts may exceed `sizeMax`
   * bytes. The result is always undefined for texts of more than `sizeMax` characters.
   */
  joinedTexts(seqs: readonly number[], sizeMax = Infinity): string | undefined {
    if (seqs.length === 0) return ''
    const size = Math.min(Math.max(joinedSize, shortText * seqs.length), sizeMax)
    const textMax = Math.floor(size / seqs.length)
    const known = this.rowCache && this.#joinCached(seqs, textMax, this.rowCache)
    if (known !== undefined) return known
    const [bytes, count, summed, sum] = this.one(joinSql, [
      JSON.stringify(seqs),
      textMax,
    ]) as [Uint8Array | null, number, number, number | null]
    if (bytes === null || count < seqs.length) return undefined
    const joined = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const isVerified = summed === 0 || summed === count
    // After a mismatch the texts are read one by one, which reports the damaged text.
    if (!isVerified || !joinVerified(joined, count, summed === 0 ? null : sum))
      return this.#joinOneByOne(seqs)
    // Node decodes bytes beyond ASCII in a third of the time that V8 needs.
    return joined.toString('utf8')
  }

  #joinOneByOne(seqs: readonly number[]): string | undefined {
    const texts: string[] = []
    for (const seq of seqs) {
      const row = this.#readRow(seq)
      if (row === undefined) return undefined
      texts.push(row.text)
    }
    return texts.join(',')
  }

  /** Joins texts from the row cache, when it has all of them or admits the missing rows. */
  #joinCached(
    seqs: readonly number[],
    textMax: number,
    cache: RowCache,
  ): string | undefined {
    const texts: string[] = []
    let admits = false
    for (const seq of seqs) {
      let row = cache.row(seq)
      if (row === undefined) {
        admits ||= cache.admits()
        row = admits ? this.#readRow(seq) : undefined
        if (row === undefined) return undefined
        cache.add(row)
      }
      if (row.text.length * characterBytesMax > textMax) return undefined
      texts.push(row.text)
    }
    return texts.join(',')
  }

  /** The row that an index entry of the same snapshot refers to; throws when the row is missing. */
  row(seq: number): DocRow {
    return this.findRow(seq) ?? this.#missing(seq)
  }

  #missing(seq: number): never {
    throw danglingIndexEntry(seq, this.#tie())
  }

  findRow(seq: number): DocRow | undefined {
    const known = this.rowCache?.row(seq)
    if (known !== undefined) return known
    const row = this.#readRow(seq)
    if (row !== undefined && this.rowCache?.admits() === true) this.rowCache.add(row)
    return row
  }

  rowById(id: Value): DocRow | undefined {
    const text = typeof id === 'string' ? id : undefined
    const known = text === undefined ? undefined : this.rowCache?.rowById(text)
    if (known !== undefined) return known
    const key = keyOf(id)
    const found = this.one(rowByIdSql, [key])
    if (found === undefined) {
      this.#refuseMisleadingEntry(key)
      return undefined
    }
    const row = this.rowOf(found)
    if (found[rowIsOfId] !== 1) this.#missing(row.seq)
    if (this.rowCache?.admits() === true) this.rowCache.add(row, text)
    return row
  }

  /** Number of the document whose id has this key. */
  numberOf(id: Uint8Array): number | undefined {
    const found = this.one(numberByIdSql, [id])
    if (found === undefined) {
      this.#refuseMisleadingEntry(id)
      return undefined
    }
    const [seq, isOfId] = found as [number, number]
    if (isOfId !== 1) this.#missing(seq)
    return seq
  }

  /**
   * Called when no record with an id was found. Throws if a damaged index may hide the record.
   */
  #refuseMisleadingEntry(id: Uint8Array): void {
    const found = this.one(misleadingEntrySql, [id])
    if (found !== undefined) this.#missing(found[0] as number)
  }

  #readRow(seq: number): DocRow | undefined {
    const found = this.one(rowBySeqSql, [seq])
    return found && this.rowOf(found)
  }

  /** Decodes columns selected by `rowColumns`; throws when the row is damaged. */
  rowOf(columns: readonly unknown[]): DocRow {
    const [seq, version, text, checksum] = columns as RowColumns
    if (!isTextSound(text, version, checksum)) throw this.#damaged(seq, 'text')
    return { seq, version, text }
  }

  /**
   * Sorts documents by id. Returns the documents after the id `after`: at most `limit`, or all if
   * `limit` is negative.
   */
  inOrderOfIds(
    seqs: readonly number[],
    after: Uint8Array | undefined,
    limit: number,
  ): number[] {
    const rows = this.all(
      'SELECT d.seq FROM json_each(?) member CROSS JOIN doc d ON d.seq = member.value ' +
        `${after === undefined ? '' : 'WHERE d.id > ? '}ORDER BY d.id LIMIT ?`,
      [JSON.stringify(seqs), ...(after === undefined ? [] : [after]), limit],
    )
    return rows.map(([seq]) => seq as number)
  }

  has(seq: number): boolean {
    return this.one('SELECT 1 FROM doc WHERE seq = ?', [seq]) !== undefined
  }

  /** Key of a document's id; empty when the document does not exist. */
  idOf(seq: number): Uint8Array {
    const found = this.one('SELECT id FROM doc WHERE seq = ?', [seq])
    return found === undefined ? noId : (found[0] as Uint8Array)
  }

  /** Runs `read` within one snapshot. */
  reading<T>(read: () => T): T {
    this.beginRead()
    try {
      const found = read()
      if (this.#isMakeshift && isBeingWritten(this.#file))
        throw new EngineError(
          'read',
          'the store was written to during the read. Send the command again',
        )
      return found
    } finally {
      this.endRead()
    }
  }

  /** Number of a path, cached because numbers never change. */
  pathId(path: string): number | 'absent' {
    const known = this.#pathIds.get(path)
    if (known !== undefined) return known
    const found = this.one('SELECT id FROM path WHERE path = ?', [storedPath(path)])
    if (found === undefined) return 'absent'
    const id = Number(found[0])
    this.#pathIds.set(path, id)
    return id
  }

  documentsWith(path: string): number {
    const known = this.#pathCounts.get(path)
    if (known !== undefined) return known
    const sql = 'SELECT documents FROM path WHERE path = ?'
    const count = Number(this.one(sql, [storedPath(path)])?.[0] ?? 0)
    if (this.#isReading) this.#pathCounts.set(path, count)
    return count
  }

  /**
   * Bytes of the search fields of a document. Vectors count twice, because replies print their
   * numbers as text.
   */
  searchSize(seq: number): number {
    const sql =
      'SELECT 2 * ifnull(octet_length(vector), 0) + ifnull(octet_length(vectorize), 0) + ' +
      'ifnull(octet_length(lexical), 0) FROM search WHERE doc = ?'
    return Number(this.one(sql, [seq])?.[0] ?? 0)
  }

  searchFields(seq: number): SearchFields {
    if (this.rowCache?.isAlone(seq) === true) return {}
    const found = this.storedSearch(seq)
    if (found === undefined) {
      this.rowCache?.noteAlone(seq)
      return {}
    }
    const { form, vector: bytes, vectorize, lexical } = found
    const vector = decodeVector({ form, bytes })
    return {
      ...(vector !== undefined && { vector }),
      ...(vectorize !== null && { vectorize: parseStored(vectorize) as string | null }),
      ...(lexical !== null && { lexical: parseStored(lexical) as string | null }),
    }
  }
}
