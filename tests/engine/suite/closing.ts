/** The data that remains when an engine is closed, and the errors of a closed engine. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { by, createCollection, dropTarget, Store, where } from '../store.ts'
import { assertFails } from './fails.ts'
import { countTargets } from './count-targets.ts'
import { fill } from './many-documents.ts'
import { RunningEngine, type World } from './world.ts'

export function describeClosing(name: string, world: World): void {
  describe(`${name}: closing`, () => {
    const running = new RunningEngine(world)
    let made = 0
    const newStore = () => Store.create(running.engine, `store${made++}`)

    test('keeps all data for the next start', async () => {
      const store = await newStore()
      await fill(store, 50)
      await store.delete(await store.one(3))
      await store.replace(await store.one(4), { _id: 4, group: 'other' })
      await running.engine.createKeyspace('kept')
      const texts = (await store.find({ sort: by('n') })).map(({ text }) => text)
      const targets = await countTargets(running.engine)

      await running.reopen()
      const again = await Store.find(running.engine, store.target.name)
      assert.deepEqual(again.target, store.target)
      assert.deepEqual(
        (await again.find({ sort: by('n') })).map(({ text }) => text),
        texts,
      )
      assert.equal(await running.engine.estimateCount(again.target), 49)
      assert.equal(await countTargets(running.engine), targets)
      assert((await running.engine.listKeyspaces()).includes('kept'))
      assert.equal(await again.count(where('group', 'eq', 'other')), 1)
      assert.equal(await again.delete(await again.one(4)), 'done')
      await again.insert([{ _id: 'new' }])
      assert.equal(await running.engine.estimateCount(again.target), 49)
    })

    test('completes running calls', async () => {
      const store = await newStore()
      const started = Array.from({ length: 20 }, (_, i) => store.insert([{ _id: i }]))
      const made = createCollection(running.engine, 'in_time')
      const old = await newStore()
      const dropped = dropTarget(running.engine, old.target)
      await running.reopen()
      for (const outcomes of await Promise.all(started))
        assert.deepEqual(outcomes, ['done'])
      await made
      await dropped
      assert.equal(await (await Store.find(running.engine, store.target.name)).count(), 20)
      await Store.find(running.engine, 'in_time')
      assert.equal(
        await running.engine.findTarget('default_keyspace', old.target.name),
        undefined,
      )
    })

    test('rejects later calls', async () => {
      const store = await newStore()
      const closed = running.engine
      await running.reopen()
      const { target } = store
      await assertFails('closed', closed.listKeyspaces())
      await assertFails('closed', closed.createKeyspace('late'))
      await assertFails('closed', closed.dropKeyspace('nowhere'))
      await assertFails('closed', closed.listTargets('default_keyspace'))
      await assertFails('closed', closed.findTarget('default_keyspace', target.name))
      await assertFails('closed', closed.readSchema('default_keyspace'))
      await assertFails('closed', createCollection(closed, 'late'))
      await assertFails('closed', dropTarget(closed, target))
      await assertFails(
        'closed',
        closed.changeSchema('nowhere', () => undefined),
      )
      await assertFails('closed', store.page({}, 1))
      await assertFails('closed', store.count())
      await assertFails('closed', closed.estimateCount(target))
      await assertFails('closed', store.insert([{ _id: 1 }]))
      await assertFails('closed', closed.truncate(target))
      await assertFails('closed', closed.readSetting('greeting'))
      await assertFails('closed', closed.writeSetting('greeting', 'late', undefined))
      await closed.close()
    })
  })
}
