/**
 * What operators ask of an engine, beside what requests ask. An engine whose store has
 * operators of its own, such as a cluster, has none of it.
 */
import type { BackupPart } from './backup.ts'
import type { Target } from './schema.ts'

export interface EngineOperations {
  /** For monitoring. Waits for nothing that is being read or written. */
  statistics(): Promise<EngineStatistics>

  /** What a collection or table holds and takes. EngineError 'gone': it is no more. */
  sizeOf(target: Target): Promise<TargetSize>

  /**
   * A copy of everything, settings included, as it is at one moment, without the files that
   * the caller has. Others go on reading and writing. Leaving the loop, or the signal, frees
   * everything that the backup held.
   */
  backup(have: ReadonlySet<string>, signal: AbortSignal): AsyncIterable<BackupPart>
}

/** What an engine holds, and what it has done since it was opened. */
export interface EngineStatistics {
  readonly keyspaces: number
  readonly collections: number
  readonly tables: number
  /** Transactions that were made durable, each for everything that waited. */
  readonly commits: number
  /** Records that were inserted, replaced or deleted in them. */
  readonly writes: number
  /** Reads that turned out to be long and went to another thread. */
  readonly movedReads: number
  /** Times that a record or index did not match its checksum when it was read. */
  readonly damagedRecords: number
  /** Acknowledged writes that stores had lost when the engine was opened. */
  readonly lostWrites: number
  /** What waits to be done in the indexes of collections and tables that were written to. */
  readonly indexDebt: IndexDebt
  /** Writes that are not durable yet, and long reads that have not ended. */
  readonly waitingWrites: number
  readonly waitingReads: number
  /** Collections and tables that are open. */
  readonly openStores: number
  /** In the vector indexes that are open. */
  readonly indexedVectors: number
  /** Bytes of memory that these indexes take. */
  readonly vectorMemory: number
  /** Bytes on disk, by what they are for. */
  readonly diskUse: Readonly<Record<string, number>>
  /** The heaps of the threads besides the one that answers requests. */
  readonly threads: readonly ThreadMemory[]
}

export interface IndexDebt {
  /** Changes that are in memory and in the log, and in no run yet. */
  readonly recent: number
  /** Entries of runs that wait to be merged. */
  readonly waiting: number
  /** The number of runs of each level, the newest first. */
  readonly runs: readonly number[]
  readonly terms: TermsDebt
}

/** What waits to be done in indexes of terms. */
export interface TermsDebt {
  /** Documents whose texts were changed and are in no segment yet. */
  readonly recent: number
  /** Postings of segments that wait to be merged. */
  readonly waiting: number
  readonly segments: number
}

export interface TargetSize {
  /** Documents or rows. */
  readonly count: number
  /** Bytes on disk, by what they are for. */
  readonly diskUse: Readonly<Record<string, number>>
  /** In its vector indexes, and the bytes of memory that these take; undefined: none is open. */
  readonly vectors: { readonly count: number; readonly memory: number } | undefined
}

/** In bytes. */
export interface ThreadMemory {
  readonly thread: string
  /** What is in use, or was and is not collected yet. */
  readonly used: number
  /** What is kept for it. */
  readonly size: number
}

/** What was asked of a store on other machines since the engine was opened. */
export interface StoreTraffic {
  readonly statements: readonly StatementCount[]
  /** Statements that were sent again because a node did not do them. */
  readonly retries: number
  readonly nodes: readonly StoreNode[]
}

export interface StatementCount {
  /** What the statements were for. */
  readonly purpose: string
  /** `ok`, or the kind of error that they ended with. */
  readonly outcome: string
  readonly count: number
  readonly seconds: number
}

export interface StoreNode {
  readonly dataCenter: string
  readonly isUp: boolean
  readonly connections: number
  /** Statements that it has not answered yet. */
  readonly waiting: number
}
