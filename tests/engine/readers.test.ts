/** Long reads of several callers, on real threads: the order in which they end. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { Caller } from '../../src/caller.ts'
import { ownCaller } from '../../src/caller.ts'
import type { EmbeddedOptions } from '../../src/engine/embedded/options.ts'
import type { Engine, Collection } from '../../src/engine/contract.ts'
import { openEmbedded } from './embedded-store.ts'
import { pathOf, Store } from './store.ts'

/** Nothing but looking into each document answers this. */
const long = { kind: 'notSize', path: pathOf('list'), size: 3 } as const

const documents = 3_000

function callerOf(principalName: string, connection: object, signal?: AbortSignal): Caller {
  return { ...ownCaller(signal), principalName, connection }
}

async function filled(context: TestContext, options: Partial<EmbeddedOptions> = {}) {
  const { engine } = await openEmbedded(context, options)
  const store = await Store.create(engine, 'long')
  const list = Array.from({ length: 30 }, (_, i) => `element ${i}`)
  for (let i = 0; i < documents; i += 500)
    await store.insert(Array.from({ length: 500 }, (_, j) => ({ _id: i + j, list })))
  return { engine, target: store.target }
}

/** Counts, and notes when it has ended. */
async function count(
  { engine, target }: { readonly engine: Engine; readonly target: Collection },
  caller: Caller,
  name: string,
  ended: string[],
): Promise<void> {
  assert.equal(await engine.count(target, long, documents + 1, caller), documents)
  ended.push(name)
}

const waitingReads = async (engine: Engine) =>
  (await engine.operations!.statistics()).waitingReads

describe('long reads', () => {
  for (const [what, other] of [
    ['another principal', { principalName: 'other', connection: {} }],
    ['another connection of the same principal', { principalName: 'many', connection: {} }],
  ] as const)
    test(`of one who has many give way to those of ${what}`, async (context) => {
      const world = await filled(context, { searchThreads: 2 })
      const many = callerOf('many', {})
      // Others than the first thread start meanwhile, which takes as long as several reads.
      await count(world, many, 'first', [])
      const ended: string[] = []
      const hostile = Array.from({ length: 24 }, (_, i) =>
        count(world, many, `hostile ${i}`, ended),
      )
      assert.equal(await waitingReads(world.engine), 24)
      await count(world, callerOf(other.principalName, other.connection), 'other', ended)
      assert(ended.length <= 8, `it ended after ${ended.length - 1} others`)
      await Promise.all(hostile)
      assert.equal(await waitingReads(world.engine), 0)
    })

  test('of a principal end one after the other, as they came', async (context) => {
    const world = await filled(context, { searchThreads: 1 })
    const caller = callerOf('one', {})
    const ended: string[] = []
    const names = Array.from({ length: 6 }, (_, i) => `${i}`)
    await Promise.all(names.map((name) => count(world, caller, name, ended)))
    assert.deepEqual(ended, names)
  })

  test('that wait are bounded for each principal', async (context) => {
    const world = await filled(context, { searchThreads: 1, waitingReadsMax: 2 })
    const ended: string[] = []
    const one = callerOf('one', {})
    const taken = [1, 2, 3].map((i) => count(world, one, `${i}`, ended))
    await assert.rejects(count(world, one, 'refused', ended), {
      name: 'EngineError',
      kind: 'overloaded',
      message: /^2 reads/,
    })
    await Promise.all([...taken, count(world, callerOf('two', {}), 'other', ended)])
    assert.deepEqual(ended.toSorted(), ['1', '2', '3', 'other'])
    await count(world, one, 'again', ended)
  })

  test('that are given up free their place at once, begun or not', async (context) => {
    const world = await filled(context, { searchThreads: 1 })
    const ended: string[] = []
    const givenUp = new AbortController()
    const leaving = callerOf('one', {}, givenUp.signal)
    const left = Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => count(world, leaving, `${i}`, ended)),
    )
    const before = waitingReads(world.engine)
    const reason = new Error('enough')
    givenUp.abort(reason)
    const after = waitingReads(world.engine)
    assert.equal(await before, 20)
    // One has a thread, which notices at its next step.
    assert.equal(await after, 1)
    for (const outcome of await left)
      assert.deepEqual(outcome, { status: 'rejected', reason })
    await count(world, callerOf('one', {}), 'last', ended)
    assert.deepEqual(ended, ['last'])
    await assert.rejects(count(world, leaving, 'late', ended), reason)
    assert.equal(await waitingReads(world.engine), 0)
  })

  test('end when the engine is closed', async (context) => {
    const world = await filled(context, { searchThreads: 2 })
    const ended: string[] = []
    const reads = Array.from({ length: 8 }, (_, i) =>
      count(world, callerOf(`${i}`, {}), `${i}`, ended),
    )
    const outcomes = Promise.allSettled(reads)
    await world.engine.close()
    assert.equal((await outcomes).length, 8)
  })
})
