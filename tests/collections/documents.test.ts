/**
 * The layer between commands and engines, on an engine that serves nothing: the layer
 * itself handles all filters, sorts, pages, counts and conflicts.
 */
import {
  deleteDocument,
  updateDocument,
  updateDocuments,
} from '../../src/collections/change-documents.ts'
import { countMatches } from '../../src/collections/find-documents.ts'
import { insertDocuments } from '../../src/collections/insert.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { Fixture, tester } from './fixture.ts'
import { json, object } from './json.ts'

function numbered(count: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    _id: i,
    n: (i * 7) % count,
    even: i % 2 === 0,
  }))
}

describe('find', () => {
  test('returns each matching document on exactly one page', async () => {
    const fixture = new Fixture({ pageSize: 4 })
    await fixture.insert(...numbered(30))
    const pages = await fixture.pages({ filter: { even: true } })
    assert.deepEqual(
      pages.map((page) => page.length),
      [4, 4, 4, 3],
    )
    assert.deepEqual(
      new Set(pages.flat()),
      new Set(Array.from({ length: 15 }, (_, i) => i * 2)),
    )
  })

  test('returns no page state when the next page would be empty', async () => {
    const fixture = new Fixture({ pageSize: 5 })
    await fixture.insert(...numbered(10))
    assert.equal((await fixture.pages({})).length, 2)
    assert.equal((await fixture.pages({ filter: { even: true } })).length, 1)
    assert.deepEqual(await fixture.pages({ filter: { n: -1 } }), [[]])
  })

  test('ends pages early when documents are large, and omits no document', async () => {
    const limits = { pageSize: 20, documentLengthMax: 100, replySizeMax: 100 }
    const fixture = new Fixture(limits)
    const padding = 'x'.repeat(30)
    await fixture.insert(...numbered(30).map((document) => ({ ...document, padding })))
    for (const clauses of [{}, { sort: { n: 1 } }, { sort: { even: 1, n: -1 } }]) {
      const pages = await fixture.pages(clauses)
      // The second document of each page exceeds the maximum size of a page, so the page ends
      // there.
      assert(pages.every(({ length }) => length === 2))
      assert.equal(new Set(pages.flat()).size, 30)
      const limited = await fixture.pages(clauses, { limit: 5 })
      assert.deepEqual(
        limited.map(({ length }) => length),
        [2, 2, 1],
      )
    }
  })

  test('returns sorted documents page by page, and skips only on the first page', async () => {
    const fixture = new Fixture({ pageSize: 4 })
    await fixture.insert(...numbered(15))
    const pages = await fixture.pages({ sort: { even: 1, n: -1 } }, { skip: 2 })
    assert.deepEqual(
      pages.map((page) => page.length),
      [4, 4, 4, 1],
    )
    const order = numbered(15)
      .map((document) => document as { _id: number; n: number; even: boolean })
      .toSorted((a, b) => Number(a.even) - Number(b.even) || b.n - a.n)
      .map(({ _id }) => _id)
    assert.deepEqual(pages.flat(), order.slice(2))
  })

  test('keeps its position in a sort while documents are inserted and deleted', async () => {
    const fixture = new Fixture({ pageSize: 3 })
    await fixture.insert(...[10, 20, 30, 40, 50].map((n) => ({ _id: n, n })))
    const first = await fixture.page({ sort: { n: 1 } })
    assert.deepEqual(first.ids, [10, 20, 30])
    await fixture.insert({ _id: 5, n: 5 }, { _id: 45, n: 45 })
    fixture.engine.remove('20')
    const rest = await fixture.page({ sort: { n: 1 } }, { pageState: first.nextPageState! })
    assert.deepEqual(rest.ids, [40, 45, 50])
  })

  test('sorts documents with equal values by ascending _id, whatever the direction of the sort', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 'b' }, { _id: 'a' }, { _id: 'c' })
    assert.deepEqual((await fixture.page({ sort: { x: -1 } })).ids, ['a', 'b', 'c'])
  })

  test('applies a limit to all pages together', async () => {
    const fixture = new Fixture({ pageSize: 4 })
    await fixture.insert(...numbered(30))
    for (const sort of [{}, { n: 1 }]) {
      const pages = await fixture.pages({ sort }, { limit: 10 })
      assert.deepEqual(
        pages.map((page) => page.length),
        [4, 4, 2],
      )
      assert.equal((await fixture.pages({ sort }, { limit: 4 })).length, 1)
    }
  })

  test('returns all documents with the ids in a list on one page', async () => {
    const fixture = new Fixture({ pageSize: 4 })
    await fixture.insert(...numbered(30))
    const ids = [1, 3, 5, 7, 9, 11]
    const pages = await fixture.pages({ filter: { _id: { $in: ids } } })
    assert.equal(pages.length, 1)
    assert.deepEqual(new Set(pages[0]), new Set(ids))
  })

  test('rejects a sort of more documents than the server allows', async () => {
    const fixture = new Fixture({ sortedDocumentsMax: 10 })
    await fixture.insert(...numbered(11))
    await assert.rejects(fixture.page({ sort: { n: 1 } }), {
      code: 'OVERLOADED_SORT_ROW_LIMIT',
    })
    await fixture.page({ sort: { n: 1 }, filter: { n: { $lt: 10 } } })
    await fixture.page({})
  })

  test('rejects a skip when the skipped documents exceed the reply size and the engine does not sort', async () => {
    const fixture = new Fixture({ pageSize: 1, replySizeMax: 1_000 })
    const text = 'x'.repeat(100)
    await fixture.insert(...numbered(30).map((document) => ({ ...document, text })))
    const { ids } = await fixture.page({ sort: { n: -1 } }, { skip: 5 })
    assert.deepEqual(ids, [12])
    await assert.rejects(fixture.page({ sort: { n: -1 } }, { skip: 20 }), {
      code: 'OVERLOADED_SORT_ROW_LIMIT',
      message: /at most 1000 characters/,
    })
  })

  test('reads search fields when the filter or the projection needs them', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 1, $vector: [0.1, 2] }, { _id: 2, $lexical: 'words' })
    const { documents } = await fixture.page({
      filter: { $vector: { $exists: true } },
      projection: { '*': 1 },
    })
    assert.deepEqual(documents, ['{"_id":1,"$vector":[0.1,2]}'])
  })
})

describe('count', () => {
  test('reads documents when the engine cannot count, and stops at the given maximum', async () => {
    const fixture = new Fixture()
    await fixture.insert(...numbered(30))
    const { filter } = fixture.select({ filter: { even: true } })
    assert.equal(await countMatches(fixture.documents, filter, 100, tester), 15)
    assert.equal(await countMatches(fixture.documents, filter, 5, tester), 5)
  })
})

describe('insert', () => {
  test('sends all documents in one write', async () => {
    const fixture = new Fixture()
    await fixture.insert(...numbered(100))
    assert.deepEqual(fixture.engine.writes, [100])
  })

  test('writes nothing after the first document that fails, when ordered', async () => {
    const fixture = new Fixture()
    const insertions = await insertDocuments(
      fixture.documents,
      [{ _id: 1 }, { _id: 1 }, { _id: '' }, { _id: 3 }, {}].map(json),
      true,
      tester,
    )
    assert.deepEqual(
      insertions.map(({ id, outcome }) => [
        id,
        typeof outcome === 'string' ? outcome : outcome.code,
      ]),
      [
        [1, 'done'],
        [1, 'DOCUMENT_ALREADY_EXISTS'],
        [undefined, 'skipped'],
        [3, 'skipped'],
        [undefined, 'skipped'],
      ],
    )
  })
})

describe('changes', () => {
  test('are retried when another request changed the document first', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 1, n: 1, $vector: [0.1, 2], $lexical: 'words' })
    let others = 2
    fixture.engine.meanwhile = () => {
      if (others-- > 0) fixture.engine.touch()
    }
    const changed = await fixture.update({ filter: { n: 1 } }, { $inc: { n: 1 } })
    assert.deepEqual([changed.matchedCount, changed.changedCount], [1, 1])
    const { documents } = await fixture.page({ projection: { '*': 1 } })
    assert.deepEqual(documents, ['{"_id":1,"n":2,"$vector":[0.1,2],"$lexical":"words"}'])
  })

  test('fail after repeated conflicts on a document, and name the document', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 'busy', n: 1 })
    const writes = fixture.engine.writes.length
    fixture.engine.meanwhile = () => fixture.engine.touch()
    for (const filter of [{ _id: 'busy' }, { n: 1 }]) {
      const changed = await fixture.update({ filter }, { $inc: { n: 1 } })
      assert.deepEqual([changed.matchedCount, changed.changedCount], [1, 0])
      assert.equal(changed.failure?.code, 'FAILED_CONCURRENT_OPERATIONS')
      assert.deepEqual(changed.failure.documentIds, ['busy'])
    }
    assert.equal(fixture.engine.writes.length - writes, 2 * defaultLimits.changeAttemptsMax)
  })

  test('affect nothing when the only match is deleted before the write', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 'gone', n: 1 })
    fixture.engine.meanwhile = () => fixture.engine.remove('"gone"')
    const changed = await fixture.update({ filter: { n: 1 } }, { $inc: { n: 1 } })
    assert.deepEqual([changed.matchedCount, changed.changedCount], [0, 0])
    assert.equal(changed.failure, undefined)
    assert.equal(changed.after, undefined)
  })

  test('by concurrent requests to one document are all applied, by _id and by other filters', async () => {
    for (const filter of [{ _id: 1 }, { name: 'counter' }]) {
      const fixture = new Fixture()
      await fixture.insert({ _id: 1, name: 'counter', n: 0 })
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const changed = await updateDocument(
            fixture.another(),
            fixture.select({ filter }),
            parseUpdate(object({ $inc: { n: 1 } })),
            { upsert: false },
            tester,
          )
          assert.equal(changed.changedCount, 1)
        }),
      )
      assert.deepEqual((await fixture.page({})).documents, [
        '{"_id":1,"name":"counter","n":50}',
      ])
    }
  })

  test('to one page of documents are sent in one write', async () => {
    const fixture = new Fixture({ pageSize: 5 })
    await fixture.insert(...numbered(12))
    const run = (pageState?: string) =>
      updateDocuments(
        fixture.documents,
        fixture.select({ filter: { n: { $gte: 0 } } }),
        parseUpdate(object({ $set: { seen: true } })),
        { upsert: false, pageState },
        tester,
      )
    fixture.engine.writes.length = 0
    const first = await run()
    const second = await run(first.nextPageState)
    const third = await run(second.nextPageState)
    assert.deepEqual(fixture.engine.writes, [5, 5, 2])
    assert.equal(third.nextPageState, undefined)
    assert.deepEqual(
      [first, second, third].map(({ changedCount }) => changedCount),
      [5, 5, 2],
    )
  })

  test('made before an update fails on a document are kept', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 1, n: 1 }, { _id: 2, n: 'text' }, { _id: 3, n: 3 })
    await assert.rejects(
      updateDocuments(
        fixture.documents,
        fixture.select(),
        parseUpdate(object({ $inc: { n: 10 } })),
        { upsert: false },
        tester,
      ),
      { code: 'UNSUPPORTED_UPDATE_OPERATION_TARGET' },
    )
    assert.deepEqual((await fixture.page({})).documents, [
      '{"_id":1,"n":11}',
      '{"_id":2,"n":"text"}',
      '{"_id":3,"n":3}',
    ])
  })

  test('by concurrent deletes count each document only once', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 1, n: 1 })
    for (const filter of [{ _id: 1 }, { n: 1 }]) {
      const counts = await Promise.all(
        Array.from({ length: 5 }, () =>
          deleteDocument(fixture.another(), fixture.select({ filter }), tester),
        ),
      )
      assert.equal(
        counts.reduce((sum, { changedCount }) => sum + changedCount, 0),
        1,
      )
      await fixture.insert({ _id: 1, n: 1 })
    }
  })

  test('by concurrent upserts of one _id insert the document once and then update it', async () => {
    const fixture = new Fixture()
    const changes = await Promise.all(
      Array.from({ length: 10 }, () =>
        fixture.update({ filter: { _id: 1 } }, { $inc: { n: 1 } }, { upsert: true }),
      ),
    )
    assert.equal(changes.filter(({ upsertedId }) => upsertedId === 1).length, 1)
    assert.deepEqual((await fixture.page({})).documents, ['{"_id":1,"n":10}'])
  })

  test('by an upsert affect nothing when the document with its _id does not match the filter', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 1, n: 1 })
    const changed = await fixture.update(
      { filter: { _id: 1, n: 2 } },
      { $set: { x: 1 } },
      { upsert: true },
    )
    assert.deepEqual(changed, { matchedCount: 0, changedCount: 0 })
  })
})
