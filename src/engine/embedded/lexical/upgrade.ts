/**
 * Converts the postings of format 2 to a segment. Format 2 stored them in chunks, ordered by term
 * and first document. A segment is written in the same order, so nothing has to be sorted.
 *
 * All numbers were varints. For each number, in ascending order: the difference from the previous
 * number, doubled, plus 1 when its count is 1. Any other count followed and, in postings, the
 * length of the text.
 */
import type { DatabaseSync } from 'node:sqlite'
import { createTerms } from '../store/layout.ts'
import { DocumentList } from './document-list.ts'
import { Postings } from './postings.ts'
import { Segments } from './segments.ts'
import { VarintReader } from './varints.ts'

/** Upgrades all term indexes of a store to the current format, in the caller's transaction. */
export function upgradePostings(database: DatabaseSync): void {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'indexed*'")
    .all()
  for (const { name } of tables)
    upgradeIndex(database, String(name).slice('indexed'.length))
}

const tables = ['term', 'posting', 'indexed', 'waiting'] as const

function upgradeIndex(database: DatabaseSync, suffix: string): void {
  const read = database.prepare('SELECT value FROM meta WHERE name = ?')
  const counted = ['texts', 'tokens'].map((name) => ({
    name: name + suffix,
    value: Number(read.get(name + suffix)!['value']),
  }))
  for (const table of tables)
    database.exec(`ALTER TABLE ${table}${suffix} RENAME TO ${old(table, suffix)}`)
  for (const { name } of counted)
    database.prepare('DELETE FROM meta WHERE name = ?').run(name)
  database.exec(createTerms(suffix))
  const write = database.prepare('UPDATE meta SET value = ? WHERE name = ?')
  for (const { name, value } of counted) write.run(value, name)
  database.exec(`
    INSERT INTO term${suffix} SELECT id, term FROM ${old('term', suffix)};
    UPDATE meta SET value = (SELECT coalesce(max(id), 0) FROM term${suffix})
      WHERE name = 'terms${suffix}';
  `)
  copyWaiting(database, suffix)
  copyPostings(database, suffix)
  for (const table of tables) database.exec(`DROP TABLE ${old(table, suffix)}`)
}

function old(table: string, suffix: string): string {
  return `old${table}${suffix}`
}

/**
 * Copies the waiting texts, which still wait afterwards. The encoding of their lists is unchanged.
 */
function copyWaiting(database: DatabaseSync, suffix: string): void {
  database.exec(
    `INSERT INTO waiting${suffix}(doc, terms) SELECT w.doc, i.terms FROM ${old('waiting', suffix)} w ` +
      `JOIN ${old('indexed', suffix)} i ON i.doc = w.doc`,
  )
}

function copyPostings(database: DatabaseSync, suffix: string): void {
  const documents = DocumentList.of(foldedDocuments(database, suffix))
  if (documents.size === 0) return
  const chunks = database.prepare(
    `SELECT term, first, entries FROM ${old('posting', suffix)} ORDER BY term, first`,
  )
  const lengths = new Uint32Array(documents.size)
  const postings = new Postings(1024)
  const segments = new Segments(database, suffix, 1)
  segments.reload()
  segments.add(documents, lengths, [], (segment) => {
    let term = 0
    const end = () => {
      if (postings.size > 0) segment.add(term, postings, lengths)
      postings.size = 0
    }
    for (const row of chunks.iterate()) {
      if (row['term'] !== term) end()
      term = row['term'] as number
      const reader = new VarintReader(row['entries'] as Uint8Array)
      for (let seq = row['first'] as number; !reader.isAtEnd;) {
        const distance = reader.take()
        seq += Math.floor(distance / 2)
        const count = distance % 2 === 1 ? 1 : reader.take()
        const length = reader.take()
        const place = documents.placeOf(seq)
        if (place < 0) continue
        postings.push(place, count)
        lengths[place] = length
      }
    }
    end()
  })
}

function* foldedDocuments(database: DatabaseSync, suffix: string): Generator<number> {
  const folded = database.prepare(
    `SELECT doc FROM ${old('indexed', suffix)} i WHERE NOT EXISTS ` +
      `(SELECT 1 FROM ${old('waiting', suffix)} w WHERE w.doc = i.doc) ORDER BY doc`,
  )
  for (const { doc } of folded.iterate()) yield doc as number
}
