/**
 * An in-memory engine, written from the contract alone. It proves that the contract suffices to
 * write an engine. It serves little of a query, so tests with it cover the code that completes
 * queries. Every call waits one turn of the event loop, so that calls interleave as on a remote
 * store.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from '../../../src/caller/caller.ts'
import type { Collection, Engine, Table, Target } from '../../../src/engine/contract.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import type { SchemaPlan } from '../../../src/engine/schema-change.ts'
import { isEverything } from './memory-page.ts'
import { changeSchema, countsOf, schemaOf } from './memory-schema.ts'
import type { MemoryStore } from './memory-store.ts'

export function openMemoryEngine(store: MemoryStore): Engine {
  const running = new Set<Promise<unknown>>()
  const watchers = new Set<{ readonly listener: (name: string) => void }>()
  let isClosed = false

  const call = async <T>(act: () => T | Promise<T>, caller?: Caller): Promise<T> => {
    if (isClosed) throw new EngineError('closed', 'the engine is closed')
    const done = nextTurn().then(() => {
      caller?.check()
      return act()
    })
    running.add(done)
    return done.finally(() => running.delete(done))
  }
  const checkCurrent = (target: Target): void => {
    const { keyspace, name, uid } = target
    const current = store.keyspaces.get(keyspace)?.targets.get(name)
    if (current?.uid !== uid) throw new EngineError('gone', `${name} is gone`)
    if (current !== target) throw new EngineError('changed', `${name} has changed`)
  }
  const documentsOf = (collection: Collection) => {
    checkCurrent(collection)
    return store.documents.get(collection.uid)!
  }
  const rowsOf = (table: Table) => {
    checkCurrent(table)
    return store.rows.get(table.uid)!
  }
  const contentsOf = (target: Target) =>
    target.kind === 'table' ? rowsOf(target) : documentsOf(target)

  const engine: Engine = {
    as: () => engine,

    listKeyspaces: () => call(() => [...store.keyspaces.keys()]),
    createKeyspace: (name) => call(() => store.createKeyspace(name)),
    dropKeyspace: (name) => call(() => store.dropKeyspace(name)),

    async listTargets(keyspace) {
      return (await engine.readSchema(keyspace))?.targets
    },
    findTarget: (keyspace, name) =>
      call(() => store.keyspaces.get(keyspace)?.targets.get(name)),
    readSchema: (keyspace) =>
      call(() => {
        const found = store.keyspaces.get(keyspace)
        return found && schemaOf(found)
      }),
    changeSchema: (keyspace, plan) => call(() => planAndChange(store, keyspace, plan)),
    lockSchema: (keyspace, act, caller) =>
      call(() => {
        const checkedAct = () => {
          caller.check()
          return act()
        }
        return store.keyspaces.get(keyspace)?.turns.next(checkedAct) ?? act()
      }),

    read: (collection, query, caller) =>
      call(() => documentsOf(collection).read(query), caller),
    count: (collection, filter, stopAt, caller) =>
      call(() => {
        const { size } = documentsOf(collection)
        return isEverything(filter) ? Math.min(stopAt, size) : undefined
      }, caller),
    search: (collection, search, caller) =>
      call(() => documentsOf(collection).search(collection, search), caller),
    write: (collection, writes, { ordered, caller } = {}) =>
      call(() => {
        caller?.check()
        return documentsOf(collection).write(writes, ordered)
      }),

    readRows: (table, query, caller) =>
      call(() => rowsOf(table).read(table, query), caller),
    countRows: (table, filter, stopAt, caller) =>
      call(() => {
        const { size } = rowsOf(table)
        return isEverything(filter) ? Math.min(stopAt, size) : undefined
      }, caller),
    searchRows: (table, search, caller) =>
      call(() => rowsOf(table).search(table, search), caller),
    mergeRows: (table, merges, options) =>
      call(() => {
        options.caller?.check()
        return rowsOf(table).merge(table, merges, options)
      }),
    deleteRows: (table, conditions, caller) =>
      call(() => rowsOf(table).delete(table, conditions), caller),

    estimateCount: (target) => call(() => contentsOf(target).size),
    truncate: (target) => call(() => contentsOf(target).clear()),

    readSetting: (name) => call(() => store.settings.get(name)),
    writeSetting: (...given) => call(() => store.writeSetting(...given)),
    watchSettings(listener) {
      const watcher = { listener }
      watchers.add(watcher)
      store.watchers.add(watcher)
      return () => void store.watchers.delete(watcher)
    },

    async close() {
      isClosed = true
      await Promise.allSettled(running)
      for (const watcher of watchers) store.watchers.delete(watcher)
    },
  }
  return engine
}

/** Plans and executes a schema change. Plans again if another change was made after the plan. */
async function planAndChange(
  store: MemoryStore,
  keyspace: string,
  plan: SchemaPlan,
): Promise<boolean> {
  for (;;) {
    const found = store.keyspaces.get(keyspace)
    if (found === undefined) throw new EngineError('gone', `${keyspace} is gone`)
    const { schemaVersion } = store
    const change = plan(schemaOf(found), countsOf(store))
    if (change === undefined) return false
    await nextTurn()
    const isMade = await found.turns.next(() => {
      if (store.schemaVersion !== schemaVersion) return false
      changeSchema(store, keyspace, change)
      store.schemaVersion++
      return true
    })
    if (isMade) return true
  }
}
