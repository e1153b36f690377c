/** Commands that find documents, their filters, sorts and projections: sections 4.4 and 4.5. */
import assert from 'node:assert/strict'
import type { Area, Statement } from './statement.ts'

const ann = {
  _id: 'ann',
  name: 'Ann',
  age: 30,
  home: { city: 'Oslo', floor: 2 },
  tags: ['a', 'b'],
  active: true,
}
const bob = { _id: 'bob', name: 'Bob', age: 25, home: { city: 'Rome' }, tags: ['b'] }
const cy = { _id: 'cy', name: 'Cy', age: 41, home: { city: 'Oslo' }, active: false }
const people = [ann, bob, cy]

/** A filter and the ids of the documents that it matches. */
type Match = readonly [says: string, filter: object, ids: readonly string[]]

const filters: readonly Match[] = [
  ['a field mapped to a value means equality', { name: 'Bob' }, ['bob']],
  ['$eq compares for equality', { age: { $eq: 41 } }, ['cy']],
  ['$gt finds greater numbers', { age: { $gt: 25 } }, ['ann', 'cy']],
  ['$lt finds smaller numbers', { age: { $lt: 30 } }, ['bob']],
  ['$gt finds greater strings', { name: { $gt: 'Ann' } }, ['bob', 'cy']],
  ['$lt finds smaller strings', { name: { $lt: 'Bob' } }, ['ann']],
  ['$in finds any of the values', { name: { $in: ['Cy', 'Ann', 'Dee'] } }, ['ann', 'cy']],
  ['$and requires all filters', { $and: [{ age: 30 }, { active: true }] }, ['ann']],
  ['$or requires one of the filters', { $or: [{ age: 25 }, { age: 41 }] }, ['bob', 'cy']],
  ['several fields must all match', { 'home.city': 'Oslo', age: 41 }, ['cy']],
  ['several operators on a field must all match', { age: { $gt: 25, $lt: 41 } }, ['ann']],
  ['dot notation addresses a nested field', { 'home.city': 'Rome' }, ['bob']],
  ['an operator applies to a nested field', { 'home.floor': { $gt: 1 } }, ['ann']],
  ['{} matches everything', {}, ['ann', 'bob', 'cy']],
  ['equality finds an element of an array', { tags: 'b' }, ['ann', 'bob']],
  ['equality compares booleans', { active: false }, ['cy']],
]

/** A projection, and the fields of the document `ann` that it returns. */
type Projected = readonly [says: string, projection: object, document: object]

const projections: readonly Projected[] = [
  ['true includes a field, and _id', { name: true }, { _id: 'ann', name: 'Ann' }],
  [
    'several fields may be included',
    { name: true, age: true },
    { _id: 'ann', name: 'Ann', age: 30 },
  ],
  [
    'a nested field may be included',
    { 'home.city': true },
    { _id: 'ann', home: { city: 'Oslo' } },
  ],
  ['_id true includes _id alone', { _id: true }, { _id: 'ann' }],
  ['a field that the document lacks is left out', { absent: true }, { _id: 'ann' }],
]

export const reads: Area = {
  name: 'reads',
  prepare: async (api) => {
    await api.ok('', { createCollection: { name: 'people' } })
    await api.ok('', { createCollection: { name: 'empty' } })
    await api.run('people', { insertMany: { documents: people } })
  },
  statements: [
    {
      id: 'reads-01',
      section: '4.4',
      says: 'findOne returns one matching document',
      run: (api) =>
        api.replies(
          'people',
          { findOne: { filter: { age: 25 } } },
          { data: { document: bob } },
        ),
    },
    {
      id: 'reads-02',
      section: '4.4',
      says: 'findOne returns null when no document matches',
      run: (api) =>
        api.replies(
          'people',
          { findOne: { filter: { age: 1 } } },
          { data: { document: null } },
        ),
    },
    {
      id: 'reads-03',
      section: '4.4',
      says: 'find returns matching documents',
      run: (api) =>
        api.replies(
          'people',
          { find: { filter: { age: 30 } } },
          { data: { documents: [ann], nextPageState: null } },
        ),
    },
    {
      id: 'reads-04',
      section: '4.4',
      says: 'find returns an empty array when no document matches',
      run: (api) =>
        api.replies(
          'empty',
          { find: {} },
          { data: { documents: [], nextPageState: null } },
        ),
    },
    {
      id: 'reads-05',
      section: '1',
      says: 'find sorts in ascending order',
      run: (api) => api.finds('people', { sort: { age: 1 } }, [bob, ann, cy]),
    },
    {
      id: 'reads-06',
      section: '1',
      says: 'find sorts in descending order',
      run: (api) => api.finds('people', { sort: { age: -1 } }, [cy, ann, bob]),
    },
    {
      id: 'reads-07',
      section: '4.4',
      says: 'find takes a filter, a projection, a sort and options',
      run: (api) =>
        api.finds(
          'people',
          {
            filter: { 'home.city': 'Oslo' },
            projection: { name: true },
            sort: { age: -1 },
            options: { limit: 1 },
          },
          [{ _id: 'cy', name: 'Cy' }],
        ),
    },
    {
      id: 'reads-08',
      section: '4.5',
      says: 'find without a projection returns whole documents',
      run: async (api) => {
        const { data } = await api.run('people', { find: {} })
        const byId = (a: object, b: object) =>
          JSON.stringify(a).localeCompare(JSON.stringify(b))
        assert.deepEqual(data!.documents!.toSorted(byId), people)
      },
    },
    {
      id: 'reads-09',
      section: '4.5',
      says: 'a filter operator that does not exist is refused',
      run: (api) =>
        api.refuses(
          'people',
          { find: { filter: { age: { $near: 30 } } } },
          'FILTER/FILTER_UNSUPPORTED_OPERATOR',
        ),
    },
    {
      id: 'reads-10',
      section: '4.5',
      says: '$in takes an array',
      run: (api) =>
        api.refuses(
          'people',
          { find: { filter: { age: { $in: 30 } } } },
          'FILTER/FILTER_INVALID_EXPRESSION',
        ),
    },
    {
      id: 'reads-11',
      section: '4.5',
      says: '$or takes an array of filters',
      run: (api) =>
        api.refuses(
          'people',
          { find: { filter: { $or: { age: 30 } } } },
          'FILTER/FILTER_INVALID_EXPRESSION',
        ),
    },
    {
      id: 'reads-12',
      section: '4.5',
      says: '$match is refused on the fields of a document',
      run: (api) =>
        api.refuses(
          'people',
          { find: { filter: { name: { $match: 'Ann' } } } },
          'FILTER/FILTER_INVALID_EXPRESSION',
        ),
    },
    ...filters.map(([says, filter, ids], at): Statement => ({
      id: `reads-${13 + at}`,
      section: '4.5',
      says,
      run: (api) => api.matches('people', filter, ids),
    })),
    ...projections.map(([says, projection, document], at): Statement => ({
      id: `reads-${29 + at}`,
      section: '4.5',
      says: `a projection: ${says}`,
      run: (api) => api.finds('people', { filter: { _id: 'ann' }, projection }, [document]),
    })),
  ],
}
