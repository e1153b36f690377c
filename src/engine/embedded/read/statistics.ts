/** Counts of a store and its indexes that planning uses. */
import type { Tie } from '../format/entry-key.ts'
import type { EntryRange } from '../runs/runs-reader.ts'
import type { Bounds } from './bounds.ts'

export interface Statistics {
  /** Order of the entries of one value: by document number or by id. */
  readonly tie: Tie
  /** Number of a path. 'absent': no document has it. 'unindexed': the index does not cover it. */
  pathId(path: string): number | 'absent' | 'unindexed'
  documents(): number
  documentsWith(path: string): number
  /** Number of entries of a value, array elements included. */
  entriesOf(path: number, value: Uint8Array): number
  /** Number of entries in a range; a result above `max` may be an estimate. */
  entriesWithin(range: EntryRange, max: number): number
  /** Number of documents with ids within bounds, counted up to `max`. */
  idsWithin(bounds: Bounds, max: number): number
  /** Upper bound of the number of documents whose text contains all terms. */
  documentsWithTerms(path: string, terms: readonly string[]): number
}
