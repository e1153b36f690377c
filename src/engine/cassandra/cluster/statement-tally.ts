/** Counts statements by purpose and outcome, for monitoring. */
import type { Client } from 'cassandra-driver'
import type { StatementCount, StoreNode, StoreTraffic } from '../../operations.ts'
import type { Purpose, StatementListener } from './session.ts'

interface Count {
  count: number
  seconds: number
}

export class StatementTally implements StatementListener {
  /** Counts of statements by purpose, then by outcome. */
  readonly #counts = new Map<Purpose, Map<string, Count>>()
  #retries = 0

  done(purpose: Purpose, elapsedMs: number, failure = 'ok'): void {
    let outcomes = this.#counts.get(purpose)
    if (outcomes === undefined)
      this.#counts.set(purpose, (outcomes = new Map<string, Count>()))
    let counted = outcomes.get(failure)
    if (counted === undefined) outcomes.set(failure, (counted = { count: 0, seconds: 0 }))
    counted.count++
    counted.seconds += elapsedMs / 1_000
  }

  retried(): void {
    this.#retries++
  }

  trafficOf(client: Client): StoreTraffic {
    const statements = Array.from(this.#counts, ([purpose, outcomes]) =>
      Array.from(outcomes, ([outcome, counted]): StatementCount => ({
        ...{ purpose, outcome },
        ...counted,
      })),
    )
    return { statements: statements.flat(), retries: this.#retries, nodes: nodesOf(client) }
  }
}

function nodesOf(client: Client): readonly StoreNode[] {
  const state = client.getState()
  return client.hosts.values().map((host) => ({
    dataCenter: host.datacenter,
    isUp: host.isUp(),
    connections: state.getOpenConnections(host),
    waiting: state.getInFlightQueries(host),
  }))
}
