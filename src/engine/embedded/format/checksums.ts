/**
 * Checksums of stored rows. Every row is verified when it is read, so that a flipped bit causes an
 * error instead of a wrong answer.
 *
 * A checksum is a CRC-32 of the content of the row combined with the number of the row, or with the
 * version of a record, which is unique to the write. So a row that is stored in the place of
 * another row does not match its checksum either. Rows written by an earlier version have NULL and
 * are not verified until they are written again.
 *
 * zlib's CRC-32 takes strings, which it encodes as UTF-8. Up to some kilobytes this is cheaper than
 * reading bytes from SQLite and decoding them.
 */
import { crc32 } from 'node:zlib'

export type RowChecksum = number | null

/**
 * Checksum of a document or row. The version is unique to the write. It is added and not fed to the
 * CRC, so that the sum over several rows can be verified at once (`joinedTexts`).
 */
export function textChecksum(text: string | Uint8Array, version: number): number {
  return crc32(text) + version
}

/**
 * Whether a text matches its checksum. Also false if damage has changed the type of the stored
 * value.
 */
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
  // Flags of the columns that have a value, so that null and empty differ.
  const present =
    (vector instanceof Uint8Array ? 1 : 0) +
    (typeof vectorize === 'string' ? 2 : 0) +
    (typeof lexical === 'string' ? 4 : 0)
  // The factor is odd, so that different forms give different start values.
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

/** Checksum of bytes of an index in the row `number`. */
export function bytesChecksum(bytes: Uint8Array | null, number: number): number {
  return (bytes === null ? nullSum : crc32(bytes)) + number
}

/** Greater than any CRC-32, so that null differs from all bytes. */
const nullSum = 2 ** 32

export function areBytesSound(
  bytes: Uint8Array | null,
  number: number,
  checksum: RowChecksum,
): boolean {
  return checksum === null || bytesChecksum(bytes, number) === checksum
}

/** Checksum of several columns of a row. */
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

/** Modulus of the digest of a store, which is the sum of the checksums of all its records. */
export const digestModulus = 2 ** 48

/** The digest after the checksum `after` has replaced `before`. Null and undefined: no checksum. */
export function changeDigest(
  digest: number,
  before: RowChecksum | undefined,
  after: RowChecksum | undefined,
): number {
  const changed = digest - ((before ?? 0) % digestModulus) + ((after ?? 0) % digestModulus)
  return (changed + digestModulus) % digestModulus
}
