/** Prepared statements that write to a store. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { vectorTable } from '../store/layout.ts'

export type VectorStatements = ReturnType<typeof prepareVectors>

export function prepareVectors(database: DatabaseSync, suffix: string) {
  const table = vectorTable(suffix)
  let feed: StatementSync | undefined
  return {
    find: database.prepare(
      `SELECT vector_form AS form, vector, checksum FROM ${table} WHERE doc = ?`,
    ),
    put: database.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?, ?)`),
    remove: database.prepare(`DELETE FROM ${table} WHERE doc = ?`),
    /**
     * The statement that adds to the feed, prepared on demand, because only indexed columns have a
     * feed.
     */
    feed: () =>
      (feed ??= database.prepare(`INSERT INTO feed${suffix}(version, doc) VALUES (?, ?)`)),
  }
}

export type RecordStatements = ReturnType<typeof prepareRecords>

export function prepareRecords(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql)
  /** Prepares a statement that returns rows as arrays, which take half the time of objects. */
  const prepareArrays = (sql: string): StatementSync => {
    const statement = prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  return {
    doc: {
      insert: prepare(
        'INSERT INTO doc(id, version, text, checksum) VALUES (?, ?, ?, ?) ' +
          'ON CONFLICT DO NOTHING',
      ),
      find: prepareArrays('SELECT seq, checksum FROM doc WHERE id = ? AND version = ?'),
      /** Finds a row only if it is unchanged since it was read. */
      findUnchanged: prepareArrays(
        'SELECT seq, checksum FROM doc WHERE seq = ? AND id = ? AND version = ?',
      ),
      byId: prepare('SELECT seq, id, version, text, checksum FROM doc WHERE id = ?'),
      inRange: prepare(
        'SELECT seq, id, version, text, checksum FROM doc WHERE id >= ? AND id < ? ORDER BY id',
      ),
      update: prepare('UPDATE doc SET version = ?, text = ?, checksum = ? WHERE seq = ?'),
      remove: prepare('DELETE FROM doc WHERE seq = ?'),
    },
    search: {
      find: prepare('SELECT vector, lexical, checksum FROM search WHERE doc = ?'),
      put: prepare(
        'INSERT OR REPLACE INTO search(doc, vector_form, vector, vectorize, lexical, checksum) ' +
          'VALUES (?, ?, ?, ?, ?, ?)',
      ),
      remove: prepare('DELETE FROM search WHERE doc = ?'),
    },
    table: prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"),
  }
}

export type Statements = ReturnType<typeof prepareStatements>

export function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql)
  return {
    // These statements are prepared, because SQLite compiles the SQL of `exec` on each call, which
    // takes longer than executing it.
    begin: prepare('BEGIN IMMEDIATE'),
    end: prepare('COMMIT'),
    meta: {
      read: prepare('SELECT value FROM meta WHERE name = ?'),
      write: prepare('UPDATE meta SET value = ? WHERE name = ?'),
      raise: prepare('UPDATE meta SET value = max(value, ?) WHERE name = ?'),
      stamp: prepare("INSERT OR REPLACE INTO meta VALUES ('stamp', ?)"),
    },
    feed: {
      add: prepare('INSERT INTO feed(version, doc) VALUES (?, ?)'),
    },
    tables: prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?"),
    path: {
      find: prepare('SELECT id FROM path WHERE path = ?'),
      insert: prepare('INSERT INTO path(path, documents) VALUES (?, 0)'),
      count: prepare('UPDATE path SET documents = documents + ? WHERE id = ?'),
    },
  }
}
