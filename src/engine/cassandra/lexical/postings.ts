/**
 * An index of terms, for clusters that have none of their own. It is kept in the keyspace that
 * servers share: for each term the texts that have it, and for each text its terms.
 *
 * A text is known by its record's key and a digest of itself. What the index says of a text is
 * written before the record is, and counts only if the record has that very text when it is
 * read. So a record that was written is always found, at whatever step a server died; what is left of texts
 * that no record has is removed when it is met, or with the write that replaced them.
 *
 * Timestamps order writes and removals: each has that of the record's version. They rise from
 * version to version, so that a removal never takes what a later version has written.
 */
import { createHash } from 'node:crypto'
import type { Corpus } from '../../../search/lexical/bm25.ts'
import { sideBySide } from '../../../runtime/side-by-side.ts'
import { EngineError } from '../../errors.ts'
import type { Session } from '../cluster/session.ts'
import { quoteTarget, type Statement } from '../cluster/statement.ts'
import type { StatementOwner } from '../cluster/statement-queue.ts'
import type { WriteClock } from '../cluster/write-clock.ts'

/** Texts that are searched together: of one path of a collection, or one column of a table. */
export interface TextPlace {
  /** The target's uid. */
  readonly target: string
  readonly path: string
}

export interface IndexedText {
  /** What its record is known by. */
  readonly key: string
  readonly text: string
  /** Repeats included. */
  readonly terms: readonly string[]
}

/** That a text has a term. */
export interface Posting {
  readonly key: string
  readonly digest: string
  /** How often it does. */
  readonly count: number
  /** Terms of the text, all together. */
  readonly tokens: number
  /** Microseconds since 1970. */
  readonly written: bigint
}

/** For system-keyspace.ts. */
export const lexicalTables = {
  postings:
    'target text, path text, term text, bucket tinyint, key text, digest text, ' +
    'count int, tokens int, PRIMARY KEY ((target, path, term, bucket), key, digest)',
  texts:
    'target text, path text, bucket tinyint, key text, digest text, tokens bigint, ' +
    'terms set<text>, PRIMARY KEY ((target, path, bucket), key, digest)',
  text_indexes: 'target text PRIMARY KEY, truncated bigint, filling set<text>',
} as const

/** Partitions that the texts of one term are spread over. */
const buckets = 4

/** Statements of one text that are on their way at a time. */
const atATime = 64

const textsAtATime = 8

/** Partitions that are removed at a time. */
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

  /** The same index, with statements that a caller waits for. */
  for(owner: StatementOwner | undefined): ClusterPostings {
    if (owner === undefined) return this
    const session = this.#session.for(owner)
    return new ClusterPostings(session, this.#tables, this.#corpora, this.#clock)
  }

  /** Microseconds since 1970. */
  nextTimestamp(): bigint {
    return BigInt(this.#clock.next())
  }

  /** Before the record is written. */
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

  /** Of records that were written before the timestamp, some at a time. */
  async putAll(
    place: TextPlace,
    texts: readonly IndexedText[],
    timestamp: bigint,
  ): Promise<void> {
    await sideBySide(texts, textsAtATime, (text) => this.put(place, text, timestamp))
  }

  /** What the record had before this version, but for the text that it has now. */
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

  /** What no record has any more; not what is written again meanwhile. */
  async remove(
    place: TextPlace,
    term: string,
    stale: readonly Pick<Posting, 'key' | 'digest' | 'written'>[],
  ): Promise<void> {
    await this.#runAll(
      stale.map((posting) => this.#removal(place, term, posting, posting.written)),
    )
  }

  /** All texts that have the term, as they come. */
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

  /** All texts in any order. The first read fetches `first` texts, because a caller may stop early. */
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
   * How many texts there are, and how long: as of a while ago, if others write, unless there
   * were fewer then than are known of now.
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

  /** All texts of a target are gone: before its records are. */
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

  /** What was written before that is gone. Throws where not all texts are in the index yet. */
  async truncatedAt({ target, path }: TextPlace): Promise<bigint> {
    const text = `SELECT truncated, filling FROM ${this.#tables.text_indexes} WHERE target = ?`
    const { rows } = await this.#session.run({ text, values: [target] }, 'read')
    const filling = rows[0]?.['filling'] as Set<string> | null | undefined
    if (filling?.has(path))
      throw new EngineError(
        'unavailable',
        'the text index is being filled. Try again when the command that creates it has ' +
          'been answered; if its server ended before that, run stela repair',
      )
    return (rows[0]?.['truncated'] as bigint | null | undefined) ?? 0n
  }

  /** Nobody searches there until it has all texts. */
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

  /** What was written before that, and not again since, but for what belongs to some targets. */
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
    await sideBySide(statements, atATime, (statement) =>
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

/** Counting takes longer the more there is, and changes less. */
function trustedFor(tookMs: number): number {
  return Math.max(1_000, 50 * tookMs)
}

function printPlace({ target, path }: TextPlace): string {
  return JSON.stringify([target, path])
}

/** Tells texts of one record apart. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

function bucketOf(key: string): number {
  return createHash('sha256').update(key).digest()[0]! % buckets
}
