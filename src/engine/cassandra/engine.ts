/**
 * The engine over a cluster of Apache Cassandra 5 or a compatible product, with the table layout
 * that other servers of the Data API use. Servers are stateless: any number of them can serve one
 * cluster.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ownCaller, type Caller } from '../../caller/caller.ts'
import type { KeyConditions } from '../../language/columns/key-conditions.ts'
import type { RowFilter } from '../../language/columns/row-filter.ts'
import type { Filter } from '../../language/filters/filter.ts'
import { fixedLimits } from '../../limits.ts'
import type {
  Collection,
  Engine,
  EngineAccount,
  EngineCredentials,
  MergeOptions,
  Query,
  RowMerge,
  RowQuery,
  RowSearch,
  Search,
  Table,
  Target,
  Write,
  WriteOptions,
} from '../contract.ts'
import { EngineError, type EngineErrorKind } from '../errors.ts'
import type { StoreTraffic } from '../operations.ts'
import type { KeyspaceOptions, KeyspaceSchema } from '../schema.ts'
import type { SchemaChange, SchemaPlan } from '../schema-change.ts'
import { unsupportedFeatures } from './catalog/unsupported-features.ts'
import { makeChange } from './catalog/change-schema.ts'
import {
  countTargets,
  isReserved,
  listKeyspaces,
  missingColumns,
} from './catalog/system-schema.ts'
import { AccountSessions } from './cluster/account-sessions.ts'
import { isMissingIndexError, isTruncationError } from './cluster/failures.ts'
import {
  checkReplication,
  openClient,
  probeCluster,
  replicationBy,
  sessionOf,
  withDataCenter,
} from './cluster/open-cluster.ts'
import { settledSchemas } from './cluster/probes.ts'
import { SentStatements } from './cluster/sent-statements.ts'
import type { Session } from './cluster/session.ts'
import type { StatementOwner } from './cluster/statement-queue.ts'
import { StatementTally } from './cluster/statement-tally.ts'
import { WriteClock } from './cluster/write-clock.ts'
import { quoteName, preparedTarget, quoteTarget } from './cluster/statement.ts'
import { estimatePartitions } from './cluster/partition-estimate.ts'
import { deleteDocuments } from './documents/delete-documents.ts'
import { textPlace } from './documents/document-texts.ts'
import { countTexts, isTextAlone } from './documents/count-texts.ts'
import {
  countDocuments,
  readDocuments,
  type DocumentAccess,
} from './documents/read-documents.ts'
import { filterCapabilitiesOf } from './documents/filter-capabilities.ts'
import { searchByRank, searchByTerms, searchNearest } from './documents/search-documents.ts'
import { writeDocuments } from './documents/write-documents.ts'
import { beginFilling, fillNewIndex } from './rows/index-texts.ts'
import { countRows, readRows, type RowAccess } from './rows/read-rows.ts'
import { placeOfIndex, textIndexesOf } from './rows/row-texts.ts'
import { searchNearestRows, searchRowsByTerms } from './rows/search-rows.ts'
import { deleteAllRows, deleteRows, mergeRows } from './rows/write-rows.ts'
import { createKeyspaceText, createSystemKeyspace } from './system/system-keyspace.ts'
import { SharedParts, type CassandraOptions } from './system/shared-parts.ts'
import { mayBreakIndex } from './cql/zero-vector.ts'

/** Lease that serializes schema changes across all servers of a cluster. */
const schemaLease = 'schema'

const { clusterEstimateMax } = fixedLimits

/**
 * Milliseconds between checks whether a target that cannot be read was dropped, the minimum number
 * of repetitions, and the maximum number of checks.
 */
const recheckDelayMs = 200
const rechecksMin = 2
const checksMax = 50

/** Setting whose presence means that a server has initialized the cluster. */
const firstStart = 'first-start'

export async function openCassandraEngine(given: CassandraOptions): Promise<Engine> {
  const options = await withDataCenter(given)
  const tally = new StatementTally()
  const parts = { retried: () => tally.retried(), clock: new WriteClock() }
  const client = await openClient(options, options.account, parts)
  try {
    const capabilities = await probeCluster(client)
    const session = sessionOf(client, options, tally)
    if (options.replication?.class === 'NetworkTopologyStrategy')
      checkReplication(client, options.replication)
    const replication = options.replication ?? (await replicationBy(client))
    const { systemKeyspace } = options
    const agree = () => settledSchemas(client)
    await createSystemKeyspace(session, systemKeyspace, replication, agree)
    const own = { client, parts, session, capabilities, tally }
    const shared = new SharedParts(own, { ...options, replication })
    const engine = new CassandraEngine(shared)
    await engine.start()
    return engine
  } catch (error) {
    await client.shutdown().catch(() => undefined)
    throw error
  }
}

/** Maximum number of cached engines of accounts. Each is small. */
const actingMax = 1_000

class CassandraEngine implements Engine {
  readonly #shared: SharedParts
  /** Runs reads, writes and schema changes as the account of this engine. */
  readonly #session: Session
  readonly #acting = new Map<string, CassandraEngine>()

  constructor(shared: SharedParts, session = shared.session) {
    this.#shared = shared
    this.#session = session
  }

  /** Creates the first keyspace on a cluster that no server has initialized. */
  async start(): Promise<void> {
    const { settings, options } = this.#shared
    const { firstKeyspace } = options
    if (firstKeyspace === undefined) return
    if ((await settings.read(firstStart)) !== undefined) return
    try {
      await this.createKeyspace(firstKeyspace)
    } catch (error) {
      // If the server's user cannot create keyspaces, an operator must create the first keyspace.
      if (error instanceof EngineError && error.kind === 'unauthorized') return
      throw error
    }
    await settings.write(firstStart, new Date().toISOString(), undefined)
  }

  as({ account }: EngineCredentials): Engine {
    if (account === undefined) return this
    const key = AccountSessions.keyOf(account)
    const known = this.#acting.get(key)
    if (known !== undefined) return known
    const { accounts } = this.#shared
    const session = this.#session.with((act) => accounts.use(account, act))
    const engine = new CassandraEngine(this.#shared, session)
    if (this.#acting.size >= actingMax)
      this.#acting.delete(this.#acting.keys().next().value!)
    this.#acting.set(key, engine)
    return engine
  }

  knowsAccount(account: EngineAccount): Promise<boolean> {
    return this.#run(() => this.#shared.accounts.knows(account))
  }

  listKeyspaces(): Promise<readonly string[]> {
    return this.#run(() =>
      listKeyspaces(this.#session, this.#shared.options.systemKeyspace),
    )
  }

  createKeyspace(name: string, { replication }: KeyspaceOptions = {}): Promise<boolean> {
    const { options } = this.#shared
    return this.#run(() =>
      this.#alone(async () => {
        if (isReserved(name, options.systemKeyspace))
          throw new EngineError('unsupported', `the keyspace ${name} is reserved`)
        if ((await this.#shared.catalog.refresh(name)) !== undefined) return false
        const copies = replication ?? options.replication
        await this.#session.define(createKeyspaceText(name, copies))
        await this.#shared.catalog.refresh(name)
        return true
      }),
    )
  }

  dropKeyspace(name: string): Promise<boolean> {
    return this.#run(() =>
      this.#alone(async () => {
        if ((await this.#shared.catalog.refresh(name)) === undefined) return false
        await this.#session.define(`DROP KEYSPACE IF EXISTS ${quoteName(name)}`)
        await this.#shared.catalog.refresh(name)
        return true
      }),
    )
  }

  async listTargets(keyspace: string): Promise<readonly Target[] | undefined> {
    return (await this.readSchema(keyspace))?.targets
  }

  findTarget(keyspace: string, name: string) {
    const { isClosed, catalog } = this.#shared
    const known = isClosed ? undefined : catalog.known(keyspace, name)
    return known ?? this.#lookUp(keyspace, name)
  }

  #lookUp(keyspace: string, name: string): Promise<Target | undefined> {
    return this.#run(() => this.#shared.catalog.find(keyspace, name))
  }

  readSchema(keyspace: string) {
    return this.#run(() => this.#shared.catalog.refresh(keyspace))
  }

  changeSchema(keyspace: string, plan: SchemaPlan): Promise<boolean> {
    return this.#run(async () => {
      // Plans that change nothing are common, and do not need the lease.
      if ((await this.#changeIn(keyspace, plan)) === undefined) return false
      return this.#alone(async () => {
        const planned = await this.#changeIn(keyspace, plan)
        if (planned === undefined) return false
        const { schema, change } = planned
        const [session, can] = [this.#session, this.#shared.capabilities]
        const fill = await this.#fillOf(schema, change)
        const unreadyIndexes = () => this.#shared.unreadyIndexes()
        await makeChange({ session, unreadyIndexes, can, keyspace, schema }, change)
        const changed = await this.#shared.catalog.refresh(keyspace)
        await fill?.(changed)
        return true
      })
    })
  }

  /**
   * Starts to fill our own term index for a new text index, on clusters without a term index. The
   * returned function fills the index. Searches fail until it is filled.
   */
  async #fillOf(before: KeyspaceSchema, change: SchemaChange) {
    if (change.kind !== 'createIndex' || change.index.kind !== 'text') return undefined
    if (this.#shared.capabilities.indexAnalyzer) return undefined
    const { index } = change
    const tableIn = (schema: KeyspaceSchema | undefined) =>
      schema?.targets.find(({ name }) => name === change.table) as Table | undefined
    await beginFilling(this.#rows(undefined), tableIn(before)!, index)
    return async (after: KeyspaceSchema | undefined) => {
      const table = tableIn(after)
      if (table !== undefined) await fillNewIndex(this.#rows(undefined), table, index)
    }
  }

  async #changeIn(keyspace: string, plan: SchemaPlan) {
    const schema = await this.#shared.catalog.refresh(keyspace)
    if (schema === undefined) throw new EngineError('gone', `${keyspace} no longer exists`)
    const counts = await countTargets(this.#session, this.#shared.options.systemKeyspace)
    const change = plan(schema, counts)
    return change && { schema, change }
  }

  unsupportedFeatures(keyspace: string, schema: KeyspaceSchema): readonly string[] {
    return unsupportedFeatures(keyspace, schema, this.#shared.options.systemKeyspace)
  }

  lockSchema<T>(_keyspace: string, act: () => Promise<T>, caller: Caller): Promise<T> {
    return this.#run(() => this.#alone(act, caller))
  }

  read(collection: Collection, query: Query, caller: Caller) {
    return this.#reading(collection, caller, (sent) =>
      readDocuments(this.#documents(collection, sent), collection, query, caller, sent),
    )
  }

  count(collection: Collection, filter: Filter, stopAt: number, caller: Caller) {
    return this.#reading(collection, caller, (sent) => {
      const access = this.#documents(collection, sent)
      const { postings } = access
      return postings !== undefined && isTextAlone(filter)
        ? countTexts(access, postings, collection, stopAt, caller)
        : countDocuments(access, collection, filter, stopAt, caller, sent)
    })
  }

  search(collection: Collection, search: Search, caller: Caller) {
    return this.#reading(collection, caller, async (sent) => {
      const { by } = search
      const access = this.#documents(collection, sent)
      if (by.kind === 'vector')
        return searchNearest(access, collection, { ...search, by }, caller)
      const { postings, more } = access
      const wanted = { ...search, by }
      if (more.words) return searchByRank(access, collection, wanted, caller)
      return postings && searchByTerms(access, postings, collection, wanted, caller)
    })
  }

  write(collection: Collection, writes: readonly Write[], options: WriteOptions = {}) {
    return this.#on(collection, undefined, async () => {
      const access = this.#documents(collection, options.caller)
      const outcomes = await writeDocuments(access, collection, writes, options)
      return this.#withFailures(outcomes, collection)
    })
  }

  #documents(
    { options: { lexical } }: Collection,
    owner: StatementOwner | undefined,
  ): DocumentAccess {
    const { capabilities, options, postings } = this.#shared
    const { limits } = options
    const isOurs = lexical.enabled && !capabilities.indexAnalyzer
    return {
      session: this.#session.for(owner),
      limits,
      postings: isOurs ? postings.for(owner) : undefined,
      more: filterCapabilitiesOf(capabilities, lexical.enabled),
    }
  }

  #rows(owner: StatementOwner | undefined): RowAccess {
    const { capabilities: can, options, postings } = this.#shared
    return {
      session: this.#session.for(owner),
      can,
      limits: options.limits,
      postings: postings.for(owner),
    }
  }

  readRows(table: Table, query: RowQuery, caller: Caller) {
    return this.#reading(table, caller, (sent) =>
      readRows(this.#rows(sent), table, query, caller, sent),
    )
  }

  countRows(table: Table, filter: RowFilter, stopAt: number, caller: Caller) {
    return this.#reading(table, caller, (sent) =>
      countRows(this.#rows(sent), table, filter, stopAt, caller, sent),
    )
  }

  searchRows(table: Table, search: RowSearch, caller: Caller) {
    return this.#reading(table, caller, async (sent) => {
      const { by } = search
      if (by.kind === 'vector')
        return searchNearestRows(this.#rows(sent), table, { ...search, by }, caller)
      return searchRowsByTerms(this.#rows(sent), table, { ...search, by }, caller)
    })
  }

  mergeRows(table: Table, merges: readonly RowMerge[], options: MergeOptions) {
    return this.#on(table, undefined, async () => {
      // Another server may just have created an index that cannot hold the values.
      if (merges.some(mayBreakIndex)) await this.#shared.catalog.checkCurrent(table, 'now')
      const outcomes = await mergeRows(this.#rows(options.caller), table, merges, options)
      return this.#withFailures(outcomes, table)
    })
  }

  deleteRows(table: Table, conditions: KeyConditions, caller: Caller) {
    return this.#on(table, caller, () =>
      deleteRows(this.#rows(caller), table, conditions, caller),
    )
  }

  /** Estimates from the statistics of the contacted node, which can be minutes old. */
  estimateCount(target: Target): Promise<number> {
    return this.#on(target, undefined, async () => {
      const text =
        'SELECT range_start, range_end, partitions_count FROM system.size_estimates ' +
        'WHERE keyspace_name = ? AND table_name = ?'
      const values = [target.keyspace, target.name]
      const ranges = this.#session.rowsOf({ text, values }, 'schema')
      return estimatePartitions(await Array.fromAsync(ranges)) || this.#countFew(target)
    })
  }

  /**
   * Counts the records of a small or new target, because nodes update their estimates only every
   * few minutes.
   */
  async #countFew(target: Target): Promise<number> {
    const partition = target.kind === 'table' ? target.definition.partitionBy : ['key']
    const names = partition.map(quoteName).join(', ')
    const { rows } = await this.#session.run(
      {
        text: `SELECT token(${names}) FROM ${preparedTarget(target)} LIMIT ${clusterEstimateMax}`,
        values: [],
      },
      'read',
      { fetchSize: clusterEstimateMax },
    )
    return rows.length
  }

  truncate(target: Target, caller = ownCaller()): Promise<void> {
    return this.#on(target, caller, async () => {
      const now = this.#shared.postings.nextTimestamp()
      const paths = textPathsOf(target)
      try {
        await this.#session.define(`TRUNCATE TABLE ${quoteTarget(target)}`)
      } catch (error) {
        // Cassandra rejects TRUNCATE while any node is down.
        if (!isTruncationError((error as Error).cause)) throw error
        return target.kind === 'collection'
          ? deleteDocuments(this.#documents(target, caller), target, caller)
          : deleteAllRows(this.#rows(caller), target, caller)
      }
      await this.#shared.postings.truncate(target.uid, paths, now)
    })
  }

  readSetting(name: string) {
    return this.#run(() => this.#shared.settings.read(name))
  }

  writeSetting(name: string, value: string, expected: string | undefined) {
    return this.#run(() => this.#shared.settings.write(name, value, expected))
  }

  watchSettings(listener: (name: string) => void): () => void {
    return this.#shared.settings.watch(listener)
  }

  async health(): Promise<string | undefined> {
    if (this.#shared.isClosed) return 'the connection to the cluster is closed'
    return this.#shared.health.problem()
  }

  traffic(): StoreTraffic {
    return this.#shared.tally.trafficOf(this.#shared.client)
  }

  close(): Promise<void> {
    return this.#shared.close()
  }

  #alone<T>(act: () => Promise<T>, caller: Caller = ownCaller()): Promise<T> {
    return this.#shared.leases.hold(schemaLease, act, () => caller.check())
  }

  /** Runs a read, and reports its statements to the caller. */
  #reading<T>(
    target: Target,
    caller: Caller,
    read: (sent: SentStatements) => Promise<T>,
  ): Promise<T> {
    return this.#on(target, caller, async () => {
      const sent = new SentStatements(caller)
      const result = await read(sent)
      sent.report()
      return result
    })
  }

  async #on<T>(
    target: Target,
    caller: Caller | undefined,
    act: () => Promise<T>,
  ): Promise<T> {
    const shared = this.#shared
    shared.begin()
    try {
      caller?.check()
      if (!shared.catalog.isCurrent(target)) await shared.catalog.checkCurrent(target)
      try {
        return await act()
      } catch (error) {
        if (error instanceof EngineError && mayBeGone.has(error.kind))
          await this.#checkStillThere(target, caller)
        throw await this.#withCollection(error, target)
      }
    } finally {
      shared.end()
    }
  }

  /**
   * Replaces errors by more specific ones in the outcomes of writes. Throws if the target was
   * dropped.
   */
  async #withFailures<T>(
    outcomes: readonly (T | EngineError)[],
    target: Target,
  ): Promise<readonly (T | EngineError)[]> {
    const failures = outcomes.filter((outcome) => outcome instanceof EngineError)
    if (failures.length === 0) return outcomes
    if (failures.some(({ kind }) => mayBeGone.has(kind)))
      await this.#checkStillThere(target, undefined)
    const explained = outcomes.map((outcome) =>
      outcome instanceof EngineError ? this.#withCollection(outcome, target) : outcome,
    )
    return Promise.all(explained)
  }

  /**
   * Throws when the target was dropped, and first waits for a drop in progress. Reads of a dropped
   * table fail in many ways before all nodes know of the drop. The server that drops the table
   * holds the schema lease until then, which may take seconds.
   */
  async #checkStillThere(target: Target, caller: Caller | undefined): Promise<void> {
    for (let rechecks = 0; rechecks < checksMax; rechecks++) {
      const isChanging = await this.#shared.leases.isHeld(schemaLease)
      await this.#shared.catalog.checkCurrent(target, 'now')
      if (!isChanging && rechecks >= rechecksMin) return
      await delay(recheckDelayMs, undefined, { signal: caller?.signal })
    }
  }

  /**
   * Returns a more specific error if a collection lacks a column or index, which other software may
   * have dropped.
   */
  async #withCollection<T>(error: T, target: Target): Promise<T | EngineError> {
    if (target.kind !== 'collection' || !(error instanceof EngineError)) return error
    const { name } = target
    const lacks = (what: string) =>
      new EngineError('schema', `${name} lacks ${what}`, { cause: error })
    if (isMissingIndexError(error))
      return lacks('an index. Run createCollection with its options to create it again')
    if (error.kind !== 'changed') return error
    const missing = await missingColumns(this.#session, target)
    return missing.length === 0 ? error : lacks(`the column ${missing.join(', ')}`)
  }

  async #run<T>(act: () => Promise<T>): Promise<T> {
    this.#shared.begin()
    try {
      return await act()
    } finally {
      this.#shared.end()
    }
  }
}

const mayBeGone: ReadonlySet<EngineErrorKind> = new Set([
  ...(['gone', 'changed', 'unsupported', 'read', 'write'] as const),
])

/** Paths of the target's texts in our own term index. */
function textPathsOf(target: Target): readonly string[] {
  if (target.kind === 'collection') return [textPlace(target).path]
  return textIndexesOf(target).map((index) => placeOfIndex(target, index).path)
}
