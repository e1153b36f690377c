/**
 * Wraps an engine so that it serves no filter, sort or search. It only returns pages of records,
 * and its caller does the rest of a query.
 */
import { around } from '../../src/engine/around.ts'
import type { Engine, Page } from '../../src/engine/contract.ts'
import { everything } from '../../src/language/filters/filter.ts'

export function servingNothing(engine: Engine): Engine {
  return around(engine, {
    as: (proceed, credentials) => servingNothing(proceed(credentials)),
    search: () => Promise.resolve(undefined),
    searchRows: () => Promise.resolve(undefined),

    read: async (proceed, collection, query, caller) =>
      unserved(
        await proceed(collection, { ...query, ...bare, filter: everything }, caller),
      ),

    readRows: async (proceed, table, query, caller) =>
      unserved(await proceed(table, { ...query, ...bare, filter: anyRow }, caller)),

    async count(proceed, collection, _filter, _stopAt, caller) {
      // Calls the engine only so that closed engines and dropped targets are rejected.
      await proceed(collection, everything, 1, caller)
      return undefined
    },

    async countRows(proceed, table, _filter, _stopAt, caller) {
      await proceed(table, anyRow, 1, caller)
      return undefined
    },
  })
}

const anyRow = { kind: 'and', of: [] } as const

const bare = { sort: [], skip: 0, lookAhead: true, textsOnly: false } as const

function unserved<Item>(page: Page<Item>): Page<Item> {
  return {
    records: page.records,
    served: { filter: false, sort: false },
    next: page.next,
    positionAfter: (record) => page.positionAfter(record),
  }
}
