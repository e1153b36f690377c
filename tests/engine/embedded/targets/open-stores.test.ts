/** Uses more stores than may be open at once. Evictions must be visible only in statistics. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { checkDataFolder } from '../backup/check-data-folder.ts'
import { identify } from '../../../../src/engine/embedded/files/file-identity.ts'
import { KnownFiles } from '../../../../src/engine/embedded/files/known-files.ts'
import { OpenStores } from '../../../../src/engine/embedded/targets/open-stores.ts'
import {
  readerCache,
  SharedCache,
} from '../../../../src/engine/embedded/store/shared-cache.ts'
import type { Engine } from '../../../../src/engine/contract.ts'
import type { Collection } from '../../../../src/engine/schema.ts'
import { openEmbedded } from '../embedded-store.ts'
import { dropTarget, Store } from '../../store.ts'
import { VectorWorld } from '../../vector-world.ts'

/** Waits until at most `atMost` stores are open, and returns the number of open stores. */
async function openIn(engine: Engine, atMost: number): Promise<number> {
  for (;;) {
    const { openStores } = await engine.operations!.statistics()
    if (openStores <= atMost) return openStores
  }
}

function numbered<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

describe('stores', () => {
  test('are evicted when too many are open, and opened again', async (context) => {
    const { engine } = await openEmbedded(context, { openStoresMax: 3 })
    const stores = await Promise.all(numbered(12, (n) => Store.create(engine, `c${n}`)))
    for (const round of [1, 2, 3]) {
      await Promise.all(stores.map((store, n) => store.insert([{ _id: round, n }])))
      const found = await Promise.all(stores.map((store) => store.find()))
      assert.deepEqual(
        found.map((records) => records.map(({ id }) => id)),
        stores.map(() => numbered(round, (n) => n + 1)),
      )
      assert.equal(await openIn(engine, 3), 3)
    }
  })

  test('stay open if they were used recently', async (context) => {
    const { engine, fileOf } = await openEmbedded(context, { openStoresMax: 2 })
    const [a, b, c] = await Promise.all(
      ['a', 'b', 'c'].map((name) => Store.create(engine, name)),
    )
    for (const store of [a!, b!, a!, c!]) {
      await store.insert([{ _id: randomUUID() }])
      await openIn(engine, 2)
    }
    // The last connection that closes a file removes its write-ahead log. So a store without a log
    // was evicted.
    const hasLog = (name: string) => existsSync(`${fileOf(name)}-wal`)
    while (hasLog('b')) await openIn(engine, 2)
    assert.deepEqual(['a', 'b', 'c'].filter(hasLog), ['a', 'c'])
  })

  test('have a recall of at least 0.95 in vector searches after they were evicted and opened again', async (context) => {
    const { engine, dataDir } = await openEmbedded(context, { openStoresMax: 2 })
    const worlds = await Promise.all(
      numbered(6, (n) => VectorWorld.create(engine, { name: `v${n}`, seed: n + 1 })),
    )
    // Two stores are large enough to save their vector index when they are evicted.
    await Promise.all(worlds.map((world, n) => world.insert(n < 2 ? 1_500 : 40)))
    const work = async (world: VectorWorld) => {
      for (let step = 0; step < 25; step++) {
        const chance = world.random()
        if (chance < 0.3) await world.insert(3)
        else if (chance < 0.5) await world.replace(world.anyId(), world.vector())
        else if (chance < 0.6) await world.remove(world.anyId())
        else if (world.held.size < 200) await world.assertExact(5, undefined, 1)
        else assert((await world.recall(undefined, 2)) > 0.5)
      }
    }
    await Promise.all(worlds.map(work))
    assert.equal(await openIn(engine, 2), 2)
    for (const world of worlds) assert((await world.recall()) >= 0.95)
    await engine.close()
    assert.deepEqual(checkDataFolder(dataDir), [])
  })

  test('can be dropped during their eviction', async (context) => {
    const { engine } = await openEmbedded(context, { openStoresMax: 1 })
    for (const round of [1, 2, 3]) {
      const worlds = await Promise.all(
        numbered(5, (n) => VectorWorld.create(engine, { name: `v${n}`, seed: round })),
      )
      await Promise.all(worlds.map((world) => world.insert(1_100)))
      await Promise.all([
        ...worlds.map(({ target }) => dropTarget(engine, target)),
        Store.create(engine, `other${round}`),
      ])
      assert.deepEqual(
        (await engine.listTargets('default_keyspace'))!.map(({ name }) => name).toSorted(),
        numbered(round, (n) => `other${n + 1}`),
      )
    }
  })
})

describe('stores that are opened while others are evicted', () => {
  test('are evicted as well, even if no further store is requested', async (context) => {
    const names = ['a', 'b', 'c', 'd']
    const { engine, fileOf } = await openEmbedded(context)
    await Promise.all(names.map((name) => Store.create(engine, name)))
    const targets = await engine.listTargets('default_keyspace')
    const leaving: (() => void)[] = []
    const stores = new OpenStores({
      max: 1,
      files: new KnownFiles(identify(fileOf('a'))),
      mayRelease: () => true,
      release: () => new Promise((resolve) => leaving.push(resolve)),
    })
    context.after(() => stores.closeAll())
    const open = (target: Collection) => stores.open(target, fileOf(target.name), 'read')
    const [a, b, c, d] = targets as [Collection, Collection, Collection, Collection]
    open(a)
    open(b)
    await setImmediate()
    assert.equal(leaving.length, 1)
    open(c)
    await stores.keeping(open(d), () => setImmediate())
    assert.equal(stores.size, 3)
    leaving[0]!()
    await stores.released()
    await setImmediate()
    assert.equal(leaving.length, 3)
    assert.equal(stores.size, 1)
    assert(stores.use(d))
    for (const left of leaving) left()
    await stores.released()
  })
})

describe('the page cache', () => {
  test('is shared by all open stores', () => {
    const cache = new SharedCache(readerCache)
    const shares = new Map<object, number>()
    const add = () => {
      const one = { setCache: (kilobytes: number) => void shares.set(one, kilobytes) }
      cache.add(one)
      return one
    }
    const ones = numbered(100, add)
    const sum = [...shares.values()].reduce((total, share) => total + share, 0)
    assert.equal(shares.size, 100)
    assert(sum <= readerCache.all && sum > readerCache.all / 4)
    for (const one of ones.slice(1)) {
      shares.delete(one)
      cache.remove(one)
    }
    assert.deepEqual([...shares.values()], [readerCache.eachMax])
  })

  test('gives each store at least its minimum', () => {
    const cache = new SharedCache({ all: 100, eachMax: 50, eachMin: 10 })
    const shares: number[] = []
    for (let n = 0; n < 40; n++)
      cache.add({ setCache: (kilobytes) => void (shares[n] = kilobytes) })
    assert.deepEqual(new Set(shares), new Set([10]))
  })
})
