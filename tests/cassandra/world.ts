/** Engines on the node that tests share, for the suites of all engines. */
import type { Engine } from '../../src/engine/contract.ts'
import type { World } from '../engine/suite/world.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

/** Uses keyspaces with the key of a database, so that files can run concurrently. */
export const ownWorld = worldOf(() => TestKeyspaces.make())

/** Uses keyspaces without a database key. Only one file at a time can use them. */
export const plainWorld = worldOf(() => TestKeyspaces.makePlain())

function worldOf(makeKeyspaces: () => Promise<TestKeyspaces>): World {
  return {
    serves: { filters: true, sorts: false, counts: true, vectors: true, terms: true },
    hasExactScores: true,
    seesVectorsAtOnce: true,
    refusesLargeRows: false,
    ordersPartitions: false,
    manyRecords: 600,
    async start() {
      const keyspaces = await makeKeyspaces()
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
}
