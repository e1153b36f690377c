import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { OpeningTask } from '../opening-thread.ts'

test('only one thread opens a data folder when several try at the same moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stela-'))
  const file = join(folder, 'catalog.db')
  const made = new DatabaseSync(file)
  made.exec('PRAGMA journal_mode = WAL; CREATE TABLE setting (value)')
  made.close()
  const shared = (count: number) => new Int32Array(new SharedArrayBuffer(4 * count))
  const rounds = 150
  const workerData: OpeningTask = {
    folder,
    file,
    threads: 2,
    met: shared(1),
    holders: shared(rounds),
  }
  const module = new URL('../opening-thread.ts', import.meta.url)
  const threads = Array.from({ length: workerData.threads }, () => {
    return new Worker(module, { workerData })
  })
  await Promise.all(threads.map((thread) => once(thread, 'exit')))
  assert.equal(workerData.holders.indexOf(0), -1, 'a round in which nobody got it')
  rmSync(folder, { recursive: true })
})
