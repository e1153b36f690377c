/** The digest of a store: the sum of the checksums of all records, stored in `meta`. */
import type { DatabaseSync } from 'node:sqlite'
import { digestModulus } from './checksums.ts'

/**
 * Sum of the checksums of a table, modulo `digestModulus`. It is computed in two halves, because
 * SQLite fails when a sum exceeds 64 bits.
 */
export function sumOfChecksums(database: DatabaseSync, table: string): number {
  const statement = database.prepare(
    `SELECT ifnull(sum(checksum & ${2 ** 24 - 1}), 0) AS low, ` +
      `ifnull(sum(checksum >> 24), 0) AS high FROM ${table}`,
  )
  statement.setReadBigInts(true)
  const { low, high } = statement.get() as { low: bigint; high: bigint }
  return Number((low + (high << 24n)) % BigInt(digestModulus))
}
