/**
 * Connections to the cluster as the users of requests, each kept while it is used and for a
 * while after. What a user may do, the cluster decides with every statement.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Client } from 'cassandra-driver'
import type { EngineAccount } from '../../contract.ts'
import { EngineError } from '../../errors.ts'

/** Milliseconds without a statement after which connections are closed. */
const idleMs = 60_000

/** Users that are connected at a time. */
const accountsMax = 100

interface Kept {
  readonly client: Promise<Client>
  running: number
  usedAt: number
}

export class AccountSessions {
  readonly #connect: (account: EngineAccount) => Promise<Client>
  readonly #kept = new Map<string, Kept>()
  readonly #timer: NodeJS.Timeout
  #asksForPasswords: Promise<boolean> | undefined

  constructor(connect: (account: EngineAccount) => Promise<Client>) {
    this.#connect = connect
    this.#timer = setInterval(() => this.#closeIdle(), idleMs / 4).unref()
  }

  /** Tells accounts apart; nothing of the password can be seen in it. */
  static keyOf({ name, password }: EngineAccount): string {
    return createHash('sha256')
      .update(JSON.stringify([name, password]))
      .digest('base64')
  }

  /** Whether the cluster knows it. One that lets everybody in knows nobody. */
  async knows(account: EngineAccount): Promise<boolean> {
    this.#asksForPasswords ??= this.#findOut()
    if (!(await this.#asksForPasswords)) return false
    return this.#canConnect(account)
  }

  async use<T>(account: EngineAccount, act: (client: Client) => Promise<T>): Promise<T> {
    const kept = this.#keep(account)
    kept.running++
    try {
      return await act(await kept.client)
    } finally {
      kept.running--
      kept.usedAt = performance.now()
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    const clients = [...this.#kept.values()].map(({ client }) => client)
    this.#kept.clear()
    await Promise.all(clients.map(shutDown))
  }

  async #findOut(): Promise<boolean> {
    const name = `nobody-${randomBytes(8).toString('hex')}`
    const anybody = { name, password: randomBytes(16).toString('hex') }
    try {
      return !(await this.#canConnect(anybody))
    } catch (error) {
      // Nothing was found out: the next who asks tries again.
      this.#asksForPasswords = undefined
      throw error
    }
  }

  async #canConnect(account: EngineAccount): Promise<boolean> {
    try {
      await this.use(account, () => Promise.resolve())
      return true
    } catch (error) {
      if (error instanceof EngineError && error.kind === 'unauthenticated') return false
      throw error
    }
  }

  #keep(account: EngineAccount): Kept {
    const key = AccountSessions.keyOf(account)
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    if (this.#kept.size >= accountsMax) this.#closeOldest()
    const client = this.#connect(account)
    const kept = { client, running: 0, usedAt: performance.now() }
    this.#kept.set(key, kept)
    // One that cannot connect is tried again when it is asked for again.
    client.catch(() => this.#forget(key, kept))
    return kept
  }

  #forget(key: string, kept: Kept): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key)
  }

  #closeIdle(): void {
    const before = performance.now() - idleMs
    for (const [key, kept] of this.#kept)
      if (kept.running === 0 && kept.usedAt < before) this.#close(key, kept)
  }

  #closeOldest(): void {
    const [oldest] = Array.from(this.#kept)
      .filter(([, kept]) => kept.running === 0)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest === undefined)
      throw new EngineError('overloaded', `more than ${accountsMax} users are at work`)
    this.#close(...oldest)
  }

  #close(key: string, kept: Kept): void {
    this.#forget(key, kept)
    void shutDown(kept.client)
  }
}

async function shutDown(client: Promise<Client>): Promise<void> {
  await client.then((opened) => opened.shutdown()).catch(() => undefined)
}
