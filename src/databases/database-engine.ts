/**
 * An engine that shows one database: the keyspaces whose names start with its key, under their
 * names without the key.
 *
 * A user's keyspace cannot have a name that starts like a key (engine/database-key.ts), so
 * databases are isolated from each other. Calls that take a target instead of a keyspace name are
 * passed through unchanged.
 */
import { around } from '../engine/around.ts'
import type { Engine } from '../engine/contract.ts'
import { databaseKeyOf } from '../engine/database-key.ts'
import { EngineError } from '../engine/errors.ts'
import type { SchemaPlan } from '../engine/schema-change.ts'

/**
 * Creates a keyspace if the database still exists, and drops it again if the database is
 * terminated meanwhile.
 */
export type KeyspaceGuard = (
  create: () => Promise<boolean>,
  drop: () => Promise<boolean>,
) => Promise<boolean>

/**
 * The engine of the database with this key. An empty key selects the home database, whose keyspaces
 * have no key.
 */
export function databaseEngine(engine: Engine, key: string, guard: KeyspaceGuard): Engine {
  const inside = (keyspace: string) => key + keyspace
  /**
   * Whether the name stays within this database. A name that starts with a key could address
   * another database.
   */
  const isOurs = (keyspace: string) => databaseKeyOf(inside(keyspace)) === key
  /**
   * The name within this database of a keyspace of the engine; undefined when the keyspace
   * belongs to another database.
   */
  const nameOf = (keyspace: string) =>
    databaseKeyOf(keyspace) === key ? keyspace.slice(key.length) : undefined
  const acting = new WeakMap<Engine, Engine>()
  const front: Engine = around(engine, {
    as(proceed, credentials) {
      const other = proceed(credentials)
      if (other === engine) return front
      let known = acting.get(other)
      if (known === undefined)
        acting.set(other, (known = databaseEngine(other, key, guard)))
      return known
    },
    async listKeyspaces(proceed) {
      const all = await proceed()
      return all.map(nameOf).filter((name) => name !== undefined)
    },
    createKeyspace: (proceed, name, options, caller) =>
      guard(
        () => proceed(inside(name), options, caller),
        () => engine.dropKeyspace(inside(name), caller),
      ),
    dropKeyspace: async (proceed, name, caller) =>
      isOurs(name) ? proceed(inside(name), caller) : false,
    listTargets: async (proceed, keyspace) =>
      isOurs(keyspace) ? proceed(inside(keyspace)) : undefined,
    findTarget: (proceed, keyspace, name) =>
      isOurs(keyspace) ? proceed(inside(keyspace), name) : undefined,
    readSchema: async (proceed, keyspace) =>
      isOurs(keyspace) ? proceed(inside(keyspace)) : undefined,
    async changeSchema(proceed, keyspace, plan, caller) {
      if (!isOurs(keyspace)) throw new EngineError('gone', `${keyspace} no longer exists`)
      const planHere: SchemaPlan = (schema, counts) => {
        const ours = counts.flatMap(({ keyspace: inner, ...count }) => {
          const name = nameOf(inner)
          return name === undefined ? [] : [{ ...count, keyspace: name }]
        })
        return plan(schema, ours)
      }
      return proceed(inside(keyspace), planHere, caller)
    },
    unsupportedFeatures: (proceed, keyspace, schema) => proceed(inside(keyspace), schema),
    lockSchema: (_proceed, keyspace, act, caller) =>
      engine.lockSchema(inside(keyspace), act, caller),
  })
  return front
}
