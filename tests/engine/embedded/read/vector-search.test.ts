import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { checked } from '../../contract/checked.ts'
import { openEmbeddedEngine } from '../../../../src/engine/embedded/engine.ts'
import type { Engine } from '../../../../src/engine/contract.ts'
import { openEmbedded } from '../embedded-store.ts'
import { among, where } from '../../store.ts'
import { VectorWorld } from '../../vector-world.ts'

const seed = Number(process.env['SEED'] ?? 815)
const floor = 0.95

describe(`a search by vector in the embedded engine (seed ${seed})`, () => {
  for (const metric of ['cosine', 'dot_product', 'euclidean'] as const)
    test(`is exact among up to 1 000 documents, with the metric ${metric}`, async (t) => {
      const { engine } = await openEmbedded(t)
      const world = await VectorWorld.create(engine, { metric, seed })
      assert.deepEqual(await world.search(world.vector()), [])
      await world.insert(1000)
      await world.assertExact(10)
      await world.assertExact(1)
      await world.assertExact(1000)
      await world.assertExact(10, where('even', 'eq', true))
      await world.assertExact(10, where('thousandth', 'eq', 7))
      await world.assertExact(10, where('thousandth', 'eq', 'none'))
    })

  test('sees every acknowledged write', async (t) => {
    const { engine } = await openEmbedded(t)
    const world = await VectorWorld.create(engine, { seed })
    await world.insert(50)
    for (let i = 0; i < 60; i++) {
      const roll = world.random()
      if (roll < 0.3) await world.insert(1)
      else if (roll < 0.5) await world.remove(world.anyId())
      else if (roll < 0.8) await world.replace(world.anyId(), world.vector())
      else if (roll < 0.9) await world.replace(world.anyId(), undefined)
      else await world.replace(world.anyId(), world.held.get(world.anyId())!.vector, i)
      await world.assertExact(10, undefined, 1)
    }
    await engine.truncate(world.target)
    world.held.clear()
    await world.assertExact()
    await world.insert(20)
    await world.assertExact()
  })

  test('returns every match when fewer documents match than requested', async (t) => {
    const { engine } = await openEmbedded(t)
    const world = await VectorWorld.create(engine, {
      seed,
      dimension: 3,
      metric: 'dot_product',
    })
    // There are few distinct vectors, of different lengths, so the graph is not connected.
    const step = () => Math.floor(world.random() * 9) / 2 - 2
    const vector = () => Float32Array.of(step(), step(), step())
    await world.insert(2000, vector)
    const numbers = Array.from({ length: 100 }, (_, i) => i)
    // The indexer thread adds links in the background. So the test repeats the searches, while the
    // graph changes.
    for (let sweep = 0; sweep < 3; sweep++)
      for (const wanted of numbers) {
        // No index lists the matches of this filter, so the search walks the graph.
        const others = numbers.filter((number) => number !== wanted)
        const filter = among('hundredth', 'nin', others)
        const hits = await world.search(vector(), 1000, filter)
        assert.equal(hits.length, 20)
      }
  })

  test('has a recall of at least 0.95 among 6 000 documents, with and without filters, and after many changes', async (t) => {
    const { engine } = await openEmbedded(t)
    const world = await VectorWorld.create(engine, { seed, dimension: 24 })
    await world.insert(6_000)
    const filters = [
      undefined,
      where('even', 'eq', true),
      where('tenth', 'eq', true),
      where('hundredth', 'eq', 3),
      where('thousandth', 'eq', 3),
      where('tenth', 'ne', true),
      where('thousandth', 'lt', 400),
      where('nowhere', 'eq', 1),
    ]
    for (const filter of filters) {
      const recall = await world.recall(filter)
      assert(recall >= floor, `recall ${recall} with ${JSON.stringify(filter)}`)
    }
    for (let i = 0; i < 1500; i++) await world.remove(world.anyId())
    await world.insert(1500)
    for (const filter of filters) {
      const recall = await world.recall(filter)
      assert(recall >= floor, `recall ${recall} after churn, ${JSON.stringify(filter)}`)
    }
  })
})

describe('a vector index that is opened again', () => {
  interface Folder {
    readonly dataDir: string
    readonly logged: string[]
    open(): Promise<Engine>
    snapshot(): string
  }

  function folderFor(context: TestContext): Folder {
    const dataDir = mkdtempSync(join(tmpdir(), 'stela-vectors-'))
    const engines: Engine[] = []
    context.after(async () => {
      for (const engine of engines) await engine.close()
      rmSync(dataDir, { recursive: true })
    })
    const logged: string[] = []
    return {
      dataDir,
      logged,
      async open() {
        const log = (_level: string, message: string): void => void logged.push(message)
        const engine = checked(await openEmbeddedEngine({ dataDir, durable: false, log }))
        engines.push(engine)
        return engine
      },
      snapshot: () => join(dataDir, 'default_keyspace', 'vectors', 'vectors'),
    }
  }

  /** Inserts documents, closes the collection with a snapshot, and returns the expected content. */
  async function saved(folder: Folder): Promise<VectorWorld> {
    const engine = await folder.open()
    const world = await VectorWorld.create(engine, { seed })
    await world.insert(3000)
    await world.search(world.vector())
    await engine.close()
    assert(readdirSync(folder.snapshot()).includes('snapshot.json'))
    return world
  }

  async function assertSame(engine: Engine, before: VectorWorld): Promise<VectorWorld> {
    const world = await VectorWorld.open(engine, 'vectors', seed + 5)
    for (const [id, held] of before.held) world.held.set(id, held)
    const recall = await world.recall()
    assert(recall >= floor, `recall ${recall}`)
    for (let i = 0; i < 20; i++) {
      const id = world.anyId()
      const { vector } = world.held.get(id)!
      if (vector !== undefined)
        assert.equal((await world.search(vector, 1))[0]!.record.id, id)
    }
    return world
  }

  test('finds the same documents as before it was closed', async (t) => {
    const folder = folderFor(t)
    const before = await saved(folder)
    await assertSame(await folder.open(), before)
    assert.deepEqual(folder.logged, [])
  })

  test('includes writes after its snapshot', async (t) => {
    const folder = folderFor(t)
    const before = await saved(folder)
    const engine = await folder.open()
    const world = await assertSame(engine, before)
    for (let i = 0; i < 100; i++) await world.remove(world.anyId())
    for (let i = 0; i < 100; i++) await world.replace(world.anyId(), world.vector())
    await engine.close()
    const again = await assertSame(await folder.open(), world)
    assert.equal(again.held.size, 2900)
  })

  for (const [what, spoil] of [
    [
      'a manifest that is not JSON',
      (folder: string) => writeFileSync(join(folder, 'snapshot.json'), '{"'),
    ],
    ['no manifest', (folder: string) => rmSync(join(folder, 'snapshot.json'))],
    ['no folder', (folder: string) => rmSync(folder, { recursive: true })],
    ['a truncated graph', (folder: string) => cut(graphIn(folder))],
    ['a graph with one changed byte', (folder: string) => flip(graphIn(folder))],
    ['no graph', (folder: string) => rmSync(graphIn(folder))],
  ] as const)
    test(`is rebuilt from the store when its snapshot has ${what}`, async (t) => {
      const folder = folderFor(t)
      const before = await saved(folder)
      spoil(folder.snapshot())
      await assertSame(await folder.open(), before)
    })

  test('saves a snapshot after many changes, without being closed', async (t) => {
    const folder = folderFor(t)
    const engine = await folder.open()
    const world = await VectorWorld.create(engine, { seed })
    await world.insert(2500)
    while (!hasManifest(folder.snapshot())) await wait(20)
    const recall = await world.recall()
    assert(recall >= floor, `recall ${recall}`)
  })
})

function hasManifest(folder: string): boolean {
  try {
    return readdirSync(folder).includes('snapshot.json')
  } catch {
    return false
  }
}

function graphIn(folder: string): string {
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.graph'))!,
  )
}

function cut(file: string): void {
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(0, bytes.length - 100))
}

function flip(file: string): void {
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(file, bytes)
}
