/**
 * One database of several in an engine: the keyspaces whose names start with its key, under
 * their names without it.
 *
 * No keyspace of a user can have a name that starts like a key (engine/database-key.ts), so
 * databases neither see nor reach each other. Targets are passed on as they are: what is done
 * with one needs no name.
 */
import type { Engine } from '../engine/contract.ts'
import { databaseKeyOf } from '../engine/database-key.ts'
import { EngineError } from '../engine/errors.ts'
import { inFrontOf } from '../engine/fronts.ts'

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
  const front: Engine = {
    as(credentials) {
      const other = engine.as(credentials)
      if (other === engine) return front
      const known = acting.get(other)
      if (known !== undefined) return known
      const made = inFrontOf(front, databaseEngine(other, key, guard))
      acting.set(other, made)
      return made
    },
    async listKeyspaces() {
      const all = await engine.listKeyspaces()
      return all.map(nameOf).filter((name) => name !== undefined)
    },
    createKeyspace: (name, options) =>
      guard(
        () => engine.createKeyspace(inside(name), options),
        () => engine.dropKeyspace(inside(name)),
      ),
    dropKeyspace: async (name) =>
      isOurs(name) ? engine.dropKeyspace(inside(name)) : false,
    listTargets: async (keyspace) =>
      isOurs(keyspace) ? engine.listTargets(inside(keyspace)) : undefined,
    findTarget: async (keyspace, name) =>
      isOurs(keyspace) ? engine.findTarget(inside(keyspace), name) : undefined,
    readSchema: async (keyspace) =>
      isOurs(keyspace) ? engine.readSchema(inside(keyspace)) : undefined,
    async changeSchema(keyspace, plan) {
      if (!isOurs(keyspace)) throw new EngineError('gone', `${keyspace} is gone`)
      return engine.changeSchema(inside(keyspace), (schema, counts) => {
        const ours = counts.flatMap(({ keyspace: inner, ...count }) => {
          const name = nameOf(inner)
          return name === undefined ? [] : [{ ...count, keyspace: name }]
        })
        return plan(schema, ours)
      })
    },
    lockSchema: (keyspace, act, caller) => engine.lockSchema(inside(keyspace), act, caller),
    read: (target, query, caller) => engine.read(target, query, caller),
    count: (target, filter, stopAt, caller) => engine.count(target, filter, stopAt, caller),
    search: (target, search, caller) => engine.search(target, search, caller),
    estimateCount: (target) => engine.estimateCount(target),
    write: (target, writes, options) => engine.write(target, writes, options),
    truncate: (target) => engine.truncate(target),
    readSetting: (name) => engine.readSetting(name),
    writeSetting: (name, value, expected) => engine.writeSetting(name, value, expected),
    watchSettings: (listener) => engine.watchSettings(listener),
    close: () => engine.close(),
  }
  return front
}
