import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import {
  append,
  CatalogChecksum,
  pieceOf,
} from '../../../../src/engine/embedded/catalog/catalog-checksum.ts'
import { catalogSchema } from '../../../../src/engine/embedded/catalog/catalog-file.ts'
import { Random } from '../../../faults/random.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

test('the CRC of two concatenated texts is computed from the CRCs of both', (context) => {
  context.diagnostic(`SEED=${seed}`)
  const random = new Random(seed)
  const bytes = Buffer.from(Array.from({ length: 70_000 }, () => random.below(256)))
  for (const length of [0, 1, 2, 255, 256, 65_535, 65_536, random.below(70_000)]) {
    const [first, second] = [bytes.subarray(length), bytes.subarray(0, length)]
    const whole = crc32(Buffer.concat([first, second]))
    assert.equal(append(crc32(first), pieceOf(second)), whole, `${length} bytes`)
  }
})

test('the checksum of a catalog is the CRC of its rows in key order', () => {
  const database = new DatabaseSync(':memory:')
  database.exec(catalogSchema)
  const put = database.prepare(
    'INSERT INTO target(uid, keyspace, name, folder, kind, state, options, version) ' +
      "VALUES (?, 'default_keyspace', ?, ?, 'collection', 'ready', ?, ?)",
  )
  for (let n = 0; n < 20; n++)
    put.run(`u${n}`, `c${n}`, `f${n}`, JSON.stringify({ ö: '"\u0000\ud800'.repeat(n) }), n)
  database.exec("INSERT INTO setting VALUES ('a', 'b')")
  const checksum = new CatalogChecksum()
  assert.equal(checksum.of(database, 7), plainChecksum(database, 7))
  database.exec("UPDATE target SET name = 'other', version = 9 WHERE uid = 'u3'")
  database.exec("UPDATE target SET options = '{}' WHERE uid = 'u4'")
  checksum.forget('u4')
  database.exec("DELETE FROM target WHERE uid = 'u5'")
  assert.equal(checksum.of(database, 8), plainChecksum(database, 8))
  database.close()
})

function plainChecksum(database: DatabaseSync, generation: number): number {
  let sum = generation
  for (const table of ['keyspace', 'target', 'type', 'setting'])
    for (const row of database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).iterate())
      sum = crc32(JSON.stringify([table, ...Object.values(row)]), sum)
  return sum
}
