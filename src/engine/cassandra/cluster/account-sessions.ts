/**
 * Connections to the cluster that are logged in as the users of requests. A connection stays open
 * while it is used and for `idleMs` afterwards. The cluster authorizes every statement itself.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Client } from 'cassandra-driver'
import { fixedLimits } from '../../../limits.ts'
import type { EngineAccount } from '../../contract.ts'
import { EngineError } from '../../errors.ts'

/** Milliseconds without a statement after which connections are closed. */
const idleMs = 60_000

/** Milliseconds after which an account in use must log in again, because passwords change. */
const loginMsMax = 300_000

/** Milliseconds between two checks for idle connections and old logins. */
const lookMs = idleMs / 4

const { clusterUsersMax } = fixedLimits

interface Kept {
  readonly account: EngineAccount
  readonly client: Promise<Client>
  running: number
  usedAt: number
  loggedInAt: number
  /** True: new statements use another session. The client shuts down after its last statement. */
  isClosed: boolean
}

export class AccountSessions {
  readonly #connect: (account: EngineAccount) => Promise<Client>
  readonly #kept = new Map<string, Kept>()
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  #asksForPasswords: Promise<boolean> | undefined

  constructor(
    connect: (account: EngineAccount) => Promise<Client>,
    now: () => number = () => performance.now(),
  ) {
    this.#connect = connect
    this.#now = now
    this.#timer = setInterval(() => this.#look(), lookMs).unref()
  }

  /** Identifies an account by a digest, which does not reveal the password. */
  static keyOf({ name, password }: EngineAccount): string {
    return createHash('sha256')
      .update(JSON.stringify([name, password]))
      .digest('base64')
  }

  /**
   * Whether the cluster accepts the credentials of the account. False if the cluster accepts any
   * credentials, because authentication is disabled.
   */
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
      kept.usedAt = this.#now()
      if (kept.isClosed) endWhenDone(kept)
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
      // The probe failed; the next caller repeats it.
      this.#asksForPasswords = undefined
      throw error
    }
  }

  async #canConnect(account: EngineAccount): Promise<boolean> {
    try {
      await this.use(account, () => Promise.resolve())
      return true
    } catch (error) {
      if (isRefused(error)) return false
      throw error
    }
  }

  #keep(account: EngineAccount): Kept {
    const key = AccountSessions.keyOf(account)
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    if (this.#kept.size >= clusterUsersMax) this.#closeOldest()
    const client = this.#connect(account)
    const now = this.#now()
    const times = { usedAt: now, loggedInAt: now }
    const kept = { account, client, running: 0, ...times, isClosed: false }
    this.#kept.set(key, kept)
    // A failed connection is not cached, so the next use tries again.
    client.catch(() => this.#forget(key, kept))
    return kept
  }

  #forget(key: string, kept: Kept): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key)
  }

  #look(): void {
    const now = this.#now()
    for (const [key, kept] of this.#kept)
      if (kept.running === 0 && kept.usedAt < now - idleMs) this.#close(key, kept)
      else if (kept.loggedInAt < now - loginMsMax) void this.#logInAgain(key, kept)
  }

  /**
   * Checks the credentials again while statements continue. Closes the session only if the cluster
   * rejects the credentials, not after an outage.
   */
  async #logInAgain(key: string, kept: Kept): Promise<void> {
    kept.loggedInAt = this.#now()
    const login = this.#connect(kept.account)
    try {
      await login
      await shutDown(login)
    } catch (error) {
      if (isRefused(error)) this.#close(key, kept)
    }
  }

  #closeOldest(): void {
    const [oldest] = Array.from(this.#kept)
      .filter(([, kept]) => kept.running === 0)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest === undefined)
      throw new EngineError(
        'overloaded',
        `more than ${clusterUsersMax} cluster users run commands at the same time, the maximum`,
      )
    this.#close(...oldest)
  }

  #close(key: string, kept: Kept): void {
    this.#forget(key, kept)
    kept.isClosed = true
    endWhenDone(kept)
  }
}

function endWhenDone({ running, client }: Kept): void {
  if (running === 0) void shutDown(client)
}

function isRefused(error: unknown): boolean {
  return error instanceof EngineError && error.kind === 'unauthenticated'
}

async function shutDown(client: Promise<Client>): Promise<void> {
  await client.then((opened) => opened.shutdown()).catch(() => undefined)
}
