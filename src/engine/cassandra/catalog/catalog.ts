/**
 * Cache of the cluster's schema. A keyspace is read again when the cluster's schema version has
 * changed. The version is checked when the cache is used and the last check is older than
 * `schemaCacheMs`, and before a target is reported as missing.
 */
import { isDeepStrictEqual } from 'node:util'
import { findNamed, type KeyspaceSchema, type Target } from '../../schema.ts'
import { EngineError } from '../../errors.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { Session } from '../cluster/session.ts'
import type { Defaults } from './collection-comment.ts'
import { isReserved, readKeyspace } from './system-schema.ts'

/**
 * Milliseconds after a check of the schema version during which the version is not checked again.
 */
export const schemaCacheMs = 1_000

interface Known {
  /**
   * Number of the refresh that read this schema. Refreshes are numbered in the order of their
   * start.
   */
  readonly refresh: number
  readonly version: string
  readonly schema: KeyspaceSchema | undefined
}

interface CachedSchema {
  readonly startedAt: number
  readonly schema: Promise<KeyspaceSchema | undefined>
}

export class ClusterCatalog {
  readonly #session: Session
  readonly #defaults: Defaults
  readonly #can: Capabilities
  readonly #systemKeyspace: string
  readonly #known = new Map<string, Known>()
  readonly #looks = new Map<string, CachedSchema>()
  #refreshes = 0
  #version = ''
  #lookedAt = -Infinity

  constructor(
    session: Session,
    defaults: Defaults,
    can: Capabilities,
    systemKeyspace: string,
  ) {
    this.#session = session
    this.#defaults = defaults
    this.#can = can
    this.#systemKeyspace = systemKeyspace
  }

  /** The schema, at most `schemaCacheMs` old. */
  async schema(keyspace: string): Promise<KeyspaceSchema | undefined> {
    const known = this.#trusted(keyspace)
    return known === undefined ? this.#look(keyspace) : known.schema
  }

  /**
   * Refreshes the schema of a keyspace and returns it. Concurrent callers share a refresh that
   * started at most `schemaCacheMs` ago.
   */
  #look(keyspace: string): CachedSchema['schema'] {
    const running = this.#looks.get(keyspace)
    const startedAt = performance.now()
    if (running !== undefined && startedAt - running.startedAt <= schemaCacheMs)
      return running.schema
    const schema = this.refresh(keyspace).finally(() => {
      if (this.#looks.get(keyspace) === look) this.#looks.delete(keyspace)
    })
    const look: CachedSchema = { startedAt, schema }
    this.#looks.set(keyspace, look)
    return schema
  }

  /**
   * The target, if it is cached and can be served. Undefined does not mean that the target is
   * missing: the caller has to refresh the cache to find out.
   */
  known(keyspace: string, name: string): Target | undefined {
    const schema = this.#trusted(keyspace)?.schema
    return schema?.targets.find((target) => target.name === name)
  }

  async find(keyspace: string, name: string): Promise<Target | undefined> {
    const found = targetIn(await this.schema(keyspace), name)
    return found ?? targetIn(await this.refresh(keyspace), name)
  }

  /**
   * The current schema of a keyspace; undefined: the keyspace does not exist, or requests cannot
   * access it.
   */
  async refresh(keyspace: string): Promise<KeyspaceSchema | undefined> {
    if (isReserved(keyspace, this.#systemKeyspace)) return undefined
    const refresh = ++this.#refreshes
    const version = await this.#readVersion()
    if (this.#known.get(keyspace)?.version !== version) {
      const read = await readKeyspace(this.#session, keyspace, this.#defaults, this.#can)
      // A refresh that started later may have ended first. Its result is kept, because the targets
      // that it read are already in use.
      const known = this.#known.get(keyspace)
      if (known === undefined || known.refresh < refresh) {
        const schema = read && withKnownTargets(read, known?.schema)
        this.#known.set(keyspace, { refresh, version, schema })
      }
    }
    return this.#known.get(keyspace)?.schema
  }

  /** Whether a recent check confirmed that the target is unchanged. */
  isCurrent(target: Target): boolean {
    return this.known(target.keyspace, target.name) === target
  }

  /**
   * Throws when the target was dropped or changed. Trusts a recent check of the schema, unless
   * `when` is `now`.
   */
  async checkCurrent(target: Target, when?: 'now'): Promise<void> {
    const { keyspace, name, uid } = target
    if (when !== 'now' && targetIn(await this.schema(keyspace), name) === target) return
    const current = targetIn(await this.refresh(keyspace), name)
    if (current?.uid !== uid) throw new EngineError('gone', `${name} no longer exists`)
    // Collections with the same uid are the same: the options of a collection never change.
    if (current.kind === 'collection' && target.kind === 'collection') return
    if (current !== target) throw new EngineError('changed', `${name} has changed`)
  }

  /** The cached schema, if the version was checked recently and has not changed. */
  #trusted(keyspace: string): Known | undefined {
    if (performance.now() - this.#lookedAt > schemaCacheMs) return undefined
    const known = this.#known.get(keyspace)
    return known?.version === this.#version ? known : undefined
  }

  async #readVersion(): Promise<string> {
    const text = "SELECT schema_version FROM system.local WHERE key = 'local'"
    const { rows } = await this.#session.run({ text, values: [] }, 'schema')
    this.#version = String(rows[0]?.['schema_version'])
    this.#lookedAt = performance.now()
    return this.#version
  }
}

/**
 * The target with this name; undefined: it does not exist. Throws the reason when it exists but
 * cannot be served.
 */
function targetIn(schema: KeyspaceSchema | undefined, name: string): Target | undefined {
  const found = schema && findNamed(schema, name)
  if (found !== undefined && 'reason' in found) throw found.reason
  return found
}

/** Reuses the objects of unchanged targets, so that they can be compared by identity. */
function withKnownTargets(
  schema: KeyspaceSchema,
  before: KeyspaceSchema | undefined,
): KeyspaceSchema {
  const targets = schema.targets.map((target) => {
    const known = before?.targets.find(({ name }) => name === target.name)
    return isDeepStrictEqual(known, target) ? known! : target
  })
  return { ...schema, targets }
}
