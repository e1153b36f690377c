/**
 * Health of a cluster. It stays healthy while enough nodes are up: settings and tokens need a
 * quorum of their replicas in the local data center. Nodes disagree about the schema briefly after
 * every change. Only a lasting disagreement is a problem, because some nodes then do not know a new
 * table.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { EngineError } from '../../errors.ts'

export interface Probes {
  /** Rejects when no node answers. */
  reachNode(): Promise<unknown>
  /** Rejects when too few replicas of the settings answer. */
  reachQuorum(): Promise<unknown>
  /** Whether all nodes that are up have the same schema. */
  agree(): Promise<boolean>
}

/** Milliseconds for which a result is reused. */
const healthCacheMs = 1_000

/** Timeout of one check in milliseconds, because callers wait for the check. */
const lookMsMax = 5_000

/** Milliseconds after which a schema disagreement is reported. */
export const disagreementMsMax = 10_000

export class ClusterHealth {
  readonly #probes: Probes
  readonly #now: () => number
  #look: { readonly at: number; readonly problem: Promise<string | undefined> } | undefined
  /** Time of the first check of the current schema disagreement; undefined while nodes agree. */
  #disagreeSince: number | undefined

  constructor(probes: Probes, now: () => number = () => performance.now()) {
    this.#probes = probes
    this.#now = now
  }

  problem(): Promise<string | undefined> {
    const now = this.#now()
    if (this.#look === undefined || now - this.#look.at >= healthCacheMs)
      this.#look = { at: now, problem: this.#lookInTime() }
    return this.#look.problem
  }

  async #lookInTime(): Promise<string | undefined> {
    const ended = new AbortController()
    const { signal } = ended
    const late = delay(lookMsMax, 'no node of the cluster answered in time', { signal })
    try {
      return await Promise.race([this.#lookNow(), late])
    } finally {
      late.catch(() => undefined)
      ended.abort()
    }
  }

  async #lookNow(): Promise<string | undefined> {
    const [node, quorum, agreement] = await Promise.allSettled([
      this.#probes.reachNode(),
      this.#probes.reachQuorum(),
      this.#probes.agree(),
    ])
    if (node.status === 'rejected') return 'no node of the cluster answers'
    if (quorum.status === 'rejected') return quorumProblem(quorum.reason as EngineError)
    return this.#disagreement(agreement.status === 'rejected' || agreement.value)
  }

  #disagreement(agree: boolean): string | undefined {
    if (agree) {
      this.#disagreeSince = undefined
      return undefined
    }
    const since = (this.#disagreeSince ??= this.#now())
    const lastedMs = this.#now() - since
    if (lastedMs < disagreementMsMax) return undefined
    const seconds = Math.round(lastedMs / 1_000)
    return (
      `the nodes of the cluster have disagreed about its schema for ${seconds} s. ` +
      'nodetool describecluster lists their versions'
    )
  }
}

function quorumProblem({ kind }: EngineError): string {
  switch (kind) {
    case 'unavailable':
    case 'unreachable':
    case 'timeout':
    case 'read':
      return (
        'too few nodes of the local data center answer: settings and tokens require a ' +
        'quorum of their replicas'
      )
    case 'unauthorized':
    case 'unauthenticated':
      return 'the cluster user of the server may not read the settings'
    case 'gone':
      return 'the system keyspace no longer exists'
    default:
      return 'the settings of the server cannot be read from the cluster'
  }
}
