/**
 * The engine of test servers. STELA_TEST_ENGINE is `memory` for the engine in memory, `cassandra`
 * for a shared node, or `embedded`, the default.
 */
import { checked } from './engine/contract/checked.ts'
import type { Engine } from '../src/engine/contract.ts'
import { openMemoryEngine } from './engine/memory/memory-engine.ts'
import { MemoryStore } from './engine/memory/memory-store.ts'

/**
 * The data of one test. Several engines can be opened on it, one after another. They assert the
 * contract of engines.
 */
export interface TestData {
  open(): Promise<Engine>
  remove(): Promise<void>
}

/**
 * Creates data for a test. Returns undefined if the server itself opens the embedded engine in its
 * data folder.
 */
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
      // Imported only here, because other engines need no driver for Cassandra.
      const { TestKeyspaces } = await import('./cassandra/test-keyspaces.ts')
      return TestKeyspaces.makePlain()
    }
    default:
      throw new Error(`STELA_TEST_ENGINE is ${name}, and not embedded, memory or cassandra`)
  }
}

const name = process.env['STELA_TEST_ENGINE'] ?? 'embedded'

/** Whether tests can use features that only the embedded engine has: files, threads, backups. */
export const isEmbedded = name === 'embedded'

/**
 * Skips tests of behaviour that differs on a cluster. tests/cassandra/differences.ts covers the
 * differences.
 */
export const unlessOnCluster = { skip: name === 'cassandra' }
