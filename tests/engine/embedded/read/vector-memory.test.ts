import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openEmbeddedEngine } from '../../../../src/engine/embedded/engine.ts'
import type { EmbeddedOptions } from '../../../../src/engine/embedded/schema/options.ts'
import type { Engine } from '../../../../src/engine/contract.ts'
import type { VectorMemory } from '../../../../src/search/vector/code-width.ts'
import { checked } from '../../contract/checked.ts'
import { where } from '../../store.ts'
import { VectorWorld } from '../../vector-world.ts'

const seed = Number(process.env['SEED'] ?? 1119)
const floor = 0.95

/** Opens engines on one data folder, one after the other. */
function folderFor(context: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'stela-vector-memory-'))
  const logged: string[] = []
  const log: EmbeddedOptions['log'] = (_level, message) => void logged.push(message)
  const engines: { close(): Promise<void> }[] = []
  context.after(async () => {
    for (const engine of engines) await engine.close()
    rmSync(dataDir, { recursive: true })
  })
  return {
    logged,
    dropSnapshot() {
      const folder = join(dataDir, 'default_keyspace', 'vectors', 'vectors')
      rmSync(folder, { recursive: true, force: true })
    },
    async open(vectorMemory?: VectorMemory) {
      const memory = vectorMemory && { vectorMemory }
      const options = { dataDir, durable: false, log, ...memory }
      const engine = checked(await openEmbeddedEngine(options))
      engines.push(engine)
      return engine
    },
    /** Bits per number in the snapshot of the collection; undefined without a snapshot. */
    savedBits(collection = 'vectors'): number | undefined {
      const folder = join(dataDir, 'default_keyspace', collection, 'vectors')
      try {
        const text = readFileSync(join(folder, 'snapshot.json'), 'utf8')
        return (JSON.parse(text) as { bits?: number }).bits ?? 8
      } catch {
        return undefined
      }
    },
  }
}

async function reopened(
  engine: Parameters<typeof VectorWorld.open>[0],
  before: VectorWorld,
): Promise<VectorWorld> {
  const world = await VectorWorld.open(engine, 'vectors', seed + 5)
  for (const [id, held] of before.held) world.held.set(id, held)
  return world
}

async function assertRecall(world: VectorWorld): Promise<void> {
  for (const filter of [
    undefined,
    where('even', 'eq', true),
    where('hundredth', 'eq', 3),
  ]) {
    const recall = await world.recall(filter)
    assert(recall >= floor, `recall ${recall} with ${JSON.stringify(filter)}`)
  }
}

async function bytesPerVector({ operations }: Engine): Promise<number> {
  const { vectorMemory, indexedVectors } = await operations!.statistics()
  return vectorMemory / indexedVectors
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await wait(20)
}

describe(`a vector index with little memory (seed ${seed})`, () => {
  for (const [setting, option, dimension, bits] of [
    ['low', undefined, 512, 1],
    ['low', undefined, 128, 2],
    ['balanced', undefined, 64, 4],
    ['low', undefined, 8, 8],
    [undefined, 'low', 32, 4],
    ['low', 'fast', 128, 8],
    ['fast', 'balanced', 64, 4],
  ] as const)
    test(`has codes of ${bits} bits for ${dimension} dimensions with the setting ${setting} and the option ${option}`, async (t) => {
      const folder = folderFor(t)
      const engine = await folder.open(setting)
      const memory = option && { memory: option }
      const world = await VectorWorld.create(engine, { seed, dimension, ...memory })
      await world.insert(1500)
      await world.search(world.vector())
      await until(() => folder.savedBits() === bits)
      await assertRecall(world)
    })

  test('keeps long codes while it has few vectors', async (t) => {
    const folder = folderFor(t)
    const world = await VectorWorld.create(await folder.open('low'), {
      seed,
      dimension: 128,
    })
    await world.insert(900)
    await world.search(world.vector())
    for (let i = 0; i < 200; i++) await world.remove(world.anyId())
    await world.assertExact()
    await until(() => folder.savedBits() !== undefined)
    assert.equal(folder.savedBits(), 8)
  })

  test('sees every acknowledged write, also while its codes are converted', async (t) => {
    const folder = folderFor(t)
    const world = await VectorWorld.create(await folder.open('low'), {
      seed,
      dimension: 128,
    })
    await world.insert(950)
    for (let i = 0; i < 150; i++) {
      const roll = world.random()
      if (roll < 0.5) await world.insert(10)
      else if (roll < 0.75) await world.remove(world.anyId())
      else await world.replace(world.anyId(), world.vector())
      const id = world.anyId()
      const { vector } = world.held.get(id)!
      assert.equal((await world.search(vector!, 1))[0]!.record.id, id)
    }
    await assertRecall(world)
    await until(() => folder.savedBits() === 2)
    await assertRecall(world)
  })

  test('is opened from its snapshot', async (t) => {
    const folder = folderFor(t)
    const engine = await folder.open('low')
    const before = await VectorWorld.create(engine, { seed, dimension: 128 })
    await before.insert(1500)
    await before.search(before.vector())
    await until(() => folder.savedBits() === 2)
    await engine.close()
    const world = await reopened(await folder.open('low'), before)
    await assertRecall(world)
    for (let i = 0; i < 700; i++) await world.remove(world.anyId())
    await assertRecall(world)
    assert.equal(folder.savedBits(), 2)
    assert.deepEqual(folder.logged, [])
  })

  test('is converted in both directions when the setting changes, and serves searches meanwhile', async (t) => {
    const folder = folderFor(t)
    let engine = await folder.open()
    let world = await VectorWorld.create(engine, { seed, dimension: 128 })
    await world.insert(2000)
    await world.search(world.vector())
    await engine.close()
    assert.equal(folder.savedBits(), 8)
    for (const [setting, bits, bytes] of [
      ['low', 2, 208],
      ['balanced', 4, 240],
      ['fast', 8, 336],
    ] as const) {
      engine = await folder.open(setting)
      world = await reopened(engine, world)
      await assertRecall(world)
      await until(() => folder.savedBits() === bits)
      // The request thread fetches the new index without a write or search.
      while (Math.abs((await bytesPerVector(engine)) - bytes) > 20) await wait(20)
      await world.replace(world.anyId(), world.vector())
      await assertRecall(world)
      await engine.close()
    }
    assert.deepEqual(folder.logged, [])
  })

  test('is rebuilt with the wanted codes when its snapshot is lost', async (t) => {
    const folder = folderFor(t)
    const engine = await folder.open('balanced')
    const before = await VectorWorld.create(engine, { seed, dimension: 64 })
    await before.insert(1500)
    await engine.close()
    folder.dropSnapshot()
    const world = await reopened(await folder.open('balanced'), before)
    await assertRecall(world)
    await until(() => folder.savedBits() === 4)
  })
})
