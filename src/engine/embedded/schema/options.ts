/** Options of the embedded engine. */
import type { VectorMemory } from '../../../search/vector/code-width.ts'

export interface EmbeddedOptions {
  readonly dataDir: string
  /**
   * Whether an acknowledged write survives a power loss. It survives a crash of the process in any
   * case.
   */
  readonly durable: boolean
  /**
   * Maximum concurrent searches and long reads; undefined: derived from the number of processors.
   */
  readonly searchThreads?: number | undefined
  /** Maximum open collections and tables; absent: no limit. */
  readonly openStoresMax?: number
  /** Maximum reads of one principal that wait for a thread; absent: no limit. */
  readonly waitingReadsMax?: number
  /**
   * Maximum bytes of the analyzer with which the writer thread fills a text index; absent: the
   * default.
   */
  readonly analyzerMemoryMax?: number
  /** Memory of vector indexes whose collection has no option for it; absent: `fast`. */
  readonly vectorMemory?: VectorMemory
  /** Milliseconds without a long read after which spare threads end; absent: 10 s. */
  readonly spareThreadMs?: number
  /**
   * Whether to open a data folder whose catalog has lost changes, with the remaining definitions.
   */
  readonly acceptsLostCatalog?: boolean
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void
}
