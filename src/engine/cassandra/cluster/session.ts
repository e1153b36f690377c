/**
 * Statements on their way to the cluster: prepared, with the consistency of their kind, and
 * with failures as engines have them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { policies, types, type Client, type QueryOptions } from 'cassandra-driver'
import { fixedLimits } from '../../../limits.ts'
import type { Consistency, ConsistencyLevel, SerialLevel } from './consistency.ts'
import { engineErrorOf } from './failures.ts'
import type { Statement } from './statement.ts'
import { StatementQueue, type StatementOwner } from './statement-queue.ts'

const { clusterStatementsMax, waitingStatementsMax, ownStatementsMax } = fixedLimits

/** What a statement is for, which decides how many copies must answer. */
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
  /** Rows of a page; all that follow are left to the next. */
  readonly fetchSize?: number
  /** Where the page before ended. */
  readonly pageState?: string | undefined
  /** Whether doing it twice is the same as doing it once. Reads always are. */
  readonly isIdempotent?: boolean
  readonly readTimeoutMs?: number
  /** Of a write: microseconds since 1970, if not now. */
  readonly timestamp?: bigint | undefined
  /** Instead of that of the purpose. */
  readonly level?: ConsistencyLevel
}

export type ResultRow = types.Row

export interface ResultPage {
  readonly rows: readonly ResultRow[]
  /** Undefined on the last page. */
  readonly pageState: string | undefined
  /** Of a conditional write: whether its condition held. */
  readonly wasApplied: boolean
}

/** What the driver gives, which declares that all of it is always there. */
interface Answered {
  readonly rows?: readonly ResultRow[]
  readonly pageState?: string | null
  wasApplied(): boolean
}

/** Counts what is asked of the cluster. */
export interface StatementListener {
  done(purpose: Purpose, elapsedMs: number, failure: string | undefined): void
}

/** Lends a client for one statement. */
export type Lend = <T>(act: (client: Client) => Promise<T>) => Promise<T>

/** What all sessions of a server share. */
interface Sending {
  readonly consistency: Consistency
  readonly listener: StatementListener | undefined
  readonly queue: StatementQueue
  readonly ownQueue: StatementQueue
  readonly usualOptions: Map<Purpose, QueryOptions>
}

/** The server itself owns what no caller waits for: health, settings, leases, definitions. */
const ownStatements: StatementOwner = {
  principalName: '',
  signal: new AbortController().signal,
}

export class Session {
  readonly #lend: Lend
  readonly #sending: Sending
  readonly #owner: StatementOwner

  private constructor(lend: Lend, sending: Sending, owner: StatementOwner) {
    this.#lend = lend
    this.#sending = sending
    this.#owner = owner
  }

  /** For the server's own statements. */
  static open(lend: Lend, consistency: Consistency, listener?: StatementListener): Session {
    const sending = {
      ...{ consistency, listener, usualOptions: new Map<Purpose, QueryOptions>() },
      queue: new StatementQueue(clusterStatementsMax, waitingStatementsMax),
      ownQueue: new StatementQueue(ownStatementsMax, Infinity),
    }
    return new Session(lend, sending, ownStatements)
  }

  /** The same with connections of others. */
  with(lend: Lend): Session {
    return new Session(lend, this.#sending, this.#owner)
  }

  /** For statements that a caller waits for; undefined: the server itself. */
  for(owner: StatementOwner | undefined): Session {
    return owner === undefined ? this : new Session(this.#lend, this.#sending, owner)
  }

  run(
    { text, values }: Statement,
    purpose: Purpose,
    options?: RunOptions,
  ): Promise<ResultPage> {
    const asked = options ? this.#options(purpose, options) : this.#usual(purpose)
    const act = (client: Client) => client.execute(text, [...values], asked)
    return this.#ask(purpose, act)
  }

  /** Several writes of one partition, at once. */
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

  /** All rows that a statement finds, however many pages they take; `first` is for the first. */
  async *rowsOf(
    statement: Statement,
    purpose: Purpose,
    fetchSize = manyRows,
    first = fetchSize,
  ): AsyncGenerator<ResultRow> {
    let page = await this.run(statement, purpose, { fetchSize: first })
    yield* page.rows
    while (page.pageState !== undefined) {
      const { pageState } = page
      page = await this.run(statement, purpose, { fetchSize, pageState })
      yield* page.rows
    }
  }

  /** Definitions cannot be prepared. Waits until all nodes that are up know of the change. */
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

  /** What is written of a document or row is written whole, also when its caller has left. */
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
      // Conditional writes that are under way are finished first.
      case 'settle':
        return serial
      default:
        return read
    }
  }

  /** Made once: the driver does not change them. */
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

/** What is only read needs none. Undefined, as the driver declares it, would have one made. */
const noTimestamp = { timestamp: null } as unknown as QueryOptions

/** Rows of a page where each is small. */
const manyRows = 5_000

/**
 * A node looks at all keyspaces before it defines a table, and stumbles over one that is just
 * being dropped; one that another server has just made it may not know yet. A table is not
 * truncated while it is compacted.
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

/** What became of a write that was not answered is found out by who asked for it. */
const noRetry = new policies.retry.FallthroughRetryPolicy()
