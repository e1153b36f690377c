import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checked } from '../../src/engine/checked.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { describeEngine, type Running } from './engine-suite.ts'
import { servingNothing } from './serving-nothing.ts'

describeEngine('the embedded engine', () => start(checked))

describeEngine('an engine that keeps one store open', () => start(checked, 1))

describeEngine('an engine that serves nothing of a query', () =>
  start((engine) => checked(servingNothing(engine))),
)

async function start(
  wrap: (engine: Engine) => Engine,
  openStoresMax = Infinity,
): Promise<Running> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stela-engine-'))
  const log = () => undefined
  const open = async () =>
    wrap(await openEmbeddedEngine({ dataDir, durable: false, openStoresMax, log }))
  let engine = await open()
  return {
    engine,
    async reopen() {
      await engine.close()
      engine = await open()
      return engine
    },
    async stop() {
      await engine.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}
