import { checked } from '../contract/checked.ts'
import { openMemoryEngine } from './memory-engine.ts'
import { MemoryStore } from './memory-store.ts'
import { describeEngine } from '../suite/engine.ts'

describeEngine('an engine in memory', {
  serves: { filters: false, sorts: false, counts: false, vectors: true, terms: false },
  hasExactScores: true,
  seesVectorsAtOnce: true,
  refusesLargeRows: true,
  ordersPartitions: true,
  manyRecords: 12_000,
  start() {
    const store = new MemoryStore()
    const open = () => checked(openMemoryEngine(store))
    let engine = open()
    return Promise.resolve({
      engine,
      async reopen() {
        await engine.close()
        return (engine = open())
      },
      openAnother: () => Promise.resolve(open()),
      stop: () => engine.close(),
    })
  },
})
