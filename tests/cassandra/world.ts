/** An engine on the node that tests share, for the suites that every engine is asked. */
import type { Engine } from '../../src/engine/contract.ts'
import type { World } from '../engine/suite/world.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

export const world: World = {
  serves: { filters: true, sorts: false, counts: true, vectors: true, terms: true },
  hasExactScores: true,
  seesVectorsAtOnce: true,
  refusesLargeRows: false,
  ordersPartitions: false,
  manyRecords: 600,
  async start() {
    const keyspaces = await TestKeyspaces.makePlain()
    const opened: Engine[] = []
    const open = async () => {
      const engine = await keyspaces.open()
      opened.push(engine)
      return engine
    }
    let engine = await open()
    return {
      engine,
      async reopen() {
        await engine.close()
        return (engine = await open())
      },
      openAnother: open,
      async stop() {
        for (const one of opened) await one.close()
        await keyspaces.remove()
      },
    }
  },
}
