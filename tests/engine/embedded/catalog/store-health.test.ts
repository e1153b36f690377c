import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { identify } from '../../../../src/engine/embedded/files/file-identity.ts'
import { StoreHealth } from '../../../../src/engine/embedded/catalog/store-health.ts'
import { temporaryFolder } from '../../../harness.ts'

test('a disk is not reported as slow when the process itself was suspended', async () => {
  const folder = await temporaryFolder()
  const catalog = join(folder, 'catalog.db')
  await writeFile(catalog, '')
  const health = new StoreHealth(identify(catalog), () => undefined)
  const problem = health.problem()
  // Blocks the process for longer than a disk may take, as a busy machine does.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100)
  assert.equal(await problem, undefined)
  await rm(folder, { recursive: true })
})
