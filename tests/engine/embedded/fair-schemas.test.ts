/** The order in which schema changes of several principals run. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller, type Caller } from '../../../src/caller/caller.ts'
import type { Engine } from '../../../src/engine/contract.ts'
import { openEmbedded } from './embedded-store.ts'
import { plainOptions } from '../store.ts'
import { manyRows, onText, onWord, TableStore } from '../table-store.ts'

function callerOf(principalName: string, signal?: AbortSignal): Caller {
  return { ...ownCaller(signal), principalName }
}

function create(engine: Engine, name: string, caller: Caller): Promise<boolean> {
  const plan = () => ({ kind: 'createCollection', name, options: plainOptions }) as const
  return engine.changeSchema('default_keyspace', plan, caller)
}

describe('changes of schemas', () => {
  test('do not wait until an index of another table is built', async (context) => {
    const { engine } = await openEmbedded(context)
    const rows = await TableStore.create(engine)
    await rows.put(manyRows(5000))
    const made: string[] = []
    const index = rows.addIndex(onText).then(() => made.push('index'))
    const created = create(engine, 'other', callerOf('other')).then(() =>
      made.push('collection'),
    )
    await Promise.all([index, created])
    assert.deepEqual(made, ['collection', 'index'])
  })

  test('take turns: one principal does not wait for all changes of another', async (context) => {
    const { engine } = await openEmbedded(context)
    const made: string[] = []
    const many = Array.from({ length: 10 }, (_, i) =>
      create(engine, `many${i}`, callerOf('many')).then(() => made.push('many')),
    )
    const other = create(engine, 'other', callerOf('other')).then(() => made.push('other'))
    await Promise.all([...many, other])
    assert(made.indexOf('other') <= 2, made.join(' '))
  })

  test('are dropped from the queue when their caller is aborted', async (context) => {
    const { engine } = await openEmbedded(context)
    const late = new AbortController()
    const first = create(engine, 'first', callerOf('many'))
    const second = create(engine, 'second', callerOf('many'))
    const third = create(engine, 'third', callerOf('many', late.signal))
    late.abort(new Error('the time is over'))
    await assert.rejects(third, /the time is over/)
    await Promise.all([first, second])
    const targets = (await engine.listTargets('default_keyspace'))!
    assert.deepEqual(targets.map(({ name }) => name).toSorted(), ['first', 'second'])
  })

  test('run one after the other when they affect the same table', async (context) => {
    const { engine } = await openEmbedded(context)
    const rows = await TableStore.create(engine)
    await rows.put(manyRows(3000))
    await Promise.all([rows.addIndex(onText), rows.addIndex(onWord)])
    const { definition } = await rows.table()
    assert.deepEqual(definition.indexes.map(({ name }) => name).toSorted(), [
      'on_text',
      'on_word',
    ])
  })

  test('do not recreate a table that is dropped while its index is built', async (context) => {
    const { engine } = await openEmbedded(context)
    const rows = await TableStore.create(engine)
    await rows.put(manyRows(3000))
    const { name } = await rows.table()
    const index = rows.addIndex(onText)
    const plan = () => ({ kind: 'dropTarget', name }) as const
    const dropped = engine.changeSchema('default_keyspace', plan, callerOf('other'))
    await Promise.all([index, dropped])
    assert.equal(await engine.findTarget('default_keyspace', name), undefined)
    assert.deepEqual(await engine.listTargets('default_keyspace'), [])
  })

  test('fail when their keyspace is dropped before they run', async (context) => {
    const { engine } = await openEmbedded(context)
    await engine.createKeyspace('short_lived')
    const plan = () =>
      ({ kind: 'createCollection', name: 'late', options: plainOptions }) as const
    const dropped = engine.dropKeyspace('short_lived', callerOf('one'))
    const created = engine.changeSchema('short_lived', plan, callerOf('other'))
    await assert.rejects(created, { kind: 'gone' })
    assert(await dropped)
    assert(!(await engine.listKeyspaces()).includes('short_lived'))
  })
})
