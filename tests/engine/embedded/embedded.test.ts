import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checked } from '../contract/checked.ts'
import type { Target } from '../../../src/engine/contract.ts'
import { checkStore } from '../../../src/engine/embedded/backup/check.ts'
import { openEmbeddedEngine } from '../../../src/engine/embedded/engine.ts'
import { storedViewOf } from './embedded-store.ts'
import { describeEngine } from '../suite/engine.ts'
import type { Running } from '../suite/world.ts'

const world = {
  serves: { filters: true, sorts: true, counts: true, vectors: true, terms: true },
  hasExactScores: true,
  seesVectorsAtOnce: true,
  refusesLargeRows: true,
  ordersPartitions: true,
  manyRecords: 12_000,
}
describeEngine('the embedded engine', { ...world, start: () => start() })

describeEngine('an engine that keeps one store open, and has many runs', {
  ...world,
  start: () => start(1, 64),
})

async function start(openStoresMax = Infinity, memtable?: number): Promise<Running> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stela-engine-'))
  const log = () => undefined
  const open = async () => {
    // The writer thread reads this variable when the engine starts. The test deletes it afterwards,
    // because other test files may run in the same process.
    if (memtable !== undefined) process.env['STELA_TEST_MEMTABLE'] = String(memtable)
    try {
      return checked(
        await openEmbeddedEngine({ dataDir, durable: false, openStoresMax, log }),
      )
    } finally {
      delete process.env['STELA_TEST_MEMTABLE']
    }
  }
  let engine = await open()
  return {
    engine,
    async reopen() {
      await engine.close()
      engine = await open()
      return engine
    },
    assertSound(target: Target) {
      const file = join(dataDir, target.keyspace, target.name, 'store.db')
      assert.deepEqual(
        checkStore(file, storedViewOf(dataDir, target.name, target.keyspace)),
        [],
      )
      return Promise.resolve()
    },
    async stop() {
      await engine.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}
