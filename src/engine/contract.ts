/**
 * The engine contract: what a store must do for the layers above.
 *
 * It works on parsed queries and stored records, and knows nothing of HTTP, commands or API
 * errors. An engine may serve all, part or none of a query and says which; `paging` does the
 * rest, so a new engine can start simple and become fast later. checked.ts asserts the promises
 * in these comments.
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
   * Returns an engine that acts with these credentials, or this engine if the store has no
   * accounts. Calls of the returned engine check the credentials, and fail with EngineError
   * 'unauthenticated' or 'unauthorized'. Equal credentials should give the same object, because
   * callers use it as the key of their caches of targets. Closing this engine also closes the
   * returned one.
   */
  as(credentials: EngineCredentials): Engine

  /** Whether the store has this account. Absent when the store has no accounts. */
  knowsAccount?(account: EngineAccount): Promise<boolean>

  /**
   * Names of all keyspaces, in no particular order. A new store has the keyspace
   * `default_keyspace`.
   */
  listKeyspaces(): Promise<readonly string[]>
  /**
   * Creates a keyspace. Returns whether anything was changed: creating an existing keyspace changes
   * nothing.
   */
  createKeyspace(name: string, options?: KeyspaceOptions, caller?: Caller): Promise<boolean>
  /** Drops the keyspace and its content. Returns false when it does not exist. */
  dropKeyspace(name: string, caller?: Caller): Promise<boolean>

  /** All targets of a keyspace, or undefined when the keyspace does not exist. */
  listTargets(keyspace: string): Promise<readonly Target[] | undefined>
  /**
   * The target with this name, or undefined if it does not exist. Returns synchronously if the
   * target is cached, because every command on a target calls this first.
   */
  findTarget(
    keyspace: string,
    name: string,
  ): Target | undefined | Promise<Target | undefined>
  /** Targets and types of a keyspace, or undefined when the keyspace does not exist. */
  readSchema(keyspace: string): Promise<KeyspaceSchema | undefined>
  /**
   * Makes one schema change atomically. `plan` gets the current schema and returns the change. If
   * any server changes the schema meanwhile, the change is not applied, and `plan` is called again
   * with the new schema. If `plan` throws, its error is rethrown and nothing is changed. If it
   * returns undefined, nothing is changed. Returns whether anything was changed. EngineError
   * 'gone': the keyspace does not exist. Waiting changes of different callers take turns.
   */
  changeSchema(keyspace: string, plan: SchemaPlan, caller?: Caller): Promise<boolean>
  /**
   * Runs `act` while no table of the keyspace changes its schema: calls in `act` on a table that
   * `act` has looked up do not fail with EngineError 'changed'. Schema changes wait for `act`; a
   * change inside `act` would deadlock. Other reads and writes continue.
   */
  lockSchema<T>(keyspace: string, act: () => Promise<T>, caller: Caller): Promise<T>
  /**
   * Describes the features of the schema that this store does not support. Reads only names and
   * definitions. Absent: the store can hold every schema.
   */
  unsupportedFeatures?(keyspace: string, schema: KeyspaceSchema): readonly string[]

  /**
   * One page of matching documents. A matching document that exists during the whole read is found
   * exactly once over all pages, and a read sees every write that was acknowledged before the read.
   * Returns the page synchronously if the read is short; an error is always a rejected promise.
   */
  read(collection: Collection, query: Query, caller: Caller): Page | Promise<Page>
  /**
   * Number of matching documents, at most `stopAt`; undefined when the engine cannot serve the
   * filter.
   */
  count(
    collection: Collection,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<number | undefined>
  /**
   * The best documents of a search that match the filter, best first. Ties are ordered by ascending
   * _id; for rows, in stored order. Scores are exact, but a search by vector is approximate: it may
   * miss some of the best documents. Undefined when the engine cannot serve the search: the layer
   * above then scans all documents. A search by terms has pages: with `after`, scores are computed
   * with the statistics in `after`, and only hits after that position are returned. A matching
   * document that exists unchanged during the whole search then has a bit-identical score on all
   * pages, and is found exactly once.
   */
  search(
    collection: Collection,
    search: Search,
    caller: Caller,
  ): Promise<SearchResult | undefined>

  /**
   * Executes writes. Resolves once they are durable, to one outcome per write, in order. Each write
   * is atomic by itself. With `ordered`, writes after the first unsuccessful one are skipped.
   */
  write(
    collection: Collection,
    writes: readonly Write[],
    options?: WriteOptions,
  ): Promise<readonly Outcome[]>

  /** Like `read`, `count` and `search`, for rows: with columns and typed values. */
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
   * Sets columns of rows, and creates missing rows. Resolves once the merges are durable, to one
   * outcome per merge, in order. Each merge is atomic by itself and applies to the current row, so
   * no concurrent write is lost. With `ordered`, merges after the first unsuccessful one are
   * skipped.
   */
  mergeRows(
    table: Table,
    merges: readonly RowMerge[],
    options: MergeOptions,
  ): Promise<readonly MergeOutcome[]>
  /**
   * Deletes the rows whose keys satisfy the conditions: equality on all partition columns, then
   * conditions on sort columns in their order, of which only the last may be a range. Rows that are
   * inserted concurrently may stay. Resolves once the deletion is durable.
   */
  deleteRows(table: Table, conditions: KeyConditions, caller: Caller): Promise<void>

  /** Approximate number of documents or rows. */
  estimateCount(target: Target): Promise<number>
  /**
   * Deletes all documents or rows. A store that deletes them one by one may leave some when the
   * caller's deadline passes.
   */
  truncate(target: Target, caller?: Caller): Promise<void>

  /**
   * Reads a setting: a small value that the service itself stores, such as the token digests.
   * Returns the value of the last acknowledged write, or undefined if there was none.
   */
  readSetting(name: string): Promise<Setting | undefined>
  /**
   * Compare-and-set: writes only if the setting still has version `expected` (undefined: it was
   * never written). Returns the new version once it is durable, or undefined when the version
   * differs and nothing was written.
   */
  writeSetting(
    name: string,
    value: string,
    expected: string | undefined,
  ): Promise<string | undefined>
  /**
   * Calls `listener` with the names of settings that any server changed, this one included, until
   * the returned function is called. When `listener` is called, readSetting already returns the new
   * value or a later one. An engine whose store has other writers reports a change within
   * `settingsDelayMsMax` (limits.ts) of its acknowledgement; a sole writer reports a change before
   * it acknowledges the change. Unchanged settings may be reported, too.
   */
  watchSettings(listener: (name: string) => void): () => void

  /**
   * The reason why the engine cannot write, for operators and without file names; undefined when it
   * can. The engine detects the problem without client writes, and recovers by itself. Never fails,
   * and resolves within seconds even when a disk hangs, also after `close`.
   */
  health?(): Promise<string | undefined>

  /**
   * Operations on a store that this server maintains; absent: the store is maintained elsewhere.
   */
  readonly operations?: EngineOperations

  /** Traffic to a remote store, for monitoring; absent: the store is local. */
  traffic?(): StoreTraffic

  /** Waits for running work and frees everything; later calls are rejected. */
  close(): Promise<void>
}

export interface Setting {
  readonly value: string
  /** Identifies the value: different values have different versions. Versions have no order. */
  readonly version: string
}

/** Credentials of a request, for stores that have accounts. */
export interface EngineCredentials {
  /** The token exactly as the client sent it. */
  readonly token: string
  /** The decoded account of a token `Cassandra:<Base64 name>:<Base64 password>`. */
  readonly account: EngineAccount | undefined
}

export interface EngineAccount {
  readonly name: string
  readonly password: string
}

/** A read of documents or rows. */
export interface ReadQuery<F, K> {
  readonly filter: F
  readonly sort: readonly K[]
  /** Number of records to skip at the start of the first page. */
  readonly skip: number
  readonly limit: number
  /** Position where the previous page of the same query ended. */
  readonly after: Position | undefined
  /**
   * False: the caller will not request the next page. The engine then does not have to find out
   * whether a next page exists, and `next` is meaningless.
   */
  readonly lookAhead?: boolean
  /**
   * True: the caller only forwards the texts of the records. An engine that serves the whole query
   * may then return them in `joined` instead of `records`, which is cheaper for engine and caller.
   */
  readonly textsOnly?: boolean
  /**
   * Limit of a page in characters of text. The page ends with the record that exceeds the limit,
   * even if that is the first record. `next` is then set even with `lookAhead: false`.
   */
  readonly sizeMax?: number
}

/** Without a sort, documents come in any order. Ties are always ordered by ascending _id. */
export interface Query extends ReadQuery<Filter, SortKey> {
  /**
   * True: the caller changes the documents that it reads, and a change must not make a document
   * appear again on a later page.
   */
  readonly stable: boolean
  /** Whether records should include $vector, $vectorize and $lexical. */
  readonly withSearchFields: boolean
}

/**
 * Without a sort, rows come in stored order: by partition, and within a partition in clustering
 * order. When a read combines several access paths, it returns all rows of one path before those of
 * the next. Ties are ordered by key, in reverse when the sort is the reverse of the clustering
 * order (language/columns/stored-order.ts).
 */
export interface RowQuery extends ReadQuery<RowFilter, RowSortKey> {
  /** Columns to return, in this order. Row texts contain exactly these columns. */
  readonly columns: readonly Column[]
  /** Columns that the caller also reads: rows provide them, row texts omit them. */
  readonly needed?: readonly Column[] | undefined
}

interface SearchQuery<F, By> {
  readonly by: By
  readonly filter: F
  readonly limit: number
  /** Limit of the result in characters of text: the hit that exceeds it is the last. */
  readonly sizeMax?: number
  /** Hits with a lower score are left out; only for searches by vector. */
  readonly scoreMin?: number
  /** Position where the previous page of the same search ended; only for searches by terms. */
  readonly after?: SearchPlace | undefined
  /** Statistics of the scores of the previous page, which this page must use, too. */
  readonly statistics?: TermStatistics | undefined
}

export interface Search extends SearchQuery<Filter, SearchBy> {
  /** Whether records should include $vector, $vectorize and $lexical. */
  readonly withSearchFields: boolean
}

/**
 * A search for rows. The id in its SearchPlace is an array of the row's key values, in key order.
 */
export interface RowSearch extends SearchQuery<RowFilter, RowSearchBy> {
  readonly columns: readonly Column[]
  /** Columns that the caller also reads: rows provide them, row texts omit them. */
  readonly needed?: readonly Column[]
}

/** Position directly after a hit of a search by terms. */
export interface SearchPlace {
  readonly score: number
  readonly id: Value
}

export interface SearchResult<Item = StoredRecord> {
  readonly hits: readonly Hit<Item>[]
  /** For a search by terms: the statistics that the scores were computed with. */
  readonly statistics?: TermStatistics | undefined
  /**
   * The maximum number of rows that the engine compares itself; set when the search had more rows
   * to compare. The engine then used the vector index, which may miss rows whose vector was set
   * after their insert.
   */
  readonly comparedMax?: number
}

export type RowSearchResult = SearchResult<Row>

/**
 * Ranks by similarity to a vector, with the metric of its index. Excludes records without a vector.
 */
export interface ByVector {
  readonly kind: 'vector'
  readonly numbers: Float32Array
}

/** Ranks by BM25 (search/lexical/bm25.ts). A term that a record lacks adds nothing to its score. */
export interface ByTerms {
  readonly kind: 'lexical'
  readonly terms: readonly string[]
  /** The text that contains the terms, for engines that analyze text themselves. */
  readonly text: string
  /** Records to match: those with all terms, or those with some of the terms but not all. */
  readonly having: 'all' | 'some'
  /**
   * Whether a search for records with some of these terms may follow, with the same caller. Engines
   * may keep what both searches read.
   */
  readonly isContinued?: boolean
}

export type SearchBy = (ByVector | ByTerms) & { readonly path: string }

export type RowSearchBy = (ByVector | ByTerms) & { readonly column: Column }

export interface Hit<Item = StoredRecord> {
  readonly record: Item
  /** Vector similarity (search/vector/similarity.ts) or BM25 score. */
  readonly score: number
}

/** A position in a query's results; opaque, only the engine that made it can read it. */
export type Position = string

export interface Page<Item = StoredRecord> {
  readonly records: readonly Item[]
  /** The texts of all records, instead of `records`; only if the query had `textsOnly`. */
  readonly joined?: Joined | undefined
  /**
   * Parts of the query that the engine has served. If it did not serve the filter or the sort, the
   * page holds candidates, a superset of the matches, and `skip` is not applied. Otherwise the
   * engine has done the whole query.
   */
  readonly served: { readonly filter: boolean; readonly sort: boolean }
  /**
   * Position of the next page; undefined when nothing follows. Valid even with `lookAhead: false`
   * if the engine did not serve the whole query.
   */
  readonly next: Position | undefined
  /** True when an index was not usable and the engine scanned all records instead. */
  readonly lacksIndex?: true
  /** Position directly after a record of this page. */
  positionAfter(record: Item): Position
}

export type RowPage = Page<Row>

/** The texts of several records, separated by commas. */
export interface Joined {
  readonly text: string
  readonly count: number
}

/**
 * A row with the columns that the query requested: key columns, `columns`, `needed`, and the
 * columns of a filter or sort that the engine did not serve. `get` may return undefined for other
 * columns.
 */
export interface Row {
  /** The value of a column; undefined: the column has no value. */
  get(column: Column): ColumnValue | undefined
  /** The returned columns as JSON for the client, if the engine has this text already. */
  readonly text?: string | undefined
  /** Approximate number of characters of the row's text. */
  readonly size: number
  /**
   * Present when the row's values are still to be parsed from a long text. Running `steps` parses
   * them, so that `get` is cheap afterwards.
   */
  readonly unread?: { readonly text: string; readonly steps: Steps<void> } | undefined
}

export interface RowMerge {
  /** Values of all key columns and of other columns to set; undefined clears a column. */
  readonly values: ReadonlyMap<Column, ColumnValue | undefined>
  /** Lists, sets and maps that are changed by element; none of these columns is in `values`. */
  readonly elements?: ReadonlyMap<Column, ElementChange>
  /**
   * A row created by an insert exists until it is deleted. A row created by an update disappears
   * with its last value, and an update without values does not create a row. These are CQL's
   * semantics.
   */
  readonly kind: 'insert' | 'update'
  /**
   * The analyzer's terms for a column's text, repeats included, for engines that maintain the term
   * index themselves. Called only for columns that `values` sets to a text.
   */
  readonly terms?: (column: Column) => readonly string[]
}

/**
 * Elements to add or remove. `add` has elements for the end of a list or for a set, or entries
 * [key, value] for a map. `remove` has elements of a list or set, or keys of a map.
 */
export interface ElementChange {
  readonly kind: 'add' | 'remove'
  readonly elements: readonly Value[]
}

export interface MergeOptions extends WriteOptions {
  /** Maximum characters of a row's text. Larger rows may be rejected. */
  readonly sizeMax: number
}

/**
 * `tooLarge`: the row would have this many characters, and nothing was written. EngineError: as in
 * Outcome.
 */
export type MergeOutcome = 'done' | 'skipped' | { readonly tooLarge: number } | EngineError

/**
 * Search fields, stored beside a record's text. A field that is null differs from an absent one.
 */
export interface SearchFields {
  readonly vector?: Vector | null
  readonly vectorize?: string | null
  readonly lexical?: string | null
}

/** A vector; `form` is the encoding in which it was sent and is returned. */
export interface Vector {
  readonly numbers: Float32Array | Float64Array
  readonly form: 'array' | 'binary'
}

export interface StoredRecord {
  readonly id: Value
  /** The document as it goes to the client: JSON, `_id` first, no search fields. */
  readonly text: string
  /** Version of the record, which differs after every write. */
  readonly version: number | string
  /** Present when the query asked for search fields. */
  readonly search?: SearchFields
}

/**
 * A record to write. `document` is the form that filters see, with at least the indexed fields
 * (record-view.ts): engines build index entries from it.
 */
export interface NewRecord {
  readonly id: Value
  readonly text: string
  readonly document: JsonObject
  readonly search: SearchFields
  /**
   * The analyzer's terms for the text at a path, repeats included, for engines that maintain the
   * term index themselves. Called only for paths that have a text.
   */
  readonly terms?: (path: string) => readonly string[]
}

export type Write =
  | { readonly kind: 'insert'; readonly record: NewRecord }
  | {
      readonly kind: 'replace'
      readonly before: StoredRecord
      /** The form of `before` that filters see, with at least the indexed fields. */
      readonly beforeDocument: JsonObject
      readonly after: NewRecord
    }
  | { readonly kind: 'delete'; readonly before: StoredRecord }

export interface WriteOptions {
  /** True: the writes after the first unsuccessful one are skipped. */
  readonly ordered?: boolean
  /**
   * The caller of the writes. Its deadline and its turn in the queue apply until the commit of the
   * writes starts; a started commit is not aborted. Absent: the server itself.
   */
  readonly caller?: Caller
}

/**
 * `exists`: the id of an insert is taken, possibly in another spelling
 * (language/values/record-id.ts). `conflict`: the record to replace or delete has changed or is
 * gone. In both cases nothing was written. EngineError: this write failed; others may have
 * succeeded.
 */
export type Outcome = 'done' | 'exists' | 'conflict' | 'skipped' | EngineError

export type { Collection, KeyspaceSchema, Table, Target }
