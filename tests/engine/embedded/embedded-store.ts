/** Embedded engines in temporary folders, for tests that inspect the files of an engine. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { checked } from '../contract/checked.ts'
import { readyTargets } from '../../../src/engine/embedded/catalog/ready-targets.ts'
import { openEmbeddedEngine } from '../../../src/engine/embedded/engine.ts'
import type { EmbeddedOptions } from '../../../src/engine/embedded/schema/options.ts'
import type { Engine } from '../../../src/engine/contract.ts'
import type { RecordView } from '../../../src/engine/record-view.ts'

export interface Opened {
  readonly engine: Engine
  readonly dataDir: string
  /** The store file of a collection in the default keyspace. */
  readonly fileOf: (collection: string) => string
}

/**
 * Opens an engine in a new folder. When the test ends, the engine is closed and the folder removed.
 */
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

/**
 * The view through which the store of a table reads its rows. The function reads a copy of the
 * catalog, because a running engine locks the catalog itself.
 */
export function storedViewOf(
  dataDir: string,
  name: string,
  keyspace = 'default_keyspace',
): RecordView {
  const folder = mkdtempSync(join(tmpdir(), 'stela-catalog-'))
  try {
    for (const file of ['catalog.db', 'catalog.db-wal'])
      if (existsSync(join(dataDir, file)))
        copyFileSync(join(dataDir, file), join(folder, file))
    const targets = readyTargets(join(folder, 'catalog.db'), folder)
    return targets.find((target) => target.name === name && target.keyspace === keyspace)!
      .view
  } finally {
    rmSync(folder, { recursive: true })
  }
}
