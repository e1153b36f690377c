/**
 * Verifies all checksums of a store, and its digest. A part of `stela check`; check-contents.ts
 * compares documents with their indexes.
 */
import type { DatabaseSync } from 'node:sqlite'
import { isTextSegmentSound, type TextSegmentRow } from '../lexical/segment-layout.ts'
import type { Tie } from '../format/entry-key.ts'
import { segmentChecksum, type SegmentRow } from '../runs/layout.ts'
import {
  areBytesSound,
  changeDigest,
  isSearchSound,
  isTextSound,
  type RowChecksum,
  type StoredSearch,
} from '../format/checksums.ts'
import {
  indexDamage,
  recordDamage,
  termIndex,
  valueIndex,
  type RecordPart,
} from '../format/damage.ts'
import { sumOfChecksums } from '../format/digest.ts'

/**
 * Descriptions of wrong checksums and of a wrong digest; none in a store whose format has no
 * checksums.
 */
export function verifyChecksums(database: DatabaseSync): string[] {
  const tables = summedTables(database)
  if (tables.length === 0) return []
  const findings = [...new ChecksumCheck(database).findings(tables)]
  const digest = tables.filter(isRecordTable).reduce(
    // The sum of each table is below the modulus, so `changeDigest` adds the sums modulo
    // `digestModulus`.
    (sum, table) => changeDigest(sum, null, sumOfChecksums(database, table)),
    0,
  )
  const meta = database.prepare("SELECT value FROM meta WHERE name = 'digest'").get()
  if (Number(meta?.['value']) !== digest)
    findings.push(
      'the digest does not match the records: parts of the store are from different ' +
        'points in time',
    )
  return findings
}

/** Number of documents or rows without a checksum: an earlier version wrote them. */
export function countUnverified(database: DatabaseSync): number {
  const where = summedTables(database).includes('doc') ? 'WHERE checksum IS NULL' : ''
  const { count } = database.prepare(`SELECT count(*) AS count FROM doc ${where}`).get()!
  return Number(count)
}

/** Tables with checksums, `doc` first. */
function summedTables(database: DatabaseSync): string[] {
  const found = database
    .prepare(
      "SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND EXISTS " +
        "(SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'checksum') " +
        "ORDER BY t.name <> 'doc', t.name",
    )
    .all()
  return found.map(({ name }) => String(name))
}

/** Whether the digest includes the checksums of the table. */
function isRecordTable(table: string): boolean {
  return table === 'doc' || table === 'search' || table.startsWith('vector_')
}

interface StoredBytes {
  readonly id: number
  readonly bytes: Uint8Array | null
  readonly checksum: RowChecksum
}

class ChecksumCheck {
  readonly #database: DatabaseSync
  readonly #tie: Tie

  constructor(database: DatabaseSync) {
    this.#database = database
    const { tie } = database.prepare('SELECT tie FROM manifest').get() as { tie: Tie }
    this.#tie = tie
  }

  *findings(tables: readonly string[]): Generator<string> {
    for (const table of tables) {
      const [, kind = '', suffix = ''] = /^([a-z]+)(_\d+)?$/.exec(table) ?? []
      switch (kind) {
        case 'doc':
          yield* this.#texts()
          break
        case 'search':
          yield* this.#vectors('search', ', vectorize, lexical', 'search fields')
          break
        case 'vector':
          yield* this.#vectors(table, '', 'vector')
          break
        case 'block':
          yield* this.#bytes('SELECT id, bytes, checksum FROM block', valueIndex, 'block')
          break
        case 'recent':
          yield* this.#bytes(
            'SELECT id, changes AS bytes, checksum FROM recent',
            ...[valueIndex, 'the list of recent changes'],
          )
          break
        case 'segment':
          yield* this.#segments()
          break
        case 'posting':
          yield* this.#bytes(
            `SELECT id, bytes, checksum FROM ${table}`,
            ...[termIndex(suffix), 'row of postings'],
          )
          break
        case 'waiting':
          yield* this.#bytes(
            `SELECT doc AS id, terms AS bytes, checksum FROM ${table}`,
            ...[termIndex(suffix), 'the list of terms of document number'],
          )
          break
        case 'textsegment':
          yield* this.#textSegments(table, suffix)
      }
    }
  }

  *#texts(): Generator<string> {
    const rows = this.#rows('SELECT id, version, text, checksum FROM doc')
    for (const { id, version, text, checksum } of rows)
      if (!isTextSound(text, version as number, checksum as RowChecksum))
        yield recordDamage(id as Uint8Array, this.#tie, 'text')
  }

  *#vectors(table: string, columns: string, part: RecordPart): Generator<string> {
    const findId = this.#database.prepare('SELECT id FROM doc WHERE seq = ?')
    const rows = this.#rows(
      `SELECT doc, vector_form AS form, vector, checksum${columns} FROM ${table}`,
    )
    for (const row of rows) {
      const { doc, checksum, ...search } = row as unknown as StoredSearch & {
        readonly doc: number
        readonly checksum: RowChecksum
      }
      if (isSearchSound(doc, search, checksum)) continue
      const id = findId.get(doc)?.['id'] ?? new Uint8Array()
      yield recordDamage(id as Uint8Array, this.#tie, part)
    }
  }

  *#bytes(sql: string, index: string, what: string): Generator<string> {
    for (const row of this.#rows(sql)) {
      const { id, bytes, checksum } = row as unknown as StoredBytes
      if (!areBytesSound(bytes, id, checksum)) yield indexDamage(index, `${what} ${id}`)
    }
  }

  *#segments(): Generator<string> {
    for (const row of this.#rows('SELECT * FROM segment')) {
      const segment = row as unknown as SegmentRow & {
        readonly run: number
        readonly detail: Uint8Array
      }
      const { run, block, checksum, detail, detail_checksum: detailSum } = segment
      const isSound =
        (checksum === null || segmentChecksum(run, segment) === checksum) &&
        areBytesSound(detail, block, detailSum)
      if (!isSound) yield indexDamage(valueIndex, `segment ${block}`)
    }
  }

  *#textSegments(table: string, suffix: string): Generator<string> {
    for (const row of this.#rows(`SELECT * FROM ${table}`)) {
      const { checksum, ...segment } = row as unknown as TextSegmentRow & {
        readonly checksum: RowChecksum
      }
      if (!isTextSegmentSound(segment, checksum))
        yield indexDamage(termIndex(suffix), `segment ${segment.id}`)
    }
  }

  #rows(sql: string): Iterable<Record<string, unknown>> {
    return this.#database.prepare(sql).iterate()
  }
}
