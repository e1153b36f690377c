/** A document or row as it stands in its table. */
import type { SearchFields } from '../../contract.ts'
import type { RowChecksum } from './checksums.ts'

export interface DocRow {
  readonly seq: number
  readonly version: number
  readonly text: string
  /** The value by which a range led to the row. */
  readonly value?: Uint8Array
  /** What stands beside the text, where it was asked for. */
  readonly search?: SearchFields & RowFields
}

/** Of a row of a table: the vectors that it has beside its text, by path. */
export interface RowFields {
  readonly vectors?: ReadonlyMap<string, Float32Array>
}

/** What statements select for a row, `d` being the document. */
export const rowColumns = 'd.seq, d.version, d.text, d.checksum'

/** The columns that these are. */
export type RowColumns = readonly [
  seq: number,
  version: number,
  text: string,
  checksum: RowChecksum,
]
