/** Requests that run during a schema change, while its files are created or removed. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ownCaller, type Caller } from '../../../src/caller/caller.ts'
import type { Collection, Engine } from '../../../src/engine/contract.ts'
import { openEmbeddedEngine } from '../../../src/engine/embedded/engine.ts'
import { readMirror } from '../../../src/engine/embedded/catalog/catalog-mirror.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import { temporaryFolder } from '../../harness.ts'
import { openEmbedded } from './embedded-store.ts'
import { createCollection, dropTarget, plainOptions, Store } from '../store.ts'

const keyspace = 'default_keyspace'

async function fill(engine: Engine, name: string, documents: number): Promise<Collection> {
  assert(await createCollection(engine, name))
  const target = (await engine.findTarget(keyspace, name)) as Collection
  const store = new Store(engine, target)
  await store.insert(Array.from({ length: documents }, (_, _id) => ({ _id })))
  return target
}

function create(engine: Engine, name: string, caller: Caller = ownCaller()) {
  return engine.changeSchema(
    keyspace,
    ({ targets }) =>
      targets.some((target) => target.name === name)
        ? undefined
        : { kind: 'createCollection', name, options: plainOptions },
    caller,
  )
}

describe('requests during a schema change', () => {
  test('see a dropped collection whole or not at all', async (context) => {
    const { engine } = await openEmbedded(context)
    const target = await fill(engine, 'books', 20)
    const dropped = dropTarget(engine, target)
    for (;;) {
      const counted = await Promise.resolve(engine.estimateCount(target)).catch(
        (error: unknown) => error,
      )
      if (counted === 20) continue
      assert(counted instanceof EngineError && counted.kind === 'gone', String(counted))
      break
    }
    assert(await dropped)
  })

  test('create one keyspace when several requests for its name arrive at once', async (context) => {
    const { engine } = await openEmbedded(context)
    const made = await Promise.all([1, 2, 3].map(() => engine.createKeyspace('twice')))
    assert.deepEqual(made.toSorted(), [false, false, true])
    assert(await engine.dropKeyspace('twice'))
  })

  test('create one collection when several requests for its name arrive at once', async (context) => {
    const { engine } = await openEmbedded(context)
    const made = await Promise.all([1, 2, 3].map(() => create(engine, 'twice')))
    assert.deepEqual(made.toSorted(), [false, false, true])
  })

  test('create a collection while an earlier one with its name is removed', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    const target = await fill(engine, 'books', 20)
    const dropped = dropTarget(engine, target)
    while ((await engine.findTarget(keyspace, 'books')) !== undefined) await setImmediate()
    const anew = await fill(engine, 'books', 3)
    assert(await dropped)
    assert.equal(await engine.estimateCount(anew), 3)
    await engine.close()
    const again = await openEmbeddedEngine({
      dataDir,
      durable: false,
      log: () => undefined,
    })
    const found = (await again.findTarget(keyspace, 'books'))!
    assert.equal(await again.estimateCount(found), 3)
    await again.close()
  })

  test('complete before the engine closes', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    const target = await fill(engine, 'books', 20)
    const changes = [
      create(engine, 'films'),
      dropTarget(engine, target),
      engine.createKeyspace('second'),
      engine.writeSetting('one', 'value', undefined),
    ]
    await setImmediate()
    await engine.close()
    await Promise.all(changes)
    const again = await openEmbeddedEngine({
      dataDir,
      durable: false,
      log: () => undefined,
    })
    const names = (await again.listTargets(keyspace))!.map(({ name }) => name)
    assert.deepEqual(names, ['films'])
    assert.deepEqual((await again.listKeyspaces()).toSorted(), [keyspace, 'second'])
    assert.equal((await again.readSetting('one'))?.value, 'value')
    await again.close()
  })

  test('complete a drop that has started, even if its caller is aborted', async (context) => {
    const { engine, fileOf } = await openEmbedded(context)
    await fill(engine, 'books', 20)
    const late = new AbortController()
    const plan = () => ({ kind: 'dropTarget', name: 'books' }) as const
    const dropped = engine.changeSchema(keyspace, plan, ownCaller(late.signal))
    while ((await engine.findTarget(keyspace, 'books')) !== undefined) await setImmediate()
    late.abort(new Error('the time is over'))
    assert(await dropped)
    assert(!existsSync(dirname(fileOf('books'))))
  })

  test('write settings with atomic compare-and-set', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    let count = 0
    const raise = async (): Promise<void> => {
      for (;;) {
        const before = await engine.readSetting('count')
        const value = String(Number(before?.value ?? 0) + 1)
        const written = await engine.writeSetting('count', value, before?.version)
        if (written !== undefined) return
      }
    }
    const changes = Array.from({ length: 10 }, async (_, i) => {
      await create(engine, `films${i}`)
      await raise()
      count++
    })
    await Promise.all([...changes, raise(), raise()])
    assert.equal((await engine.readSetting('count'))?.value, String(count + 2))
    await engine.close()
    const mirror = readMirror(dataDir)
    assert(typeof mirror === 'object')
    assert.deepEqual(
      mirror.content.setting.map(({ name, value }) => [name, value]),
      [['count', '12']],
    )
    const again = await openEmbeddedEngine({
      dataDir,
      durable: false,
      log: () => undefined,
    })
    assert.equal((await again.listTargets(keyspace))!.length, 10)
    await again.close()
  })

  test('open a store with a write-ahead log that a crash left', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    const target = await fill(engine, 'books', 200)
    const copy = await temporaryFolder()
    await cp(dataDir, copy, { recursive: true })
    assert.equal(await engine.estimateCount(target), 200)
    const again = await openEmbeddedEngine({
      ...{ dataDir: copy, durable: false, log: () => undefined },
    })
    const found = (await again.findTarget(keyspace, 'books')) as Collection
    const counting = Array.from({ length: 5 }, () => again.estimateCount(found))
    assert.deepEqual(new Set(await Promise.all(counting)), new Set([200]))
    const dropped = dropTarget(again, found)
    const late = again.estimateCount(found).catch((error: unknown) => error)
    assert(await dropped)
    const ended = await late
    assert(ended === 200 || (ended instanceof EngineError && ended.kind === 'gone'))
    await again.close()
    await rm(copy, { recursive: true })
  })
})
