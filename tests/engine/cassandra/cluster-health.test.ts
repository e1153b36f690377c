/** Tests which conditions count as an outage of a cluster. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ClusterHealth } from '../../../src/engine/cassandra/cluster/cluster-health.ts'
import { EngineError, type EngineErrorKind } from '../../../src/engine/errors.ts'

describe('the health of a cluster', () => {
  const fine = () => Promise.resolve()
  const fail = (kind: EngineErrorKind) => () => Promise.reject(new EngineError(kind, 'x'))
  const agree = () => Promise.resolve(true)

  test('is good when a node and a quorum answer', async () => {
    const health = new ClusterHealth({ reachNode: fine, reachQuorum: fine, agree })
    assert.equal(await health.problem(), undefined)
  })

  test('names the cause of an outage', async () => {
    const none = { reachNode: fail('unavailable'), reachQuorum: fail('unavailable') }
    assert.match((await new ClusterHealth({ ...none, agree }).problem())!, /no node/)
    for (const [kind, says] of [
      ['unavailable', /too few nodes/],
      ['timeout', /too few nodes/],
      ['unauthorized', /may not read/],
      ['gone', /no longer exists/],
    ] as const) {
      const probes = { reachNode: fine, reachQuorum: fail(kind), agree }
      assert.match((await new ClusterHealth(probes).problem())!, says)
    }
  })

  test('reports a schema disagreement that lasts, and recovers once the nodes agree again', async () => {
    let [now, isAgreed] = [0, false]
    const probes = { reachNode: fine, reachQuorum: fine }
    const health = new ClusterHealth(
      { ...probes, agree: () => Promise.resolve(isAgreed) },
      () => now,
    )
    assert.equal(await health.problem(), undefined)
    now = 9_000
    assert.equal(await health.problem(), undefined)
    now = 12_000
    assert.match((await health.problem())!, /disagreed about its schema for 12 s/)
    isAgreed = true
    now = 12_500
    assert.match((await health.problem())!, /disagreed/)
    now = 13_500
    assert.equal(await health.problem(), undefined)
  })
})
