/**
 * Checksums of stored rows. Every row is verified when it is read, so that a flipped bit becomes
 * an error and never an answer.
 *
 * A checksum is a CRC-32 of what the row holds, together with the number that identifies the row:
 * a row that ends up under another number does not match either. NULL stands in rows that an
 * earlier version wrote; these are not verified until they are written again.
 *
 * zlib's CRC-32 takes strings, which it encodes as UTF-8. For texts up to some kilobytes that is
 * cheaper than to have SQLite return bytes and to decode these afterwards.
 */
import { crc32 } from 'node:zlib'

export type RowChecksum = number | null

/**
 * Of a document or row: the version is unique to the write. It is added and not fed to the CRC,
 * so that the sum over several rows can be verified at once (`joinedTexts`).
 */
export function textChecksum(text: string | Uint8Array, version: number): number {
  return crc32(text) + version
}

/** Also false where damage has turned the text into another type. */
export function isTextSound(
  text: unknown,
  version: number,
  checksum: RowChecksum,
): boolean {
  return (
    checksum === null ||
    (typeof text === 'string' && textChecksum(text, version) === checksum)
  )
}

/** The columns of `search`; a table `vector_<column>` has the first two. */
export interface StoredSearch {
  readonly form: number
  readonly vector: Uint8Array | null
  readonly vectorize?: string | null | undefined
  readonly lexical?: string | null | undefined
}

export function searchChecksum(doc: number, search: StoredSearch): number {
  const { form, vector, vectorize, lexical } = search
  // Which columns have a value of their type: null and empty differ.
  const present =
    (vector instanceof Uint8Array ? 1 : 0) +
    (typeof vectorize === 'string' ? 2 : 0) +
    (typeof lexical === 'string' ? 4 : 0)
  // The factor is odd: different kinds of rows start from different numbers.
  let sum = (doc + Math.imul(form * 8 + present, 0x9e3779b1)) >>> 0
  if (vector instanceof Uint8Array) sum = crc32(vector, sum)
  if (typeof vectorize === 'string') sum = crc32(vectorize, sum)
  return typeof lexical === 'string' ? crc32(lexical, sum) : sum
}

export function isSearchSound(
  doc: number,
  search: StoredSearch,
  checksum: RowChecksum,
): boolean {
  return checksum === null || searchChecksum(doc, search) === checksum
}

/** Of bytes of an index, under the number of their row. */
export function bytesChecksum(bytes: Uint8Array | null, number: number): number {
  return (bytes === null ? nullSum : crc32(bytes)) + number
}

/** No CRC-32: so null differs from all bytes. */
const nullSum = 2 ** 32

export function areBytesSound(
  bytes: Uint8Array | null,
  number: number,
  checksum: RowChecksum,
): boolean {
  return checksum === null || bytesChecksum(bytes, number) === checksum
}

/** Of several values of one row. */
export function partsChecksum(
  numbers: readonly (number | string)[],
  ...blobs: readonly Uint8Array[]
): number {
  const sizes = blobs.map(({ length }) => length)
  return blobs.reduce<number>(
    (sum, blob) => crc32(blob, sum),
    crc32([...numbers, ...sizes].join()),
  )
}

/** The digest of a store is the sum of the checksums of all records, by this modulus. */
export const digestModulus = 2 ** 48

/** A digest after one checksum took the place of another; null and undefined: there is none. */
export function changeDigest(
  digest: number,
  before: RowChecksum | undefined,
  after: RowChecksum | undefined,
): number {
  const changed = digest - ((before ?? 0) % digestModulus) + ((after ?? 0) % digestModulus)
  return (changed + digestModulus) % digestModulus
}
