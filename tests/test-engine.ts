/** What servers of tests run on: `STELA_TEST_ENGINE=memory` takes the engine in memory. */
import type { Engine } from '../src/engine/contract.ts'
import { openMemoryEngine } from './engine/memory/memory-engine.ts'
import { MemoryStore } from './engine/memory/memory-store.ts'

/** Opens an engine, each time on the same data. */
export type OpenEngine = () => Engine

/** For new data; undefined: a server opens the engine of its data folder itself. */
export function openerForTests(): OpenEngine | undefined {
  if (isEmbedded) return undefined
  const store = new MemoryStore()
  return () => openMemoryEngine(store)
}

const name = process.env['STELA_TEST_ENGINE'] ?? 'embedded'
if (name !== 'embedded' && name !== 'memory')
  throw new Error(`STELA_TEST_ENGINE is ${name}, and not embedded or memory`)

/** Whether what only the embedded engine has can be asked for: files, threads, backups. */
export const isEmbedded = name === 'embedded'
