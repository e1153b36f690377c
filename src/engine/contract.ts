/**
 * The engine contract: what a store must do for the layers above.
 *
 * It speaks in parsed queries and stored records and knows nothing of HTTP, commands or
 * API errors. An engine may serve all, part or none of a query and says which; `documents`
 * finishes the job, so a new engine is right on its first day and fast later. checked.ts
 * asserts the promises made in these comments.
 */
import type { Caller, Deadline } from '../caller.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { Filter } from '../language/filters/filter.ts'
import type { SortKey } from '../language/sorts/sort.ts'
import type { TermStatistics } from '../search/lexical/bm25.ts'
import type { EngineOperations } from './operations.ts'
import type {
  Collection,
  KeyspaceOptions,
  KeyspaceSchema,
  Table,
  Target,
} from './schema.ts'
import type { SchemaPlan } from './schema-change.ts'

export interface Engine {
  /**
   * The engine as it acts for a request with these credentials, or itself where the store has
   * no accounts of its own. Credentials are looked at by the calls that follow: those fail
   * with EngineError 'unauthenticated' or 'unauthorized'. The same credentials should give
   * the same object, since callers keep what they know of targets by it. Closed with this one.
   */
  as(credentials: EngineCredentials): Engine

  /** Names, in no promised order. */
  listKeyspaces(): Promise<readonly string[]>
  /** Creating what exists changes nothing. Returns whether anything was changed. */
  createKeyspace(name: string, options?: KeyspaceOptions): Promise<boolean>
  /** Drops all that the keyspace holds. Returns false when there is no such keyspace. */
  dropKeyspace(name: string): Promise<boolean>

  /** Everything in a keyspace, or undefined when there is no such keyspace. */
  listTargets(keyspace: string): Promise<readonly Target[] | undefined>
  findTarget(keyspace: string, name: string): Promise<Target | undefined>
  /** All that a keyspace holds, or undefined when there is no such keyspace. */
  readSchema(keyspace: string): Promise<KeyspaceSchema | undefined>
  /**
   * Makes one change of what a keyspace holds, whole or not at all: the one that `plan` says
   * when it is given what there is. The change is made only while that still is what there is,
   * whoever else makes changes. Otherwise the plan is asked again, with what there is by then.
   * What it throws is passed on, and nothing changes then; where it says nothing, neither.
   * Returns whether anything was changed. EngineError 'gone': there is no such keyspace.
   */
  changeSchema(keyspace: string, plan: SchemaPlan): Promise<boolean>
  /**
   * Does something while no table of the keyspace gets another schema, so that nothing is
   * told `changed` for a table that was found meanwhile. Changes wait for it, and so it must
   * not make one. Others read and write.
   */
  lockSchema<T>(keyspace: string, act: () => Promise<T>, caller: Caller): Promise<T>

  /**
   * One page of matching records. Each matching record that exists throughout is found
   * exactly once over all pages, and a reader sees every write that was answered before.
   */
  read(target: Target, query: Query, caller: Caller): Promise<Page>
  /** Matching records, counted up to `stopAt`; undefined when the engine can't serve it. */
  count(
    target: Target,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<number | undefined>
  /**
   * The records that match the filter and come nearest to what is searched for, best first,
   * ties by ascending _id. Scores are exact; by vector the best few may be missed now and
   * then. Undefined when the engine can't serve it: then it is done above, from all records.
   *
   * A search by terms has pages: with `after`, scores are counted with its statistics, and
   * only what comes behind it is found. A matching record that exists unchanged throughout
   * then has the same score on all pages, to the last bit, and is found exactly once.
   */
  search(target: Target, search: Search, caller: Caller): Promise<SearchResult | undefined>
  /** All records, roughly. */
  estimateCount(target: Target): Promise<number>

  /**
   * Writes, and answers once they are durable: one outcome per write, in order. Each write
   * is atomic by itself. With `ordered`, writes after the first that was not done are
   * skipped.
   */
  write(
    target: Target,
    writes: readonly Write[],
    options?: WriteOptions,
  ): Promise<readonly Outcome[]>
  /** Deletes every record. */
  truncate(target: Target): Promise<void>

  /**
   * A small value of the service itself, such as the digests of its tokens, as the last write
   * that was answered left it; undefined: it was never written.
   */
  readSetting(name: string): Promise<Setting | undefined>
  /**
   * Writes only if the setting still has this version (undefined: it was never written).
   * Answers with its new version once that is durable, or with undefined: it had another one,
   * and nothing was written.
   */
  writeSetting(
    name: string,
    value: string,
    expected: string | undefined,
  ): Promise<string | undefined>
  /**
   * Tells the names of settings whose values changed, whoever changed them, this server
   * included, until the returned function is called. By then readSetting gives the new value
   * or a later one. An engine whose store has other writers tells within
   * `settingsDelayMsMax` (limits.ts) of their answer, one that is alone before it answers. A
   * name may be told without need.
   */
  watchSettings(listener: (name: string) => void): () => void

  /**
   * What keeps the engine from writing, in words for whoever can mend it and without names of
   * files; undefined when nothing does. Knows without being written to, and recovers by
   * itself. Never fails, answers within seconds even if a disk does not, also after `close`.
   */
  health?(): Promise<string | undefined>

  /** What operators do with a store that this server keeps; absent: others keep it. */
  readonly operations?: EngineOperations

  /** Finishes what runs and frees everything; calls after it are refused. */
  close(): Promise<void>
}

export interface Setting {
  readonly value: string
  /** Differs between different values; nothing else can be told from it. */
  readonly version: string
}

/** What a request was sent with, for stores that have accounts. */
export interface EngineCredentials {
  /** As it was sent. */
  readonly token: string
  /** What a token of the form `Cassandra:<Base64 name>:<Base64 password>` is made of. */
  readonly account: EngineAccount | undefined
}

export interface EngineAccount {
  readonly name: string
  readonly password: string
}

export interface Query {
  readonly filter: Filter
  /** Empty: any order. Ties are always broken by ascending _id. */
  readonly sort: readonly SortKey[]
  /** Records to leave out at the start of the first page. */
  readonly skip: number
  readonly limit: number
  /** Where an earlier page of the same query ended. */
  readonly after: Position | undefined
  /**
   * The caller changes what it reads: following pages must not meet a record again because
   * it was changed.
   */
  readonly stable: boolean
  /** Whether records should carry $vector, $vectorize and $lexical. */
  readonly withSearchFields: boolean
  /**
   * False when the caller will not ask for what follows: then the engine need not find out
   * whether anything does, and `next` says nothing.
   */
  readonly lookAhead?: boolean
  /**
   * True when the caller only passes the texts on: then an engine that serves the whole
   * query may give them in `joined` instead of as records, which is less work for all.
   */
  readonly textsOnly?: boolean
  /**
   * Characters of texts that are enough for a page: it ends with the record by which there
   * are more, even if that is the first. `next` then says where, asked for or not.
   */
  readonly sizeMax?: number
}

export interface Search {
  readonly by: SearchBy
  readonly filter: Filter
  readonly limit: number
  /** Whether records should carry $vector, $vectorize and $lexical. */
  readonly withSearchFields: boolean
  /** Characters of texts that are enough: the hit by which there are more is the last. */
  readonly sizeMax?: number
  /** Where an earlier page of the same search ended; only by terms. */
  readonly after?: SearchPlace | undefined
}

/** Where a page of a search by terms ended: just behind a hit. */
export interface SearchPlace {
  /** Those of the first page. */
  readonly statistics: TermStatistics
  readonly score: number
  readonly id: Value
}

export interface SearchResult {
  readonly hits: readonly Hit[]
  /** Of a search by terms: what the scores were counted with. */
  readonly statistics?: TermStatistics | undefined
}

export type SearchBy =
  /** Nearest to a vector, by the metric of the path; records without one are left out. */
  | { readonly kind: 'vector'; readonly path: string; readonly numbers: Float32Array }
  /** By BM25 (search/lexical/bm25.ts), among the records whose text has every term. */
  | {
      readonly kind: 'lexical'
      readonly path: string
      readonly terms: readonly string[]
      /**
       * Whether one of the terms is enough. The others then add nothing to a score. Such a
       * search has one page, and tells no statistics.
       */
      readonly anyTerm?: boolean
    }

export interface Hit {
  readonly record: StoredRecord
  /** The similarity of vectors (search/vector/similarity.ts), or the BM25 score. */
  readonly score: number
}

/** A place in a query's results, opaque to all but the engine that made it. */
export type Position = string

export interface Page {
  readonly records: readonly StoredRecord[]
  /** Present instead of records, if the query allowed it. */
  readonly joined?: Joined | undefined
  /**
   * Which parts of the query are done. `skip` can only be served with filter and sort. An
   * engine that does not serve the filter or sort yields candidates: a superset.
   */
  readonly served: { readonly filter: boolean; readonly sort: boolean }
  /** Absent when nothing follows. An engine that leaves work undone always says it. */
  readonly next: Position | undefined
  /** What led to the records, for traces: "_id", "a range in the index". */
  readonly way?: string | undefined
  /** The place just after one of the records. */
  positionAfter(record: StoredRecord): Position
}

/** The texts of several records, with commas between them. */
export interface Joined {
  readonly text: string
  readonly count: number
}

/** What lives beside a record's text. Absent and null are different things. */
export interface SearchFields {
  readonly vector?: Vector | null
  readonly vectorize?: string | null
  readonly lexical?: string | null
  /** Of a row: the vectors that it has, by the paths of their columns. */
  readonly vectors?: ReadonlyMap<string, Float32Array>
}

/** A vector as it was sent: `form` says how to send it back. */
export interface Vector {
  readonly numbers: Float32Array | Float64Array
  readonly form: 'array' | 'binary'
}

export interface StoredRecord {
  readonly id: Value
  /**
   * A document as it goes to the client: JSON, `_id` first, no search fields. Of a row the
   * stored values by the keys of their columns, without the vectors; a space behind it marks
   * a row that lives only as long as it has values (tables/row-text.ts).
   */
  readonly text: string
  /** Changes with every write of this record. */
  readonly version: number | string
  /** Present when the query asked for them. */
  readonly search?: SearchFields
}

/**
 * A record to write. `document` is what filters see of it, at least as much as is indexed
 * (record-view.ts): engines index from it.
 */
export interface NewRecord {
  readonly id: Value
  readonly text: string
  readonly document: JsonObject
  readonly search: SearchFields
  /**
   * What the analyzer of a path makes of the record's text there, repeats included, for
   * engines that keep the index of terms themselves. Asked only where there is a text.
   */
  readonly terms?: (path: string) => readonly string[]
}

export type Write =
  | { readonly kind: 'insert'; readonly record: NewRecord }
  | {
      readonly kind: 'replace'
      readonly before: StoredRecord
      /** What filters see of it, at least as much as is indexed. */
      readonly beforeDocument: JsonObject
      readonly after: NewRecord
    }
  | { readonly kind: 'delete'; readonly before: StoredRecord }

export interface WriteOptions {
  /** Whether writes after the first that fails are skipped. */
  readonly ordered?: boolean
  /** Who waits: asked while the writes are prepared, not once they are being made. */
  readonly deadline?: Deadline
}

/**
 * `exists`: the id of an insert is taken. `conflict`: the record to replace or delete has
 * another version by now, or is gone. Nothing was written in either case.
 */
export type Outcome = 'done' | 'exists' | 'conflict' | 'skipped'

export type { Collection, KeyspaceSchema, Table, Target }
