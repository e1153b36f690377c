/**
 * Wraps an engine and asserts the contract on both sides: the caller's arguments and the engine's
 * answers. For tests and development only, since it parses every record.
 *
 * A failed assertion is a bug in our code. It names the call and the broken promise.
 */
import assert from 'node:assert/strict'
import {
  assertCount,
  assertDistinct,
  assertHits,
  assertOutcomes,
  assertPage,
  assertQuery,
  assertSearch,
  assertStatistics,
  assertWrite,
  isPosition,
} from './checked-documents.ts'
import { checkedOperations, type Ask } from './checked-operations.ts'
import { checkedPlan } from './checked-plan.ts'
import {
  assertFoundRows,
  assertKeyConditions,
  assertMerge,
  assertMerged,
  assertRowPage,
  assertRowQuery,
  checkedRow,
  knownOfPage,
} from './checked-rows.ts'
import type {
  Engine,
  Page,
  Row,
  RowSearch,
  RowSearchResult,
  Table,
  Target,
} from '../../../src/engine/contract.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import { documentView } from '../../../src/engine/record-view.ts'

export function checked(engine: Engine): Engine {
  let closed = false

  const ask: Ask = async <T>(name: string, call: () => T | Promise<T>): Promise<T> => {
    // `closed` is read before the call, because a call that started before `close` may be
    // answered after it.
    const refused = closed
    let answer: T | Promise<T>
    try {
      answer = call()
    } catch (error) {
      throw broken(name, 'threw at once instead of returning a promise', error)
    }
    if (!refused) return answer
    const refusal: unknown = await Promise.resolve(answer).then(
      () => undefined,
      (error: unknown) => error,
    )
    assert(isClosed(refusal), `${name}: must be refused as 'closed' after close`)
    throw refusal
  }

  const counted = async (stopAt: number, call: () => Promise<number | undefined>) => {
    assert(Number.isSafeInteger(stopAt) && stopAt >= 1, 'count: stopAt must be 1 or more')
    const count = await ask('count', call)
    if (count === undefined) return undefined
    assertCount('count', count)
    assert(count <= stopAt, `count: ${count} is beyond stopAt, which is ${stopAt}`)
    return count
  }

  const front: Engine = {
    as(credentials) {
      const acting = engine.as(credentials)
      return acting === engine ? front : checked(acting)
    },

    ...(engine.knowsAccount && {
      knowsAccount: (account) => ask('knowsAccount', () => engine.knowsAccount!(account)),
    }),

    async listKeyspaces() {
      const names = await ask('listKeyspaces', () => engine.listKeyspaces())
      assertDistinct('listKeyspaces', names)
      return names
    },

    createKeyspace: (name, options, caller) =>
      ask('createKeyspace', () => engine.createKeyspace(name, options, caller)),

    dropKeyspace: (name, caller) =>
      ask('dropKeyspace', () => engine.dropKeyspace(name, caller)),

    async listTargets(keyspace) {
      const targets = await ask('listTargets', () => engine.listTargets(keyspace))
      for (const target of targets ?? [])
        assert.equal(target.keyspace, keyspace, 'listTargets: a target of another keyspace')
      assertDistinct('listTargets', targets?.map(({ name }) => name) ?? [])
      return targets
    },

    async findTarget(keyspace, name) {
      const target = await ask('findTarget', () => engine.findTarget(keyspace, name))
      if (target !== undefined) assertNamed('findTarget', target, keyspace, name)
      return target
    },

    readSchema: (keyspace) => ask('readSchema', () => engine.readSchema(keyspace)),

    changeSchema: (keyspace, plan, caller) =>
      ask('changeSchema', () => engine.changeSchema(keyspace, checkedPlan(plan), caller)),

    lockSchema: (keyspace, act, caller) =>
      ask('lockSchema', () => engine.lockSchema(keyspace, act, caller)),

    async read(collection, query, caller) {
      assertQuery(query)
      const page = await ask('read', () => engine.read(collection, query, caller))
      assertPage(page, query, collection)
      return withCheckedPositions(page)
    },

    async readRows(table, query, caller) {
      assertRowQuery(query, table)
      const page = await ask('readRows', () => engine.readRows(table, query, caller))
      assertRowPage(page, query, table)
      const known = knownOfPage(page, query)
      return withCheckedPositions(page, (row) => checkedRow(row, known, table))
    },

    count: (collection, filter, stopAt, caller) =>
      counted(stopAt, () => engine.count(collection, filter, stopAt, caller)),

    countRows: (table, filter, stopAt, caller) =>
      counted(stopAt, () => engine.countRows(table, filter, stopAt, caller)),

    async search(collection, search, caller) {
      assertSearch(search)
      const found = await ask('search', () => engine.search(collection, search, caller))
      if (found !== undefined) {
        assertStatistics(found, search)
        assertHits(found.hits, search, collection)
      }
      return found
    },

    async searchRows(table, search, caller) {
      assertSearch(search)
      const found = await ask('searchRows', () => engine.searchRows(table, search, caller))
      if (found !== undefined) {
        assertStatistics(found, search)
        assertFoundRows(found, search, table)
      }
      return found && withCheckedRows(found, search, table)
    },

    async mergeRows(table, merges, options) {
      for (const merge of merges) assertMerge(merge, table)
      const outcomes = await ask('mergeRows', () =>
        engine.mergeRows(table, merges, options),
      )
      assertMerged(outcomes, merges, options.ordered ?? false)
      return outcomes
    },

    deleteRows(table, conditions, caller) {
      assertKeyConditions(conditions, table)
      return ask('deleteRows', () => engine.deleteRows(table, conditions, caller))
    },

    async estimateCount(target) {
      const count = await ask('estimateCount', () => engine.estimateCount(target))
      assertCount('estimateCount', count)
      return count
    },

    async write(collection, writes, options = {}) {
      const view = documentView(collection.options)
      for (const write of writes) assertWrite(write, view)
      const outcomes = await ask('write', () => engine.write(collection, writes, options))
      assertOutcomes(outcomes, writes, options.ordered ?? false)
      return outcomes
    },

    truncate: (target, caller) => ask('truncate', () => engine.truncate(target, caller)),

    async readSetting(name) {
      const setting = await ask('readSetting', () => engine.readSetting(name))
      if (setting !== undefined) assertVersion('readSetting', setting.version)
      return setting
    },

    async writeSetting(name, value, expected) {
      if (expected !== undefined) assertVersion('writeSetting', expected)
      const version = await ask('writeSetting', () =>
        engine.writeSetting(name, value, expected),
      )
      if (version !== undefined) assertVersion('writeSetting', version)
      return version
    },

    watchSettings(listener) {
      let stopped = false
      const stop = engine.watchSettings((name) => {
        assert(!stopped, 'watchSettings: called after it was stopped')
        listener(name)
      })
      return () => {
        stopped = true
        stop()
      }
    },

    ...(engine.health !== undefined && {
      async health() {
        const problem = await engine.health!()
        assert(problem !== '', 'health: a problem must not be empty')
        return problem
      },
    }),

    ...(engine.unsupportedFeatures !== undefined && {
      unsupportedFeatures: (keyspace, schema) =>
        engine.unsupportedFeatures!(keyspace, schema),
    }),
    ...(engine.traffic !== undefined && { traffic: () => engine.traffic!() }),
    ...(engine.operations !== undefined && {
      operations: checkedOperations(engine.operations, ask),
    }),

    async close() {
      closed = true
      await engine.close()
    },
  }
  return front
}

function assertVersion(call: string, version: string): void {
  assert(
    typeof version === 'string' && version !== '',
    `${call}: a setting's version is not distinct: ${version}`,
  )
}

/**
 * Wraps a page, so that `positionAfter` accepts only its own records and returns valid positions.
 * `around` wraps each record.
 */
function withCheckedPositions<Item>(
  page: Page<Item>,
  around: (record: Item) => Item = (record) => record,
): Page<Item> {
  const originals = new Map(page.records.map((record) => [around(record), record]))
  return {
    records: [...originals.keys()],
    joined: page.joined,
    served: page.served,
    next: page.next,
    ...(page.lacksIndex && { lacksIndex: true }),
    positionAfter(record) {
      const original = originals.get(record)
      assert(original !== undefined, 'positionAfter: the record is not of this page')
      const position = page.positionAfter(original)
      assert(isPosition(position), 'positionAfter: a position must be a text')
      return position
    },
  }
}

function withCheckedRows(
  { hits, ...result }: RowSearchResult,
  { columns, needed = [] }: RowSearch,
  table: Table,
): RowSearchResult {
  const around = (row: Row) => checkedRow(row, [...columns, ...needed], table)
  return {
    ...result,
    hits: hits.map(({ record, score }) => ({ record: around(record), score })),
  }
}

function assertNamed(call: string, target: Target, keyspace: string, name: string): void {
  assert(
    target.keyspace === keyspace && target.name === name,
    `${call}: asked for ${keyspace}.${name}, got ${target.keyspace}.${target.name}`,
  )
}

function isClosed(error: unknown): boolean {
  return error instanceof EngineError && error.kind === 'closed'
}

function broken(call: string, how: string, cause: unknown): Error {
  return new assert.AssertionError({ message: `${call}: ${how}: ${String(cause)}` })
}
