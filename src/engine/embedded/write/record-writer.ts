/**
 * Writes the rows of records (texts, search fields and vectors) with their checksums, and maintains
 * the digest of the store.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { EntryOwner, Tie } from '../format/entry-key.ts'
import type { IdRange, SearchColumns } from './write-batch.ts'
import { vectorForm } from '../format/vector-bytes.ts'
import {
  changeDigest,
  isSearchSound,
  isTextSound,
  searchChecksum,
  textChecksum,
  type RowChecksum,
  type StoredSearch,
} from '../format/checksums.ts'
import { damagedRecord } from '../format/damage.ts'
import { sumOfChecksums } from '../format/digest.ts'
import { dropVectors, vectorTable } from '../store/layout.ts'
import {
  prepareRecords,
  prepareVectors,
  type RecordStatements,
  type VectorStatements,
} from './writer-statements.ts'

/**
 * A stored row with its checksum. When the row is replaced or removed, the checksum is subtracted
 * from the digest.
 */
interface ChecksummedRow {
  readonly checksum: RowChecksum
}

export interface NumberedRow extends ChecksummedRow {
  readonly seq: number
}

/** A document or row as stored. */
export interface WrittenRow extends EntryOwner, ChecksummedRow {
  readonly version: number
  readonly text: string
}

/** Limits of one deletion: rows, and characters of their texts. */
const deletedMax = 500
const deletedSizeMax = 1_000_000

export class RecordWriter {
  readonly #database: DatabaseSync
  readonly #tie: Tie
  readonly #statements: RecordStatements
  /** Statements by suffix of the vector column. */
  readonly #vectors = new Map<string, VectorStatements>()
  /** Sum of the checksums of all records. */
  digest = 0

  constructor(database: DatabaseSync, tie: Tie) {
    this.#database = database
    this.#tie = tie
    this.#statements = prepareRecords(database)
  }

  /** Inserts a row, and returns its number; undefined when the id is taken. */
  insert(id: Uint8Array, version: number, text: string): number | undefined {
    const checksum = textChecksum(text, version)
    const result = this.#statements.doc.insert.run(id, version, text, checksum)
    if (result.changes === 0) return undefined
    this.#noteChange(null, checksum)
    return Number(result.lastInsertRowid)
  }

  /** The row if it still has this id and version; `seq` 0 means that its number is unknown. */
  findUnchanged(seq: number, id: Uint8Array, version: number): NumberedRow | undefined {
    const { find, findUnchanged } = this.#statements.doc
    const found = (
      seq === 0 ? find.get(id, version) : findUnchanged.get(seq, id, version)
    ) as readonly [number, RowChecksum] | undefined
    return found && { seq: found[0], checksum: found[1] }
  }

  /** The row with an id; undefined: it does not exist. Throws when the row is damaged. */
  byId(id: Uint8Array): WrittenRow | undefined {
    const found: unknown = this.#statements.doc.byId.get(id)
    return found === undefined ? undefined : this.#verified(found as WrittenRow)
  }

  /** The first rows of the ranges, up to the limits of one deletion. */
  inRanges(ranges: readonly IdRange[]): {
    readonly rows: readonly WrittenRow[]
    readonly left: readonly IdRange[] | undefined
  } {
    const { inRange } = this.#statements.doc
    const rows: WrittenRow[] = []
    let size = 0
    for (const [at, { from, to }] of ranges.entries())
      for (const found of inRange.iterate(from, to)) {
        const row = found as unknown as WrittenRow
        if (rows.length === deletedMax || size > deletedSizeMax)
          return { rows, left: [{ from: row.id, to }, ...ranges.slice(at + 1)] }
        rows.push(this.#verified(row))
        size += row.text.length
      }
    return { rows, left: undefined }
  }

  #verified(row: WrittenRow): WrittenRow {
    const { id, version, text, checksum } = row
    if (isTextSound(text, version, checksum)) return row
    throw damagedRecord(id, this.#tie, 'text')
  }

  update(before: NumberedRow, version: number, text: string): void {
    const checksum = textChecksum(text, version)
    this.#statements.doc.update.run(version, text, checksum, before.seq)
    this.#noteChange(before.checksum, checksum)
  }

  remove({ seq, checksum }: NumberedRow): void {
    this.#statements.doc.remove.run(seq)
    this.#noteChange(checksum, null)
  }

  /** Writes or removes search fields. Returns whether the vector and the $lexical have changed. */
  writeSearch(
    seq: number,
    search: SearchColumns | null,
    isNew: boolean,
  ): { readonly vector: boolean; readonly lexical: boolean } {
    const { find, put, remove } = this.#statements.search
    const found: unknown = isNew ? undefined : find.get(seq)
    const before = found as
      (Pick<SearchColumns, 'vector' | 'lexical'> & ChecksummedRow) | undefined
    const checksum = search === null ? null : searchChecksum(seq, search)
    if (search !== null)
      put.run(
        ...[seq, search.form, search.vector, search.vectorize, search.lexical],
        checksum,
      )
    else if (before !== undefined) remove.run(seq)
    this.#noteChange(before?.checksum, checksum)
    return {
      vector: !isSame(before?.vector, search?.vector),
      lexical: (before?.lexical ?? null) !== (search?.lexical ?? null),
    }
  }

  /** Writes or removes a vector. Returns whether the vector has changed. */
  writeVector(seq: number, suffix: string, bytes: Uint8Array | null): boolean {
    const { find, put, remove } = this.vectors(suffix)
    const before = find.get(seq) as (StoredSearch & ChecksummedRow) | undefined
    if (isSame(before?.vector, bytes) && isVectorSound(seq, before)) return false
    const form = vectorForm.arrayOfSingles
    const checksum = bytes === null ? null : searchChecksum(seq, { form, vector: bytes })
    if (bytes === null) remove.run(seq)
    else put.run(seq, form, bytes, checksum)
    this.#noteChange(before?.checksum, checksum)
    return true
  }

  hasVector(seq: number, suffix: string): boolean {
    return this.vectors(suffix).find.get(seq) !== undefined
  }

  vectors(suffix: string): VectorStatements {
    let known = this.#vectors.get(suffix)
    if (known === undefined)
      this.#vectors.set(suffix, (known = prepareVectors(this.#database, suffix)))
    return known
  }

  /** Drops cached statements for a vector column whose tables change. */
  forgetVectors(suffix: string): void {
    this.#vectors.delete(suffix)
  }

  dropVectors(suffix: string): void {
    const table = vectorTable(suffix)
    if (this.#statements.table.get(table) === undefined) return
    this.#noteChange(sumOfChecksums(this.#database, table), null)
    this.#database.exec(dropVectors(suffix))
  }

  /** Removes all records, except vectors of columns. */
  clear(): void {
    this.#database.exec('DELETE FROM doc; DELETE FROM search')
    this.digest = 0
  }

  #noteChange(before: RowChecksum | undefined, after: RowChecksum): void {
    this.digest = changeDigest(this.digest, before, after)
  }
}

/**
 * Whether a stored vector matches its checksum. A damaged vector is rewritten even if its bytes
 * equal those of the new vector.
 */
function isVectorSound(
  seq: number,
  before: (StoredSearch & ChecksummedRow) | undefined,
): boolean {
  return before === undefined || isSearchSound(seq, before, before.checksum)
}

function isSame(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined) {
  return (a ?? null) === null || (b ?? null) === null
    ? (a ?? null) === (b ?? null)
    : Buffer.compare(a!, b!) === 0
}
