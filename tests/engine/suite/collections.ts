/** Keyspaces, collections, and writes to them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SearchFields, Write } from '../../../src/engine/contract.ts'
import { parseStored } from '../../../src/json/parse.ts'
import {
  by,
  createCollection,
  dropTarget,
  exists,
  plainOptions,
  recordOf,
  replacement,
  Store,
  where,
} from '../store.ts'
import { assertFails, kindOf } from './fails.ts'
import { countTargets } from './count-targets.ts'
import { fill } from './many-documents.ts'
import { RunningEngine, type World } from './world.ts'

export function describeCollections(name: string, world: World): void {
  describe(`${name}: collections`, () => {
    const running = new RunningEngine(world)
    let made = 0
    const newStore = () => Store.create(running.engine, `store${made++}`)

    describe('keyspaces', () => {
      test('include the default keyspace at the start', async () => {
        assert((await running.engine.listKeyspaces()).includes('default_keyspace'))
      })

      test('are created and dropped by the first of two calls, and the second call changes nothing', async () => {
        assert.equal(await running.engine.createKeyspace('twice'), true)
        assert.equal(await running.engine.createKeyspace('twice'), false)
        assert.deepEqual(await running.engine.listTargets('twice'), [])
        assert.equal(await running.engine.dropKeyspace('twice'), true)
        assert.equal(await running.engine.dropKeyspace('twice'), false)
        assert.equal(await running.engine.listTargets('twice'), undefined)
        assert(!(await running.engine.listKeyspaces()).includes('twice'))
      })

      test('can be created with a requested number of replicas', async () => {
        const { engine } = running
        const replication = {
          class: 'SimpleStrategy',
          counts: new Map([['replication_factor', 1]]),
        } as const
        assert.equal(await engine.createKeyspace('copied', { replication }), true)
        assert.equal(await engine.createKeyspace('copied', { replication }), false)
        assert.equal(await engine.createKeyspace('copied'), false)
        assert((await engine.listKeyspaces()).includes('copied'))
        await engine.dropKeyspace('copied')
      })

      test('are dropped with their content', async () => {
        await running.engine.createKeyspace('full')
        await createCollection(running.engine, 'books', plainOptions, 'full')
        const target = (await running.engine.findTarget('full', 'books'))!
        const count = await countTargets(running.engine)
        await running.engine.dropKeyspace('full')
        assert.equal(await countTargets(running.engine), count - 1)
        assert.equal(await running.engine.findTarget('full', 'books'), undefined)
        await assertFails('gone', running.engine.estimateCount(target))

        await running.engine.createKeyspace('full')
        assert.deepEqual(await running.engine.listTargets('full'), [])
        await running.engine.dropKeyspace('full')
      })

      test('are different when their names differ only in case', async () => {
        for (const name of ['Case', 'case', 'CASE'])
          await running.engine.createKeyspace(name)
        await createCollection(running.engine, 'books', plainOptions, 'Case')
        assert.deepEqual(await running.engine.listTargets('case'), [])
        for (const name of ['Case', 'case', 'CASE']) await running.engine.dropKeyspace(name)
      })
    })

    describe('collections', () => {
      test('are listed, found and counted', async () => {
        const count = await countTargets(running.engine)
        const store = await newStore()
        assert.equal(await countTargets(running.engine), count + 1)
        const listed = await running.engine.listTargets('default_keyspace')
        assert.deepEqual(
          listed?.find(({ name }) => name === store.target.name),
          store.target,
        )
        assert.equal(
          await running.engine.findTarget('default_keyspace', 'nothing'),
          undefined,
        )
        assert.equal(
          await running.engine.findTarget('nowhere', store.target.name),
          undefined,
        )
      })

      test('keep their options', async () => {
        const options = {
          defaultId: { type: 'uuidv7' },
          vector: { dimension: 3, metric: 'cosine', sourceModel: 'other' },
          indexing: { deny: ['a', 'b.c'] },
          lexical: { enabled: true, analyzer: { tokenizer: { name: 'standard' } } },
          rerank: { enabled: false },
        } as const
        await createCollection(running.engine, 'options', options)
        await running.reopen()
        const target = await running.engine.findTarget('default_keyspace', 'options')
        assert(target?.kind === 'collection')
        assert.deepEqual(target.options, options)
      })

      test('are created once, even when requested concurrently', async () => {
        const create = () => createCollection(running.engine, 'same')
        const created = await Promise.all([create(), create(), create()])
        assert.equal(created.filter((yes) => yes).length, 1)
        assert(await running.engine.findTarget('default_keyspace', 'same'))
      })

      test('are different when their names differ only in case', async () => {
        const lower = await Store.create(running.engine, 'cased')
        const upper = await Store.create(running.engine, 'Cased')
        await lower.insert([{ _id: 'lower' }])
        await upper.insert([{ _id: 'upper' }])
        await running.reopen()
        assert.deepEqual(await (await Store.find(running.engine, 'cased')).ids(), ['lower'])
        assert.deepEqual(await (await Store.find(running.engine, 'Cased')).ids(), ['upper'])
        await dropTarget(running.engine, upper.target)
        assert.deepEqual(await (await Store.find(running.engine, 'cased')).ids(), ['lower'])
      })

      test('are new and empty when created again after a drop, and calls with the old target fail', async () => {
        const old = await newStore()
        await old.insert([{ _id: 1, a: 1 }])
        await dropTarget(running.engine, old.target)
        await assertFails('gone', old.find())
        const store = await Store.create(running.engine, old.target.name)
        assert.notEqual(store.target.uid, old.target.uid)
        assert.deepEqual(await store.ids({ filter: where('a', 'eq', 1) }), [])
        assert.equal(await running.engine.estimateCount(store.target), 0)
        await store.insert([{ _id: 1, a: 1 }])
        assert.deepEqual(await store.ids({ filter: where('a', 'eq', 1) }), [1])

        await assertFails('gone', old.find())
        await assertFails('gone', old.count(where('a', 'gt', 0)))
        await assertFails('gone', old.insert([{ _id: 2 }]))
        await assertFails('gone', running.engine.estimateCount(old.target))
        await assertFails('gone', running.engine.truncate(old.target))
        // Dropping the old target again does not affect the new target with the same name.
        await dropTarget(running.engine, old.target)
        assert.deepEqual(await store.ids(), [1])
      })

      test("can be dropped while they are read: a read is complete, or fails with the error 'gone'", async () => {
        const store = await newStore()
        await fill(store, 3000)
        const reads = Array.from({ length: 6 }, (_, i) =>
          store.page({ filter: where('list.1', 'gte', 0), sort: by('-n') }, 10 + i),
        )
        const dropped = dropTarget(running.engine, store.target)
        for (const [i, read] of (await Promise.allSettled(reads)).entries()) {
          if (read.status === 'rejected') assert.equal(kindOf(read.reason), 'gone')
          else assert.equal(read.value.records.length, 10 + i)
        }
        await dropped
        await assertFails('gone', store.find())
      })

      test("can be dropped while they are written: a write has an outcome, or fails with the error 'gone'", async () => {
        const store = await newStore()
        const writes = Array.from({ length: 20 }, (_, i) => store.insert([{ _id: i }]))
        const dropped = dropTarget(running.engine, store.target)
        for (const write of await Promise.allSettled(writes))
          if (write.status === 'rejected') assert.equal(kindOf(write.reason), 'gone')
        await dropped
        assert.deepEqual(
          await (await Store.create(running.engine, store.target.name)).ids(),
          [],
        )
      })
    })

    describe('writes', () => {
      test('insert a document only if its id does not exist', async () => {
        const store = await newStore()
        assert.deepEqual(await store.insert([{ _id: 'x', n: 1 }]), ['done'])
        assert.deepEqual(await store.insert([{ _id: 'x', n: 2 }]), ['exists'])
        assert.equal((await store.one('x')).text, '{"_id":"x","n":1}')
      })

      test('distinguish ids of different types', async () => {
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

      test('treat a UUID and its text as one id', async () => {
        const store = await newStore()
        assert.deepEqual(
          await store.insert([{ _id: { $uuid: uuid.toUpperCase() } }, { _id: uuid }]),
          ['done', 'exists'],
        )
      })

      test('stop at the first failure when ordered, and continue when unordered', async () => {
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

      test('replace a record that is unchanged since it was read', async () => {
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

      test('report a conflict when the record has changed or is gone', async () => {
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

      test('distinguish a new record from a deleted record with the same id', async () => {
        const store = await newStore()
        await store.insert([{ _id: 1 }])
        const old = await store.one(1)
        await store.delete(old)
        await store.insert([{ _id: 1 }])
        assert.equal(await store.delete(old), 'conflict')
        await running.engine.truncate(store.target)
        await store.insert([{ _id: 1 }])
        assert.equal(await store.delete(old), 'conflict')
      })

      test('may have different kinds in one call, and each has its own outcome', async () => {
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
        assert.deepEqual(await running.engine.write(store.target, writes), [
          ...['done', 'conflict', 'done', 'done', 'exists', 'done'],
        ])
        const texts = (await store.find({ sort: by('_id') })).map(({ text }) => text)
        assert.deepEqual(texts, ['{"_id":1,"n":1}', '{"_id":2,"n":"new"}'])
      })

      test('can be an empty list', async () => {
        const store = await newStore()
        assert.deepEqual(await running.engine.write(store.target, []), [])
      })

      test('are visible to every read that starts after their answer', async () => {
        const store = await newStore()
        for (let i = 0; i < 50; i++) {
          await store.insert([{ _id: i, n: i }])
          assert.deepEqual(await store.ids({ filter: where('n', 'eq', i) }), [i])
          assert.equal(await store.count(), i + 1)
        }
      })

      test('are all applied when 200 callers write concurrently', async () => {
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

      test('can delete all records at once', async () => {
        const store = await newStore()
        await fill(store, 100)
        await running.engine.truncate(store.target)
        assert.deepEqual(await store.ids(), [])
        assert.equal(await store.count(where('n', 'gte', 0)), 0)
        assert.equal(await running.engine.estimateCount(store.target), 0)
        await store.insert([{ _id: 1, n: 5 }])
        assert.deepEqual(await store.ids({ filter: where('n', 'eq', 5) }), [1])
      })
    })

    describe('texts', () => {
      test('are returned unchanged, whatever they contain', async () => {
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
          { vector: { numbers: Float64Array.of(0.1, 1 / 3, -1e-300), form: 'array' } },
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

      test('are returned unchanged, and absent search fields differ from null', async () => {
        const store = await newStore()
        const writes = cases.map(([_id, search]): Write => ({
          kind: 'insert',
          record: recordOf({ _id }, search),
        }))
        await running.engine.write(store.target, writes)
        const check = async () => {
          for (const [id, search] of cases) {
            const found = (
              await (await Store.find(running.engine, store.target.name)).one(id)
            ).search!
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
        await running.reopen()
        await check()
      })

      test('change and disappear with their record', async () => {
        const store = await newStore()
        const vector = { numbers: Float32Array.of(1, 2), form: 'array' } as const
        await running.engine.write(store.target, [
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

      test('are found by $exists', async () => {
        const store = await newStore()
        const writes = cases.map(([_id, search]): Write => ({
          kind: 'insert',
          record: recordOf({ _id }, search),
        }))
        await running.engine.write(store.target, writes)
        for (const field of ['vector', 'vectorize', 'lexical'] as const) {
          const having = cases.filter(([, search]) => search[field] !== undefined)
          const path = `$${field}`
          const found = await store.ids({ filter: exists(path) })
          assert.deepEqual(found.sort(), having.map(([id]) => id).sort())
          assert.equal(await store.count(exists(path, false)), cases.length - having.length)
        }
      })
    })
  })
}

const uuid = '01234567-89ab-cdef-0123-456789abcdef'
