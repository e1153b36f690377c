/** The order in which schema changes and holders of schema locks run on the embedded engine. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ownCaller } from '../../../src/caller/caller.ts'
import { openEmbedded } from './embedded-store.ts'
import type { Engine } from '../../../src/engine/contract.ts'
import {
  anyRow,
  is,
  manyRows,
  onText,
  onVector,
  onWord,
  TableStore,
} from '../table-store.ts'

async function create(context: TestContext) {
  const { engine } = await openEmbedded(context)
  return { engine, rows: await TableStore.create(engine) }
}

/**
 * Resolves when a schema change waits for holders of the schema lock. From then on, a new request
 * for the lock waits too, so it ends only when it is aborted.
 */
async function untilItWaits(engine: Engine): Promise<void> {
  const enough = new Error('enough')
  for (let waits = false; !waits;) {
    await setImmediate()
    const givenUp = new AbortController()
    const acted = () => Promise.resolve('acted')
    const late = engine.lockSchema('default_keyspace', acted, ownCaller(givenUp.signal))
    givenUp.abort(enough)
    waits = (await late.catch((error: unknown) => error)) === enough
  }
}

/** Schema objects to drop, each with a read that uses the object to find a row. */
const drops: readonly (readonly [
  what: string,
  change: (rows: TableStore) => Promise<void>,
  find: (rows: TableStore) => Promise<string[]>,
])[] = [
  ['an index', (rows) => rows.dropIndex('on_word'), (rows) => rows.find(is('word', 'new'))],
  [
    'an index of texts',
    (rows) => rows.dropIndex('on_text'),
    (rows) => rows.searchText('new'),
  ],
  [
    'an index of vectors',
    (rows) => rows.dropIndex('on_v'),
    (rows) => rows.searchVector([100, 100], anyRow, 1),
  ],
  [
    'a column',
    (rows) => rows.change({ kind: 'dropColumns', table: 'rows', names: ['notes'] }),
    async (rows) =>
      JSON.stringify(await rows.rows()).includes('a new note') ? ['new 1'] : [],
  ],
]

describe('a change of a schema', () => {
  test('does not delay changes whose plan changes nothing', async (context) => {
    const { rows, engine } = await create(context)
    await rows.put(manyRows(5000))
    const made: string[] = []
    const index = rows.addIndex(onText).then(() => made.push('index'))
    const none = engine
      .changeSchema('default_keyspace', () => undefined)
      .then(() => made.push('nothing'))
    const refused = engine
      .changeSchema('default_keyspace', () => {
        throw new Error('not like that')
      })
      .catch(() => made.push('refusal'))
    await Promise.all([index, none, refused])
    assert.equal(made.at(-1), 'index')
  })

  test('waits for earlier holders of its lock, which see no change', async (context) => {
    const { rows, engine } = await create(context)
    await rows.put(manyRows(3))
    const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
    const lock = (wait?: Promise<undefined>) => {
      const tester = ownCaller()
      const act = async () => {
        const table = await rows.table()
        await wait
        const count = await engine.countRows(table, anyRow, 100, tester)
        return { count, indexes: table.definition.indexes.length }
      }
      return engine.lockSchema('default_keyspace', act, tester)
    }
    const first = [lock(gate), lock(gate)]
    const change = rows.addIndex(onWord)
    await untilItWaits(engine)
    const last = lock()
    open(undefined)
    for (const locked of first) assert.deepEqual(await locked, { count: 3, indexes: 0 })
    assert.deepEqual(await last, { count: 3, indexes: 1 })
    await change
  })

  for (const [what, drop, find] of drops)
    test(`that drops ${what} maintains it for reads until the drop gets its lock`, async (context) => {
      const { rows, engine } = await create(context)
      await rows.put(manyRows(20))
      for (const index of [onWord, onText, onVector]) await rows.addIndex(index)
      const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
      const locked = engine.lockSchema('default_keyspace', () => gate, ownCaller())
      const dropped = drop(rows)
      try {
        await untilItWaits(engine)
        const row = { word: 'new', text: 'a new row', v: [100, 100] }
        await rows.put([{ p: 'new', c: 1, ...row, notes: { a: 'a new note' } }])
        assert.deepEqual(await find(rows), ['new 1'])
      } finally {
        open(undefined)
        await Promise.all([locked, dropped])
      }
      assert.equal((await rows.find()).length, 21)
    })
})
