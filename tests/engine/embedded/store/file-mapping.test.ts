import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  FileMapping,
  unmappedMs,
} from '../../../../src/engine/embedded/store/file-mapping.ts'
import { setMapped } from '../../../../src/engine/embedded/store/layout.ts'

const folder = mkdtempSync(join(tmpdir(), 'stela-mapping-'))
const database = new DatabaseSync(join(folder, 'store.db'))
after(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

function mappedMax(): number {
  return Number(database.prepare('PRAGMA mmap_size').get()!['mmap_size'])
}

test('a connection does not map its file for a second after a write', async () => {
  database.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE one(id); INSERT INTO one VALUES (1)',
  )
  setMapped(database, true)
  assert(mappedMax() > 0)
  const mapping = new FileMapping()
  mapping.update(database)
  assert(mappedMax() > 0)
  mapping.noteWrite()
  mapping.update(database)
  assert.equal(mappedMax(), 0)
  assert.equal(database.prepare('SELECT id FROM one').get()!['id'], 1)
  await delay(unmappedMs)
  mapping.update(database)
  assert(mappedMax() > 0)
  assert.equal(database.prepare('SELECT id FROM one').get()!['id'], 1)
})
