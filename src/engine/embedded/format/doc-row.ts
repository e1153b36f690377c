/** A document or row as it is stored in the table `doc`. */
import type { SearchFields } from '../../contract.ts'
import type { RowChecksum } from './checksums.ts'

export interface DocRow {
  readonly seq: number
  readonly version: number
  readonly text: string
  /** Value in the index entry through which the walk of a range found the row. */
  readonly value?: Uint8Array
  /** Fields that are stored beside the text, if they were requested. */
  readonly search?: SearchFields & RowFields
}

/** Vectors of a table row that are stored beside its text, by path. */
export interface RowFields {
  readonly vectors?: ReadonlyMap<string, Float32Array>
}

/** Columns to select for a row; `d` is the table `doc`. */
export const rowColumns = 'd.seq, d.version, d.text, d.checksum'

/** Values of `rowColumns`. */
export type RowColumns = readonly [
  seq: number,
  version: number,
  text: string,
  checksum: RowChecksum,
]

/** A row without its text. No stored text is empty, so '' means that the text was not read. */
export function bare({ seq, value }: Pick<DocRow, 'seq' | 'value'>): DocRow {
  return value === undefined
    ? { seq, version: 0, text: '' }
    : { seq, version: 0, text: '', value }
}
