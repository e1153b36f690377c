/** Commands that change documents, and update operators: section 4.4. */
import assert from 'node:assert/strict'
import { lettersCollection } from '../commands/letter-models.ts'
import type { Api } from './api.ts'
import type { Area, Statement } from './statement.ts'

const changed = { status: { matchedCount: 1, modifiedCount: 1 } }
const unchanged = { status: { matchedCount: 0, modifiedCount: 0 } }

function insert(api: Api, ...documents: object[]) {
  return api.run('writes', { insertMany: { documents } })
}

/**
 * An operator, the fields of a document before the update, the operator's argument, and the fields
 * after the update.
 */
type Example = readonly [operator: string, before: object, argument: object, after: object]

/**
 * Section 4.4 names the first three operators. The others belong to its "other update operators".
 */
const operators: readonly Example[] = [
  ['$set', { a: 1, b: 2 }, { a: 3, 'c.d': 4 }, { a: 3, b: 2, c: { d: 4 } }],
  ['$unset', { a: 1, b: 2 }, { a: '' }, { b: 2 }],
  ['$push', { a: [1, 4] }, { a: { $each: [2, 3], $position: 1 } }, { a: [1, 2, 3, 4] }],
  ['$inc', { a: 1 }, { a: 2, b: -1 }, { a: 3, b: -1 }],
  ['$mul', { a: 3 }, { a: 2, b: 2 }, { a: 6, b: 0 }],
  ['$min', { a: 3, b: 3 }, { a: 2, b: 4 }, { a: 2, b: 3 }],
  ['$max', { a: 3, b: 3 }, { a: 2, b: 4 }, { a: 3, b: 4 }],
  ['$rename', { a: 1 }, { a: 'b' }, { b: 1 }],
  ['$pop', { a: [1, 2, 3], b: [1, 2, 3] }, { a: 1, b: -1 }, { a: [1, 2], b: [2, 3] }],
  ['$addToSet', { a: [1, 2] }, { a: { $each: [2, 3] } }, { a: [1, 2, 3] }],
]

export const writes: Area = {
  name: 'writes',
  prepare: (api) =>
    api.ok('', { createCollection: { name: 'writes', options: lettersCollection } }),
  statements: [
    {
      id: 'writes-01',
      section: '4.4',
      says: 'insertOne returns an array with the one identifier',
      run: (api) =>
        api.replies(
          'writes',
          { insertOne: { document: { _id: 'single' } } },
          { status: { insertedIds: ['single'] } },
        ),
    },
    {
      id: 'writes-02',
      section: '4.4',
      says: 'insertMany returns an array of identifiers',
      run: (api) =>
        api.replies(
          'writes',
          { insertMany: { documents: [{ _id: 'first' }, { _id: 2 }] } },
          { status: { insertedIds: ['first', 2] } },
        ),
    },
    {
      id: 'writes-03',
      section: '4.4',
      says: 'insertMany with ordered true inserts sequentially, until one fails',
      run: async (api) => {
        await insert(api, { _id: 'taken-1' })
        const documents = [{ _id: 'seq-1' }, { _id: 'taken-1' }, { _id: 'seq-2' }]
        await api.refuses(
          'writes',
          { insertMany: { documents, options: { ordered: true } } },
          'DOCUMENT/DOCUMENT_ALREADY_EXISTS',
          { status: { insertedIds: ['seq-1'] }, documentIds: ['taken-1'] },
        )
        await api.matches('writes', { _id: 'seq-2' }, [])
      },
    },
    {
      id: 'writes-04',
      section: '4.4',
      says: 'insertMany with ordered false inserts the others when one fails',
      run: async (api) => {
        await insert(api, { _id: 'taken-2' })
        const documents = [{ _id: 'any-1' }, { _id: 'taken-2' }, { _id: 'any-2' }]
        await api.refuses(
          'writes',
          { insertMany: { documents, options: { ordered: false } } },
          'DOCUMENT/DOCUMENT_ALREADY_EXISTS',
          { status: { insertedIds: ['any-1', 'any-2'] }, documentIds: ['taken-2'] },
        )
      },
    },
    {
      id: 'writes-05',
      section: '4.4',
      says: 'documents of one insertMany may have different structures',
      run: (api) => {
        const documents = [{ _id: 's1', a: 1 }, { _id: 's2', a: 'x', b: {} }, { _id: 's3' }]
        const reply = { status: { insertedIds: ['s1', 's2', 's3'] } }
        return api.replies('writes', { insertMany: { documents } }, reply)
      },
    },
    {
      id: 'writes-06',
      section: '4.4',
      says: 'one insertMany mixes documents with and without $vector or $vectorize',
      run: async (api) => {
        const documents = [
          { _id: 'm1', mixed: true, $vector: [1, 2] },
          { _id: 'm2', mixed: true, $vectorize: 'b' },
          { _id: 'm3', mixed: true },
        ]
        await insert(api, ...documents)
        await api.finds(
          'writes',
          { filter: { mixed: true }, projection: { $vector: true }, sort: { _id: 1 } },
          [
            { _id: 'm1', mixed: true, $vector: [1, 2] },
            { _id: 'm2', mixed: true, $vector: [1, 2] },
            { _id: 'm3', mixed: true },
          ],
        )
      },
    },
    {
      id: 'writes-07',
      section: '4.4',
      says: 'findOneAndReplace replaces an entire document',
      run: async (api) => {
        await insert(api, { _id: 'old', a: 1, b: 2 })
        await api.replies(
          'writes',
          { findOneAndReplace: { filter: { _id: 'old' }, replacement: { c: 3 } } },
          { data: { document: { _id: 'old', a: 1, b: 2 } }, ...changed },
        )
        await api.finds('writes', { filter: { _id: 'old' } }, [{ _id: 'old', c: 3 }])
      },
    },
    {
      id: 'writes-08',
      section: '4.4',
      says: 'findOneAndReplace does not insert without upsert',
      run: async (api) => {
        const findOneAndReplace = { filter: { _id: 'absent-1' }, replacement: { a: 1 } }
        const reply = { data: { document: null }, ...unchanged }
        await api.replies('writes', { findOneAndReplace }, reply)
        await api.matches('writes', { _id: 'absent-1' }, [])
      },
    },
    {
      id: 'writes-09',
      section: '4.4',
      says: 'findOneAndReplace inserts with upsert',
      run: async (api) => {
        const filter = { _id: 'upserted-1' }
        const options = { upsert: true }
        const { status } = await api.run('writes', {
          findOneAndReplace: { filter, replacement: { a: 1 }, options },
        })
        assert.deepEqual(status, { ...unchanged.status, upsertedId: 'upserted-1' })
        await api.finds('writes', { filter }, [{ _id: 'upserted-1', a: 1 }])
      },
    },
    {
      id: 'writes-10',
      section: '4.4',
      says: 'updateOne does not insert without upsert',
      run: async (api) => {
        const updateOne = { filter: { _id: 'absent-2' }, update: { $set: { a: 1 } } }
        await api.replies('writes', { updateOne }, unchanged)
        await api.matches('writes', { _id: 'absent-2' }, [])
      },
    },
    {
      id: 'writes-11',
      section: '4.4',
      says: 'updateOne inserts with upsert',
      run: async (api) => {
        const filter = { _id: 'upserted-2' }
        const options = { upsert: true }
        await api.replies(
          'writes',
          { updateOne: { filter, update: { $set: { a: 1 } }, options } },
          { status: { ...unchanged.status, upsertedId: 'upserted-2' } },
        )
        await api.finds('writes', { filter }, [{ _id: 'upserted-2', a: 1 }])
      },
    },
    {
      id: 'writes-12',
      section: '4.4',
      says: 'updateOne updates one of several matching documents',
      run: async (api) => {
        await insert(api, { twins: 1, n: 0 }, { twins: 1, n: 0 })
        const updateOne = { filter: { twins: 1 }, update: { $set: { n: 1 } } }
        await api.replies('writes', { updateOne }, changed)
        await api.finds(
          'writes',
          { filter: { twins: 1, n: 1 }, projection: { _id: false, n: true } },
          [{ n: 1 }],
        )
      },
    },
    {
      id: 'writes-13',
      section: '4.4',
      says: 'deleteOne deletes one of several matching documents',
      run: async (api) => {
        await insert(api, { pair: 1 }, { pair: 1 })
        const deleteOne = { filter: { pair: 1 } }
        await api.replies('writes', { deleteOne }, { status: { deletedCount: 1 } })
        const find = { filter: { pair: 1 }, projection: { _id: false, pair: true } }
        await api.finds('writes', find, [{ pair: 1 }])
      },
    },
    ...operators.map(([operator, before, argument, after], at): Statement => ({
      id: `writes-${14 + at}`,
      section: '4.4',
      says: `${operator} updates a document`,
      run: (api) => {
        const _id = `by ${operator}`
        const update = { [operator]: argument }
        return api.updates('writes', { _id, ...before }, update, { _id, ...after })
      },
    })),
    {
      id: 'writes-24',
      section: '4.4',
      says: '$push without $position appends',
      run: (api) =>
        api.updates(
          'writes',
          { _id: 'appended', a: [1] },
          { $push: { a: { $each: [2, 3] } } },
          { _id: 'appended', a: [1, 2, 3] },
        ),
    },
    {
      id: 'writes-25',
      section: '4.4',
      says: '$setOnInsert sets a field when an upsert inserts',
      run: async (api) => {
        const filter = { _id: 'set-on-insert' }
        const update = { $setOnInsert: { a: 1 } }
        const options = { upsert: true }
        await api.run('writes', { updateOne: { filter, update, options } })
        await api.finds('writes', { filter }, [{ _id: 'set-on-insert', a: 1 }])
      },
    },
    {
      id: 'writes-26',
      section: '4.4',
      says: '$currentDate sets a field to the date',
      run: async (api) => {
        await insert(api, { _id: 'dated' })
        const filter = { _id: 'dated' }
        const update = { $currentDate: { at: true } }
        await api.run('writes', { updateOne: { filter, update } })
        const { data } = await api.run('writes', { findOne: { filter } })
        const { $date } = data!.document!['at'] as { $date: number }
        assert(Number.isSafeInteger($date))
      },
    },
    {
      id: 'writes-27',
      section: '4.4',
      says: 'several operators work in one update',
      run: (api) =>
        api.updates(
          'writes',
          { _id: 'several', a: 1, b: 1, c: [1] },
          { $set: { a: 2 }, $unset: { b: '' }, $push: { c: 2 } },
          { _id: 'several', a: 2, c: [1, 2] },
        ),
    },
    {
      id: 'writes-28',
      section: '4.4',
      says: 'the operators are the same in findOneAndUpdate',
      run: async (api) => {
        await insert(api, { _id: 'found', a: 1 })
        const update = { $inc: { a: 1 }, $push: { b: { $each: [1] } } }
        const options = { returnDocument: 'after' }
        await api.replies(
          'writes',
          { findOneAndUpdate: { filter: { _id: 'found' }, update, options } },
          { data: { document: { _id: 'found', a: 2, b: [1] } }, ...changed },
        )
      },
    },
    {
      id: 'writes-29',
      section: '4.4',
      says: 'the operators are the same in updateMany',
      run: async (api) => {
        await insert(api, { _id: 'all-1', all: 1 }, { _id: 'all-2', all: 1 })
        await api.replies(
          'writes',
          { updateMany: { filter: { all: 1 }, update: { $set: { all: 2 } } } },
          { status: { matchedCount: 2, modifiedCount: 2 } },
        )
        await api.matches('writes', { all: 2 }, ['all-1', 'all-2'])
      },
    },
    {
      id: 'writes-30',
      section: '4.4',
      says: 'an operator that does not exist is refused',
      run: (api) =>
        api.refuses(
          'writes',
          { updateOne: { filter: {}, update: { $ponder: { a: 1 } } } },
          'UPDATE/UNSUPPORTED_UPDATE_OPERATION',
        ),
    },
  ],
}
