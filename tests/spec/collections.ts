/** Collections, their options and the commands on them: sections 1, 2.1, 2.2 and 4.2. */
import assert from 'node:assert/strict'
import { defaultLimits } from '../../src/limits.ts'
import type { Api } from './api.ts'
import type { Area } from './statement.ts'

/** A value for each option of createCollection. */
const options = {
  defaultId: { type: 'uuid' },
  vector: {
    dimension: 2,
    metric: 'euclidean',
    service: { provider: 'openai', modelName: 'text-embedding-3-small' },
  },
  indexing: { allow: ['n', 'place.city'] },
  lexical: { enabled: true, analyzer: 'whitespace' },
  rerank: {
    enabled: true,
    service: { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' },
  },
} as const

type Option = keyof typeof options

/** The options of the collection `chosen`, from findCollections with `explain`. */
async function explained(api: Api): Promise<Record<string, unknown>> {
  const { status } = await api.run('', {
    findCollections: { options: { explain: true } },
  })
  const collections = status!['collections'] as { name: string; options: object }[]
  const found = collections.find(({ name }) => name === 'chosen')
  assert.deepEqual(Object.keys(found!), ['name', 'options'])
  return found!.options as Record<string, unknown>
}

async function isExplained(api: Api, option: Option, expected: object = options[option]) {
  assert.deepEqual((await explained(api))[option], expected)
}

/**
 * Creates the collection `chosen` again with another value of one option. The server must reject
 * this.
 */
function changes(api: Api, changed: object): Promise<void> {
  return api.refuses(
    '',
    { createCollection: { name: 'chosen', options: { ...options, ...changed } } },
    'SCHEMA/EXISTING_COLLECTION_DIFFERENT_SETTINGS',
  )
}

async function names(api: Api, command: object): Promise<string[]> {
  const { status } = await api.run('', command)
  return Object.values(status!)[0] as string[]
}

export const collections: Area = {
  name: 'collections',
  prepare: async (api) => {
    await api.ok('', { createCollection: { name: 'basic', options: {} } })
    await api.ok('', { createCollection: { name: 'chosen', options } })
    await api.run('chosen', {
      insertMany: {
        documents: [
          { _id: 1, n: 1, place: { city: 'Oslo', zip: 150 } },
          { _id: 2, n: 2, place: { city: 'Rome', zip: 184 }, more: [{ a: 1 }] },
        ],
      },
    })
  },
  statements: [
    {
      id: 'collections-01',
      section: '4.2',
      says: 'createCollection creates a collection',
      run: async (api) => {
        await api.ok('', { createCollection: { name: 'created' } })
        await api.finds('created', {}, [])
      },
    },
    {
      id: 'collections-02',
      section: '2.2',
      says: 'createCollection requires a name',
      run: (api) =>
        api.refuses(
          '',
          { createCollection: { options: {} } },
          'SCHEMA/UNSUPPORTED_SCHEMA_NAME',
        ),
    },
    {
      id: 'collections-03',
      section: '2.2',
      says: 'a collection with empty options cannot store vector data',
      run: (api) =>
        api.refuses(
          'basic',
          { insertOne: { document: { $vector: [1, 0] } } },
          'SCHEMA/VECTOR_SEARCH_NOT_SUPPORTED',
        ),
    },
    {
      id: 'collections-04',
      section: '2.2',
      says: 'vector storage and vectorize are chosen at creation',
      run: (api) => {
        const vector = { ...options.vector, sourceModel: 'other' }
        return isExplained(api, 'vector', vector)
      },
    },
    {
      id: 'collections-05',
      section: '2.2',
      says: 'lexical search is chosen at creation',
      run: (api) => isExplained(api, 'lexical'),
    },
    {
      id: 'collections-06',
      section: '2.2',
      says: 'rerank is chosen at creation',
      run: (api) => isExplained(api, 'rerank'),
    },
    {
      id: 'collections-07',
      section: '2.2',
      says: 'selective indexing is chosen at creation',
      run: (api) => isExplained(api, 'indexing'),
    },
    {
      id: 'collections-08',
      section: '2.2',
      says: 'the default ID format is chosen at creation',
      run: (api) => isExplained(api, 'defaultId'),
    },
    {
      id: 'collections-09',
      section: '2.2',
      says: 'the vector options cannot be changed after creation',
      run: (api) => changes(api, { vector: { ...options.vector, metric: 'cosine' } }),
    },
    {
      id: 'collections-10',
      section: '2.2',
      says: 'lexical search cannot be changed after creation',
      run: (api) => changes(api, { lexical: { enabled: false } }),
    },
    {
      id: 'collections-11',
      section: '2.2',
      says: 'rerank cannot be changed after creation',
      run: (api) => changes(api, { rerank: { enabled: false } }),
    },
    {
      id: 'collections-12',
      section: '2.2',
      says: 'selective indexing cannot be changed after creation',
      run: (api) => changes(api, { indexing: { allow: ['n'] } }),
    },
    {
      id: 'collections-13',
      section: '2.2',
      says: 'the default ID format cannot be changed after creation',
      run: (api) => changes(api, { defaultId: { type: 'objectId' } }),
    },
    {
      id: 'collections-14',
      section: '2.2',
      says: 'createCollection with the settings of the existing collection succeeds',
      run: (api) => api.ok('', { createCollection: { name: 'chosen', options } }),
    },
    {
      id: 'collections-15',
      section: '2.2',
      says: 'all fields of a document are indexed by default',
      run: async (api) => {
        const document = { _id: 'indexed', any: { field: ['x', 7] } }
        await api.run('basic', { insertOne: { document } })
        await api.matches('basic', { 'any.field': 7 }, ['indexed'])
      },
    },
    {
      id: 'collections-16',
      section: '2.2',
      says: 'documents can have unindexed fields with selective indexing',
      run: (api) =>
        api.finds('chosen', { filter: { n: 2 } }, [
          { _id: 2, n: 2, place: { city: 'Rome', zip: 184 }, more: [{ a: 1 }] },
        ]),
    },
    {
      id: 'collections-17',
      section: '2.2',
      says: 'an indexed nested field can be filtered on',
      run: (api) =>
        api.finds('chosen', { filter: { 'place.city': 'Oslo' }, projection: { n: true } }, [
          { _id: 1, n: 1 },
        ]),
    },
    {
      id: 'collections-18',
      section: '7',
      says: 'a filter on a field that is not indexed is refused',
      run: (api) =>
        api.refuses(
          'chosen',
          { find: { filter: { 'place.zip': 150 } } },
          'FILTER/FILTER_PATH_UNINDEXED',
        ),
    },
    {
      id: 'collections-19',
      section: '2.2',
      says: 'a sort by a field that is not indexed is refused',
      run: (api) =>
        api.refuses(
          'chosen',
          { find: { sort: { 'place.zip': 1 } } },
          'SORT/SORT_CLAUSE_PATH_UNINDEXED',
        ),
    },
    {
      id: 'collections-20',
      section: '2.2',
      says: 'the number of collections of a database is limited',
      run: (api) =>
        api.withSettings({ limits: { ...defaultLimits, collectionsMax: 0 } }, (limited) =>
          limited.refuses(
            '',
            { createCollection: { name: 'excess' } },
            'SCHEMA/TOO_MANY_COLLECTIONS',
          ),
        ),
    },
    {
      id: 'collections-21',
      section: '4.2',
      says: 'findCollections returns names only when explain is false',
      run: async (api) => {
        const listed = await names(api, {
          findCollections: { options: { explain: false } },
        })
        assert(listed.includes('basic') && listed.includes('chosen'), listed.join())
        assert(listed.every((name) => typeof name === 'string'))
      },
    },
    {
      id: 'collections-22',
      section: '4.2',
      says: 'findCollections returns names and settings when explain is true',
      run: async (api) => {
        const settings = Object.keys(await explained(api))
        assert.deepEqual(settings.toSorted(), Object.keys(options).toSorted())
      },
    },
    {
      id: 'collections-23',
      section: '4.2',
      says: 'deleteCollection deletes a collection and its documents',
      run: async (api) => {
        await api.ok('', { createCollection: { name: 'doomed' } })
        await api.run('doomed', { insertOne: { document: { _id: 1 } } })
        await api.ok('', { deleteCollection: { name: 'doomed' } })
        const expected = 'SCHEMA/UNKNOWN_COLLECTION_OR_TABLE'
        await api.refuses('doomed', { find: {} }, expected)
      },
    },
    {
      id: 'collections-24',
      section: '1',
      says: 'an insert into a collection that does not exist does not create it',
      run: async (api) => {
        await api.send('uncreated', { insertOne: { document: { _id: 1 } } })
        const listed = await names(api, { findCollections: {} })
        assert(!listed.includes('uncreated'), listed.join())
      },
    },
    {
      id: 'collections-25',
      section: '2.1',
      says: 'a keyspace holds several collections',
      run: async (api) => {
        const listed = await names(api, { findCollections: {} })
        assert(listed.length > 1)
      },
    },
    {
      id: 'collections-26',
      section: '1',
      says: 'createCollection takes no JSON schema: the caller validates',
      run: (api) =>
        api.refuses(
          '',
          { createCollection: { name: 'strict', options: { schema: {} } } },
          '/INVALID_CREATE_COLLECTION_FIELD',
        ),
    },
    ...['profile', 'ttl', 'raw'].map((option, at) => ({
      id: `collections-${27 + at}`,
      section: '1',
      says: `find in a collection does not offer the option ${option}`,
      run: (api: Api) =>
        api.refuses(
          'basic',
          { find: { options: { [option]: 1 } } },
          '/COMMAND_FIELD_UNKNOWN',
        ),
    })),
    {
      id: 'collections-30',
      section: '1',
      says: 'a filter does not offer $selectivity',
      run: (api) =>
        api.refuses(
          'basic',
          { find: { filter: { n: { $selectivity: 0.5 } } } },
          'FILTER/FILTER_UNSUPPORTED_OPERATOR',
        ),
    },
    {
      id: 'collections-31',
      section: '1',
      says: 'a filter does not offer the wildcard *',
      run: (api) =>
        api.refuses(
          'basic',
          { find: { filter: { '*': 1 } } },
          'FILTER/FILTER_INVALID_EXPRESSION',
        ),
    },
  ],
}
