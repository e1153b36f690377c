/** The cache of rows: it never returns another text than the store has. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { SearchFields, StoredRecord, Write } from '../../src/engine/contract.ts'
import { KeptRows } from '../../src/engine/embedded/store/kept-rows.ts'
import { EmbeddedRecord, letGoOf } from '../../src/engine/embedded/read/record-page.ts'
import { documentView } from '../../src/engine/record-view.ts'
import { Random, seed } from '../faults/random.ts'
import { openEmbedded } from './embedded-store.ts'
import { replacement, Store, where } from './store.ts'

const rowSize = 2 * '{"_id":"a0"}'.length + 256

describe('cached rows', () => {
  test('are found by number, and by an _id that was noted', () => {
    const kept = keptOf(10)
    kept.keep(rowOf(1), 'a1')
    kept.keep(rowOf(2))
    assert.equal(kept.row(1), kept.rowById('a1'))
    assert.equal(kept.row(2)?.seq, 2)
    assert.equal(kept.rowById('a2'), undefined)
    // A later read by number keeps the _id.
    kept.keep(rowOf(1))
    assert.equal(kept.rowById('a1')?.seq, 1)
  })

  test('take no more than their limit; recently used rows stay', () => {
    const kept = keptOf(10)
    for (let seq = 0; seq < 100; seq++) {
      kept.keep(rowOf(seq), `a${seq}`)
      assert.equal(kept.row(0)?.seq, 0)
    }
    const left = Array.from({ length: 100 }, (_, seq) => seq).filter((seq) => kept.row(seq))
    assert(left.length <= 10, String(left))
    assert(left.includes(99))
    kept.setMax(0)
    kept.keep(rowOf(1))
    kept.keep(rowOf(2))
    assert.equal(kept.row(1), undefined)
  })

  test('do not include long rows', () => {
    const kept = keptOf(1_000)
    kept.keep({ seq: 1, version: 1, text: 'x'.repeat(16_385) })
    assert.equal(kept.row(1), undefined)
  })

  test('include every row while there is room, and a sample afterwards', () => {
    const kept = keptOf(10)
    const taken = Array.from({ length: 80 }, (_, seq) => {
      const takes = kept.takes()
      if (takes) kept.keep(rowOf(seq))
      return takes
    })
    assert(taken.slice(0, 5).every(Boolean))
    const later = taken.slice(20).filter(Boolean).length
    assert(later > 0 && later < 20, String(later))
  })

  test('are invalidated during a change, and have the new text and version afterwards', () => {
    const kept = keptOf(10)
    kept.keep(rowOf(1), 'a1')
    kept.keep(rowOf(2), 'a2')
    kept.keep(rowOf(3), 'a3')
    const settle = letGoOf(
      [
        insertOf(9),
        replaceOf(1, '{"_id":"a1","n":1}'),
        deleteOf(2),
        replaceOf(3, '{"_id":"a3","n":1}'),
      ],
      kept,
    )
    for (const seq of [1, 2, 3]) assert.equal(kept.row(seq), undefined)
    // A read during the change may return the old or the new text, so it is not cached.
    kept.keep(rowOf(1), 'a1')
    assert.equal(kept.row(1), undefined)
    settle({ outcomes: ['done', 'done', 'done', 'conflict'], before: 40 })
    const after = { seq: 1, version: 42, text: '{"_id":"a1","n":1}' }
    assert.deepEqual(kept.row(1), after)
    assert.deepEqual(kept.rowById('a1'), after)
    assert.equal(kept.row(2), undefined)
    assert.equal(kept.row(3), undefined)
    kept.keep(rowOf(3))
    assert.equal(kept.row(3)?.seq, 3)
  })

  test('are found by their _id after a change, even if they were not cached before', () => {
    const kept = keptOf(10)
    const settle = letGoOf([replaceOf(1, '{"_id":"a1","n":1}')], kept)
    assert.equal(kept.rowById('a1'), undefined)
    settle({ outcomes: ['done'], before: 0 })
    assert.equal(kept.rowById('a1')?.text, '{"_id":"a1","n":1}')
  })

  test('release their _id when they are deleted', () => {
    const kept = keptOf(10)
    kept.keep(rowOf(1), 'a1')
    const settle = letGoOf([deleteOf(1)], kept)
    kept.keep(rowOf(11), 'a1')
    settle({ outcomes: ['done'], before: 0 })
    assert.equal(kept.rowById('a1')?.seq, 11)
    assert.equal(kept.row(1), undefined)
  })

  test('that are being changed are tracked even if the cache is full', () => {
    const kept = keptOf(10)
    const writes = Array.from({ length: 40 }, (_, seq) => replaceOf(seq, rowOf(seq).text))
    const settle = letGoOf(writes, kept)
    kept.keep(rowOf(50))
    for (const seq of [0, 39]) {
      kept.keep(rowOf(seq))
      assert.equal(kept.row(seq), undefined)
    }
    settle({ outcomes: writes.map(() => 'done'), before: 0 })
    const left = writes.flatMap((_, seq) => kept.row(seq) ?? [])
    assert(left.length > 0 && left.length <= 10, String(left.length))
    for (const { seq, version } of left) assert.equal(version, seq + 1)
  })

  test('record whether a row has search fields, once a read noted it', () => {
    const kept = keptOf(10)
    kept.noteAlone(1)
    kept.keep(rowOf(1))
    assert(!kept.isAlone(1))
    kept.noteAlone(1)
    kept.keep(rowOf(1), 'a1')
    assert(kept.isAlone(1))
    for (const [search, isAlone] of [
      [{ lexical: null }, false],
      [{}, true],
      [{ vectorize: 'a text' }, false],
    ] as const) {
      const settle = letGoOf([replaceOf(1, '{"_id":"a1","n":1}', search)], kept)
      kept.noteAlone(1)
      assert(!kept.isAlone(1))
      settle({ outcomes: ['done'], before: 1 })
      assert.equal(kept.isAlone(1), isAlone)
    }
  })

  test('are not stored before their last change is done, or when its outcome is unknown', () => {
    const kept = keptOf(10)
    const first = letGoOf([replaceOf(1, '{"_id":"a1","n":1}')], kept)
    const second = letGoOf([replaceOf(1, '{"_id":"a1","n":2}')], kept)
    first({ outcomes: ['done'], before: 0 })
    assert.equal(kept.row(1), undefined)
    second({ outcomes: ['done'], before: 1 })
    assert.deepEqual(kept.row(1), { seq: 1, version: 2, text: '{"_id":"a1","n":2}' })
    letGoOf([replaceOf(1, '{"_id":"a1","n":3}')], kept)(undefined)
    assert.equal(kept.row(1), undefined)
  })

  test('stay removed after all rows were deleted, in any order of the answers', () => {
    const kept = keptOf(10)
    const first = letGoOf([replaceOf(1, '{"_id":"a1","n":1}')], kept)
    const all = kept.letGoOfAll()
    all({ outcomes: [], before: 1 })
    first({ outcomes: ['done'], before: 0 })
    assert.equal(kept.row(1), undefined)
  })

  test('are all removed when all rows change, or when the changed rows are unknown', () => {
    for (const letGo of [
      (kept: KeptRows) => kept.letGoOfAll(),
      (kept: KeptRows) => letGoOf([{ kind: 'delete', before: strangerOf('a1') }], kept),
    ]) {
      const kept = keptOf(10)
      kept.keep(rowOf(1), 'a1')
      const settle = letGo(kept)
      kept.keep(rowOf(2))
      assert.equal(kept.row(1) ?? kept.rowById('a1') ?? kept.row(2), undefined)
      settle({ outcomes: [], before: 0 })
      kept.keep(rowOf(2))
      assert.equal(kept.row(2)?.seq, 2)
    }
  })
})

describe(`cached rows of an engine, seed ${seed}`, () => {
  const random = new Random(seed)
  const ids = Array.from({ length: 60 }, (_, i) => (i % 5 === 0 ? i : `id-${i}`))
  const groups = ['red', 'green', 'blue', 'grün']
  /** The latest acknowledged or seen state of each document. */
  let floor: Map<unknown, number>
  let next = 1

  before(() => {
    floor = new Map()
  })

  const made = (_id: unknown) => ({ _id, n: next++, group: random.pick(groups) })

  /** Asserts that a read returns no older state than was known before it began. */
  const check = (found: StoredRecord, atLeast: ReadonlyMap<unknown, number>) => {
    const { _id, n } = JSON.parse(found.text) as { _id: unknown; n: number }
    const least = atLeast.get(_id) ?? 0
    assert(n >= least, `${String(_id)} had ${least} and has ${n}`)
    floor.set(_id, Math.max(n, floor.get(_id) ?? 0))
  }

  test('no read returns an older state than was acknowledged or seen before, or a state that its filter excludes', async (context) => {
    const { engine } = await openEmbedded(context)
    const store = await Store.create(engine, 'kept')
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
    // Versions are correct as well: no other write changes the documents now.
    for (const id of [...ids, ...ids]) {
      const [record] = await store.find({ filter: where('_id', 'eq', id) })
      if (record !== undefined) assert.equal(await store.replace(record, made(id)), 'done')
    }
    await engine.truncate(store.target)
    assert.deepEqual(await store.find({ filter: where('_id', 'eq', 'id-1') }), [])
    assert.deepEqual(await store.find({ filter: where('group', 'eq', 'red') }), [])
  })
})

test('a document that is changed while all are deleted is removed', async (context) => {
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

function keptOf(rows: number): KeptRows {
  const kept = new KeptRows()
  kept.setMax(rows * rowSize)
  return kept
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
