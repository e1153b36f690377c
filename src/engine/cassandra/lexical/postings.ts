/**
 * A term index for clusters without one, stored in the keyspace that servers share: posting lists
 * by term, and terms by text.
 *
 * A text is identified by its record's key and a digest of the text. Its entries are written before
 * the record, and count only if the record has this text when it is read. A stored record is
 * therefore always found, even if a server dies between the two writes. Stale entries, whose text
 * the record no longer has, are removed by the write that replaces the text or by a later search.
 *
 * Every write and removal has the timestamp of the record's version. Versions increase, so a
 * removal never deletes entries of a later version.
 */
import { createHash } from 'node:crypto'
import type { Corpus } from '../../../search/lexical/bm25.ts'
import { forEachConcurrent } from '../../../runtime/for-each-concurrent.ts'
import { EngineError } from '../../errors.ts'
import type { Session } from '../cluster/session.ts'
import { quoteTarget, type Statement } from '../cluster/statement.ts'
import type { StatementOwner } from '../cluster/statement-queue.ts'
import type { WriteClock } from '../cluster/write-clock.ts'

/**
 * Identifies texts that are searched together: those at a path of a collection, or in a column of a
 * table.
 */
export interface TextPlace {
  /** Uid of the target. */
  readonly target: string
  readonly path: string
}

export interface IndexedText {
  /** Identifies the record. */
  readonly key: string
  readonly text: string
  /** Terms in the order of the text, with repetitions. */
  readonly terms: readonly string[]
}

/** An entry of a term's posting list: a text that contains the term. */
export interface Posting {
  readonly key: string
  readonly digest: string
  /** Number of occurrences. */
  readonly count: number
  /** Number of terms of the text, with repetitions. */
  readonly tokens: number
  /** Time of the write in microseconds since 1970. */
  readonly written: bigint
}

/** Schema of the tables, which system-keyspace.ts creates. */
export const lexicalTables = {
  postings:
    'target text, path text, term text, bucket tinyint, key text, digest text, ' +
    'count int, tokens int, PRIMARY KEY ((target, path, term, bucket), key, digest)',
  texts:
    'target text, path text, bucket tinyint, key text, digest text, tokens bigint, ' +
    'terms set<text>, PRIMARY KEY ((target, path, bucket), key, digest)',
  text_indexes: 'target text PRIMARY KEY, truncated bigint, filling set<text>',
} as const

/** Number of partitions per term. */
const buckets = 4

/** Number of concurrent statements for one text. */
const atATime = 64

const textsAtATime = 8

/** Number of partitions that are removed per batch of statements. */
const removedAtATime = 1_000

export class ClusterPostings {
  readonly #session: Session
  readonly #tables: Readonly<Record<keyof typeof lexicalTables, string>>
  readonly #corpora: Map<string, KnownCorpus>
  readonly #clock: WriteClock

  private constructor(
    session: Session,
    tables: Readonly<Record<keyof typeof lexicalTables, string>>,
    corpora: Map<string, KnownCorpus>,
    clock: WriteClock,
  ) {
    this.#session = session
    this.#tables = tables
    this.#corpora = corpora
    this.#clock = clock
  }

  static open(session: Session, keyspace: string, clock: WriteClock): ClusterPostings {
    const named = (name: string) => quoteTarget({ keyspace, name })
    const tables = {
      postings: named('postings'),
      texts: named('texts'),
      text_indexes: named('text_indexes'),
    }
    return new ClusterPostings(session, tables, new Map(), clock)
  }

  /** A copy of this index for the statements of `owner`; this index if `owner` is undefined. */
  for(owner: StatementOwner | undefined): ClusterPostings {
    if (owner === undefined) return this
    const session = this.#session.for(owner)
    return new ClusterPostings(session, this.#tables, this.#corpora, this.#clock)
  }

  /** Timestamp for a write, in microseconds since 1970. */
  nextTimestamp(): bigint {
    return BigInt(this.#clock.next())
  }

  /** Adds a text. The record must be written afterwards. */
  async put(place: TextPlace, indexed: IndexedText, timestamp: bigint): Promise<void> {
    const { target, path } = place
    const { key, text, terms } = indexed
    const digest = digestOf(text)
    const bucket = bucketOf(key)
    const counts = new Map<string, number>()
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    const posting =
      `INSERT INTO ${this.#tables.postings} ` +
      '(target, path, term, bucket, key, digest, count, tokens) ' +
      'VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?'
    const whole =
      `INSERT INTO ${this.#tables.texts} (target, path, bucket, key, digest, tokens, terms) ` +
      'VALUES (?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?'
    const all = new Set(counts.keys())
    const tokens = BigInt(terms.length)
    await this.#runAll([
      { text: whole, values: [target, path, bucket, key, digest, tokens, all, timestamp] },
      ...Array.from(counts, ([term, count]) => ({
        text: posting,
        values: [target, path, term, bucket, key, digest, count, terms.length, timestamp],
      })),
    ])
    this.#forget(place)
  }

  /** Adds texts, several concurrently. Their records were written before the timestamp. */
  async putAll(
    place: TextPlace,
    texts: readonly IndexedText[],
    timestamp: bigint,
  ): Promise<void> {
    await forEachConcurrent(texts, textsAtATime, (text) => this.put(place, text, timestamp))
  }

  /** Removes the texts of earlier versions of the record, except the text `kept`. */
  async removeOthers(
    place: TextPlace,
    key: string,
    kept: string | undefined,
    timestamp: bigint,
  ): Promise<void> {
    const { target, path } = place
    const bucket = bucketOf(key)
    const text =
      `SELECT digest, terms FROM ${this.#tables.texts} ` +
      'WHERE target = ? AND path = ? AND bucket = ? AND key = ?'
    const { rows } = await this.#session.run(
      { text, values: [target, path, bucket, key] },
      'read',
    )
    const now = kept === undefined ? undefined : digestOf(kept)
    for (const row of rows) {
      const digest = row['digest'] as string
      if (digest === now) continue
      const terms = [...((row['terms'] as Set<string> | null) ?? [])]
      await this.#removeText(place, { key, digest, terms }, timestamp)
    }
  }

  async #removeText(
    place: TextPlace,
    { key, digest, terms }: { key: string; digest: string; terms: readonly string[] },
    timestamp: bigint,
  ): Promise<void> {
    const { target, path } = place
    const text =
      `DELETE FROM ${this.#tables.texts} USING TIMESTAMP ? ` +
      'WHERE target = ? AND path = ? AND bucket = ? AND key = ? AND digest = ?'
    await this.#runAll([
      ...terms.map((term) => this.#removal(place, term, { key, digest }, timestamp)),
      { text, values: [timestamp, target, path, bucketOf(key), key, digest] },
    ])
    this.#forget(place)
  }

  #removal(
    { target, path }: TextPlace,
    term: string,
    { key, digest }: Pick<Posting, 'key' | 'digest'>,
    timestamp: bigint,
  ): Statement {
    return {
      text:
        `DELETE FROM ${this.#tables.postings} USING TIMESTAMP ? WHERE target = ? ` +
        'AND path = ? AND term = ? AND bucket = ? AND key = ? AND digest = ?',
      values: [timestamp, target, path, term, bucketOf(key), key, digest],
    }
  }

  /** Removes stale postings, unless they were written again after they were read. */
  async remove(
    place: TextPlace,
    term: string,
    stale: readonly Pick<Posting, 'key' | 'digest' | 'written'>[],
  ): Promise<void> {
    await this.#runAll(
      stale.map((posting) => this.#removal(place, term, posting, posting.written)),
    )
  }

  /** Yields the posting list of a term, in no particular order. */
  async *withTerm(
    place: TextPlace,
    term: string,
    truncatedAt: bigint,
  ): AsyncGenerator<Posting> {
    const { target, path } = place
    const text =
      `SELECT key, digest, count, tokens, writetime(count) AS written ` +
      `FROM ${this.#tables.postings} ` +
      'WHERE target = ? AND path = ? AND term = ? AND bucket = ?'
    for (let bucket = 0; bucket < buckets; bucket++) {
      const values = [target, path, term, bucket]
      for await (const row of this.#session.rowsOf({ text, values }, 'read')) {
        const posting = row as unknown as Posting
        if (posting.written > truncatedAt) yield posting
      }
    }
  }

  /**
   * Yields all texts, in no particular order. The first page has `first` texts, because callers may
   * stop early.
   */
  async *texts(
    place: TextPlace,
    truncatedAt: bigint,
    first: number,
  ): AsyncGenerator<Pick<Posting, 'key' | 'digest'>> {
    const { target, path } = place
    const text =
      `SELECT key, digest, writetime(tokens) AS written FROM ${this.#tables.texts} ` +
      'WHERE target = ? AND path = ? AND bucket = ?'
    for (let bucket = 0; bucket < buckets; bucket++) {
      const values = [target, path, bucket]
      const rows = this.#session.rowsOf({ text, values }, 'read', undefined, first)
      for await (const row of rows) {
        const posting = row as unknown as Posting
        if (posting.written > truncatedAt) yield posting
      }
    }
  }

  /**
   * Number and total length of the texts. The result is cached, so it may lack recent writes of
   * other servers. `knownOf` is the number of texts that the caller has found: a cached result with
   * fewer texts is not used.
   */
  async corpus(place: TextPlace, knownOf: number): Promise<Corpus> {
    const key = printPlace(place)
    const known = this.#corpora.get(key)
    const startedAt = performance.now()
    const isTrusted = known !== undefined && known.corpus.documents >= knownOf
    if (isTrusted && startedAt < known.until) return known.corpus
    const { target, path } = place
    const text =
      `SELECT count(tokens) AS documents, sum(tokens) AS tokens FROM ${this.#tables.texts} ` +
      'WHERE target = ? AND path = ? AND bucket = ?'
    const parts = await Promise.all(
      Array.from({ length: buckets }, async (_, bucket) => {
        const values = [target, path, bucket]
        const { rows } = await this.#session.run({ text, values }, 'read')
        return rows[0]!
      }),
    )
    const sum = (name: string) =>
      parts.reduce((all, row) => all + Number((row[name] as bigint | null) ?? 0n), 0)
    const corpus = { documents: sum('documents'), tokens: sum('tokens') }
    const now = performance.now()
    this.#remember(key, { corpus, until: now + trustedFor(now - startedAt) })
    return corpus
  }

  /**
   * Removes all texts of a target that were written before the timestamp. Their postings stay
   * stored, but no longer count (see `truncatedAt`).
   */
  async truncate(
    target: string,
    paths: readonly string[],
    timestamp: bigint,
  ): Promise<void> {
    if (paths.length === 0) return
    await this.#session.run(
      {
        text: `INSERT INTO ${this.#tables.text_indexes} (target, truncated) VALUES (?, ?)`,
        values: [target, timestamp],
      },
      'write',
      { isIdempotent: true },
    )
    const text =
      `DELETE FROM ${this.#tables.texts} USING TIMESTAMP ? ` +
      'WHERE target = ? AND path = ? AND bucket = ?'
    for (const path of paths) {
      await this.#runAll(
        Array.from({ length: buckets }, (_, bucket) => ({
          text,
          values: [timestamp, target, path, bucket],
        })),
      )
      this.#forget({ target, path })
    }
  }

  /**
   * Timestamp of the last truncation: older texts do not count. Throws while the index is being
   * filled.
   */
  async truncatedAt({ target, path }: TextPlace): Promise<bigint> {
    const text = `SELECT truncated, filling FROM ${this.#tables.text_indexes} WHERE target = ?`
    const { rows } = await this.#session.run({ text, values: [target] }, 'read')
    const filling = rows[0]?.['filling'] as Set<string> | null | undefined
    if (filling?.has(path))
      throw new EngineError(
        'unavailable',
        'the text index is being built. Try again when the command that creates it ' +
          'has completed. If its server stopped before that, run stela repair',
      )
    return (rows[0]?.['truncated'] as bigint | null | undefined) ?? 0n
  }

  /** Blocks searches until `endFilling`. */
  async beginFilling(place: TextPlace): Promise<void> {
    await this.#markFilling(place, '+')
  }

  async endFilling(place: TextPlace): Promise<void> {
    await this.#markFilling(place, '-')
  }

  async #markFilling({ target, path }: TextPlace, sign: '+' | '-'): Promise<void> {
    const text = `UPDATE ${this.#tables.text_indexes} SET filling = filling ${sign} ? WHERE target = ?`
    const values = [new Set([path]), target]
    await this.#session.run({ text, values }, 'write', { isIdempotent: true })
  }

  /**
   * Removes entries older than the timestamp, except entries of targets for which `isKept` is true.
   */
  async removeBefore(
    timestamp: bigint,
    isKept: (target: string) => boolean,
  ): Promise<void> {
    for (const [table, key] of [
      [this.#tables.postings, ['target', 'path', 'term', 'bucket']],
      [this.#tables.texts, ['target', 'path', 'bucket']],
    ] as const) {
      const partitions = `SELECT DISTINCT ${key.join(', ')} FROM ${table}`
      const removal =
        `DELETE FROM ${table} USING TIMESTAMP ? ` +
        `WHERE ${key.map((name) => `${name} = ?`).join(' AND ')}`
      let some: Statement[] = []
      const all = this.#session.rowsOf({ text: partitions, values: [] }, 'read')
      for await (const row of all) {
        if (isKept(row['target'] as string)) continue
        some.push({
          text: removal,
          values: [timestamp, ...key.map((name) => row[name] as unknown)],
        })
        if (some.length < removedAtATime) continue
        await this.#runAll(some)
        some = []
      }
      await this.#runAll(some)
    }
    this.#corpora.clear()
  }

  async #runAll(statements: readonly Statement[]): Promise<void> {
    await forEachConcurrent(statements, atATime, (statement) =>
      this.#session.run(statement, 'write', { isIdempotent: true }),
    )
  }

  #remember(key: string, known: KnownCorpus): void {
    if (this.#corpora.size >= corporaMax) this.#corpora.clear()
    this.#corpora.set(key, known)
  }

  #forget(place: TextPlace): void {
    this.#corpora.delete(printPlace(place))
  }
}

interface KnownCorpus {
  readonly corpus: Corpus
  readonly until: number
}

const corporaMax = 1_000

/**
 * Milliseconds for which the counts of a corpus are cached. `tookMs` is the time of counting: a
 * large corpus takes longer to count, and its counts change relatively less.
 */
function trustedFor(tookMs: number): number {
  return Math.max(1_000, 50 * tookMs)
}

function printPlace({ target, path }: TextPlace): string {
  return JSON.stringify([target, path])
}

/** A digest that distinguishes the texts of one record. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

function bucketOf(key: string): number {
  return createHash('sha256').update(key).digest()[0]! % buckets
}
