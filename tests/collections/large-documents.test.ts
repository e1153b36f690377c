/** Counts how often work on large documents yields to other requests. */
import { findDocuments } from '../../src/collections/find-documents.ts'
import { insertDocuments } from '../../src/collections/insert.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownCaller, type Caller } from '../../src/caller/caller.ts'
import { replaceDocument, updateDocument } from '../../src/collections/change-documents.ts'
import { parseBody } from '../../src/http/body.ts'
import { defaultLimits } from '../../src/limits.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { CountingCaller, pausesOf } from './counting-caller.ts'
import { Fixture } from './fixture.ts'
import { json, object } from './json.ts'

/** Values in each document, and the maximum number of values between two yields. */
const count = 40_000
const valuesPerPause = 2_000

function large(_id: string) {
  const elements = Array.from({ length: count / 4 }, (_, k) => ({ k, b: 1, c: 'x' }))
  return { _id, elements }
}

describe('large documents', () => {
  test('are parsed with yields, and small requests are parsed without a promise', async () => {
    const caller = new CountingCaller()
    const body = Buffer.from(JSON.stringify(large('a')))
    await parseBody(body, defaultLimits, caller)
    assert(caller.asked >= count / valuesPerPause, `${caller.asked} pauses`)
    const small = parseBody(Buffer.from('{"find":{}}'), defaultLimits, caller)
    assert(small instanceof Map)
  })

  test('are inserted and returned with yields', async () => {
    const fixture = new Fixture({}, { indexing: { allow: ['n'] } })
    const { documents } = fixture
    const all = [json(large('a')), json(large('b'))]
    const inserting = await pausesOf(async (caller) => {
      const done = await insertDocuments(documents, all, true, caller)
      assert(done.every(({ outcome }) => outcome === 'done'))
    })
    assert(inserting >= (2 * count) / valuesPerPause, `${inserting} pauses to insert`)
    const selection = fixture.select({ projection: { b: 0 } })
    const showing = await pausesOf((caller) =>
      findDocuments(documents, selection, {}, caller),
    )
    assert(showing >= (2 * count) / valuesPerPause, `${showing} pauses to show`)
  })

  test('are not inserted when their deadline passes during the insert', async () => {
    const fixture = new Fixture({}, { indexing: { allow: ['n'] } })
    const insert = (caller: Caller) =>
      insertDocuments(fixture.documents, [json(large('a'))], false, caller)
    const caller = new CountingCaller(10)
    await assert.rejects(insert(caller), /the time is over/)
    const found = await findDocuments(fixture.documents, fixture.select(), {}, ownCaller())
    assert.equal(found.documents, '')
  })

  test('with many fields are replaced and updated with yields', async () => {
    const fixture = new Fixture({}, { indexing: { allow: ['n'] } })
    const fields = (value: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, value]))
    await fixture.insert({ _id: 1, ...fields(1) })
    const { documents } = fixture
    const selection = fixture.select({ filter: { _id: 1 } })
    const change = async (act: (caller: Caller) => Promise<{ changedCount: number }>) =>
      pausesOf(async (caller) => assert.equal((await act(caller)).changedCount, 1))
    const setting = await change((caller) => {
      const update = parseUpdate(json({ $set: { f1: 2 }, $unset: { f2: 1 } }))
      return updateDocument(documents, selection, update, { upsert: false }, caller)
    })
    // An update parses, copies, checks and prints the document. At least three of these passes yield
    // once per 500 values.
    assert(setting >= (3 * count) / 500, `${setting} pauses to update`)
    const replacing = await change((caller) => {
      const replacement = object(fields(2))
      return replaceDocument(documents, selection, replacement, { upsert: false }, caller)
    })
    assert(replacing >= (3 * count) / 500, `${replacing} pauses to replace`)
  })

  test('with long arrays are updated with yields', async () => {
    const fixture = new Fixture({}, { indexing: { allow: ['n'] } })
    const list = Array.from({ length: count }, (_, n) => n)
    const selection = fixture.select({ filter: { _id: 1 } })
    const options = { upsert: false }
    for (const update of [
      { $addToSet: { a: { $each: list.map((n) => n + 1) } } },
      { $pullAll: { a: list.map((n) => n * 2) } },
      { $pull: { a: { $gt: 5 } } },
    ]) {
      await fixture.insert({ _id: 1, a: list })
      const parsed = parseUpdate(json(update))
      const withoutUpdate = await pausesOf((caller) =>
        findDocuments(
          fixture.documents,
          fixture.select({ projection: { b: 0 } }),
          {},
          caller,
        ),
      )
      const pauses = await pausesOf((caller) =>
        updateDocument(fixture.documents, selection, parsed, options, caller),
      )
      const more = pauses - withoutUpdate
      assert(more >= count / 500, `${JSON.stringify(update).slice(0, 50)}: ${more} pauses`)
      await fixture.documents.engine.truncate(fixture.documents.collection)
    }
  })

  test('are returned through long projections with yields', async () => {
    const fixture = new Fixture({}, { indexing: { allow: ['n'] } })
    await fixture.insert(large('a'))
    const show = (projection: object) =>
      pausesOf((caller) =>
        findDocuments(fixture.documents, fixture.select({ projection }), {}, caller),
      )
    const nothing = await show({ other: 0 })
    const elements = await show({ elements: { b: 0 } })
    // The projection visits every element, so this find yields at least as often as a find that
    // returns all elements.
    assert(elements >= nothing, `${elements} pauses, and ${nothing} with all of it`)
  })
})

describe('many documents', () => {
  test('are sorted with yields, and with more yields for more sort fields', async () => {
    const fixture = new Fixture()
    const fields = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`f${n}`, 1]))
    const ids = Array.from({ length: 1_000 }, (_, n) => (n * 7_919) % 1_000)
    await fixture.insert(...ids.map((_id) => ({ _id, ...fields })))
    const sortBy = async (sort: object) => {
      let found: unknown
      const pauses = await pausesOf(async (caller) => {
        const page = await findDocuments(
          fixture.documents,
          fixture.select({ sort }),
          {},
          caller,
        )
        found = page.documents
      })
      const shown = JSON.parse(`[${String(found)}]`) as { _id: number }[]
      const expected = ids.toSorted((a, b) => a - b).slice(0, 20)
      assert.deepEqual(
        shown.map(({ _id }) => _id),
        expected,
      )
      return pauses
    }
    const one = await sortBy({ f0: 1 })
    const all = await sortBy(fields)
    assert(all - one >= (63 * 1_000 * 4) / 500, `${all} pauses after ${one}`)
  })
})
