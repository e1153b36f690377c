/**
 * The engine contract: what a store must do for the layers above.
 *
 * It speaks in parsed queries and stored records and knows nothing of HTTP, commands or
 * API errors. An engine may serve all, part or none of a query and says which; `documents`
 * finishes the job, so a new engine is right on its first day and fast later. checked.ts
 * asserts the promises made in these comments.
 */
import type { Caller } from '../caller/caller.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { Filter } from '../language/filters/filter.ts'
import type { SortKey } from '../language/values/sort-key.ts'
import type { TermStatistics } from '../search/lexical/bm25.ts'
import type { Column, ColumnValue } from '../language/columns/column.ts'
import type { KeyConditions } from '../language/columns/key-conditions.ts'
import type { RowFilter, RowSortKey } from '../language/columns/row-filter.ts'
import type { Steps } from '../runtime/steps.ts'
import type { EngineError } from './errors.ts'
import type { EngineOperations, StoreTraffic } from './operations.ts'
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

  /** Whether the store has such an account; absent: it has no accounts of its own. */
  knowsAccount?(account: EngineAccount): Promise<boolean>

  /** Names, in no promised order. A new store has the keyspace `default_keyspace`. */
  listKeyspaces(): Promise<readonly string[]>
  /** Creating what exists changes nothing. Returns whether anything was changed. */
  createKeyspace(name: string, options?: KeyspaceOptions, caller?: Caller): Promise<boolean>
  /** Drops all that the keyspace holds. Returns false when there is no such keyspace. */
  dropKeyspace(name: string, caller?: Caller): Promise<boolean>

  /** Everything in a keyspace, or undefined when there is no such keyspace. */
  listTargets(keyspace: string): Promise<readonly Target[] | undefined>
  /** At once where it is known: every command on a target asks for it first. */
  findTarget(
    keyspace: string,
    name: string,
  ): Target | undefined | Promise<Target | undefined>
  /** All that a keyspace holds, or undefined when there is no such keyspace. */
  readSchema(keyspace: string): Promise<KeyspaceSchema | undefined>
  /**
   * Makes one change of what a keyspace holds, whole or not at all: the one that `plan` says
   * when it is given what there is. The change is made only while that still is what there is,
   * other servers included. Otherwise the plan is asked again, with what there is by then.
   * What it throws is passed on, and nothing changes then; where it says nothing, neither.
   * Returns whether anything was changed. EngineError 'gone': there is no such keyspace.
   * `caller` is whose turn it takes where changes wait for each other.
   */
  changeSchema(keyspace: string, plan: SchemaPlan, caller?: Caller): Promise<boolean>
  /**
   * Does something while no table of the keyspace gets another schema, so that nothing is
   * refused as `changed` for a table that was found meanwhile. Changes wait for it, and so
   * it must not make one. Others read and write.
   */
  lockSchema<T>(keyspace: string, act: () => Promise<T>, caller: Caller): Promise<T>
  /**
   * What of such a keyspace the store cannot hold, a line for each thing, as far as names and
   * definitions tell. Absent: it holds all.
   */
  cannotHold?(keyspace: string, schema: KeyspaceSchema): readonly string[]

  /**
   * One page of matching documents. Each matching document that exists throughout is found
   * exactly once over all pages, and a reader sees every write that was answered before. At
   * once where that takes little; what fails is a rejection in any case.
   */
  read(collection: Collection, query: Query, caller: Caller): Page | Promise<Page>
  /** Matching documents, counted up to `stopAt`; undefined when the engine can't serve it. */
  count(
    collection: Collection,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<number | undefined>
  /**
   * The documents that match the filter and come nearest to what is searched for, best first,
   * ties by ascending _id, of rows in the order in which they are stored. Scores are exact; by
   * vector the best few may be missed now and then. Undefined when the engine can't serve it:
   * then it is done above, from all documents.
   *
   * A search by terms has pages: with `after`, scores are counted with its statistics, and
   * only what comes behind it is found. A matching document that exists unchanged throughout
   * then has the same score on all pages, to the last bit, and is found exactly once.
   */
  search(
    collection: Collection,
    search: Search,
    caller: Caller,
  ): Promise<SearchResult | undefined>

  /**
   * Writes, and answers once they are durable: one outcome per write, in order. Each write
   * is atomic by itself. With `ordered`, writes after the first that was not done are
   * skipped.
   */
  write(
    collection: Collection,
    writes: readonly Write[],
    options?: WriteOptions,
  ): Promise<readonly Outcome[]>

  /** The same as `read`, `count` and `search`, for rows: by columns and typed values. */
  readRows(table: Table, query: RowQuery, caller: Caller): RowPage | Promise<RowPage>
  countRows(
    table: Table,
    filter: RowFilter,
    stopAt: number,
    caller: Caller,
  ): Promise<number | undefined>
  searchRows(
    table: Table,
    search: RowSearch,
    caller: Caller,
  ): Promise<RowSearchResult | undefined>
  /**
   * Gives columns of rows what is said, and makes rows that are not there. Answers once it is
   * durable: one outcome per merge, in order. Each is atomic by itself, and is made of the row
   * as it is by then: nothing that others wrote meanwhile is lost. With `ordered`, merges
   * after the first that was not done are skipped.
   */
  mergeRows(
    table: Table,
    merges: readonly RowMerge[],
    options: MergeOptions,
  ): Promise<readonly MergeOutcome[]>
  /**
   * Deletes the rows whose keys fulfil the conditions: those on all partition columns, by
   * equality, and then on columns of the sort in their order, of which only the last may be a
   * range. Rows that come to be there meanwhile may stay. Answers once it is durable.
   */
  deleteRows(table: Table, conditions: KeyConditions, caller: Caller): Promise<void>

  /** All documents or rows, roughly. */
  estimateCount(target: Target): Promise<number>
  /**
   * Deletes all documents or rows. Where a store does that one by one, some are left when the
   * caller's time is over.
   */
  truncate(target: Target, caller?: Caller): Promise<void>

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
   * Reports the names of settings whose values changed, by any server, this one
   * included, until the returned function is called. By then readSetting gives the new value
   * or a later one. An engine whose store has other writers reports within
   * `settingsDelayMsMax` (limits.ts) of their answer, one that is alone before it answers. A
   * name may be reported without need.
   */
  watchSettings(listener: (name: string) => void): () => void

  /**
   * What keeps the engine from writing, in words for operators and without names of
   * files; undefined when nothing does. Knows without being written to, and recovers by
   * itself. Never fails, answers within seconds even if a disk does not, also after `close`.
   */
  health?(): Promise<string | undefined>

  /** What operators do with a store that this server keeps; absent: others keep it. */
  readonly operations?: EngineOperations

  /** What was asked of a store that others keep, for monitoring; absent: it is kept here. */
  traffic?(): StoreTraffic

  /** Finishes what runs and frees everything; calls after it are refused. */
  close(): Promise<void>
}

export interface Setting {
  readonly value: string
  /** Differs between different values; nothing else follows from it. */
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

/** What is read, of documents or of rows. */
export interface ReadQuery<F, K> {
  readonly filter: F
  readonly sort: readonly K[]
  /** Records to leave out at the start of the first page. */
  readonly skip: number
  readonly limit: number
  /** Where an earlier page of the same query ended. */
  readonly after: Position | undefined
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

/** Without a sort documents come in any order. Ties are always broken by ascending _id. */
export interface Query extends ReadQuery<Filter, SortKey> {
  /**
   * The caller changes what it reads: following pages must not meet a document again because
   * it was changed.
   */
  readonly stable: boolean
  /** Whether records should carry $vector, $vectorize and $lexical. */
  readonly withSearchFields: boolean
}

/**
 * Without a sort rows come as they are stored: partition by partition, and within one in the
 * order of its sort; where there are several ways to them, by one way after the other. Ties
 * are broken by the key, and backwards where the sort is the order of one partition backwards
 * (language/columns/stored-order.ts).
 */
export interface RowQuery extends ReadQuery<RowFilter, RowSortKey> {
  /** Those that are shown, in this order. Texts of rows are made of them. */
  readonly columns: readonly Column[]
  /** Others that the caller reads of each row: rows know them, their texts leave them out. */
  readonly needed?: readonly Column[] | undefined
}

interface SearchQuery<F, By> {
  readonly by: By
  readonly filter: F
  readonly limit: number
  /** Characters of texts that are enough: the hit by which there are more is the last. */
  readonly sizeMax?: number
  /** Where an earlier page of the same search ended; only by terms. */
  readonly after?: SearchPlace | undefined
}

export interface Search extends SearchQuery<Filter, SearchBy> {
  /** Whether records should carry $vector, $vectorize and $lexical. */
  readonly withSearchFields: boolean
}

/** The id of a place is that of a row: the values of its key in their order, in an array. */
export interface RowSearch extends SearchQuery<RowFilter, RowSearchBy> {
  readonly columns: readonly Column[]
}

/** Where a page of a search by terms ended: just behind a hit. */
export interface SearchPlace {
  /** Those of the first page. */
  readonly statistics: TermStatistics
  readonly score: number
  readonly id: Value
}

export interface SearchResult<Item = StoredRecord> {
  readonly hits: readonly Hit<Item>[]
  /** Of a search by terms: what the scores were counted with. */
  readonly statistics?: TermStatistics | undefined
  /**
   * The maximum number of rows that the engine compares itself, where a search by vector exceeded
   * it. The index was asked instead, and may miss rows that got their vector after their insert.
   */
  readonly comparedMax?: number
}

export type RowSearchResult = SearchResult<Row>

/** Nearest to a vector, by the metric of its index; records without one are left out. */
export interface ByVector {
  readonly kind: 'vector'
  readonly numbers: Float32Array
}

/** By BM25 (search/lexical/bm25.ts), among the records whose text has every term. */
export interface ByTerms {
  readonly kind: 'lexical'
  readonly terms: readonly string[]
  /** What the terms were made of, for engines that have analyzers of their own. */
  readonly text: string
  /**
   * Whether one of the terms is enough. The others then add nothing to a score. Such a
   * search has one page, and tells no statistics.
   */
  readonly anyTerm?: boolean
}

export type SearchBy = (ByVector | ByTerms) & { readonly path: string }

export type RowSearchBy = (ByVector | ByTerms) & { readonly column: Column }

export interface Hit<Item = StoredRecord> {
  readonly record: Item
  /** The similarity of vectors (search/vector/similarity.ts), or the BM25 score. */
  readonly score: number
}

/** A place in a query's results, opaque to all but the engine that made it. */
export type Position = string

export interface Page<Item = StoredRecord> {
  readonly records: readonly Item[]
  /** Present instead of records, if the query allowed it. */
  readonly joined?: Joined | undefined
  /**
   * Which parts of the query are done. An engine that does not serve the filter or sort
   * yields candidates, a superset, of which it skips none. One that serves the filter, and
   * the sort if there is one, does all that the query says.
   */
  readonly served: { readonly filter: boolean; readonly sort: boolean }
  /** Absent when nothing follows. An engine that leaves work undone always says it. */
  readonly next: Position | undefined
  /** What led to the records, for traces: "_id", "a range in the index". */
  readonly way?: string | undefined
  /** Present where an index could not be used after all, and all was looked at instead. */
  readonly lacksIndex?: true
  /** The place just after one of the records. */
  positionAfter(record: Item): Position
}

export type RowPage = Page<Row>

/** The texts of several records, with commas between them. */
export interface Joined {
  readonly text: string
  readonly count: number
}

/**
 * A row, as far as it was asked for. It knows the columns of its key, those that are shown or
 * needed, and those that a filter or sort names which was not served. Others may look empty.
 */
export interface Row {
  /** Undefined: the row has no value there. */
  get(column: Column): ColumnValue | undefined
  /** The shown columns, as JSON that goes to the client, if the engine has it at hand. */
  readonly text?: string | undefined
  /** Characters of the row's text, about. */
  readonly size: number
  /** A long text that values are yet to be read from: the steps to that, after which `get` is short. */
  readonly unread?: { readonly text: string; readonly steps: Steps<void> } | undefined
}

export interface RowMerge {
  /** All columns of the key, and others; undefined clears one. */
  readonly values: ReadonlyMap<Column, ColumnValue | undefined>
  /** Lists, sets and maps that are changed in parts, none of which is in `values`. */
  readonly elements?: ReadonlyMap<Column, ElementChange>
  /**
   * A row that was inserted stays when its last value is cleared. One that only updates made
   * goes with it, and is not made of nothing.
   */
  readonly kind: 'insert' | 'update'
  /**
   * What the analyzer of a column makes of its text, repeats included, for engines that keep
   * the index of terms themselves. Asked only for columns that `values` gives a text.
   */
  readonly terms?: (column: Column) => readonly string[]
}

/** Elements at the end of a list or among those of a set, entries [key, value] of a map; or
 * elements and keys of entries that go. */
export interface ElementChange {
  readonly kind: 'add' | 'remove'
  readonly elements: readonly Value[]
}

export interface MergeOptions extends WriteOptions {
  /** Characters of a row's text. Rows that would have more may be refused. */
  readonly sizeMax: number
}

/**
 * `tooLarge`: nothing was written, because the row would have so many characters. An error is
 * as that of a write.
 */
export type MergeOutcome = 'done' | 'skipped' | { readonly tooLarge: number } | EngineError

/** What lives beside a record's text. Absent and null are different things. */
export interface SearchFields {
  readonly vector?: Vector | null
  readonly vectorize?: string | null
  readonly lexical?: string | null
}

/** A vector as it was sent: `form` says how to send it back. */
export interface Vector {
  readonly numbers: Float32Array | Float64Array
  readonly form: 'array' | 'binary'
}

export interface StoredRecord {
  readonly id: Value
  /** The document as it goes to the client: JSON, `_id` first, no search fields. */
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
  /**
   * Who waits: asked while the writes are queued and prepared, not once they are being made.
   * Absent: the server itself.
   */
  readonly caller?: Caller
}

/**
 * `exists`: the id of an insert is taken, in this spelling or another (language/values/
 * record-id.ts). `conflict`: the record to replace or delete has another version by now, or is
 * gone. Nothing was written in either case. An error: this one failed, whatever became of others.
 */
export type Outcome = 'done' | 'exists' | 'conflict' | 'skipped' | EngineError

export type { Collection, KeyspaceSchema, Table, Target }
