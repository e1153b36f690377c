/**
 * Model of a cluster's capacity, computed from the CPU time of statements on a node. A request is
 * sent to some of the nodes. Each of them executes the request, and all but the first also handle
 * messages. The CPU time that requests may use bounds their rate.
 */

export interface Cluster {
  readonly nodes: number
  /** Replication factor, which is at most the number of nodes. */
  readonly copies: number
  /** Token ranges per node: `num_tokens`. */
  readonly tokens: number
  readonly coresPerNode: number
  /** Share of CPU time that is available for requests. */
  readonly busyShare: number
}

/** The nodes that a request reaches. */
export type Reach =
  /** A read by key: a quorum of the replicas. */
  | 'quorum'
  /** A conditional write: all replicas, once per round. */
  | 'copies'
  /**
   * A read by index: token ranges one after another, each from a quorum, until enough rows
   * are found.
   */
  | 'parts'
  /** A search by vector: every token range, one replica of each. */
  | 'every part'

/** A statement, and its CPU time in milliseconds on a node that has all data. */
export interface StatementCost {
  readonly reach: Reach
  readonly ms: number
  /** Milliseconds of CPU time on each contacted node, even if it finds no rows. */
  readonly lookupMs?: number
  /** Number of matching rows in all data, divided by the number of requested rows; 1 if absent. */
  readonly plenty?: number
}

export interface RequestCost {
  readonly says: string
  readonly statements: readonly StatementCost[]
  /** Milliseconds of CPU time of the HTTP server. */
  readonly serverMs: number
}

/** Rounds of a conditional write: prepare, read, propose, commit. */
const rounds = 4

export function quorumOf(copies: number): number {
  return Math.floor(copies / 2) + 1
}

/**
 * Number of requests that scan all token ranges, if each range is read from `needed` replicas.
 * Adjacent ranges share a request as long as enough nodes have all of them. With several tokens per
 * node, adjacent ranges have different nodes, so each range needs its own request.
 */
export function partsOf({ nodes, copies, tokens }: Cluster, needed: number): number {
  if (nodes <= copies) return 1
  return tokens === 1 ? Math.ceil(nodes / (copies - needed + 1)) : nodes * tokens
}

/** Milliseconds of CPU time of all nodes together; `floorMs` is the cost of a message. */
export function workOf(
  { reach, ms, lookupMs = 0, plenty = 1 }: StatementCost,
  cluster: Cluster,
  floorMs: number,
): number {
  const { copies } = cluster
  const quorum = quorumOf(copies)
  const onNodes = (asked: number, each: number, messages = asked - 1) =>
    floorMs + asked * (each - floorMs) + messages * floorMs
  switch (reach) {
    case 'quorum':
      return onNodes(quorum, ms)
    case 'copies':
      return onNodes(copies, ms, rounds * (copies - 1))
    case 'parts': {
      const all = partsOf(cluster, quorum)
      const asked = Math.min(all, Math.ceil(all / plenty)) * quorum
      return onNodes(asked, lookupMs) + quorum * (ms - lookupMs)
    }
    case 'every part':
      return onNodes(partsOf(cluster, 1), ms)
  }
}

export interface Carried {
  readonly requestsPerSecond: number
  /** Milliseconds of CPU time of all nodes per request. */
  readonly nodesMs: number
  /** Cores that the HTTP servers need for this rate of requests. */
  readonly serverCores: number
}

/** Kinds of requests and their shares. The shares sum to 1. */
export type Mix = readonly (readonly [request: RequestCost, share: number])[]

export function carriedBy(cluster: Cluster, mix: Mix, floorMs: number): Carried {
  const { nodes, coresPerNode, busyShare } = cluster
  let [nodesMs, serverMs] = [0, 0]
  for (const [request, share] of mix) {
    serverMs += share * request.serverMs
    for (const statement of request.statements)
      nodesMs += share * workOf(statement, cluster, floorMs)
  }
  const requestsPerSecond = (nodes * coresPerNode * busyShare * 1000) / nodesMs
  return {
    requestsPerSecond,
    nodesMs,
    serverCores: (requestsPerSecond * serverMs) / 1000 / busyShare,
  }
}
