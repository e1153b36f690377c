/** Searches of documents by vector and by terms: sections 1, 2.4, 4.5 and 7. */
import assert from 'node:assert/strict'
import { lettersCollection } from '../commands/letter-models.ts'
import type { Area } from './statement.ts'

const east = { _id: 'east', group: 1, $vectorize: 'aaa', $lexical: 'Maple, red' }
const north = { _id: 'north', group: 2, $vectorize: 'bbb', $lexical: 'maple tree' }
const middle = { _id: 'middle', group: 1, $vectorize: 'aabb', $lexical: 'red oak' }
const outside = { _id: 'outside', group: 1 }

const idOf = ({ _id }: { readonly _id: string }) => ({ _id })
/** A projection that returns only ids. */
const projection = { _id: true }

export const searches: Area = {
  name: 'searches',
  prepare: async (api) => {
    await api.ok('', { createCollection: { name: 'trees', options: lettersCollection } })
    await api.ok('', {
      createCollection: {
        name: 'silent',
        options: { vector: { dimension: 2 }, lexical: { enabled: false } },
      },
    })
    await api.ok('', { createCollection: { name: 'planar' } })
    await api.run('trees', { insertMany: { documents: [east, north, middle, outside] } })
  },
  statements: [
    {
      id: 'searches-01',
      section: '4.5',
      says: 'a sort by $vector returns the most similar documents first',
      run: (api) =>
        api.finds(
          'trees',
          { sort: { $vector: [4, 1] }, projection },
          [east, middle, north].map(idOf),
        ),
    },
    {
      id: 'searches-02',
      section: '2.4',
      says: 'a sort by $vector takes a vector in $binary',
      run: (api) =>
        api.finds(
          'trees',
          { sort: { $vector: { $binary: 'AAAAAD+AAAA=' } }, projection },
          [north, middle, east].map(idOf),
        ),
    },
    {
      id: 'searches-03',
      section: '4.5',
      says: 'a sort by $vectorize searches with the vector of a text',
      run: (api) =>
        api.finds(
          'trees',
          { sort: { $vectorize: 'bbbb' }, projection },
          [north, middle, east].map(idOf),
        ),
    },
    {
      id: 'searches-04',
      section: '4.4',
      says: 'a vector search finds documents that match the filter',
      run: (api) =>
        api.finds(
          'trees',
          { sort: { $vector: [1, 4] }, filter: { group: 1 }, projection },
          [middle, east].map(idOf),
        ),
    },
    {
      id: 'searches-05',
      section: '4.4',
      says: 'a vector search returns at most as many documents as the limit',
      run: (api) =>
        api.finds(
          'trees',
          { sort: { $vector: [4, 1] }, projection, options: { limit: 1 } },
          [idOf(east)],
        ),
    },
    {
      id: 'searches-06',
      section: '7',
      says: 'skip with a vector search is refused',
      run: (api) =>
        api.refuses(
          'trees',
          { find: { sort: { $vector: [1, 0] }, options: { skip: 1 } } },
          '/COMMAND_FIELD_VALUE_INVALID',
        ),
    },
    {
      id: 'searches-07',
      section: '7',
      says: 'skip with a search by $vectorize is refused',
      run: (api) =>
        api.refuses(
          'trees',
          { find: { sort: { $vectorize: 'a' }, options: { skip: 1 } } },
          '/COMMAND_FIELD_VALUE_INVALID',
        ),
    },
    {
      id: 'searches-08',
      section: '2.2',
      says: 'a sort by $vector is refused in a collection without vectors',
      run: (api) =>
        api.refuses(
          'planar',
          { find: { sort: { $vector: [1, 0] } } },
          'SCHEMA/VECTOR_SEARCH_NOT_SUPPORTED',
        ),
    },
    {
      id: 'searches-09',
      section: '2.3',
      says: 'a sort by $vectorize is refused in a collection without an embedding provider',
      run: (api) =>
        api.refuses(
          'silent',
          { find: { sort: { $vectorize: 'a' } } },
          'SCHEMA/EMBEDDING_SERVICE_NOT_CONFIGURED',
        ),
    },
    {
      id: 'searches-10',
      section: '4.5',
      says: '$match is for tables only',
      run: (api) => api.matches('trees', { $lexical: { $match: 'red maple' } }, ['east']),
      deviation: { difference: 13, says: 'it finds documents by the terms of $lexical' },
    },
    {
      id: 'searches-11',
      section: '2.3',
      says: 'a sort by $lexical returns documents that have the terms',
      run: async (api) => {
        const find = { sort: { $lexical: 'maple' }, projection }
        const { data } = await api.run('trees', { find })
        const ids = data!.documents!.map((document) => document['_id'])
        assert.deepEqual(ids.toSorted(), ['east', 'north'])
        assert.equal(data!.nextPageState, null)
      },
    },
    {
      id: 'searches-12',
      section: '2.3',
      says: '$match is refused in a collection without lexical search',
      run: (api) =>
        api.refuses(
          'silent',
          { find: { filter: { $lexical: { $match: 'red' } } } },
          'SCHEMA/LEXICAL_NOT_ENABLED_FOR_COLLECTION',
        ),
    },
    {
      id: 'searches-13',
      section: '4.4',
      says: 'findOne with a vector search returns the most similar document',
      run: (api) =>
        api.replies(
          'trees',
          { findOne: { sort: { $vector: [1, 4] }, projection } },
          { data: { document: idOf(north) } },
        ),
    },
  ],
}
