/**
 * The tables of an index in sorted runs.
 *
 *   recent    changes that are in no run yet, a block of them for each commit
 *   run       the runs: those that are read, that are being made, and that are to be deleted
 *   segment   parts of runs: where their blocks start, what they make, and a filter
 *   block     the entries of runs, packed
 *   manifest  one row: what tells entries of one value apart; its version rises with every
 *             change of what is read, the rest says which changes are in runs, and which
 *             numbers were given out; none is used twice
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

/** A run is read once it is made, and until it is dropped. */
export type RunState = 'made' | 'making' | 'dropped'

export interface RunRow {
  readonly number: number
  readonly level: number
  readonly state: RunState
  /** The numbers of the runs that it is made of, as JSON. */
  readonly sources: string
}

export interface SegmentRow {
  /** The number of its first block; the others follow. */
  readonly block: number
  readonly blocks: number
  readonly entries: number
  readonly sum: number
  readonly values: number
  readonly doc_min: number
  readonly doc_max: number
  readonly first: Uint8Array
  readonly last: Uint8Array
  /** The detail is read when it is needed, so it has a checksum of its own. */
  readonly detail_checksum: number | null
  readonly checksum: number | null
}

/** Of all columns of a segment but its detail. */
export function segmentChecksum(run: number, row: Omit<SegmentRow, 'checksum'>): number {
  const { block, blocks, entries, sum, values, doc_min, doc_max, first, last } = row
  const numbers = [run, block, blocks, entries, sum, values, doc_min, doc_max]
  return partsChecksum([...numbers, row.detail_checksum ?? ''], first, last)
}
