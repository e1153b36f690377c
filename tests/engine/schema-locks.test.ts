/** Changes of schema in the embedded engine: who waits for whom. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ownCaller } from '../../src/caller.ts'
import { openEmbedded } from './embedded-store.ts'
import { anyRow, manyRows, onText, onWord, TableStore } from './table-store.ts'

async function create(context: TestContext) {
  const { engine } = await openEmbedded(context)
  return { engine, rows: await TableStore.create(engine) }
}

describe('a changed schema', () => {
  test('keeps nobody waiting who has nothing to change', async (context) => {
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

  test('waits for those who have locked it, and they for nobody', async (context) => {
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
    // The change is as far as it comes when others wait for it.
    const enough = new Error('enough')
    for (let waits = false; !waits;) {
      await setImmediate()
      const givenUp = new AbortController()
      const acted = () => Promise.resolve('acted')
      const late = engine.lockSchema('default_keyspace', acted, ownCaller(givenUp.signal))
      givenUp.abort(enough)
      waits = (await late.catch((error: unknown) => error)) === enough
    }
    const last = lock()
    open(undefined)
    for (const locked of first) assert.deepEqual(await locked, { count: 3, indexes: 0 })
    assert.deepEqual(await last, { count: 3, indexes: 1 })
    await change
  })
})
