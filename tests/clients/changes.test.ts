import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CollectionDeleteManyError,
  CollectionUpdateManyError,
  DataAPIResponseError,
  ObjectId,
  UUID,
} from '@datastax/astra-db-ts'
import { everything, numbered, refusal, Service, thrown } from './client.ts'

const service = await Service.start()

const sampleUuid = '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f'

describe('updateOne', () => {
  test('changes one document', async () => {
    const collection = await service.collection([{ _id: 1, v: 1 }])
    assert.deepEqual(await collection.updateOne({ _id: 1 }, { $set: { v: 2 } }), {
      matchedCount: 1,
      modifiedCount: 1,
      upsertedCount: 0,
    })
    assert.deepEqual(await everything(collection), [{ _id: 1, v: 2 }])
  })

  test('reports zero counts when nothing matched or nothing changed', async () => {
    const collection = await service.collection([{ _id: 1, v: 1 }])
    assert.deepEqual(await collection.updateOne({ _id: 2 }, { $set: { v: 2 } }), {
      matchedCount: 0,
      modifiedCount: 0,
      upsertedCount: 0,
    })
    assert.deepEqual(await collection.updateOne({ _id: 1 }, { $set: { v: 1 } }), {
      matchedCount: 1,
      modifiedCount: 0,
      upsertedCount: 0,
    })
  })

  test('supports every operator of the client', async () => {
    const collection = await service.collection([
      { _id: 1, n: 2, old: 'name', gone: true, list: [1, 2], set: ['a'], low: 5, high: 5 },
    ])
    await collection.updateOne(
      { _id: 1 },
      {
        $set: { 'deep.er': [1], 'list.0': 0 },
        $unset: { gone: '' },
        $inc: { n: 3, fresh: 1 },
        $rename: { old: 'new' },
        $min: { low: 1 },
        $max: { high: 9 },
        $addToSet: { set: { $each: ['a', 'b'] } },
        $setOnInsert: { never: true },
        $currentDate: { at: true },
      },
    )
    await collection.updateOne({ _id: 1 }, { $mul: { n: 10 }, $push: { list: 3 } })
    await collection.updateOne(
      { _id: 1 },
      { $push: { list: { $each: [8, 9], $position: 1 } }, $pop: { set: -1 } },
    )
    const { at, ...rest } = (await collection.findOne({}))!
    assert(at instanceof Date)
    assert(Math.abs(at.getTime() - Date.now()) < 3_600_000)
    assert.deepEqual(rest, {
      _id: 1,
      n: 50,
      list: [0, 8, 9, 2, 3],
      set: ['b'],
      low: 1,
      high: 9,
      fresh: 1,
      new: 'name',
      deep: { er: [1] },
    })
  })

  test('removes elements of arrays by value, condition and field', async () => {
    const child = new ObjectId()
    const day = new Date(1_700_000_000_000)
    const collection = await service.collection([
      {
        _id: 1,
        tags: ['a', 'b', 'a'],
        scores: [1, 5, 9],
        days: [day, new Date(0)],
        children: [
          { _id: child, n: 1 },
          { _id: new UUID(sampleUuid), n: 2 },
        ],
        places: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
    ])
    const pull = {
      tags: 'a',
      scores: { $gte: 5 },
      days: day,
      children: { _id: { $in: [child] } },
    }
    // The types of the client have no $pull, but the client sends any operator.
    const update: object = { $pull: pull, $pullAll: { places: [{ x: 1, y: 2 }] } }
    const expected = {
      _id: 1,
      tags: ['b'],
      scores: [1],
      days: [new Date(0)],
      children: [{ _id: new UUID(sampleUuid), n: 2 }],
      places: [{ y: 2, x: 1 }],
    }
    const changed = await collection.findOneAndUpdate({ _id: 1 }, update, {
      returnDocument: 'after',
    })
    assert.deepEqual(changed, expected)
    assert.deepEqual(await collection.updateMany({}, update), {
      matchedCount: 1,
      modifiedCount: 0,
      upsertedCount: 0,
    })
  })

  test('changes the first document in sort order', async () => {
    const collection = await service.collection(numbered(5))
    await collection.updateOne({}, { $set: { last: true } }, { sort: { n: -1 } })
    assert.deepEqual(await collection.findOne({ last: true }, { projection: { n: 1 } }), {
      _id: 4,
      n: 4,
    })
  })

  test('upserts when nothing matches and the option upsert is set', async () => {
    const collection = await service.collection()
    const update = { $set: { v: 1 }, $setOnInsert: { created: true } }
    const result = await collection.updateOne({ _id: 'a', k: 2 }, update, { upsert: true })
    assert.deepEqual(result, {
      matchedCount: 0,
      modifiedCount: 0,
      upsertedCount: 1,
      upsertedId: 'a',
    })
    assert.deepEqual(await everything(collection), [
      { _id: 'a', k: 2, v: 1, created: true },
    ])
    const again = await collection.updateOne({ _id: 'a' }, update, { upsert: true })
    assert.deepEqual(again, { matchedCount: 1, modifiedCount: 0, upsertedCount: 0 })
  })

  test('returns the id that an upsert generated', async () => {
    for (const [type, kind] of [
      ['uuid', UUID],
      ['objectId', ObjectId],
    ] as const) {
      const collection = await service.collection([], { defaultId: { type } })
      const result = await collection.updateOne({ k: 1 }, { $set: {} }, { upsert: true })
      assert(result.upsertedId instanceof kind)
      assert.deepEqual(await collection.findOne({ _id: result.upsertedId }), {
        _id: result.upsertedId,
        k: 1,
      })
    }
  })

  test('rejects invalid updates and changes nothing', async () => {
    const collection = await service.collection([{ _id: 1, name: 'n' }])
    const error = await refusal(
      collection.updateOne({ _id: 1 }, { $set: { ok: 1 }, $inc: { name: 1 } }),
    )
    assert.equal(error.errorCode, 'UNSUPPORTED_UPDATE_OPERATION_TARGET')
    assert.deepEqual(await everything(collection), [{ _id: 1, name: 'n' }])
  })

  test('applies each of fifty concurrent updates', async () => {
    const collection = await service.collection([{ _id: 'counter', n: 0 }])
    const results = await Promise.all(
      Array.from({ length: 50 }, () =>
        collection.updateOne({ _id: 'counter' }, { $inc: { n: 1 } }),
      ),
    )
    assert(results.every(({ modifiedCount }) => modifiedCount === 1))
    assert.deepEqual(await everything(collection), [{ _id: 'counter', n: 50 }])
  })

  test('inserts only one document in concurrent upserts', async () => {
    const collection = await service.collection()
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        collection.updateOne({ _id: 'counter' }, { $inc: { n: 1 } }, { upsert: true }),
      ),
    )
    assert.equal(results.filter(({ upsertedCount }) => upsertedCount === 1).length, 1)
    assert.deepEqual(await everything(collection), [{ _id: 'counter', n: 20 }])
  })
})

describe('updateMany', () => {
  test('changes every matching document, on several pages', async () => {
    const collection = await service.collection(numbered(157))
    const result = await collection.updateMany({ even: true }, { $inc: { n: 1000 } })
    assert.deepEqual(result, { matchedCount: 79, modifiedCount: 79, upsertedCount: 0 })
    assert.deepEqual(
      await everything(collection),
      numbered(157).map((d) => (d['even'] ? { ...d, n: Number(d['n']) + 1000 } : d)),
    )
  })

  test('changes each document once, although changed documents still match', async () => {
    const collection = await service.collection(numbered(57))
    const result = await collection.updateMany({ n: { $gte: 0 } }, { $inc: { n: 7 } })
    assert.deepEqual(result, { matchedCount: 57, modifiedCount: 57, upsertedCount: 0 })
    assert.deepEqual(
      (await everything(collection)).map(({ n }) => n),
      numbered(57).map(({ n }) => Number(n) + 7),
    )
  })

  test('changes every matching document, although changed documents no longer match', async () => {
    const collection = await service.collection(numbered(57))
    const result = await collection.updateMany({ n: { $lt: 100 } }, { $set: { n: 100 } })
    assert.deepEqual(result, { matchedCount: 57, modifiedCount: 57, upsertedCount: 0 })
    assert.equal(await collection.countDocuments({ n: 100 }, 1000), 57)
  })

  test('counts matched and modified documents separately', async () => {
    const collection = await service.collection(numbered(30))
    const result = await collection.updateMany({}, { $set: { even: true } })
    assert.deepEqual(result, { matchedCount: 30, modifiedCount: 15, upsertedCount: 0 })
  })

  test('upserts when nothing matches and the option upsert is set', async () => {
    const collection = await service.collection(numbered(3))
    const upsert = { upsert: true }
    const result = await collection.updateMany({ _id: 'x' }, { $set: { v: 1 } }, upsert)
    assert.deepEqual(result, {
      matchedCount: 0,
      modifiedCount: 0,
      upsertedCount: 1,
      upsertedId: 'x',
    })
    const matching = await collection.updateMany({ even: true }, { $set: { v: 2 } }, upsert)
    assert.deepEqual(matching, { matchedCount: 2, modifiedCount: 2, upsertedCount: 0 })
    const none = await collection.updateMany({ even: 'no' }, { $set: { v: 2 } })
    assert.deepEqual(none, { matchedCount: 0, modifiedCount: 0, upsertedCount: 0 })
  })

  test('reports an error with the counts of changes before the error', async () => {
    const collection = await service.collection()
    const error = await thrown(
      CollectionUpdateManyError,
      collection.updateMany({}, { $set: { _id: 1 } }),
    )
    assert.deepEqual(error.partialResult, {
      matchedCount: 0,
      modifiedCount: 0,
      upsertedCount: 0,
    })
    assert(error.cause instanceof DataAPIResponseError)
    const [{ errorCode }] = error.cause.errorDescriptors
    assert.equal(errorCode, 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID')
  })
})

describe('replaceOne', () => {
  test('replaces everything except the id', async () => {
    const collection = await service.collection([{ _id: 1, a: 1, b: 2 }])
    assert.deepEqual(await collection.replaceOne({ a: 1 }, { c: 3 }), {
      matchedCount: 1,
      modifiedCount: 1,
      upsertedCount: 0,
    })
    assert.deepEqual(await everything(collection), [{ _id: 1, c: 3 }])
    assert.deepEqual(await collection.replaceOne({ c: 3 }, { c: 3 }), {
      matchedCount: 1,
      modifiedCount: 0,
      upsertedCount: 0,
    })
  })

  test('replaces the first document in sort order', async () => {
    const collection = await service.collection(numbered(3))
    await collection.replaceOne({}, { replaced: true }, { sort: { n: -1 } })
    assert.deepEqual(await collection.findOne({ _id: 2 }), { _id: 2, replaced: true })
  })

  test('upserts when nothing matches and the option upsert is set', async () => {
    const collection = await service.collection()
    assert.deepEqual(await collection.replaceOne({ _id: 'a' }, { v: 1 }), {
      matchedCount: 0,
      modifiedCount: 0,
      upsertedCount: 0,
    })
    assert.deepEqual(
      await collection.replaceOne({ _id: 'a' }, { v: 1 }, { upsert: true }),
      { matchedCount: 0, modifiedCount: 0, upsertedCount: 1, upsertedId: 'a' },
    )
    assert.deepEqual(await everything(collection), [{ _id: 'a', v: 1 }])
  })
})

describe('findOneAndUpdate', () => {
  test('returns the document before or after the change', async () => {
    const collection = await service.collection([{ _id: 1, n: 1 }])
    const update = { $inc: { n: 1 } }
    assert.deepEqual(await collection.findOneAndUpdate({ _id: 1 }, update), {
      _id: 1,
      n: 1,
    })
    assert.deepEqual(
      await collection.findOneAndUpdate({ _id: 1 }, update, { returnDocument: 'before' }),
      { _id: 1, n: 2 },
    )
    assert.deepEqual(
      await collection.findOneAndUpdate({ _id: 1 }, update, { returnDocument: 'after' }),
      { _id: 1, n: 4 },
    )
  })

  test('returns null when nothing matched', async () => {
    const collection = await service.collection()
    const update = { $set: { n: 1 } }
    assert.equal(await collection.findOneAndUpdate({ _id: 1 }, update), null)
    assert.deepEqual(await everything(collection), [])
  })

  test('upserts when nothing matches and the option upsert is set', async () => {
    const collection = await service.collection()
    const update = { $set: { n: 1 } }
    const before = { upsert: true, returnDocument: 'before' } as const
    assert.equal(await collection.findOneAndUpdate({ _id: 1 }, update, before), null)
    const after = { upsert: true, returnDocument: 'after' } as const
    assert.deepEqual(await collection.findOneAndUpdate({ _id: 2 }, update, after), {
      _id: 2,
      n: 1,
    })
    assert.equal(await collection.countDocuments({ n: 1 }, 10), 2)
  })

  test('accepts a sort and a projection', async () => {
    const collection = await service.collection(numbered(5))
    const found = await collection.findOneAndUpdate(
      { even: true },
      { $set: { n: 40 } },
      { sort: { n: -1 }, projection: { n: 1, _id: 0 }, returnDocument: 'after' },
    )
    assert.deepEqual(found, { n: 40 })
  })

  test('changes a document for only one of several concurrent requests', async () => {
    const collection = await service.collection(
      numbered(20).map((job) => ({ ...job, state: 'waiting' })),
    )
    const jobs = await Promise.all(
      Array.from({ length: 25 }, () =>
        collection.findOneAndUpdate(
          { state: 'waiting' },
          { $set: { state: 'taken' } },
          { sort: { n: 1 } },
        ),
      ),
    )
    const taken = jobs.flatMap((job) => (job === null ? [] : [job._id]))
    assert.equal(new Set(taken).size, taken.length)
    assert.equal(await collection.countDocuments({ state: 'taken' }, 100), taken.length)
  })
})

describe('findOneAndReplace', () => {
  test('returns the document before or after the change', async () => {
    const collection = await service.collection([{ _id: 1, n: 1 }])
    assert.deepEqual(await collection.findOneAndReplace({ n: 1 }, { n: 2 }), {
      _id: 1,
      n: 1,
    })
    const after = { returnDocument: 'after' } as const
    assert.deepEqual(await collection.findOneAndReplace({ n: 2 }, { m: 3 }, after), {
      _id: 1,
      m: 3,
    })
    assert.equal(await collection.findOneAndReplace({ n: 2 }, {}), null)
  })

  test('upserts when nothing matches and the option upsert is set', async () => {
    const collection = await service.collection()
    const options = { upsert: true, returnDocument: 'after' } as const
    assert.deepEqual(await collection.findOneAndReplace({ _id: 1 }, { v: 1 }, options), {
      _id: 1,
      v: 1,
    })
  })

  test('accepts a sort and a projection', async () => {
    const collection = await service.collection(numbered(5))
    const found = await collection.findOneAndReplace(
      {},
      { other: true },
      { sort: { n: -1 }, projection: { n: 1 } },
    )
    assert.deepEqual(found, { _id: 4, n: 4 })
    assert.deepEqual(await collection.findOne({ _id: 4 }), { _id: 4, other: true })
  })

  test('rejects a change of the id', async () => {
    const collection = await service.collection([{ _id: 1 }])
    const error = await refusal(collection.findOneAndReplace({ _id: 1 }, { _id: 2 }))
    assert.equal(error.errorCode, 'DOCUMENT_REPLACE_DIFFERENT_DOCID')
  })
})

describe('findOneAndDelete', () => {
  test('returns the deleted document', async () => {
    const collection = await service.collection(numbered(5))
    assert.deepEqual(await collection.findOneAndDelete({ n: 3 }), numbered(5)[3])
    assert.equal(await collection.findOneAndDelete({ n: 3 }), null)
    const found = await collection.findOneAndDelete(
      {},
      { sort: { n: -1 }, projection: { n: 1, _id: 0 } },
    )
    assert.deepEqual(found, { n: 4 })
    assert.deepEqual(await everything(collection), numbered(3))
  })
})

describe('deleteOne', () => {
  test('deletes one document', async () => {
    const collection = await service.collection(numbered(5))
    assert.deepEqual(await collection.deleteOne({ even: true }, { sort: { n: -1 } }), {
      deletedCount: 1,
    })
    assert.deepEqual(await collection.deleteOne({ _id: 4 }), { deletedCount: 0 })
    assert.deepEqual(await everything(collection), numbered(4))
    assert.deepEqual(await collection.deleteOne({}), { deletedCount: 1 })
    assert.equal(await collection.countDocuments({}, 10), 3)
  })

  test('deletes a document once in concurrent requests', async () => {
    const collection = await service.collection([{ _id: 1 }])
    const results = await Promise.all(
      Array.from({ length: 10 }, () => collection.deleteOne({ _id: 1 })),
    )
    assert.equal(results.filter(({ deletedCount }) => deletedCount === 1).length, 1)
  })
})

describe('deleteMany', () => {
  test('deletes every matching document, on several pages', async () => {
    const collection = await service.collection(numbered(157))
    assert.deepEqual(await collection.deleteMany({ even: true }), { deletedCount: 79 })
    assert.deepEqual(await collection.deleteMany({ even: true }), { deletedCount: 0 })
    assert.equal(await collection.countDocuments({}, 1000), 78)
  })

  test('deletes all documents and returns a count of -1', async () => {
    const collection = await service.collection(numbered(157))
    assert.deepEqual(await collection.deleteMany({}), { deletedCount: -1 })
    assert.deepEqual(await everything(collection), [])
    await collection.insertOne({ _id: 1 })
    assert.equal(await collection.countDocuments({}, 1000), 1)
  })

  test('reports an error with the count of deletions before the error', async () => {
    const collection = await service.collection()
    const error = await thrown(
      CollectionDeleteManyError,
      collection.deleteMany({ a: { $near: 1 } }),
    )
    assert.deepEqual(error.partialResult, { deletedCount: 0 })
    assert(error.cause instanceof DataAPIResponseError)
  })
})
