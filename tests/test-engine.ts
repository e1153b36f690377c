/**
 * Engine of test servers: STELA_TEST_ENGINE is `memory` for the engine in memory, or `cassandra`
 * for a shared node; the default is `embedded`.
 */
import { checked } from './engine/contract/checked.ts'
import type { Engine } from '../src/engine/contract.ts'
import { openMemoryEngine } from './engine/memory/memory-engine.ts'
import { MemoryStore } from './engine/memory/memory-store.ts'

/** Data of one test. Its engines are opened one after the other, and assert the engine contract. */
export interface TestData {
  open(): Promise<Engine>
  remove(): Promise<void>
}

/** Creates data; undefined: the server itself opens the embedded engine in its data folder. */
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
      // Imported on demand, because other engines need no driver.
      const { TestKeyspaces } = await import('./cassandra/test-keyspaces.ts')
      return TestKeyspaces.makePlain()
    }
    default:
      throw new Error(`STELA_TEST_ENGINE is ${name}, and not embedded, memory or cassandra`)
  }
}

const name = process.env['STELA_TEST_ENGINE'] ?? 'embedded'

/** Whether features of the embedded engine alone can be tested: files, threads, backups. */
export const isEmbedded = name === 'embedded'

/** Skips tests where a cluster behaves differently; tests/cassandra/differences.ts covers that. */
export const unlessOnCluster = { skip: name === 'cassandra' }
