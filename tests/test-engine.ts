/**
 * What servers of tests run on: `STELA_TEST_ENGINE=memory` takes the engine in memory, and
 * `cassandra` the one on a node that they share.
 */
import { checked } from '../src/engine/checked.ts'
import type { Engine } from '../src/engine/contract.ts'
import { openMemoryEngine } from './engine/memory/memory-engine.ts'
import { MemoryStore } from './engine/memory/memory-store.ts'

/** Data that engines are opened on, one after the other. They assert their promises. */
export interface TestData {
  open(): Promise<Engine>
  remove(): Promise<void>
}

/** New data; undefined: a server opens the engine of its data folder itself. */
export async function makeTestData(): Promise<TestData | undefined> {
  switch (name) {
    case 'embedded':
      return undefined
    case 'memory': {
      const store = new MemoryStore()
      const open = () => Promise.resolve(checked(openMemoryEngine(store)))
      return { open, remove: () => Promise.resolve() }
    }
    case 'cassandra': {
      // Others need no driver.
      const { TestKeyspaces } = await import('./cassandra/test-keyspaces.ts')
      return TestKeyspaces.makePlain()
    }
    default:
      throw new Error(`STELA_TEST_ENGINE is ${name}, and not embedded, memory or cassandra`)
  }
}

const name = process.env['STELA_TEST_ENGINE'] ?? 'embedded'

/** Whether what only the embedded engine has can be asked for: files, threads, backups. */
export const isEmbedded = name === 'embedded'

/** For tests of what a cluster does otherwise: tests/cassandra/differences.ts says how. */
export const unlessOnCluster = { skip: name === 'cassandra' }
