/** Embedded engines in folders of their own, for tests that look behind the contract. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { checked } from '../../src/engine/checked.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { EmbeddedOptions } from '../../src/engine/embedded/options.ts'
import type { Engine } from '../../src/engine/contract.ts'

export interface Opened {
  readonly engine: Engine
  readonly dataDir: string
  /** The store file of a collection in the default keyspace. */
  readonly fileOf: (collection: string) => string
}

/** Closed, and removed, when the test ends. */
export async function openEmbedded(
  context: TestContext,
  options: Partial<EmbeddedOptions> = {},
): Promise<Opened> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stela-engine-'))
  const log = (): void => undefined
  const engine = checked(
    await openEmbeddedEngine({ dataDir, durable: false, log, ...options }),
  )
  context.after(async () => {
    await engine.close()
    rmSync(dataDir, { recursive: true })
  })
  return {
    engine,
    dataDir,
    fileOf: (collection) => join(dataDir, 'default_keyspace', collection, 'store.db'),
  }
}
