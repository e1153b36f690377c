/**
 * Baseline for SQLite alone. One loop over prepared statements reads and writes the same rows in a
 * table with typed columns and a clustered key. Queries are created before the clock starts; rows
 * are read into objects and discarded.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { Tally } from '../drive.ts'
import { batchSize } from '../dataset.ts'
import { foundMax, Readings, type Reading } from '../tables/readings.ts'
import type { TableRequest } from '../tables/requests.ts'

export type RawTablesQuestion =
  /** Creates the table in a new file and fills it. */
  | { readonly load: string; readonly seed: number; readonly size: number }
  | { readonly run: TableRequest['kind']; readonly forMs: number }

export type RawTablesAnswer = Tally

type Parameters = readonly SQLInputValue[]

class RawTable {
  readonly #database: DatabaseSync
  readonly #readings: Readings
  readonly #insert: StatementSync
  readonly #reads: Readonly<Record<'point' | 'range' | 'indexed', Read>>
  /** Transactions to prepare per millisecond: the rate of the previous turn. */
  #insertsPerMs = 1

  constructor(file: string, seed: number, size: number) {
    this.#database = new DatabaseSync(file)
    // The cache has the same size as the engine's cache.
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA cache_size = -131072;
      PRAGMA mmap_size = 1073741824;
      PRAGMA wal_autocheckpoint = 8000;
      CREATE TABLE readings(
        sensor TEXT NOT NULL,
        at INTEGER NOT NULL,
        gateway TEXT,
        level INTEGER,
        value REAL,
        valid INTEGER,
        remark TEXT,
        PRIMARY KEY (sensor, at DESC)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX readings_gateway ON readings(gateway);
    `)
    this.#insert = this.#database.prepare(
      'INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#load(new Readings(seed, size, 0), size)
    this.#readings = new Readings(seed, size)
    this.#reads = this.#prepareReads()
  }

  run(kind: TableRequest['kind'], forMs: number): Tally {
    return kind === 'insert' ? this.#runInserts(forMs) : this.#reads[kind].run(forMs)
  }

  /** Loads rows without durability. Only measured writes need it. */
  #load(readings: Readings, size: number): void {
    this.#database.exec('PRAGMA synchronous = OFF')
    for (let done = 0; done < size; done += loadedAtOnce) {
      this.#database.exec('BEGIN')
      for (let i = done; i < Math.min(size, done + loadedAtOnce); i++)
        this.#insert.run(...valuesOf(readings.new()))
      this.#database.exec('COMMIT')
    }
    this.#database.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)')
  }

  #prepareReads() {
    const where = (sql: string) =>
      this.#database.prepare(`SELECT * FROM readings WHERE ${sql}`)
    const one = where('sensor = ? AND at = ?')
    const many = (sql: string, next: () => Parameters) => {
      const statement = where(sql)
      return new Read((parameters) => statement.all(...parameters)[0], next)
    }
    return {
      point: new Read(
        (parameters) => one.get(...parameters),
        () => {
          const { sensor, atMs } = this.#readings.key()
          return [sensor, atMs]
        },
      ),
      range: many(
        `sensor = ? AND at >= ? AND at < ? ORDER BY at DESC LIMIT ${foundMax}`,
        () => {
          const { sensor, atMs, endMs } = this.#readings.range()
          return [sensor, atMs, endMs]
        },
      ),
      indexed: many(`gateway = ? LIMIT ${foundMax}`, () => [this.#readings.gateway()]),
    }
  }

  #runInserts(forMs: number): Tally {
    const count = Math.ceil(this.#insertsPerMs * forMs * 1.5) + 1
    const batches = Array.from({ length: count }, () =>
      Array.from({ length: batchSize }, () => valuesOf(this.#readings.new())),
    )
    const tally = loop(forMs, count, (at) => {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const values of batches[at]!) this.#insert.run(...values)
      this.#database.exec('COMMIT')
    })
    this.#insertsPerMs = tally.requests / tally.elapsedMs
    return tally
  }
}

const loadedAtOnce = 10_000

/** Number of distinct queries, which are repeated in rotation. */
const ringSize = 16_384

class Read {
  readonly #find: (parameters: Parameters) => object | undefined
  readonly #ring: readonly Parameters[]
  #at = 0

  constructor(
    find: (parameters: Parameters) => object | undefined,
    next: () => Parameters,
  ) {
    this.#find = find
    this.#ring = Array.from({ length: ringSize }, next)
  }

  run(forMs: number): Tally {
    return loop(forMs, Infinity, () => {
      const found = this.#find(this.#ring[this.#at++ % ringSize]!)
      if (found === undefined) throw new Error('no row was found')
    })
  }
}

function loop(forMs: number, most: number, once: (at: number) => void): Tally {
  const startedAt = performance.now()
  let requests = 0
  let now = startedAt
  do {
    once(requests++)
    now = performance.now()
  } while (requests < most && now - startedAt < forMs)
  return { requests, elapsedMs: now - startedAt }
}

function valuesOf(reading: Reading): Parameters {
  const { sensor, atMs, gateway, level, value, valid, remark } = reading
  return [sensor, atMs, gateway, level, value, valid ? 1 : 0, remark]
}

let table: RawTable | undefined

process.on('message', (question: RawTablesQuestion) => {
  let answer: RawTablesAnswer = { requests: 0, elapsedMs: 0 }
  if ('load' in question) table = new RawTable(question.load, question.seed, question.size)
  else answer = table!.run(question.run, question.forMs)
  process.send!(answer)
})
process.on('disconnect', () => process.exit())
