import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller } from '../../src/caller/caller.ts'
import { waitForTurn } from '../../src/collections/document-turns.ts'
import { LocalDocumentTurns } from '../../src/collections/local-document-turns.ts'

describe('a document turn', () => {
  test('passes to the next caller whose request was not aborted', async () => {
    const turns = new LocalDocumentTurns()
    const hold = (work: (waited: boolean) => Promise<string>, signal?: AbortSignal) =>
      waitForTurn(work, (inTurn) => turns.holding(['a'], inTurn), ownCaller(signal))
    const first = Promise.withResolvers<string>()
    const holding = hold(() => first.promise)
    const caller = new AbortController()
    const leaving = hold(() => assert.fail('its caller has left'), caller.signal)
    const staying = hold((waited) => Promise.resolve(`waited: ${waited}`))
    caller.abort(new Error('it took too long'))
    await assert.rejects(leaving, /it took too long/)
    first.resolve('first')
    assert.equal(await holding, 'first')
    assert.equal(await staying, 'waited: true')
  })

  test('that has begun continues when its request is aborted', async () => {
    const turns = new LocalDocumentTurns()
    for (const isLate of [false, true]) {
      const caller = new AbortController()
      const begun = Promise.withResolvers<undefined>()
      const written = Promise.withResolvers<string>()
      const working = waitForTurn(
        () => {
          begun.resolve(undefined)
          return written.promise
        },
        async (work) => {
          if (isLate) await Promise.resolve()
          return turns.holding(['a'], work)
        },
        ownCaller(caller.signal),
      )
      await begun.promise
      caller.abort()
      written.resolve('written')
      assert.equal(await working, 'written')
    }
  })

  test('for an upsert is no longer awaited when its request is aborted', async () => {
    const { upserts } = new LocalDocumentTurns()
    const document = new Map([['_id', 1]])
    const record = { id: 1, text: '{"_id":1}', document, search: {} }
    const over = Promise.withResolvers<string>()
    const first = upserts.inTurn(
      'books',
      record,
      () => true,
      () => over.promise,
    )
    const caller = new AbortController()
    const second = waitForTurn(
      () => Promise.resolve('second'),
      (work) => upserts.inTurn('books', record, () => true, work),
      ownCaller(caller.signal),
    )
    caller.abort(new Error('it took too long'))
    await assert.rejects(second, /it took too long/)
    over.resolve('first')
    assert.equal(await first, 'first')
    assert.equal(upserts.size, 0)
  })
})
