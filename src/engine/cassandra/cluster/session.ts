/**
 * Sends statements to the cluster: prepares them, sets the consistency level of their purpose, and
 * maps failures to errors of the engine contract.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { policies, types, type Client, type QueryOptions } from 'cassandra-driver'
import { fixedLimits } from '../../../limits.ts'
import type { Consistency, ConsistencyLevel, SerialLevel } from './consistency.ts'
import { engineErrorOf } from './failures.ts'
import type { PageSize } from './page-size.ts'
import type { Statement } from './statement.ts'
import { StatementQueue, type StatementOwner } from './statement-queue.ts'

const { clusterStatementsMax, waitingStatementsMax, ownStatementsMax } = fixedLimits

/** Purpose of a statement, which determines its consistency level. */
export type Purpose = 'read' | 'write' | 'search' | 'schema' | 'settle'

const { consistencies } = types

const codes: Readonly<Record<ConsistencyLevel | SerialLevel, number>> = {
  ONE: consistencies.one,
  LOCAL_ONE: consistencies.localOne,
  QUORUM: consistencies.quorum,
  LOCAL_QUORUM: consistencies.localQuorum,
  EACH_QUORUM: consistencies.eachQuorum,
  ALL: consistencies.all,
  SERIAL: consistencies.serial,
  LOCAL_SERIAL: consistencies.localSerial,
}

export interface RunOptions {
  /** Maximum rows of a page. */
  readonly fetchSize?: number
  /** Position after the previous page. */
  readonly pageState?: string | undefined
  /** Whether repeating the statement has no further effect. Always true for reads. */
  readonly isIdempotent?: boolean
  readonly readTimeoutMs?: number
  /** Timestamp of a write, in microseconds since 1970; undefined: now. */
  readonly timestamp?: bigint | undefined
  /** Overrides the consistency level of the purpose. */
  readonly level?: ConsistencyLevel
}

export type ResultRow = types.Row

export interface ResultPage {
  readonly rows: readonly ResultRow[]
  /** Position of the next page; undefined on the last page. */
  readonly pageState: string | undefined
  /** Whether a conditional write was applied, because its condition held. */
  readonly wasApplied: boolean
}

/** The driver's result; the driver's own type declares optional fields as required. */
interface Answered {
  readonly rows?: readonly ResultRow[]
  readonly pageState?: string | null
  wasApplied(): boolean
}

/** Collects metrics of statements. */
export interface StatementListener {
  done(purpose: Purpose, elapsedMs: number, failure: string | undefined): void
}

/** Calls `act` with a client that stays open during the statement. */
export type UseClient = <T>(act: (client: Client) => Promise<T>) => Promise<T>

/** State shared by all sessions of a server. */
interface Sending {
  readonly consistency: Consistency
  readonly listener: StatementListener | undefined
  readonly queue: StatementQueue
  readonly ownQueue: StatementQueue
  readonly usualOptions: Map<Purpose, QueryOptions>
}

/** Owner of statements without a caller: health, settings, leases and definitions. */
const ownStatements: StatementOwner = {
  principalName: '',
  signal: new AbortController().signal,
}

export class Session {
  readonly #lend: UseClient
  readonly #sending: Sending
  readonly #owner: StatementOwner

  private constructor(lend: UseClient, sending: Sending, owner: StatementOwner) {
    this.#lend = lend
    this.#sending = sending
    this.#owner = owner
  }

  /** Opens the session for the server's own statements. */
  static open(
    lend: UseClient,
    consistency: Consistency,
    listener?: StatementListener,
  ): Session {
    const sending = {
      ...{ consistency, listener, usualOptions: new Map<Purpose, QueryOptions>() },
      queue: new StatementQueue(clusterStatementsMax, waitingStatementsMax),
      ownQueue: new StatementQueue(ownStatementsMax, Infinity),
    }
    return new Session(lend, sending, ownStatements)
  }

  /** A copy of this session that uses other connections. */
  with(lend: UseClient): Session {
    return new Session(lend, this.#sending, this.#owner)
  }

  /** A copy of this session for the statements of `owner`; this session if `owner` is undefined. */
  for(owner: StatementOwner | undefined): Session {
    return owner === undefined ? this : new Session(this.#lend, this.#sending, owner)
  }

  async run(
    { text, values }: Statement,
    purpose: Purpose,
    options?: RunOptions,
  ): Promise<ResultPage> {
    const asked = options ? this.#options(purpose, options) : this.#usual(purpose)
    const act = (client: Client) => client.execute(text, [...values], asked)
    const page = await this.#ask(purpose, act)
    this.#owner.answered?.(text, page.rows.length)
    return page
  }

  /** Sends several writes of one partition as an unlogged batch. */
  async runAll(
    statements: readonly Statement[],
    options: Pick<RunOptions, 'isIdempotent' | 'timestamp'>,
  ): Promise<void> {
    const queries = statements.map(({ text, values }) => ({
      query: text,
      params: [...values],
    }))
    const batched = { ...this.#options('write', options), logged: false }
    await this.#ask('write', (client) => client.batch(queries, batched))
  }

  /**
   * Yields all rows of all pages. The first page has `first` rows, later pages have `fetchSize`
   * rows; `size` may reduce both numbers.
   */
  async *rowsOf(
    statement: Statement,
    purpose: Purpose,
    fetchSize = manyRows,
    first = fetchSize,
    size?: PageSize,
  ): AsyncGenerator<ResultRow> {
    let pageState: string | undefined
    let max = first
    do {
      const options = { fetchSize: size?.rows(max) ?? max, pageState }
      const page = await this.run(statement, purpose, options)
      size?.note(page.rows)
      yield* page.rows
      max = fetchSize
      pageState = page.pageState
    } while (pageState !== undefined)
  }

  /**
   * Runs a definition, which cannot be prepared, and waits until all nodes that are up have the new
   * schema.
   */
  async define(text: string): Promise<void> {
    const options = {
      prepare: false,
      isIdempotent: false,
      readTimeout: fixedLimits.definitionMsMax,
    }
    for (let left = 5; ; left--)
      try {
        await this.#ask('schema', (client) => client.execute(text, [], options))
        return
      } catch (error) {
        if (left === 1 || !isPassing(error)) throw error
        await pause(200)
      }
  }

  #ask(purpose: Purpose, act: (client: Client) => Promise<Answered>): Promise<ResultPage> {
    const { queue, ownQueue } = this.#sending
    const owner = this.#ownerOf(purpose)
    const isOwn = this.#owner === ownStatements
    return (isOwn ? ownQueue : queue).run(owner, () => this.#send(purpose, act))
  }

  /**
   * Owner of the statements with this purpose. Writes continue after their caller has left, so that
   * a document or row is written completely.
   */
  #ownerOf(purpose: Purpose): StatementOwner {
    if (purpose !== 'write' && purpose !== 'settle') return this.#owner
    const { signal } = ownStatements
    return { principalName: this.#owner.principalName, signal }
  }

  async #send(
    purpose: Purpose,
    act: (client: Client) => Promise<Answered>,
  ): Promise<ResultPage> {
    const { listener } = this.#sending
    const startedAt = performance.now()
    try {
      const answered = await this.#lend(act)
      listener?.done(purpose, performance.now() - startedAt, undefined)
      return {
        rows: answered.rows ?? [],
        pageState: answered.pageState ?? undefined,
        wasApplied: answered.wasApplied(),
      }
    } catch (error) {
      const failure = engineErrorOf(error, purpose === 'write' ? 'write' : 'read')
      listener?.done(purpose, performance.now() - startedAt, failure.kind)
      throw failure
    }
  }

  #levelFor(purpose: Purpose): ConsistencyLevel | SerialLevel {
    const { read, write, search, serial } = this.#sending.consistency
    switch (purpose) {
      case 'write':
        return write
      case 'search':
        return search
      // A serial read first completes conditional writes in progress.
      case 'settle':
        return serial
      default:
        return read
    }
  }

  /**
   * Options of the statements with this purpose, cached because the driver does not modify them.
   */
  #usual(purpose: Purpose): QueryOptions {
    const { usualOptions } = this.#sending
    let options = usualOptions.get(purpose)
    if (options === undefined)
      usualOptions.set(purpose, (options = this.#options(purpose, {})))
    return options
  }

  #options(purpose: Purpose, options: RunOptions): QueryOptions {
    const { fetchSize, pageState, readTimeoutMs, timestamp, level } = options
    const isWrite = purpose === 'write'
    return {
      prepare: true,
      consistency: codes[level ?? this.#levelFor(purpose)],
      serialConsistency: codes[this.#sending.consistency.serial],
      isIdempotent: options.isIdempotent ?? !isWrite,
      ...(isWrite && { retry: noRetry }),
      ...(fetchSize !== undefined && { fetchSize }),
      ...(pageState !== undefined && { pageState }),
      ...(readTimeoutMs !== undefined && { readTimeout: readTimeoutMs }),
      ...(timestamp !== undefined && {
        timestamp: types.Long.fromString(String(timestamp)),
      }),
      ...(!isWrite && noTimestamp),
    }
  }
}

/**
 * Option of reads, because reads need no timestamp. If the option were undefined, as the driver's
 * type declares, the driver would generate a timestamp.
 */
const noTimestamp = { timestamp: null } as unknown as QueryOptions

/** Page size for small rows. */
const manyRows = 5_000

/**
 * Whether a definition may succeed when it is repeated. A node checks all keyspaces before it
 * creates a table, and fails when one of them is being dropped. A keyspace that another server has
 * just created may be unknown to the node. TRUNCATE fails during a compaction.
 */
function isPassing(error: unknown): boolean {
  const { message } = error as Error
  return passing.some((reason) => reason.test(message))
}

const passing = [
  /IllegalArgumentException: Unknown keyspace/,
  /Keyspace '[^']*' doesn't exist/,
  /Failed to interrupt compactions/,
]

/**
 * Disables the driver's retries of writes: the code that sends a write decides what to do if no
 * answer arrives.
 */
const noRetry = new policies.retry.FallthroughRetryPolicy()
