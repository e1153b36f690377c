/** Flips bits in the stores of a stopped server. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Path of the store of a target in the default keyspace. */
export function storeOf(dataDir: string, target: string): string {
  const keyspace = join(dataDir, 'default_keyspace')
  const folder = readdirSync(keyspace).find((name) => name.startsWith(target))
  assert(folder !== undefined, `no folder of ${target}`)
  return join(keyspace, folder, 'store.db')
}

/** Checkpoints the log and vacuums the database file, so that every value is stored once. */
export function settle(file: string): void {
  const database = new DatabaseSync(file)
  database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

/**
 * Flips one bit of the byte that is `offset` bytes after the start of `start`. Flips it at every
 * occurrence in the file, because pages keep stale copies of moved cells.
 */
export function flipInFile(
  file: string,
  start: Uint8Array | string,
  offset: number,
  bit: number,
): void {
  const bytes = readFileSync(file)
  let at = bytes.indexOf(start)
  assert(at >= 0, `${file} does not have ${String(start)}`)
  for (; at >= 0; at = bytes.indexOf(start, at + 1)) bytes[at + offset]! ^= 1 << bit
  writeFileSync(file, bytes)
}

/** Where a value is stored: one column of one row. */
export interface Place {
  readonly table: string
  readonly column: string
  /** A condition on the primary key, in SQL. */
  readonly where: string
}

/** Flips a bit of a value. The position `byte` is taken modulo the length of the value. */
export function flipValue(file: string, place: Place, byte: number, bit: number): void {
  const { table, column, where } = place
  const database = new DatabaseSync(file)
  try {
    const found = database
      .prepare(`SELECT "${column}" AS value FROM ${table} WHERE ${where}`)
      .get()
    const value = found?.['value']
    const put = database.prepare(`UPDATE ${table} SET "${column}" = ? WHERE ${where}`)
    if (typeof value === 'number') put.run(value ^ (1 << (byte % 2 === 0 ? bit : 8 + bit)))
    else if (value instanceof Uint8Array) put.run(flipped(value, byte, bit))
    else if (typeof value === 'string') {
      const bytes = flipped(Buffer.from(value), byte, bit)
      // The bytes are bound as a BLOB, so that SQLite stores them unchanged.
      database
        .prepare(`UPDATE ${table} SET "${column}" = CAST(? AS TEXT) WHERE ${where}`)
        .run(bytes)
    } else assert.fail(`nothing to flip in ${JSON.stringify(place)}`)
  } finally {
    database.close()
  }
}

function flipped(bytes: Uint8Array, byte: number, bit: number): Uint8Array {
  assert(bytes.length > 0, 'nothing to flip')
  const changed = Uint8Array.from(bytes)
  changed[byte % bytes.length]! ^= 1 << bit
  return changed
}
