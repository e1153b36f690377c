/** Settings of the service, shared by all servers on a cluster. */
import { types } from 'cassandra-driver'
import type { Setting } from '../../contract.ts'
import type { EngineError } from '../../errors.ts'
import type { ConsistencyLevel } from '../cluster/consistency.ts'
import { isOutcomeUnknown } from '../cluster/failures.ts'
import type { Session } from '../cluster/session.ts'
import { quoteTarget } from '../cluster/statement.ts'

type Listener = (name: string) => void

export class ClusterSettings {
  readonly #session: Session
  readonly #table: string
  readonly #pollMs: number
  readonly #level: ConsistencyLevel
  readonly #listeners = new Set<{ readonly listener: Listener }>()
  /** Versions by name at the last poll; undefined: not polled yet. */
  #seen: ReadonlyMap<string, string> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(session: Session, keyspace: string, pollMs: number, level: ConsistencyLevel) {
    this.#session = session
    this.#table = quoteTarget({ keyspace, name: 'settings' })
    this.#pollMs = pollMs
    this.#level = level
  }

  async read(name: string): Promise<Setting | undefined> {
    const text = `SELECT value, version FROM ${this.#table} WHERE name = ?`
    const { rows } = await this.#session.run({ text, values: [name] }, 'settle')
    const [row] = rows
    if (row === undefined) return undefined
    return { value: row['value'] as string, version: String(row['version']) }
  }

  async write(
    name: string,
    value: string,
    expected: string | undefined,
  ): Promise<string | undefined> {
    const version = types.TimeUuid.now()
    const before = expected === undefined ? undefined : versionIn(expected)
    if (expected !== undefined && before === undefined) return undefined
    const statement =
      expected === undefined
        ? {
            text: `INSERT INTO ${this.#table} (name, value, version) VALUES (?, ?, ?) IF NOT EXISTS`,
            values: [name, value, version],
          }
        : {
            text: `UPDATE ${this.#table} SET value = ?, version = ? WHERE name = ? IF version = ?`,
            values: [value, version, name, before],
          }
    const isWritten = await this.#isWritten(statement, name, String(version))
    if (!isWritten) return undefined
    this.#report(name)
    return String(version)
  }

  async #isWritten(
    statement: { readonly text: string; readonly values: readonly unknown[] },
    name: string,
    version: string,
  ): Promise<boolean> {
    try {
      const { wasApplied } = await this.#session.run(statement, 'write', {
        level: this.#level,
      })
      return wasApplied
    } catch (error) {
      if (!isOutcomeUnknown((error as EngineError).cause)) throw error
      if ((await this.read(name))?.version === version) return true
      throw error
    }
  }

  watch(listener: Listener): () => void {
    const watcher = { listener }
    this.#listeners.add(watcher)
    this.#timer ??= setInterval(() => void this.#look(), this.#pollMs).unref()
    return () => {
      this.#listeners.delete(watcher)
      if (this.#listeners.size === 0) this.stop()
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#seen = undefined
  }

  /** Reports changed settings; after a failure, the next poll finds the changes. */
  async #look(): Promise<void> {
    const text = `SELECT name, version FROM ${this.#table}`
    const found = await this.#session
      .run({ text, values: [] }, 'read', { level: this.#level })
      .catch(() => undefined)
    if (found === undefined || this.#timer === undefined) return
    const before = this.#seen
    const now = new Map(
      found.rows.map((row) => [row['name'] as string, String(row['version'])]),
    )
    this.#seen = now
    for (const [name, version] of now) if (before?.get(name) !== version) this.#report(name)
  }

  #report(name: string): void {
    for (const { listener } of [...this.#listeners]) listener(name)
  }
}

/** Parses a version; undefined: the text is not a valid version. */
function versionIn(text: string): types.TimeUuid | undefined {
  try {
    return types.TimeUuid.fromString(text)
  } catch {
    return undefined
  }
}
