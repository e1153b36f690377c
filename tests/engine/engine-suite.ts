/**
 * What every engine must do. Reads go through the layer that finishes what an engine leaves
 * undone, so the answers are the same whether it serves all of a query or nothing.
 */
import { ownCaller } from '../../src/caller.ts'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine, SearchFields, Write } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { fromPlain } from '../../src/json/plain.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject } from '../../src/json/value.ts'
import type { PagePosition } from '../../src/paging/read.ts'
import { everything, type Filter } from '../../src/language/filters/filter.ts'
import { matches } from '../../src/language/filters/matches.ts'
import { compareBy } from '../../src/language/values/order.ts'
import { describeLexical } from './lexical-suite.ts'
import { describeSchemaChanges } from './schema-suite.ts'
import { eventually, putSetting, settingOf } from './settings.ts'
import {
  among,
  by,
  exists,
  pathOf,
  createCollection,
  dropTarget,
  plainOptions,
  recordOf,
  replacement,
  Store,
  where,
} from './store.ts'

export interface Running {
  readonly engine: Engine
  /** Closes the engine and opens it again on the same data. */
  reopen(): Promise<Engine>
  /** Closes the engine and removes its data. */
  stop(): Promise<void>
}

export function describeEngine(name: string, start: () => Promise<Running>): void {
  describe(name, () => {
    let running: Running
    let engine: Engine
    let made = 0
    const newStore = () => Store.create(engine, `store${made++}`)

    before(async () => {
      running = await start()
      engine = running.engine
    })
    after(() => running.stop())

    const reopen = async () => {
      engine = await running.reopen()
    }

    describe('keyspaces', () => {
      test('start with the default one', async () => {
        assert((await engine.listKeyspaces()).includes('default_keyspace'))
      })

      test('can be made twice and dropped twice', async () => {
        assert.equal(await engine.createKeyspace('twice'), true)
        assert.equal(await engine.createKeyspace('twice'), false)
        assert.deepEqual(await engine.listTargets('twice'), [])
        assert.equal(await engine.dropKeyspace('twice'), true)
        assert.equal(await engine.dropKeyspace('twice'), false)
        assert.equal(await engine.listTargets('twice'), undefined)
        assert(!(await engine.listKeyspaces()).includes('twice'))
      })

      test('take what they hold with them', async () => {
        await engine.createKeyspace('full')
        await createCollection(engine, 'books', plainOptions, 'full')
        const target = (await engine.findTarget('full', 'books'))!
        const count = await countTargets(engine)
        await engine.dropKeyspace('full')
        assert.equal(await countTargets(engine), count - 1)
        assert.equal(await engine.findTarget('full', 'books'), undefined)
        await assertFails('gone', engine.estimateCount(target))

        await engine.createKeyspace('full')
        assert.deepEqual(await engine.listTargets('full'), [])
        await engine.dropKeyspace('full')
      })

      test('whose names differ in case only are different', async () => {
        for (const name of ['Case', 'case', 'CASE']) await engine.createKeyspace(name)
        await createCollection(engine, 'books', plainOptions, 'Case')
        assert.deepEqual(await engine.listTargets('case'), [])
        for (const name of ['Case', 'case', 'CASE']) await engine.dropKeyspace(name)
      })
    })

    describe('collections', () => {
      test('are listed, found and counted', async () => {
        const count = await countTargets(engine)
        const store = await newStore()
        assert.equal(await countTargets(engine), count + 1)
        const listed = await engine.listTargets('default_keyspace')
        assert.deepEqual(
          listed?.find(({ name }) => name === store.target.name),
          store.target,
        )
        assert.equal(await engine.findTarget('default_keyspace', 'nothing'), undefined)
        assert.equal(await engine.findTarget('nowhere', store.target.name), undefined)
      })

      test('keep their options', async () => {
        const options = {
          defaultId: { type: 'uuidv7' },
          vector: { dimension: 3, metric: 'cosine', sourceModel: 'other' },
          indexing: { deny: ['a', 'b.c'] },
          lexical: { enabled: true, analyzer: { tokenizer: { name: 'standard' } } },
          rerank: { enabled: false },
        } as const
        await createCollection(engine, 'options', options)
        await reopen()
        const target = await engine.findTarget('default_keyspace', 'options')
        assert(target?.kind === 'collection')
        assert.deepEqual(target.options, options)
      })

      test('are created once, even when asked for at the same time', async () => {
        const create = () => createCollection(engine, 'same')
        const created = await Promise.all([create(), create(), create()])
        assert.equal(created.filter((yes) => yes).length, 1)
        assert(await engine.findTarget('default_keyspace', 'same'))
      })

      test('whose names differ in case only are different', async () => {
        const lower = await Store.create(engine, 'cased')
        const upper = await Store.create(engine, 'Cased')
        await lower.insert([{ _id: 'lower' }])
        await upper.insert([{ _id: 'upper' }])
        await reopen()
        assert.deepEqual(await (await Store.find(engine, 'cased')).ids(), ['lower'])
        assert.deepEqual(await (await Store.find(engine, 'Cased')).ids(), ['upper'])
        await dropTarget(engine, upper.target)
        assert.deepEqual(await (await Store.find(engine, 'cased')).ids(), ['lower'])
      })

      test('are empty and another after a drop, and the old one is gone', async () => {
        const old = await newStore()
        await old.insert([{ _id: 1, a: 1 }])
        await dropTarget(engine, old.target)
        await assertFails('gone', old.find())
        const store = await Store.create(engine, old.target.name)
        assert.notEqual(store.target.uid, old.target.uid)
        assert.deepEqual(await store.ids({ filter: where('a', 'eq', 1) }), [])
        assert.equal(await engine.estimateCount(store.target), 0)
        await store.insert([{ _id: 1, a: 1 }])
        assert.deepEqual(await store.ids({ filter: where('a', 'eq', 1) }), [1])

        await assertFails('gone', old.find())
        await assertFails('gone', old.count(where('a', 'gt', 0)))
        await assertFails('gone', old.insert([{ _id: 2 }]))
        await assertFails('gone', engine.estimateCount(old.target))
        await assertFails('gone', engine.truncate(old.target))
        // Dropping what was dropped does not take what has its name by now.
        await dropTarget(engine, old.target)
        assert.deepEqual(await store.ids(), [1])
      })

      test('can be dropped while they are read: a read is whole, or ends as gone', async () => {
        const store = await newStore()
        await fill(store, 3000)
        const reads = Array.from({ length: 6 }, (_, i) =>
          store.page({ filter: where('list.1', 'gte', 0), sort: by('-n') }, 10 + i),
        )
        const dropped = dropTarget(engine, store.target)
        for (const [i, read] of (await Promise.allSettled(reads)).entries()) {
          if (read.status === 'rejected') assert.equal(kindOf(read.reason), 'gone')
          else assert.equal(read.value.records.length, 10 + i)
        }
        await dropped
        await assertFails('gone', store.find())
      })

      test('can be dropped while they are written: an outcome, or gone', async () => {
        const store = await newStore()
        const writes = Array.from({ length: 20 }, (_, i) => store.insert([{ _id: i }]))
        const dropped = dropTarget(engine, store.target)
        for (const write of await Promise.allSettled(writes))
          if (write.status === 'rejected') assert.equal(kindOf(write.reason), 'gone')
        await dropped
        assert.deepEqual(await (await Store.create(engine, store.target.name)).ids(), [])
      })
    })

    describe('writes', () => {
      test('insert once under an id', async () => {
        const store = await newStore()
        assert.deepEqual(await store.insert([{ _id: 'x', n: 1 }]), ['done'])
        assert.deepEqual(await store.insert([{ _id: 'x', n: 2 }]), ['exists'])
        assert.equal((await store.one('x')).text, '{"_id":"x","n":1}')
      })

      test('tell ids of different types apart', async () => {
        const store = await newStore()
        const ids = [1, '1', true, null, { $date: 1 }, { $uuid: uuid }, -1, 'true', 'null']
        const documents = ids.map((_id) => ({ _id }))
        assert.deepEqual(
          await store.insert(documents),
          documents.map(() => 'done'),
        )
        for (const id of [1, '1', true, null])
          assert.deepEqual((await store.one(id)).id, id)
        assert.equal(await store.count(), ids.length)
      })

      test('take a UUID and its text for one id', async () => {
        const store = await newStore()
        assert.deepEqual(
          await store.insert([{ _id: { $uuid: uuid.toUpperCase() } }, { _id: uuid }]),
          ['done', 'exists'],
        )
      })

      test('in order stop at the first that fails, out of order they do not', async () => {
        const store = await newStore()
        const documents = [{ _id: 1 }, { _id: 2 }, { _id: 1 }, { _id: 3 }, { _id: 2 }]
        assert.deepEqual(await store.insert(documents, { ordered: true }), [
          ...['done', 'done', 'exists', 'skipped', 'skipped'],
        ])
        assert.deepEqual(await store.insert(documents, { ordered: false }), [
          ...['exists', 'exists', 'exists', 'done', 'exists'],
        ])
        assert.deepEqual(await store.ids({ sort: by('_id') }), [1, 2, 3])
      })

      test('replace a record that is as it was read', async () => {
        const store = await newStore()
        await store.insert([{ _id: 1, a: [1, 2], b: 'old' }])
        const read = await store.one(1)
        assert.equal(await store.replace(read, { _id: 1, a: 2, c: 'new' }), 'done')
        assert.deepEqual(await store.ids({ filter: where('a', 'eq', 2) }), [1])
        assert.deepEqual(await store.ids({ filter: where('a', 'eq', 1) }), [])
        assert.deepEqual(await store.ids({ filter: exists('b') }), [])
        assert.deepEqual(await store.ids({ filter: where('c', 'gt', '') }), [1])
        assert.notEqual((await store.one(1)).version, read.version)
      })

      test('refuse to replace or delete what has changed or is gone', async () => {
        const store = await newStore()
        await store.insert([{ _id: 1 }])
        const read = await store.one(1)
        assert.equal(await store.replace(read, { _id: 1, n: 1 }), 'done')
        assert.equal(await store.replace(read, { _id: 1, n: 2 }), 'conflict')
        assert.equal(await store.delete(read), 'conflict')
        const again = await store.one(1)
        assert.equal(again.text, '{"_id":1,"n":1}')
        assert.equal(await store.delete(again), 'done')
        assert.equal(await store.delete(again), 'conflict')
        assert.equal(await store.replace(again, { _id: 1, n: 3 }), 'conflict')
        assert.deepEqual(await store.ids(), [])
      })

      test('do not take a new record for a deleted one that had its id', async () => {
        const store = await newStore()
        await store.insert([{ _id: 1 }])
        const old = await store.one(1)
        await store.delete(old)
        await store.insert([{ _id: 1 }])
        assert.equal(await store.delete(old), 'conflict')
        await engine.truncate(store.target)
        await store.insert([{ _id: 1 }])
        assert.equal(await store.delete(old), 'conflict')
      })

      test('of all kinds go together, each by itself', async () => {
        const store = await newStore()
        await store.insert([{ _id: 1 }, { _id: 2 }, { _id: 3 }])
        const [one, two, three] = [
          await store.one(1),
          await store.one(2),
          await store.one(3),
        ]
        const writes: Write[] = [
          replacement(one, { _id: 1, n: 1 }),
          replacement(one, { _id: 1, n: 2 }),
          { kind: 'delete', before: two },
          { kind: 'insert', record: recordOf({ _id: 2, n: 'new' }) },
          { kind: 'insert', record: recordOf({ _id: 3 }) },
          { kind: 'delete', before: three },
        ]
        assert.deepEqual(await engine.write(store.target, writes), [
          ...['done', 'conflict', 'done', 'done', 'exists', 'done'],
        ])
        const texts = (await store.find({ sort: by('_id') })).map(({ text }) => text)
        assert.deepEqual(texts, ['{"_id":1,"n":1}', '{"_id":2,"n":"new"}'])
      })

      test('may be none', async () => {
        const store = await newStore()
        assert.deepEqual(await engine.write(store.target, []), [])
      })

      test('are seen by every read that starts after their answer', async () => {
        const store = await newStore()
        for (let i = 0; i < 50; i++) {
          await store.insert([{ _id: i, n: i }])
          assert.deepEqual(await store.ids({ filter: where('n', 'eq', i) }), [i])
          assert.equal(await store.count(), i + 1)
        }
      })

      test('of 200 callers at once all count', async () => {
        const store = await newStore()
        await store.insert([{ _id: 'shared', n: 0 }])
        const shared = await store.one('shared')
        const outcomes = await Promise.all(
          Array.from({ length: 200 }, async (_, i) => {
            const [own, same, first] = await Promise.all([
              store.insert([{ _id: i, group: i % 10 }]),
              store.replace(shared, { _id: 'shared', n: i + 1 }),
              store.insert([{ _id: 'first', winner: i }]),
            ])
            return { own: own[0], same, first: first[0] }
          }),
        )
        assert(outcomes.every(({ own }) => own === 'done'))
        assert.equal(outcomes.filter(({ same }) => same === 'done').length, 1)
        assert.equal(outcomes.filter(({ first }) => first === 'done').length, 1)
        assert.equal(await store.count(), 202)
        assert.equal(await store.count(where('group', 'eq', 3)), 20)
      })

      test('can delete everything at once', async () => {
        const store = await newStore()
        await fill(store, 100)
        await engine.truncate(store.target)
        assert.deepEqual(await store.ids(), [])
        assert.equal(await store.count(where('n', 'gte', 0)), 0)
        assert.equal(await engine.estimateCount(store.target), 0)
        await store.insert([{ _id: 1, n: 5 }])
        assert.deepEqual(await store.ids({ filter: where('n', 'eq', 5) }), [1])
      })
    })

    describe('texts', () => {
      test('come back as they were, whatever they hold', async () => {
        const store = await newStore()
        const texts = [
          '{"_id":"digits","n":1e+400,"m":0.1000000000000000001,"k":12345678901234567890}',
          '{"_id":"names","__proto__":1,"constructor":{"toString":2},"10":3,"2":4}',
          '{"_id":"odd","\\u0000":"\\u0000","lone":"\\ud83d","a.b":{"&":1},"😀":"😀"}',
          '{"_id":"long","text":"' + 'x'.repeat(100_000) + '"}',
        ]
        await store.insert(texts.map((text) => parseStored(text) as object))
        const found = await store.find()
        assert.deepEqual(found.map(({ text }) => text).sort(), texts.sort())
      })
    })

    describe('search fields', () => {
      const cases: readonly (readonly [string, SearchFields])[] = [
        ['nothing', {}],
        [
          'doubles',
          { vector: { numbers: Float64Array.of(0.1, 1 / 3, -0), form: 'array' } },
        ],
        ['singles', { vector: { numbers: Float32Array.of(0.5, -2, 0), form: 'array' } }],
        ['bytes', { vector: { numbers: Float32Array.of(0.1, 7, 1e-30), form: 'binary' } }],
        ['no vector', { vector: null }],
        ['words', { lexical: 'some words\0\ud83d' }],
        ['no words', { lexical: null }],
        ['text', { vectorize: '' }],
        ['no text', { vectorize: null }],
        [
          'all',
          {
            vector: { numbers: Float32Array.of(1), form: 'array' },
            vectorize: 'a',
            lexical: 'b',
          },
        ],
      ]

      test('come back as they were; absent and null are different', async () => {
        const store = await newStore()
        const writes = cases.map(([_id, search]): Write => ({
          kind: 'insert',
          record: recordOf({ _id }, search),
        }))
        await engine.write(store.target, writes)
        const check = async () => {
          for (const [id, search] of cases) {
            const found = (await (await Store.find(engine, store.target.name)).one(id))
              .search!
            assert.deepEqual(Object.keys(found), Object.keys(search), id)
            assert.deepEqual(
              [found.vectorize, found.lexical],
              [search.vectorize, search.lexical],
            )
            assert.equal(found.vector?.form, search.vector?.form, id)
            assert.deepEqual(
              found.vector && [...found.vector.numbers],
              search.vector && [...search.vector.numbers],
            )
          }
        }
        await check()
        await reopen()
        await check()
      })

      test('change and go with their record', async () => {
        const store = await newStore()
        const vector = { numbers: Float32Array.of(1, 2), form: 'array' } as const
        await engine.write(store.target, [
          { kind: 'insert', record: recordOf({ _id: 1 }, { vector, lexical: 'a' }) },
        ])
        await store.replace(await store.one(1), { _id: 1 }, { lexical: 'b' })
        assert.deepEqual((await store.one(1)).search, { lexical: 'b' })
        await store.replace(await store.one(1), { _id: 1 })
        assert.deepEqual((await store.one(1)).search, {})
        await store.replace(await store.one(1), { _id: 1 }, { vector: null })
        await store.delete(await store.one(1))
        await store.insert([{ _id: 1 }])
        assert.deepEqual((await store.one(1)).search, {})
      })

      test('can be asked for', async () => {
        const store = await newStore()
        const writes = cases.map(([_id, search]): Write => ({
          kind: 'insert',
          record: recordOf({ _id }, search),
        }))
        await engine.write(store.target, writes)
        for (const field of ['vector', 'vectorize', 'lexical'] as const) {
          const having = cases.filter(([, search]) => search[field] !== undefined)
          const path = `$${field}`
          const found = await store.ids({ filter: exists(path) })
          assert.deepEqual(found.sort(), having.map(([id]) => id).sort())
          assert.equal(await store.count(exists(path, false)), cases.length - having.length)
        }
      })
    })

    describeLexical(() => engine)

    describeSchemaChanges(() => engine, reopen)

    describe('reads', () => {
      let store: Store
      const size = 700

      before(async () => {
        store = await newStore()
        await fill(store, size)
      })

      const filters: Readonly<Record<string, Filter>> = {
        everything: { kind: 'and', of: [] },
        nothing: { kind: 'or', of: [] },
        'an id': where('_id', 'eq', 7),
        'ids in a range': where('_id', 'gt', size - 10),
        'a common value': where('group', 'eq', 2),
        'another value': where('group', 'ne', 2),
        'a range': where('n', 'gte', size / 2),
        'a range of dates': where('when', 'lt', { $date: 100 }),
        'one of several values': among('group', 'in', [1, 3, 'none']),
        'an element': where('list', 'eq', 3),
        'two elements': among('list', 'all', [1, 2]),
        'an element by position': where('list.1', 'eq', 2),
        'an array': where('list', 'eq', [1, 2]),
        'an object': where('inner', 'eq', { deep: 1 }),
        'a nested field': where('inner.deep', 'eq', 1),
        'a field that is missing': exists('sometimes', false),
        'a size': { kind: 'size', path: pathOf('list'), size: 3 },
        'both of two': {
          kind: 'and',
          of: [where('group', 'eq', 1), where('n', 'lt', 100)],
        },
        'either of two': {
          kind: 'or',
          of: [where('group', 'eq', 1), where('n', 'lt', 100)],
        },
      }
      const sorts = [
        by(),
        by('n'),
        by('-n'),
        by('group'),
        by('-group', 'n'),
        by('sometimes'),
        by('-_id'),
        by('list.0', '-inner'),
      ]

      for (const [name, filter] of Object.entries(filters))
        test(`find ${name} in every order, page by page`, async () => {
          const expected = documents(size).filter((document) => matches(filter, document))
          assert.equal(await store.count(filter), expected.length)
          assert.equal(await store.count(filter, 5), Math.min(5, expected.length))
          for (const sort of sorts) {
            const found = (await store.find({ filter, sort }, 90)).map(({ text }) => text)
            const wanted = expected.toSorted(compareBy(sort)).map((each) => printJson(each))
            if (sort.length === 0) assert.deepEqual(found.toSorted(), wanted.toSorted())
            else assert.deepEqual(found, wanted)
            if (sort.length !== 1) continue
            const skipped = await store.find({ filter, sort, skip: 13 }, 150)
            assert.deepEqual(
              skipped.map(({ text }) => text),
              wanted.slice(13),
            )
          }
        })

      test('give texts alone as they give records', async () => {
        const store = await newStore()
        await store.insert(Array.from({ length: 25 }, (_, i) => ({ _id: i, odd: i % 2 })))
        const filters: Filter[] = [
          everything,
          where('odd', 'eq', 1),
          where('odd', 'eq', 7),
          { kind: 'exists', path: pathOf('odd'), exists: false },
        ]
        for (const filter of filters)
          for (const pageSize of [1, 6, 12, 13, 25, 30]) {
            const texts = (await store.find({ filter })).map(({ text }) => text)
            const found: string[] = []
            let after: PagePosition | undefined
            do {
              const page = await store.page({ filter, textsOnly: true }, pageSize, after)
              const { joined, records } = page
              const text = joined?.text ?? records.map((record) => record.text).join(',')
              if (text !== '') found.push(text)
              assert((joined?.count ?? records.length) <= pageSize)
              after = page.next
            } while (after !== undefined)
            assert.equal(found.join(','), texts.join(','))
          }
      })

      test('do not meet again what is changed on the way, when they are stable', async () => {
        const changing = await newStore()
        await fill(changing, 100)
        const filter = where('n', 'gte', 0)
        const seen: unknown[] = []
        let page = await changing.page({ filter, stable: true }, 7)
        for (;;) {
          for (const record of page.records) {
            seen.push(record.id)
            const n = 1000 + seen.length
            assert.equal(await changing.replace(record, { _id: record.id, n }), 'done')
          }
          if (page.next === undefined) break
          page = await changing.page({ filter, stable: true }, 7, page.next)
        }
        assert.equal(seen.length, 100)
        assert.equal(new Set(seen).size, 100)
      })

      test('find what stays exactly once while other records come and go', async () => {
        const changing = await newStore()
        await fill(changing, 60)
        const filter = where('group', 'eq', 1)
        const expected = new Set(await changing.ids({ filter }))
        const seen: unknown[] = []
        let added = 1000
        let page = await changing.page({ filter, sort: by('n') }, 3)
        for (;;) {
          seen.push(...page.records.map(({ id }) => id))
          await changing.insert([{ _id: added++, group: 1, n: -1 }])
          const [other] = await changing.find({ filter: where('group', 'eq', 2) })
          if (other !== undefined) await changing.delete(other)
          if (page.next === undefined) break
          page = await changing.page({ filter, sort: by('n') }, 3, page.next)
        }
        assert.deepEqual(new Set(seen), expected)
        assert.equal(seen.length, expected.size)
      })

      test('end when nobody waits any more', async () => {
        const large = await newStore()
        await fill(large, 12_000)
        const filter = where('list.1', 'gte', 'nowhere')
        for (const sort of [by(), by('list.0')]) {
          const giveUp = new AbortController()
          const read = large.page({ filter, sort }, 10, undefined, ownCaller(giveUp.signal))
          giveUp.abort()
          await assert.rejects(read)
          await assert.rejects(
            large.page({ filter, sort }, 10, undefined, ownCaller(giveUp.signal)),
          )
        }
        const giveUp = new AbortController()
        const counted = large.count(filter, 10, ownCaller(giveUp.signal))
        giveUp.abort()
        await assert.rejects(counted)
      })

      test('refuse a position that is none', async () => {
        for (const position of ['x', '[]', '{}', '["n"]', '["s",1,2]', '["r","n",5,1]'])
          await assertFails('position', store.page({}, 5, { kind: 'engine', position }))
      })
    })

    describe('settings', () => {
      test('are kept until they are changed', async () => {
        assert.equal(await engine.readSetting('never-written'), undefined)
        await putSetting(engine, 'greeting', 'hello')
        await putSetting(engine, 'greeting', 'hello\nagain "😀"')
        const written = await engine.readSetting('greeting')
        assert.equal(written!.value, 'hello\nagain "😀"')
        await reopen()
        assert.deepEqual(await engine.readSetting('greeting'), written)
      })

      test('are written only over the version that was expected', async () => {
        const write = (value: string, expected: string | undefined) =>
          engine.writeSetting('contested', value, expected)
        assert.equal(await write('too early', 'a version'), undefined)
        assert.equal(await engine.readSetting('contested'), undefined)
        const first = await write('one', undefined)
        assert.equal(await write('too late', undefined), undefined)
        assert.deepEqual(await engine.readSetting('contested'), {
          value: 'one',
          version: first,
        })
        const second = await write('two', first)
        assert.notEqual(second, first)
        assert.equal(await write('too late', first), undefined)
        assert.equal(await settingOf(engine, 'contested'), 'two')
      })

      test('that many want to write at once are written by one', async () => {
        const attempts = Array.from({ length: 20 }, (_, i) =>
          engine.writeSetting('raced', `by ${i}`, undefined),
        )
        const versions = await Promise.all(attempts)
        const winner = versions.findIndex((version) => version !== undefined)
        assert.equal(versions.filter((version) => version !== undefined).length, 1)
        assert.deepEqual(await engine.readSetting('raced'), {
          value: `by ${winner}`,
          version: versions[winner],
        })
      })

      test('are told of by name when they change, until nobody listens', async () => {
        const heard: string[] = []
        const stop = engine.watchSettings((name) => heard.push(name))
        const heardToo: string[] = []
        const stopToo = engine.watchSettings((name) => heardToo.push(name))
        await putSetting(engine, 'watched', 'one')
        await eventually(() => heard.includes('watched') && heardToo.includes('watched'))
        stop()
        const count = heard.length
        await putSetting(engine, 'also-watched', 'two')
        await eventually(() => heardToo.includes('also-watched'))
        assert.equal(heard.length, count)
        stopToo()
      })

      test('are what was told of when it is told', async () => {
        const seen: Promise<string | undefined>[] = []
        const stop = engine.watchSettings((name) => {
          if (name === 'told') seen.push(settingOf(engine, name))
        })
        await putSetting(engine, 'told', 'news')
        await eventually(() => seen.length > 0)
        assert.equal(await seen[0], 'news')
        stop()
      })
    })

    describe('closing', () => {
      test('keeps everything for the next time', async () => {
        const store = await newStore()
        await fill(store, 50)
        await store.delete(await store.one(3))
        await store.replace(await store.one(4), { _id: 4, group: 'other' })
        await engine.createKeyspace('kept')
        const texts = (await store.find({ sort: by('n') })).map(({ text }) => text)
        const targets = await countTargets(engine)

        await reopen()
        const again = await Store.find(engine, store.target.name)
        assert.deepEqual(again.target, store.target)
        assert.deepEqual(
          (await again.find({ sort: by('n') })).map(({ text }) => text),
          texts,
        )
        assert.equal(await engine.estimateCount(again.target), 49)
        assert.equal(await countTargets(engine), targets)
        assert((await engine.listKeyspaces()).includes('kept'))
        assert.equal(await again.count(where('group', 'eq', 'other')), 1)
        assert.equal(await again.delete(await again.one(4)), 'done')
        await again.insert([{ _id: 'new' }])
        assert.equal(await engine.estimateCount(again.target), 49)
      })

      test('finishes what runs', async () => {
        const store = await newStore()
        const started = Array.from({ length: 20 }, (_, i) => store.insert([{ _id: i }]))
        const made = createCollection(engine, 'in-time')
        const old = await newStore()
        const dropped = dropTarget(engine, old.target)
        await reopen()
        for (const outcomes of await Promise.all(started))
          assert.deepEqual(outcomes, ['done'])
        await made
        await dropped
        assert.equal(await (await Store.find(engine, store.target.name)).count(), 20)
        await Store.find(engine, 'in-time')
        assert.equal(
          await engine.findTarget('default_keyspace', old.target.name),
          undefined,
        )
      })

      test('refuses calls from then on', async () => {
        const store = await newStore()
        const closed = engine
        await reopen()
        const { target } = store
        await assertFails('closed', closed.listKeyspaces())
        await assertFails('closed', closed.createKeyspace('late'))
        await assertFails('closed', closed.dropKeyspace('nowhere'))
        await assertFails('closed', closed.listTargets('default_keyspace'))
        await assertFails('closed', closed.findTarget('default_keyspace', target.name))
        await assertFails('closed', closed.readSchema('default_keyspace'))
        await assertFails('closed', createCollection(closed, 'late'))
        await assertFails('closed', dropTarget(closed, target))
        await assertFails(
          'closed',
          closed.changeSchema('nowhere', () => undefined),
        )
        await assertFails('closed', store.page({}, 1))
        await assertFails('closed', store.count())
        await assertFails('closed', closed.estimateCount(target))
        await assertFails('closed', store.insert([{ _id: 1 }]))
        await assertFails('closed', closed.truncate(target))
        await assertFails('closed', closed.readSetting('greeting'))
        await assertFails('closed', closed.writeSetting('greeting', 'late', undefined))
        await closed.close()
      })
    })
  })
}

const uuid = '01234567-89ab-cdef-0123-456789abcdef'

/** Documents with values that are shared by many, by few and by none. */
function documents(size: number): JsonObject[] {
  return Array.from({ length: size }, (_, i) => {
    const list = [i % 4, 2, i % 7].slice(0, (i % 3) + 1)
    const plain = {
      _id: i,
      n: (i * 7919) % size,
      group: i % 5,
      list,
      inner: { deep: i % 3 },
      when: { $date: i },
      ...(i % 6 === 0 && { sometimes: i % 11 === 0 ? null : `text ${i % 4}` }),
    }
    return fromPlain(plain) as JsonObject
  })
}

async function fill(store: Store, size: number): Promise<void> {
  const outcomes = await store.insert(documents(size))
  assert(outcomes.every((outcome) => outcome === 'done'))
}

async function assertFails(
  kind: EngineError['kind'],
  call: Promise<unknown>,
): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.equal(kindOf(error), kind, String(error))
    return true
  })
}

function kindOf(error: unknown): string | undefined {
  return error instanceof EngineError ? error.kind : undefined
}

/** Targets in all keyspaces together. */
async function countTargets(engine: Engine): Promise<number> {
  let count = 0
  for (const keyspace of await engine.listKeyspaces())
    count += (await engine.listTargets(keyspace))?.length ?? 0
  return count
}
