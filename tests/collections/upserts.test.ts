/** Concurrent upserts create as many documents as sequential upserts. */
import { deleteDocument, updateDocument } from '../../src/collections/change-documents.ts'
import { ownCaller, type Caller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Upserts } from '../../src/collections/upserts.ts'
import type { NewRecord } from '../../src/engine/contract.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { Fixture, tester, type Given } from './fixture.ts'
import { json, object } from './json.ts'
import { wordVectors } from './word-models.ts'

const upsert = { upsert: true }
const count = 30

function times<T>(act: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => act(i)))
}

/** All documents without their generated ids. */
async function contentOf(fixture: Fixture): Promise<string[]> {
  const texts = await fixture.all()
  return texts.map((text) => text.replace(/"_id":(?:"[^"]*"|\{[^}]*\}),?/, '')).toSorted()
}

const commands = {
  updateOne: (fixture: Fixture, given: Given) =>
    fixture.update(given, { $inc: { n: 1 } }, upsert),
  updateMany: (fixture: Fixture, given: Given) =>
    fixture.updateMany(given, { $inc: { n: 1 } }, upsert),
  replaceOne: (fixture: Fixture, given: Given) =>
    fixture.replace(given, { name: 'counter', kind: 'x' }, upsert),
}

describe('concurrent upserts', () => {
  for (const [name, run] of Object.entries(commands))
    test(`with the same filter create one document: ${name}`, async () => {
      const fixture = new Fixture({ pageSize: 3 })
      const filter = { name: 'counter' }
      const changes = await times(() => run(fixture, { filter }))
      const upserted = changes.filter(({ upsertedId }) => upsertedId !== undefined)
      const matched = changes.filter(({ matchedCount }) => matchedCount === 1)
      assert.deepEqual([upserted.length, matched.length], [1, count - 1])
      const expected =
        name === 'replaceOne'
          ? '{"name":"counter","kind":"x"}'
          : `{"name":"counter","n":${count}}`
      assert.deepEqual(await contentOf(fixture), [expected])
      assert.equal(fixture.turns.upserts.size, 0)
    })

  test('create one document for equivalent filters', async () => {
    const fixture = new Fixture()
    const filters = [
      { name: 'counter', kind: 'x' },
      { kind: 'x', name: 'counter' },
      { name: { $eq: 'counter' }, kind: { $eq: 'x' } },
      { kind: 'x', name: 'counter', n: { $exists: true } },
    ]
    await times((i) =>
      fixture.update({ filter: filters[i % 4]! }, { $inc: { n: 1 } }, upsert),
    )
    const documents = await fixture.all()
    assert.equal(documents.length, 1)
    assert.match(documents[0]!, /"n":30\b/)
  })

  test('create one document if the document of each upsert matches the filters of the others', async () => {
    const fixture = new Fixture()
    await times((i) =>
      i % 2 === 0
        ? fixture.update({ filter: { a: 1 } }, { $set: { b: 2 } }, upsert)
        : fixture.update({ filter: { b: 2 } }, { $set: { a: 1 } }, upsert),
    )
    assert.deepEqual(await contentOf(fixture), ['{"a":1,"b":2}'])
  })

  test('with the same filter, sent by different commands, create one document', async () => {
    const fixture = new Fixture()
    const all = Object.values(commands)
    await times((i) => all[i % 3]!(fixture, { filter: { name: 'counter' } }))
    assert.equal((await fixture.all()).length, 1)
  })

  test('with different filters create one document each, without waiting', async () => {
    const fixture = new Fixture({ pageSize: 2 * count })
    const entered: number[] = []
    let open!: () => void
    const gate = new Promise<void>((resolve) => (open = resolve))
    const { engine } = fixture
    const write = engine.write.bind(engine)
    engine.write = async (...args) => {
      entered.push(1)
      // Each write waits until all upserts have started a write.
      if (entered.length === count) open()
      await gate
      return write(...args)
    }
    await times((i) =>
      fixture.update({ filter: { name: `${i}` } }, { $inc: { n: 1 } }, upsert),
    )
    assert.equal((await fixture.all()).length, count)
  })

  test('create one document each when the created documents do not match the filter', async () => {
    const fixture = new Fixture({ pageSize: 2 * count })
    await times(() => fixture.replace({ filter: { name: 'a' } }, { name: 'b' }, upsert))
    assert.deepEqual(
      await contentOf(fixture),
      Array.from({ length: count }, () => '{"name":"b"}'),
    )
  })

  test('and concurrent deletes leave one document or none', async () => {
    const fixture = new Fixture()
    const filter = { name: 'counter' }
    for (let round = 0; round < 20; round++) {
      await times((i) =>
        i % 3 === 0
          ? deleteDocument(fixture.another(), fixture.select({ filter }), tester)
          : fixture.update({ filter }, { $inc: { n: 1 } }, upsert),
      )
      assert((await fixture.all()).length <= 1)
    }
    assert.equal(fixture.turns.upserts.size, 0)
  })

  test('with a text to embed create one document, by _id and by other filters', async () => {
    for (const filter of [{ name: 'counter' }, { _id: 1 }]) {
      const fixture = new Fixture({}, wordVectors)
      await times(() => fixture.update({ filter }, { $set: { $vectorize: 'red' } }, upsert))
      assert.equal((await fixture.all()).length, 1)
    }
  })

  test('with a vector sort create one document', async () => {
    const fixture = new Fixture()
    await times(() =>
      fixture.update(
        { filter: { name: 'x' }, sort: { $vector: [1, 0] } },
        { $set: { $vector: [1, 0] } },
        upsert,
      ),
    )
    assert.equal((await fixture.all()).length, 1)
  })

  test('succeed when an earlier upsert fails', async () => {
    const fixture = new Fixture()
    let writes = 0
    fixture.engine.meanwhile = () => {
      if (++writes === 1) throw new Error('the disk is full')
    }
    const filter = { name: 'counter' }
    const outcomes = await Promise.allSettled(
      Array.from({ length: count }, () =>
        fixture.update({ filter }, { $inc: { n: 1 } }, upsert),
      ),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1)
    assert.deepEqual(await contentOf(fixture), [`{"name":"counter","n":${count - 1}}`])
    assert.equal(fixture.turns.upserts.size, 0)
  })

  test('do not wait for upserts of other collections', async () => {
    const upserts = new Upserts()
    const record = recordOf({ _id: 1 })
    const never = new Promise<never>(() => undefined)
    void upserts.inTurn(
      'one',
      record,
      () => true,
      () => never,
    )
    const done = () => Promise.resolve('done')
    assert.equal(await upserts.inTurn('two', record, () => true, done), 'done')
  })

  test('also wait for an upsert that starts while they check the document of an earlier upsert', async () => {
    const upserts = new Upserts()
    const begin = (record: NewRecord) => {
      let end!: () => void
      const work = () => new Promise<string>((resolve) => (end = () => resolve('done')))
      const ended = upserts.inTurn('uid', record, () => false, work)
      return { end: () => end(), ended }
    }
    const [one, two] = [recordOf({ _id: 1 }), recordOf({ _id: 2 })]
    const first = begin(one)
    const looks: NewRecord[] = []
    let goOn!: () => void
    const looked = new Promise<boolean>((resolve) => (goOn = () => resolve(false)))
    const find = (record: NewRecord) => {
      looks.push(record)
      return record === one ? looked : true
    }
    let isDone = false
    const work = () => {
      isDone = true
      return Promise.resolve('done')
    }
    const last = upserts.inTurn('uid', recordOf({ _id: 3 }), find, work)
    first.end()
    await first.ended
    const second = begin(two)
    goOn()
    await setImmediate()
    assert(looks.length === 2 && looks[0] === one && looks[1] === two)
    second.end()
    assert.equal(await last, undefined)
    assert(!isDone)
    assert.equal(upserts.size, 0)
  })

  test('end when their client disconnects, and other upserts do not wait for them', async () => {
    const fixture = new Fixture()
    let release!: () => void
    const stuck = new Promise<void>((resolve) => (release = resolve))
    const { engine } = fixture
    const write = engine.write.bind(engine)
    let writes = 0
    engine.write = async (...args) => {
      if (++writes === 1) await stuck
      return write(...args)
    }
    const run = (caller: Caller) =>
      updateDocument(
        fixture.documents,
        fixture.select({ filter: { name: 'counter' } }),
        parseUpdate(json({ $inc: { n: 1 } })),
        upsert,
        caller,
      )
    const first = run(tester)
    await setImmediate()
    const leaving = new AbortController()
    const second = run(ownCaller(leaving.signal))
    const third = run(tester)
    await setImmediate()
    leaving.abort(new Error('the client disconnected'))
    await assert.rejects(second, /the client disconnected/)
    release()
    await Promise.all([first, third])
    assert.deepEqual(await contentOf(fixture), ['{"name":"counter","n":2}'])
    assert.equal(fixture.turns.upserts.size, 0)
  })
})

function recordOf(document: object): NewRecord {
  const content = object(document)
  return { id: 1, text: JSON.stringify(document), document: content, search: {} }
}
