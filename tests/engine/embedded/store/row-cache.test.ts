/** The row cache must never return a text that differs from the stored text. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { SearchFields, StoredRecord, Write } from '../../../../src/engine/contract.ts'
import { RowCache } from '../../../../src/engine/embedded/store/row-cache.ts'
import {
  EmbeddedRecord,
  invalidateRows,
} from '../../../../src/engine/embedded/read/record-page.ts'
import { documentView } from '../../../../src/engine/record-view.ts'
import { Random, seed } from '../../../faults/random.ts'
import { openEmbedded } from '../embedded-store.ts'
import { replacement, Store, where } from '../../store.ts'

const rowSize = 2 * '{"_id":"a0"}'.length + 256

describe('cached rows', () => {
  test('are found by number, and by _id if it was given', () => {
    const cache = keptOf(10)
    cache.add(rowOf(1), 'a1')
    cache.add(rowOf(2))
    assert.equal(cache.row(1), cache.rowById('a1'))
    assert.equal(cache.row(2)?.seq, 2)
    assert.equal(cache.rowById('a2'), undefined)
    // Caching the row again without an _id must keep its _id in the cache.
    cache.add(rowOf(1))
    assert.equal(cache.rowById('a1')?.seq, 1)
  })

  test('take no more memory than their limit, and recently used rows stay cached', () => {
    const cache = keptOf(10)
    for (let seq = 0; seq < 100; seq++) {
      cache.add(rowOf(seq), `a${seq}`)
      assert.equal(cache.row(0)?.seq, 0)
    }
    const left = Array.from({ length: 100 }, (_, seq) => seq).filter((seq) =>
      cache.row(seq),
    )
    assert(left.length <= 10, String(left))
    assert(left.includes(99))
    cache.setMax(0)
    cache.add(rowOf(1))
    cache.add(rowOf(2))
    assert.equal(cache.row(1), undefined)
  })

  test('do not include long rows', () => {
    const cache = keptOf(1_000)
    cache.add({ seq: 1, version: 1, text: 'x'.repeat(16_385) })
    assert.equal(cache.row(1), undefined)
  })

  test('include every row while there is room, and a sample afterwards', () => {
    const cache = keptOf(10)
    const taken = Array.from({ length: 80 }, (_, seq) => {
      const takes = cache.admits()
      if (takes) cache.add(rowOf(seq))
      return takes
    })
    assert(taken.slice(0, 5).every(Boolean))
    const later = taken.slice(20).filter(Boolean).length
    assert(later > 0 && later < 20, String(later))
  })

  test('are invalidated during a change, and have the new text and version afterwards', () => {
    const cache = keptOf(10)
    cache.add(rowOf(1), 'a1')
    cache.add(rowOf(2), 'a2')
    cache.add(rowOf(3), 'a3')
    const onSettled = invalidateRows(
      [
        insertOf(9),
        replaceOf(1, '{"_id":"a1","n":1}'),
        deleteOf(2),
        replaceOf(3, '{"_id":"a3","n":1}'),
      ],
      cache,
    )
    for (const seq of [1, 2, 3]) assert.equal(cache.row(seq), undefined)
    // The row may have been read before or after the change, so the cache does not admit it.
    cache.add(rowOf(1), 'a1')
    assert.equal(cache.row(1), undefined)
    onSettled({ outcomes: ['done', 'done', 'done', 'conflict'], before: 40 })
    const after = { seq: 1, version: 42, text: '{"_id":"a1","n":1}' }
    assert.deepEqual(cache.row(1), after)
    assert.deepEqual(cache.rowById('a1'), after)
    assert.equal(cache.row(2), undefined)
    assert.equal(cache.row(3), undefined)
    cache.add(rowOf(3))
    assert.equal(cache.row(3)?.seq, 3)
  })

  test('are found by their _id after a change, even if they were not cached before', () => {
    const cache = keptOf(10)
    const onSettled = invalidateRows([replaceOf(1, '{"_id":"a1","n":1}')], cache)
    assert.equal(cache.rowById('a1'), undefined)
    onSettled({ outcomes: ['done'], before: 0 })
    assert.equal(cache.rowById('a1')?.text, '{"_id":"a1","n":1}')
  })

  test('release their _id when they are deleted', () => {
    const cache = keptOf(10)
    cache.add(rowOf(1), 'a1')
    const onSettled = invalidateRows([deleteOf(1)], cache)
    cache.add(rowOf(11), 'a1')
    onSettled({ outcomes: ['done'], before: 0 })
    assert.equal(cache.rowById('a1')?.seq, 11)
    assert.equal(cache.row(1), undefined)
  })

  test('are found by their own _id, and by no other, when their number was reused during a change', () => {
    const cache = keptOf(10)
    cache.add(rowOf(1), 'a1')
    const deleted = invalidateRows([deleteOf(1)], cache)
    // Document "b" reused the number of the deleted document "a1". It is changed before the
    // deletion of "a1" is acknowledged.
    const replaced = invalidateRows([replaceReused('{"_id":"b"}')], cache)
    deleted({ outcomes: ['done'], before: 0 })
    replaced({ outcomes: ['done'], before: 1 })
    assert.equal(cache.rowById('b')?.text, '{"_id":"b"}')
    assert.equal(cache.rowById('a1'), undefined)
  })

  test('are not found by the _id of a stale change that settles first', () => {
    const cache = keptOf(10)
    const current = invalidateRows([replaceReused('{"_id":"b"}')], cache)
    const stale = invalidateRows([replaceOf(1, '{"_id":"a1","n":1}')], cache)
    stale({ outcomes: ['conflict'], before: 1 })
    current({ outcomes: ['done'], before: 0 })
    assert.equal(cache.rowById('b')?.text, '{"_id":"b"}')
    assert.equal(cache.rowById('a1'), undefined)
  })

  test('are tracked while they are being changed, even if the cache is full', () => {
    const cache = keptOf(10)
    const writes = Array.from({ length: 40 }, (_, seq) => replaceOf(seq, rowOf(seq).text))
    const onSettled = invalidateRows(writes, cache)
    cache.add(rowOf(50))
    for (const seq of [0, 39]) {
      cache.add(rowOf(seq))
      assert.equal(cache.row(seq), undefined)
    }
    onSettled({ outcomes: writes.map(() => 'done'), before: 0 })
    const left = writes.flatMap((_, seq) => cache.row(seq) ?? [])
    assert(left.length > 0 && left.length <= 10, String(left.length))
    for (const { seq, version } of left) assert.equal(version, seq + 1)
  })

  test('record whether a row has search fields, once a read has determined it', () => {
    const cache = keptOf(10)
    cache.noteAlone(1)
    cache.add(rowOf(1))
    assert(!cache.isAlone(1))
    cache.noteAlone(1)
    cache.add(rowOf(1), 'a1')
    assert(cache.isAlone(1))
    for (const [search, isAlone] of [
      [{ lexical: null }, false],
      [{}, true],
      [{ vectorize: 'a text' }, false],
    ] as const) {
      const onSettled = invalidateRows([replaceOf(1, '{"_id":"a1","n":1}', search)], cache)
      cache.noteAlone(1)
      assert(!cache.isAlone(1))
      onSettled({ outcomes: ['done'], before: 1 })
      assert.equal(cache.isAlone(1), isAlone)
    }
  })

  test('are not cached while another change is pending, or when the outcome of a change is unknown', () => {
    const cache = keptOf(10)
    const first = invalidateRows([replaceOf(1, '{"_id":"a1","n":1}')], cache)
    const second = invalidateRows([replaceOf(1, '{"_id":"a1","n":2}')], cache)
    first({ outcomes: ['done'], before: 0 })
    assert.equal(cache.row(1), undefined)
    second({ outcomes: ['done'], before: 1 })
    assert.deepEqual(cache.row(1), { seq: 1, version: 2, text: '{"_id":"a1","n":2}' })
    invalidateRows([replaceOf(1, '{"_id":"a1","n":3}')], cache)(undefined)
    assert.equal(cache.row(1), undefined)
  })

  test('stay removed when all rows were deleted during a change that settles later', () => {
    const cache = keptOf(10)
    const first = invalidateRows([replaceOf(1, '{"_id":"a1","n":1}')], cache)
    const all = cache.invalidateAll()
    all({ outcomes: [], before: 1 })
    first({ outcomes: ['done'], before: 0 })
    assert.equal(cache.row(1), undefined)
  })

  test('are all removed when all rows change, or when the changed rows are unknown', () => {
    for (const invalidate of [
      (cache: RowCache) => cache.invalidateAll(),
      (cache: RowCache) =>
        invalidateRows([{ kind: 'delete', before: strangerOf('a1') }], cache),
    ]) {
      const cache = keptOf(10)
      cache.add(rowOf(1), 'a1')
      const onSettled = invalidate(cache)
      cache.add(rowOf(2))
      assert.equal(cache.row(1) ?? cache.rowById('a1') ?? cache.row(2), undefined)
      onSettled({ outcomes: [], before: 0 })
      cache.add(rowOf(2))
      assert.equal(cache.row(2)?.seq, 2)
    }
  })
})

describe(`cached rows of an engine, seed ${seed}`, () => {
  const random = new Random(seed)
  const ids = Array.from({ length: 60 }, (_, i) => (i % 5 === 0 ? i : `id-${i}`))
  const groups = ['red', 'green', 'blue', 'grün']
  /**
   * For each _id, the greatest `n` that was acknowledged or read so far. No later read may return a
   * smaller `n`.
   */
  let floor: Map<unknown, number>
  let next = 1

  before(() => {
    floor = new Map()
  })

  const made = (_id: unknown) => ({ _id, n: next++, group: random.pick(groups) })

  /**
   * Asserts that a read returns no older state than `atLeast`, the states that were known before
   * the read began.
   */
  const check = (found: StoredRecord, atLeast: ReadonlyMap<unknown, number>) => {
    const { _id, n } = JSON.parse(found.text) as { _id: unknown; n: number }
    const least = atLeast.get(_id) ?? 0
    assert(n >= least, `${String(_id)} had ${least} and has ${n}`)
    floor.set(_id, Math.max(n, floor.get(_id) ?? 0))
  }

  test('are never older than a state that was acknowledged or read before, and match the filter of the read', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'cache')
    await store.insert(ids.map(made))
    let isOver = false

    const readById = async () => {
      const known = new Map(floor)
      const found = await store.find({
        filter: where('_id', 'eq', random.pick(ids)),
        withSearchFields: random.oneIn(3),
      })
      for (const one of found) check(one, known)
      return found[0]
    }
    const readGroup = async () => {
      const known = new Map(floor)
      const group = random.pick(groups)
      const wanted = { filter: where('group', 'eq', group), textsOnly: true }
      const page = await store.page(wanted, 20)
      const texts =
        page.joined === undefined
          ? page.records.map(({ text }) => text)
          : (JSON.parse(`[${page.joined.text}]`) as object[]).map((one) =>
              JSON.stringify(one),
            )
      for (const text of texts) {
        assert.equal((JSON.parse(text) as { group: string }).group, group)
        check({ text } as StoredRecord, known)
      }
    }
    const noteWritten = (documents: readonly { _id: unknown; n: number }[]) => {
      for (const { _id, n } of documents) floor.set(_id, Math.max(n, floor.get(_id) ?? 0))
    }
    const replaceSome = async () => {
      const records: StoredRecord[] = []
      for (let i = random.below(3); i >= 0; i--) {
        const record = await readById()
        if (record !== undefined) records.push(record)
      }
      const documents = records.map((record) =>
        made((JSON.parse(record.text) as { _id: unknown })._id),
      )
      const writes = records.map((record, i) => replacement(record, documents[i]!))
      const outcomes = await engine.write(store.target, writes)
      noteWritten(documents.filter((_, i) => outcomes[i] === 'done'))
    }
    const deleteAndInsert = async () => {
      const record = await readById()
      if (record !== undefined) await store.delete(record)
      const document = made(random.pick(ids))
      const [outcome] = await store.insert([document])
      if (outcome === 'done') noteWritten([document])
    }
    const acts = [readById, readById, readGroup, readGroup, replaceSome, deleteAndInsert]
    const client = async () => {
      while (!isOver) await random.pick(acts)()
    }
    const clients = Array.from({ length: 12 }, client)
    const deadline = performance.now() + 1_500
    for (let changes = 0; performance.now() < deadline || changes < 200; changes++)
      await replaceSome()
    isOver = true
    await Promise.all(clients)
    // No other write changes the documents now. So each replacement succeeds if the cached version
    // is correct.
    for (const id of [...ids, ...ids]) {
      const [record] = await store.find({ filter: where('_id', 'eq', id) })
      if (record !== undefined) assert.equal(await store.replace(record, made(id)), 'done')
    }
    await engine.truncate(store.target)
    assert.deepEqual(await store.find({ filter: where('_id', 'eq', 'id-1') }), [])
    assert.deepEqual(await store.find({ filter: where('group', 'eq', 'red') }), [])
  })
})

test('a document that is changed while all documents are deleted is removed', async (context) => {
  const { engine } = await openEmbedded(context)
  const store = await Store.create(engine, 'emptied')
  for (let round = 0; round < 20; round++) {
    await store.insert([{ _id: 'one', round }])
    const record = await store.one('one')
    const changed = store.replace(record, { _id: 'one', round, changed: true })
    await Promise.all([changed, engine.truncate(store.target)])
    assert.deepEqual(await store.find({ filter: where('_id', 'eq', 'one') }), [])
  }
})

function keptOf(rows: number): RowCache {
  const cache = new RowCache()
  cache.setMax(rows * rowSize)
  return cache
}

function rowOf(seq: number) {
  return { seq, version: 1, text: `{"_id":"a${seq % 10}"}` }
}

function recordOf(seq: number): EmbeddedRecord {
  return new EmbeddedRecord(rowOf(seq), documentView({}))
}

function replaceOf(seq: number, text: string, search: SearchFields = {}): Write {
  const after = { id: 'a', text, document: new Map(), search }
  return { kind: 'replace', before: recordOf(seq), beforeDocument: new Map(), after }
}

/** The replacement of document "b", which reused the number 1 of document "a1". */
function replaceReused(text: string): Write {
  const before = new EmbeddedRecord({ seq: 1, version: 1, text }, documentView({}))
  const after = { id: 'b', text, document: new Map(), search: {} }
  return { kind: 'replace', before, beforeDocument: new Map(), after }
}

function deleteOf(seq: number): Write {
  return { kind: 'delete', before: recordOf(seq) }
}

function insertOf(seq: number): Write {
  const { text } = rowOf(seq)
  return { kind: 'insert', record: { id: 'a', text, document: new Map(), search: {} } }
}

function strangerOf(id: string): StoredRecord {
  return { id, text: `{"_id":"${id}"}`, version: 1 }
}
