/**
 * Baseline: full-text search in SQLite FTS5, ranked by BM25. The index is merged into one segment.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'

export class Fts5 {
  readonly #database: DatabaseSync
  readonly #search: StatementSync
  readonly #count: StatementSync

  /** Creates a file that contains an index of the texts. */
  constructor(file: string, texts: Iterable<string>) {
    this.#database = new DatabaseSync(file)
    this.#database.exec('CREATE VIRTUAL TABLE texts USING fts5(text)')
    this.#database.exec('BEGIN')
    const insert = this.#database.prepare('INSERT INTO texts(text) VALUES (?)')
    for (const text of texts) insert.run(text)
    this.#database.exec("INSERT INTO texts(texts) VALUES ('optimize')")
    this.#database.exec('COMMIT')
    this.#search = this.#database.prepare(
      'SELECT text, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?',
    )
    this.#count = this.#database.prepare(
      'SELECT count(*) AS count FROM texts WHERE texts MATCH ?',
    )
  }

  /** Finds texts that contain all of the words. */
  search(words: readonly string[], limit: number): unknown[] {
    return this.#search.all(words.join(' AND '), limit)
  }

  count(words: readonly string[]): number {
    return Number(this.#count.get(words.join(' AND '))!['count'])
  }

  close(): void {
    this.#database.close()
  }
}
