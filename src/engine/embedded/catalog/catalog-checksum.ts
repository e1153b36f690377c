/**
 * The checksum of a catalog: the CRC-32 of its generation and of all rows in key order, which is
 * independent of their physical layout.
 *
 * Definitions of targets may have hundreds of kilobytes each, and every commit computes the
 * checksum. So the CRC of a definition is cached, and combined with the CRC of the other columns of
 * its row.
 */
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'

/** The CRC-32 of a text, and the power of x by which the CRC of a preceding text is multiplied. */
interface Piece {
  readonly sum: number
  readonly shift: number
}

export class CatalogChecksum {
  /** Cached checksums of definitions, by uid of the target. */
  readonly #definitions = new Map<string, Piece>()

  of(database: DatabaseSync, generation: number): number {
    let sum = generation
    const readOptions = database.prepare('SELECT options FROM target WHERE uid = ?')
    const definitionOf = (uid: string): Piece => {
      let piece = this.#definitions.get(uid)
      if (piece === undefined) {
        piece = pieceOf(Buffer.from(JSON.stringify(readOptions.get(uid)!['options'])))
        this.#definitions.set(uid, piece)
      }
      return piece
    }
    sum = addRows(database, 'keyspace', sum)
    const targets = database.prepare(
      'SELECT uid, keyspace, name, folder, kind, state, version FROM target ORDER BY 1, 2',
    )
    let count = 0
    for (const { version, ...row } of targets.iterate()) {
      count++
      const start = JSON.stringify(['target', ...Object.values(row)])
      sum = crc32(`${start.slice(0, -1)},`, sum)
      sum = append(sum, definitionOf(String(row['uid'])))
      sum = crc32(`,${JSON.stringify(version)}]`, sum)
    }
    // More than half of the cached definitions belong to dropped targets.
    if (this.#definitions.size > 2 * count) this.clear()
    return addRows(database, 'setting', addRows(database, 'type', sum))
  }

  /** Must be called when the definition of a target changes. */
  forget(uid: string): void {
    this.#definitions.delete(uid)
  }

  clear(): void {
    this.#definitions.clear()
  }
}

function addRows(database: DatabaseSync, table: string, before: number): number {
  let sum = before
  for (const row of database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).iterate())
    sum = crc32(JSON.stringify([table, ...Object.values(row)]), sum)
  return sum
}

/** The checksum of a text, in a form that can be appended to the checksum of other texts. */
export function pieceOf(text: Uint8Array): Piece {
  // Computes x^(8 * length). The loop starts at power 3, because a byte has 8 = 2^3 bits.
  let shift = one
  for (let [power, left] = [3, text.length]; left > 0; power++, left = Math.floor(left / 2))
    if (left % 2 === 1) shift = multiply(powers[power % 32]!, shift)
  return { sum: crc32(text), shift }
}

/**
 * The CRC-32 of a text followed by a piece, as zlib's crc32_combine computes it. `before` is the
 * CRC-32 of the text.
 */
export function append(before: number, { sum, shift }: Piece): number {
  return (multiply(shift, before) ^ sum) >>> 0
}

/**
 * Polynomials over GF(2), modulo the polynomial of CRC-32; the highest bit is the coefficient of
 * x^0.
 */
const polynomial = 0xedb88320
const one = 0x80000000

function multiply(a: number, b: number): number {
  let product = 0
  for (let [bit, shifted] = [one, b]; bit > 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1
  }
  return product >>> 0
}

/** x to the power of 2^n. */
const powers: readonly number[] = powersOfX()

function powersOfX(): number[] {
  const made = [one >>> 1]
  while (made.length < 32) made.push(multiply(made.at(-1)!, made.at(-1)!))
  return made
}
