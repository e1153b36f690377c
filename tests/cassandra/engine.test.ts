/** Collections and settings on a real cluster: what every engine must do with them. */
import type { Engine } from '../../src/engine/contract.ts'
import { describeClosing } from '../engine/suite/closing.ts'
import { describeCollections } from '../engine/suite/collections.ts'
import { describeLexical } from '../engine/suite/lexical.ts'
import { describeReads } from '../engine/suite/reads.ts'
import { describeSettings } from '../engine/suite/settings.ts'
import { describeVectors } from '../engine/suite/vectors.ts'
import type { World } from '../engine/suite/world.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const world: World = {
  serves: { filters: true, sorts: false, counts: true, vectors: true, terms: false },
  hasExactScores: true,
  seesVectorsAtOnce: true,
  refusesLargeRows: false,
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

const suites = [
  ...[describeCollections, describeReads, describeLexical, describeVectors],
  ...[describeSettings, describeClosing],
]
for (const describeSuite of suites) describeSuite('an engine on a cluster', world)
