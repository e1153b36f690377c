/** Rows of the table `waiting`: documents and their term lists. */
import { areBytesSound, type RowChecksum } from '../format/checksums.ts'
import { damagedIndex, termIndex } from '../format/damage.ts'

export type WaitingRow = readonly [
  doc: number,
  terms: Uint8Array | null,
  checksum: RowChecksum,
]

export function verifiedWaiting(
  [doc, terms, checksum]: WaitingRow,
  suffix: string,
): [doc: number, terms: Uint8Array | null] {
  if (!areBytesSound(terms, doc, checksum))
    throw damagedIndex(termIndex(suffix), `the list of terms of document number ${doc}`)
  return [doc, terms]
}
