/** State that all commands on a cluster share. It acts as the server's own user. */
import type { Client } from 'cassandra-driver'
import { EngineError } from '../../errors.ts'
import type { Replication } from '../../schema.ts'
import { ClusterCatalog } from '../catalog/catalog.ts'
import type { Defaults } from '../catalog/collection-comment.ts'
import { AccountSessions } from '../cluster/account-sessions.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { ClusterHealth } from '../cluster/cluster-health.ts'
import { levelOfSettings } from '../cluster/consistency.ts'
import { findUnqueryable } from '../cluster/index-readiness.ts'
import {
  openClient,
  type ClientParts,
  type ClusterOptions,
} from '../cluster/open-cluster.ts'
import { agreesOnSchema, reachNode, reachQuorum } from '../cluster/probes.ts'
import type { Session } from '../cluster/session.ts'
import type { StatementTally } from '../cluster/statement-tally.ts'
import { ClusterPostings } from '../lexical/postings.ts'
import type { ReadLimits } from './read-limits.ts'
import { ClusterSettings } from './cluster-settings.ts'
import { Leases } from './leases.ts'

export interface CassandraOptions extends ClusterOptions {
  readonly systemKeyspace: string
  /** Default for new keyspaces; undefined: derived from the nodes of the cluster. */
  readonly replication: Replication | undefined
  /** Interval in milliseconds for polling settings that other servers changed. */
  readonly settingsPollMs: number
  /** Keyspace to create on a cluster that no server has initialized; undefined: none is created. */
  readonly firstKeyspace: string | undefined
  readonly limits: ReadLimits
  readonly defaults: Defaults
}

export type OpenOptions = CassandraOptions & { readonly replication: Replication }

export interface Connected {
  readonly client: Client
  readonly parts: ClientParts
  readonly session: Session
  readonly capabilities: Capabilities
  readonly tally: StatementTally
}

/** The state that the engines of all accounts share. */
export class SharedParts {
  readonly client: Client
  readonly session: Session
  readonly capabilities: Capabilities
  readonly tally: StatementTally
  readonly health: ClusterHealth
  readonly options: OpenOptions
  readonly catalog: ClusterCatalog
  readonly settings: ClusterSettings
  readonly leases: Leases
  readonly accounts: AccountSessions
  readonly postings: ClusterPostings
  isClosed = false
  #running = 0
  #isIdle: PromiseWithResolvers<void> | undefined

  constructor(connected: Connected, options: OpenOptions) {
    const { client, parts, session, capabilities, tally } = connected
    this.client = client
    this.session = session
    this.capabilities = capabilities
    this.tally = tally
    this.options = options
    const { systemKeyspace, settingsPollMs, consistency, defaults } = options
    this.catalog = new ClusterCatalog(session, defaults, capabilities, systemKeyspace)
    const level = levelOfSettings(consistency)
    this.settings = new ClusterSettings(session, systemKeyspace, settingsPollMs, level)
    this.leases = new Leases(session, systemKeyspace)
    this.postings = ClusterPostings.open(session, systemKeyspace, parts.clock)
    this.accounts = new AccountSessions((account) => openClient(options, account, parts))
    this.health = new ClusterHealth({
      reachNode: () => reachNode(session),
      reachQuorum: () => reachQuorum(session, options),
      agree: () => agreesOnSchema(client),
    })
  }

  /** Indexes that some node of the local data center cannot search yet. */
  async unreadyIndexes(): Promise<ReadonlySet<string>> {
    const { client, capabilities, options } = this
    const { indexView } = capabilities
    const found = await findUnqueryable(client, indexView, options.localDataCenter)
    return new Set(Array.from(found.values(), (names) => [...names]).flat())
  }

  /** Starts an operation. The engine stays open until the operation calls `end`. */
  begin(): void {
    if (this.isClosed) throw new EngineError('closed', 'the engine is closed')
    this.#running++
  }

  end(): void {
    if (--this.#running === 0) this.#isIdle?.resolve()
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.settings.stop()
    this.#isIdle ??= Promise.withResolvers()
    if (this.#running > 0) await this.#isIdle.promise
    await this.accounts.close()
    await this.client.shutdown()
  }
}
