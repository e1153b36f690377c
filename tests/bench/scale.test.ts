/**
 * The model of a cluster's capacity (bench/cassandra/scale.ts), with examples computed by hand.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  carriedBy,
  partsOf,
  quorumOf,
  workOf,
  type Cluster,
  type RequestCost,
} from '../../bench/cassandra/scale.ts'

const floorMs = 0.5

function cluster(nodes: number, options: Partial<Cluster> = {}): Cluster {
  const copies = Math.min(nodes, 3)
  return { nodes, copies, tokens: 1, coresPerNode: 4, busyShare: 0.5, ...options }
}

test('a quorum is more than half of the replicas', () => {
  assert.deepEqual([1, 2, 3, 4, 5].map(quorumOf), [1, 2, 2, 3, 3])
})

test('a scan of the ring combines adjacent ranges with common replicas into one request', () => {
  assert.equal(partsOf(cluster(3), 2), 1)
  // With three replicas, two adjacent ranges share two nodes, and three adjacent ranges
  // share one.
  assert.equal(partsOf(cluster(12), 2), 6)
  assert.equal(partsOf(cluster(12), 1), 4)
  assert.equal(partsOf(cluster(100), 1), 34)
  assert.equal(partsOf(cluster(12, { tokens: 16 }), 2), 192)
})

test('a statement on a single node costs the measured time', () => {
  for (const reach of ['quorum', 'copies', 'every part'] as const)
    assert.equal(workOf({ reach, ms: 2 }, cluster(1), floorMs), 2)
  assert.equal(workOf({ reach: 'parts', ms: 2, lookupMs: 1 }, cluster(1), floorMs), 2)
})

test('a read by key costs the work of a quorum, however many nodes the cluster has', () => {
  // In ms: 0.5 for the request, 2 × 1.5 for the statement on two replicas, 0.5 for a message.
  for (const nodes of [3, 12, 100])
    assert.equal(workOf({ reach: 'quorum', ms: 2 }, cluster(nodes), floorMs), 4)
})

test('a conditional write costs work on all replicas, and messages in each round', () => {
  // In ms: 0.5 for the request, 3 × 1.5 for the statement on three replicas, and 4 rounds of
  // messages to 2 other replicas at 0.5 each.
  assert.equal(workOf({ reach: 'copies', ms: 2 }, cluster(12), floorMs), 9)
})

test('a read by index contacts nodes until it has found enough rows', () => {
  const rare = { reach: 'parts', ms: 3, lookupMs: 1 } as const
  // In ms: 0.5 + 12 × 0.5 + 11 × 0.5 for contacting 12 nodes, and 2 × 2 for the rows on two nodes.
  assert.equal(workOf(rare, cluster(12), floorMs), 16)
  // With six times as many matching rows as requested, the first range suffices: two nodes are
  // contacted.
  assert.equal(workOf({ ...rare, plenty: 6 }, cluster(12), floorMs), 6)
  assert.equal(workOf({ ...rare, plenty: 1000 }, cluster(100), floorMs), 6)
})

test('doubling the nodes doubles the rate of reads by key, but not of vector searches', () => {
  const request = (reach: 'quorum' | 'every part'): RequestCost => ({
    says: '',
    statements: [{ reach, ms: 2 }],
    serverMs: 1,
  })
  const rate = (nodes: number, reach: 'quorum' | 'every part') =>
    carriedBy(cluster(nodes), [[request(reach), 1]], floorMs).requestsPerSecond
  // 12 nodes with 4 cores each, of which requests may use half, provide 24 000 ms of CPU time per
  // second.
  assert.equal(rate(12, 'quorum'), 6_000)
  assert.equal(rate(24, 'quorum'), 12_000)
  assert.equal(rate(12, 'every part'), 24_000 / 8)
  assert.equal(rate(24, 'every part'), 48_000 / 16)
})

test('the cost of a mix is the weighted mean of its parts, and server capacity is given in cores', () => {
  const read: RequestCost = {
    says: 'read',
    statements: [{ reach: 'quorum', ms: 2 }],
    serverMs: 1,
  }
  const write: RequestCost = {
    says: 'write',
    statements: [
      { reach: 'quorum', ms: 2 },
      { reach: 'copies', ms: 2 },
    ],
    serverMs: 3,
  }
  const mix = [
    [read, 0.5],
    [write, 0.5],
  ] as const
  const { nodesMs, requestsPerSecond, serverCores } = carriedBy(cluster(12), mix, floorMs)
  assert.equal(nodesMs, 8.5)
  assert.equal(requestsPerSecond, 24_000 / 8.5)
  // 2 ms of server time per request, on cores that may use half of their time for requests.
  assert.equal(serverCores, ((24_000 / 8.5) * 2) / 1000 / 0.5)
})
