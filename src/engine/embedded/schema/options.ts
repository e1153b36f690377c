/** Options of the embedded engine. */
export interface EmbeddedOptions {
  readonly dataDir: string
  /** False: an answered write may be lost in a power cut, though never in a crash. */
  readonly durable: boolean
  /** Searches and long reads that run at a time; undefined: by the machine. */
  readonly searchThreads?: number | undefined
  /** Collections and tables that are kept open at a time; absent: all that were used. */
  readonly openStoresMax?: number
  /** Reads of one principal that wait for a thread; absent: any number. */
  readonly waitingReadsMax?: number
  /** Milliseconds without a long read after which spare threads end; absent: 10 s. */
  readonly spareThreadMs?: number
  /** Opens a folder whose catalog has lost changes, with what the catalog has left. */
  readonly acceptsLostCatalog?: boolean
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void
}
