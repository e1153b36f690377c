/**
 * One database of several in an engine: the keyspaces whose names start with its key, under
 * their names without it.
 *
 * No keyspace of a user can have a name that starts like a key (engine/database-key.ts), so
 * databases neither see nor reach each other. Targets are passed on as they are: what is done
 * with one needs no name.
 */
import { around } from '../engine/around.ts'
import type { Engine } from '../engine/contract.ts'
import { databaseKeyOf } from '../engine/database-key.ts'
import { EngineError } from '../engine/errors.ts'
import type { SchemaPlan } from '../engine/schema-change.ts'

/** Has a keyspace created, unless the database is gone; dropped again, if it goes meanwhile. */
export type KeyspaceGuard = (
  create: () => Promise<boolean>,
  drop: () => Promise<boolean>,
) => Promise<boolean>

/** An empty key is the database that keyspaces without one belong to. */
export function databaseEngine(engine: Engine, key: string, guard: KeyspaceGuard): Engine {
  const inside = (keyspace: string) => key + keyspace
  /** A name that starts with a key could lead into another database. */
  const isOurs = (keyspace: string) => databaseKeyOf(inside(keyspace)) === key
  /** The name here of a keyspace of the engine; undefined when it is another's. */
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
