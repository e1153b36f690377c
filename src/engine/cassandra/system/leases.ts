/**
 * Locks in the cluster, each held by one server at a time. A lease expires some time after its
 * holder has died; a living holder renews it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { types } from 'cassandra-driver'
import { EngineError } from '../../errors.ts'
import { OneByOne } from '../../one-by-one.ts'
import type { Session } from '../cluster/session.ts'
import { quoteTarget } from '../cluster/statement.ts'

const leaseSeconds = 30
const renewMs = (leaseSeconds * 1_000) / 3
const retryMs = 100

export class Leases {
  readonly #session: Session
  readonly #table: string
  /**
   * Queues by lease for requests of this server, so that only one of them at a time asks the
   * cluster.
   */
  readonly #queues = new Map<string, OneByOne>()

  constructor(session: Session, keyspace: string) {
    this.#session = session
    this.#table = quoteTarget({ keyspace, name: 'leases' })
  }

  /**
   * Runs `act` while this server holds the lease. `check` is called before every attempt to take
   * the lease, and throws to stop waiting.
   */
  hold<T>(name: string, act: () => Promise<T>, check: () => void): Promise<T> {
    let queue = this.#queues.get(name)
    if (queue === undefined) this.#queues.set(name, (queue = new OneByOne()))
    return queue.next(() => this.#holdAlone(name, act, check))
  }

  async isHeld(name: string): Promise<boolean> {
    const text = `SELECT holder FROM ${this.#table} WHERE name = ?`
    return (await this.#session.run({ text, values: [name] }, 'settle')).rows.length > 0
  }

  async #holdAlone<T>(name: string, act: () => Promise<T>, check: () => void): Promise<T> {
    const holder = types.Uuid.random()
    check()
    while (!(await this.#take(name, holder))) {
      await delay(retryMs)
      check()
    }
    const renewing = setInterval(() => void this.#renew(name, holder), renewMs).unref()
    try {
      return await act()
    } finally {
      clearInterval(renewing)
      await this.#release(name, holder)
    }
  }

  /**
   * Tries to take the lease, and returns whether it was taken. A statement that timed out may have
   * taken it as well; the next attempt then finds its own id as holder.
   */
  async #take(name: string, holder: types.Uuid): Promise<boolean> {
    const text =
      `INSERT INTO ${this.#table} (name, holder) VALUES (?, ?) IF NOT EXISTS ` +
      `USING TTL ${leaseSeconds}`
    try {
      const { wasApplied, rows } = await this.#session.run(
        { text, values: [name, holder] },
        'write',
      )
      const other = rows[0]?.['holder'] as types.Uuid | undefined
      return wasApplied || (other?.equals(holder) ?? false)
    } catch (error) {
      if (error instanceof EngineError && error.kind === 'timeout') return false
      throw error
    }
  }

  async #renew(name: string, holder: types.Uuid): Promise<void> {
    const text = `UPDATE ${this.#table} USING TTL ${leaseSeconds} SET holder = ? WHERE name = ? IF holder = ?`
    const values = [holder, name, holder]
    await this.#session.run({ text, values }, 'write').catch(() => undefined)
  }

  async #release(name: string, holder: types.Uuid): Promise<void> {
    const text = `DELETE FROM ${this.#table} WHERE name = ? IF holder = ?`
    // If this statement fails, the lease expires by itself.
    await this.#session
      .run({ text, values: [name, holder] }, 'write')
      .catch(() => undefined)
  }
}
