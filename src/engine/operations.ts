/**
 * Operations for the operator of a store that the server maintains itself. An external store, such
 * as a Cassandra cluster, has its own tools, so its engine does not offer these operations.
 */
import type { BackupPart } from './backup.ts'
import type { Target } from './schema.ts'

export interface EngineOperations {
  /** Statistics for monitoring. Does not wait for running reads or writes. */
  statistics(): Promise<EngineStatistics>

  /** Size of a collection or table. EngineError 'gone': it does not exist any more. */
  sizeOf(target: Target): Promise<TargetSize>

  /**
   * A consistent snapshot of the whole store, settings included, without the files in `have`. Reads
   * and writes continue meanwhile. Leaving the loop, or aborting the signal, frees all resources of
   * the backup.
   */
  backup(have: ReadonlySet<string>, signal: AbortSignal): AsyncIterable<BackupPart>
}

/** Current content of the engine, and counters since it was opened. */
export interface EngineStatistics {
  readonly keyspaces: number
  readonly collections: number
  readonly tables: number
  /** Durable transactions; with group commit, each holds the writes of many requests. */
  readonly commits: number
  /** Records that durable transactions inserted, replaced or deleted. */
  readonly writes: number
  /** Reads that exceeded the budget of the event loop and moved to another thread. */
  readonly movedReads: number
  /** Reads that found a record or a part of an index whose checksum was wrong. */
  readonly damagedRecords: number
  /** Acknowledged writes that were missing from the stores when the engine was opened. */
  readonly lostWrites: number
  /** Pending index work of collections and tables that were written to. */
  readonly indexDebt: IndexDebt
  /** Writes that wait for their commit, and long reads that have not ended. */
  readonly waitingWrites: number
  readonly waitingReads: number
  /** Number of open collections and tables. */
  readonly openStores: number
  /** Vectors in open vector indexes. */
  readonly indexedVectors: number
  /** Memory of open vector indexes in bytes. */
  readonly vectorMemory: number
  /** Bytes on disk by purpose. */
  readonly diskUse: Readonly<Record<string, number>>
  /** Heaps of all threads except the main thread. */
  readonly threads: readonly ThreadMemory[]
}

export interface IndexDebt {
  /** Index changes in the memtable and the log, before their flush to a run. */
  readonly recent: number
  /** Entries of runs that are due to be merged. */
  readonly waiting: number
  /** Number of runs per level, newest level first. */
  readonly runs: readonly number[]
  readonly terms: TermsDebt
}

/** Pending work of term indexes. */
export interface TermsDebt {
  /** Documents with changed texts that are in no segment yet. */
  readonly recent: number
  /** Postings of segments that are due to be merged. */
  readonly waiting: number
  readonly segments: number
}

export interface TargetSize {
  /** Documents or rows. */
  readonly count: number
  /** Bytes on disk by purpose. */
  readonly diskUse: Readonly<Record<string, number>>
  /**
   * Vectors in the target's open vector indexes, and their memory in bytes; undefined: no index is
   * open.
   */
  readonly vectors: { readonly count: number; readonly memory: number } | undefined
}

/** Heap of a thread, in bytes. */
export interface ThreadMemory {
  readonly thread: string
  /** Used memory, including uncollected garbage. */
  readonly used: number
  /** Memory reserved from the operating system. */
  readonly size: number
}

/** Traffic to a store on other machines since the engine was opened. */
export interface StoreTraffic {
  readonly statements: readonly StatementCount[]
  /** Statements that were sent again because a node did not execute them. */
  readonly retries: number
  readonly nodes: readonly StoreNode[]
}

export interface StatementCount {
  readonly purpose: string
  /** `ok`, or the kind of error. */
  readonly outcome: string
  readonly count: number
  readonly seconds: number
}

export interface StoreNode {
  readonly dataCenter: string
  readonly isUp: boolean
  readonly connections: number
  /** Statements in flight. */
  readonly waiting: number
}
