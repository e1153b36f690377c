/**
 * What a cluster carries, by the time that statements take of a node's processors. A request
 * asks some nodes; each of them works, and each one but the first takes messages. Processors
 * that are busy to a share that leaves room for the rest decide how many requests there can be.
 */

export interface Cluster {
  readonly nodes: number
  /** Of everything; at most as many as there are nodes. */
  readonly copies: number
  /** Parts of the ring that each node has: `num_tokens`. */
  readonly tokens: number
  readonly coresPerNode: number
  /** Of the time of processors, what requests may take. */
  readonly busyShare: number
}

/** Which nodes a request asks. */
export type Reach =
  /** A read by key: as many copies as are a quorum. */
  | 'quorum'
  /** A conditional write: all copies, once for each of its rounds. */
  | 'copies'
  /** By index: parts of the ring one after the other, a quorum of each, until enough is found. */
  | 'parts'
  /** By vector: every part of the ring, one copy of each. */
  | 'every part'

/** A statement, and milliseconds of processor time that it takes of a node which has all. */
export interface StatementCost {
  readonly reach: Reach
  readonly ms: number
  /** What of it each node that is asked takes, whether it finds anything or not. */
  readonly lookupMs?: number
  /** Of all documents, those that match over those that are wanted. Absent: no more than those. */
  readonly plenty?: number
}

export interface RequestCost {
  readonly says: string
  readonly statements: readonly StatementCost[]
  /** Processor time of the server that speaks HTTP. */
  readonly serverMs: number
}

/** Rounds of a conditional write: promise, read, propose, commit. */
const rounds = 4

export function quorumOf(copies: number): number {
  return Math.floor(copies / 2) + 1
}

/**
 * Questions that go over the whole ring, where each part is asked of so many copies. Neighbouring
 * parts are asked for together as long as enough nodes have all of them. With several tokens a
 * node the neighbours of a part belong to others, and each part is asked for by itself.
 */
export function partsOf({ nodes, copies, tokens }: Cluster, needed: number): number {
  if (nodes <= copies) return 1
  return tokens === 1 ? Math.ceil(nodes / (copies - needed + 1)) : nodes * tokens
}

/** Processor time of all nodes together; `floorMs` is the least that a message takes of one. */
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
  /** Processor time of all nodes for one request. */
  readonly nodesMs: number
  /** Cores that servers need for so many requests. */
  readonly serverCores: number
}

/** Requests of several kinds, by their shares, which are 1 together. */
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
