/** Stores that are dropped and created again while reads of them run or wait. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Collection, Engine } from '../../../../src/engine/contract.ts'
import { EngineError } from '../../../../src/engine/errors.ts'
import { openEmbedded } from '../embedded-store.ts'
import {
  createCollection,
  dropTarget,
  pathOf,
  plainOptions,
  Store,
  tester,
} from '../../store.ts'

/** A filter without an access path: every document must be parsed, so the count is a long read. */
const long = { kind: 'notSize', path: pathOf('list'), size: 3 } as const

const list = Array.from({ length: 30 }, (_, i) => `element ${i}`)

/** Creates a collection. It is so large that counts of it run on a reader thread. */
async function fill(engine: Engine, keyspace: string, name: string, documents: number) {
  assert(await createCollection(engine, name, plainOptions, keyspace))
  const store = new Store(engine, (await engine.findTarget(keyspace, name)) as Collection)
  await store.insert(Array.from({ length: documents }, (_, _id) => ({ _id, list })))
  return store.target
}

const count = (engine: Engine, target: Collection) =>
  engine.count(target, long, 1_000_000, tester)

/**
 * Runs many more counts than there are threads, so that most of them wait. Each count returns the
 * number of documents, or fails with the error 'gone'.
 */
async function countOften(engine: Engine, target: Collection, documents: number) {
  const counts = Array.from({ length: 40 }, () => count(engine, target))
  const ended = { whole: 0, gone: 0 }
  for (const outcome of await Promise.allSettled(counts))
    if (outcome.status === 'fulfilled') {
      assert.equal(outcome.value, documents)
      ended.whole++
    } else {
      const error = outcome.reason as unknown
      assert(error instanceof EngineError && error.kind === 'gone', String(error))
      ended.gone++
    }
  return ended
}

describe('reads that wait while their store is dropped', () => {
  test("end with the error 'gone', and never read from a new store with the same name", async (context) => {
    const { engine } = await openEmbedded(context, { searchThreads: 2 })
    for (const documents of [900, 600]) {
      const target = await fill(engine, 'default_keyspace', 'again', documents)
      const counting = countOften(engine, target, documents)
      assert.equal(await dropTarget(engine, target), true)
      const anew = await fill(engine, 'default_keyspace', 'again', documents + 1)
      // These are enough counts to use all reader threads.
      const counts = Array.from({ length: 30 }, () => count(engine, anew))
      assert.deepEqual(new Set(await Promise.all(counts)), new Set([documents + 1]))
      assert((await counting).gone > 0, 'no count waited')
      assert.equal(await dropTarget(engine, anew), true)
    }
  })

  test("end with the error 'gone' when their keyspace is dropped with all its collections", async (context) => {
    const { engine } = await openEmbedded(context, { searchThreads: 2 })
    for (const documents of [900, 600]) {
      await engine.createKeyspace('passing')
      const one = await fill(engine, 'passing', 'one', documents)
      const two = await fill(engine, 'passing', 'two', documents)
      const counting = [
        countOften(engine, one, documents),
        countOften(engine, two, documents),
      ]
      assert.equal(await engine.dropKeyspace('passing'), true)
      await engine.createKeyspace('passing')
      for (const name of ['one', 'two']) {
        const anew = await fill(engine, 'passing', name, documents + 1)
        assert.equal(await count(engine, anew), documents + 1)
      }
      for (const counted of counting) assert((await counted).gone > 0, 'no count waited')
      assert.equal(await engine.dropKeyspace('passing'), true)
    }
  })
})
