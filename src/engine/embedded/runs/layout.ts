/**
 * Tables of an index in sorted runs:
 *
 *   recent    blocks of changes that wait for a flush
 *   run       runs: readable, being written, or being deleted
 *   segment   parts of runs: first keys of their blocks, net counts, a Bloom filter
 *   block     packed entries of runs
 *   manifest  one row: the kind of tie; a version that changes with the set of readable runs;
 *             the last flushed row of `recent`; the next run and block numbers, which are
 *             never reused
 */
import { partsChecksum } from '../format/checksums.ts'
import type { Tie } from '../format/entry-key.ts'

export function runsSchema(tie: Tie): string {
  return `
  CREATE TABLE recent(
    id INTEGER PRIMARY KEY,
    changes BLOB NOT NULL,
    checksum INTEGER
  ) STRICT;
  CREATE TABLE run(
    number INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    state TEXT NOT NULL,
    sources TEXT NOT NULL
  ) STRICT;
  CREATE TABLE segment(
    run INTEGER NOT NULL,
    block INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    "values" INTEGER NOT NULL,
    doc_min INTEGER NOT NULL,
    doc_max INTEGER NOT NULL,
    first BLOB NOT NULL,
    last BLOB NOT NULL,
    detail BLOB NOT NULL,
    detail_checksum INTEGER,
    checksum INTEGER,
    PRIMARY KEY (run, block)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE block(
    id INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL,
    checksum INTEGER
  ) STRICT;
  CREATE TABLE manifest(
    tie TEXT NOT NULL,
    version INTEGER NOT NULL,
    flushed INTEGER NOT NULL,
    next_run INTEGER NOT NULL,
    next_block INTEGER NOT NULL
  ) STRICT;
  INSERT INTO manifest VALUES ('${tie}', 0, 0, 1, 1);
`
}

/** State of a run. Only runs in the state `made` are read. */
export type RunState = 'made' | 'making' | 'dropped'

export interface RunRow {
  readonly number: number
  readonly level: number
  readonly state: RunState
  /** Numbers of the runs that are merged into this run, as JSON. */
  readonly sources: string
}

export interface SegmentRow {
  /** Number of the first block. The other blocks have the following numbers. */
  readonly block: number
  readonly blocks: number
  readonly entries: number
  readonly sum: number
  readonly values: number
  readonly doc_min: number
  readonly doc_max: number
  readonly first: Uint8Array
  readonly last: Uint8Array
  /** `detail` has its own checksum, because it is only read when needed. */
  readonly detail_checksum: number | null
  readonly checksum: number | null
}

/** Checksum of all columns of a segment; `detail` is covered through its own checksum. */
export function segmentChecksum(run: number, row: Omit<SegmentRow, 'checksum'>): number {
  const { block, blocks, entries, sum, values, doc_min, doc_max, first, last } = row
  const numbers = [run, block, blocks, entries, sum, values, doc_min, doc_max]
  return partsChecksum([...numbers, row.detail_checksum ?? ''], first, last)
}
