/** The same engine, leaving all of a query to the layer above but the walk through records. */
import type { Engine } from '../../src/engine/contract.ts'
import { everything } from '../../src/language/filters/filter.ts'

export function servingNothing(engine: Engine): Engine {
  return {
    as: (credentials) => servingNothing(engine.as(credentials)),
    listKeyspaces: () => engine.listKeyspaces(),
    createKeyspace: (name, options) => engine.createKeyspace(name, options),
    dropKeyspace: (name) => engine.dropKeyspace(name),
    listTargets: (keyspace) => engine.listTargets(keyspace),
    findTarget: (keyspace, name) => engine.findTarget(keyspace, name),
    readSchema: (keyspace) => engine.readSchema(keyspace),
    changeSchema: (keyspace, plan) => engine.changeSchema(keyspace, plan),
    lockSchema: (keyspace, act, caller) => engine.lockSchema(keyspace, act, caller),

    search: () => Promise.resolve(undefined),

    async read(target, query, caller) {
      const bare = {
        ...query,
        filter: everything,
        sort: [],
        skip: 0,
        lookAhead: true,
        textsOnly: false,
      }
      const page = await engine.read(target, bare, caller)
      return {
        records: page.records,
        served: { filter: false, sort: false },
        next: page.next,
        positionAfter: (record) => page.positionAfter(record),
      }
    },

    async count(target, _filter, _stopAt, caller) {
      // Asked all the same, so that what is closed or gone is refused.
      await engine.count(target, everything, 1, caller)
      return undefined
    },

    estimateCount: (target) => engine.estimateCount(target),
    write: (target, writes, options) => engine.write(target, writes, options),
    truncate: (target) => engine.truncate(target),
    readSetting: (name) => engine.readSetting(name),
    writeSetting: (name, value, expected) => engine.writeSetting(name, value, expected),
    watchSettings: (listener) => engine.watchSettings(listener),
    close: () => engine.close(),
  }
}
