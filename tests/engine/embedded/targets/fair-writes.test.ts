/** The order of writes of several principals, and the splitting of long batches into pieces. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller, type Caller } from '../../../../src/caller/caller.ts'
import type { Outcome } from '../../../../src/engine/contract.ts'
import { piecesOf, pieceSize } from '../../../../src/engine/embedded/write/write-pieces.ts'
import { openEmbedded } from '../embedded-store.ts'
import { dropTarget, recordOf, Store } from '../../store.ts'

function callerOf(principalName: string, signal?: AbortSignal): Caller {
  return { ...ownCaller(signal), principalName }
}

/** A batch that is split into `pieces`: documents with long texts and few indexed values. */
function longBatch(first: number, pieces = 3): object[] {
  const text = 'x'.repeat(pieceSize / 4)
  return Array.from({ length: pieces * 4 }, (_, i) => ({ _id: first + i, text }))
}

describe('writes of several principals', () => {
  test('take turns: a short write is answered before the long writes of another principal', async (context) => {
    const { engine } = await openEmbedded(context)
    const [many, other] = [
      await Store.create(engine, 'many'),
      await Store.create(engine, 'other'),
    ]
    await many.insert([{ _id: 'first' }])
    await other.insert([{ _id: 'first' }])
    const answered: string[] = []
    const long = Array.from({ length: 12 }, async (_, i) => {
      const piece = longBatch(i * 100, 1).slice(1)
      await many.insert(piece, { caller: callerOf('many') })
      answered.push('many')
    })
    const short = other.insert([{ _id: 1 }], { caller: callerOf('other') })
    await short
    answered.push('other')
    await Promise.all(long)
    assert(answered.indexOf('other') <= 6, answered.join(' '))
    assert.equal(await many.count(), 12 * 3 + 1)
  })

  test('are dropped from the queue when their caller is aborted', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'late')
    const long = [0, 1, 2].map((i) =>
      store.insert(longBatch(i * 100), { caller: callerOf('many') }),
    )
    const late = new AbortController()
    const dropped = store.insert([{ _id: 'late' }], {
      caller: callerOf('many', late.signal),
    })
    late.abort(new Error('the time is over'))
    await assert.rejects(dropped, /the time is over/)
    await Promise.all(long)
    assert.equal(await store.count(), 3 * 12)
  })

  test("are stored or fail with the error 'gone' when the collection is dropped while they wait", async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'dropped')
    const long = [0, 1, 2, 3].map((i) =>
      store.insert(longBatch(i * 100)).then(
        () => 'done',
        (error: { kind: string }) => error.kind,
      ),
    )
    await dropTarget(engine, store.target)
    for (const outcome of await Promise.all(long))
      assert(outcome === 'done' || outcome === 'gone', outcome)
  })

  test('are executed before the engine closes', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'closing')
    await store.insert([{ _id: 'first' }])
    const long = [0, 1, 2, 3].map((i) => store.insert(longBatch(i * 100, 1).slice(1)))
    await engine.close()
    for (const outcomes of await Promise.all(long))
      assert(outcomes.every((outcome) => outcome === 'done'))
  })
})

describe('a long batch', () => {
  test('is executed in pieces, and has an outcome for each write', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'pieces')
    await store.insert([{ _id: 7 }])
    const before = await engine.operations!.statistics()
    const outcomes = await store.insert(longBatch(0))
    assert.deepEqual(
      outcomes,
      longBatch(0).map((_, i): Outcome => (i === 7 ? 'exists' : 'done')),
    )
    const after = await engine.operations!.statistics()
    assert(after.commits - before.commits >= 3)
  })

  test('stops at the first failed write when it is ordered', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'ordered')
    await store.insert([{ _id: 5 }])
    const outcomes = await store.insert(longBatch(0), { ordered: true })
    const expected = longBatch(0).map((_, i): Outcome => {
      if (i === 5) return 'exists'
      return i < 5 ? 'done' : 'skipped'
    })
    assert.deepEqual(outcomes, expected)
    assert.equal(await store.count(), 6)
  })

  test('is split only where a piece would exceed its limit', () => {
    const writes = longBatch(0, 2).map((document) => {
      return { kind: 'insert', record: recordOf(document) } as const
    })
    const pieces = piecesOf(writes)
    assert.deepEqual(
      pieces.flatMap((piece) => piece.writes),
      writes,
    )
    assert(pieces.every(({ size }) => size <= pieceSize))
    const [first] = writes
    assert.deepEqual(piecesOf([first!])[0]!.writes, [first])
    assert.equal(piecesOf(writes.slice(0, 3)).length, 1)
  })
})
