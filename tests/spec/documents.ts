/** Documents, reserved fields and the encodings of values: sections 1, 2.3, 2.4 and 7. */
import assert from 'node:assert/strict'
import { lettersCollection } from '../commands/letter-models.ts'
import type { Api } from './api.ts'
import type { Area } from './statement.ts'

const uuid = '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f'
/** The vectors [1, 0] and [0, 1] as big-endian 4-byte numbers. */
const oneZero = 'P4AAAAAAAAA='
const zeroOne = 'AAAAAD+AAAA='

/** Formats of generated ids, by defaultId type. */
const formats = {
  uuid: /^\{"\$uuid":"[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}"\}$/,
  uuidv6: /^\{"\$uuid":"[\da-f]{8}-[\da-f]{4}-6[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}"\}$/,
  uuidv7: /^\{"\$uuid":"[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}"\}$/,
  objectId: /^\{"\$objectId":"[\da-f]{24}"\}$/,
}

interface Identified {
  readonly _id: unknown
  readonly [field: string]: unknown
}

async function generates(api: Api, collection: string, format: RegExp): Promise<void> {
  const { status } = await api.run(collection, { insertOne: { document: { n: 1 } } })
  const [id, ...more] = status!['insertedIds'] as unknown[]
  assert.deepEqual(more, [])
  assert.match(JSON.stringify(id), format)
}

/** Asserts that an inserted document is found unchanged by its `_id`. */
async function keeps(api: Api, collection: string, document: Identified) {
  await api.replies(
    collection,
    { insertOne: { document } },
    { status: { insertedIds: [document._id] } },
  )
  const { _id } = document
  await api.finds(collection, { filter: { _id }, projection: { '*': true } }, [document])
}

/**
 * Asserts that a single document is rejected: it is not inserted, but other documents of the same
 * request would be.
 */
function refusesDocument(api: Api, document: Identified, expected: string) {
  const beside = { status: { insertedIds: [] }, documentIds: [document._id] }
  return api.refuses('plain', { insertOne: { document } }, expected, beside)
}

/** Asserts that a request to insert a document is rejected as a whole. */
function refusesInsert(api: Api, collection: string, document: object, expected: string) {
  return api.refuses(collection, { insertOne: { document } }, expected)
}

const dotted = { _id: 'dotted', 'a.b': 1, 'x&y': 2, a: { b: 3 } }
const badName = 'DOCUMENT/SHRED_BAD_FIELD_NAME'

export const documents: Area = {
  name: 'documents',
  prepare: async (api) => {
    const withoutLexical = { lexical: { enabled: false } }
    for (const [name, options] of [
      ['plain', withoutLexical],
      ['vectors', { vector: { dimension: 2, metric: 'cosine' } }],
      ['texts', lettersCollection],
      ['wordless', { ...lettersCollection, ...withoutLexical }],
      ...Object.keys(formats).map((type) => [type, { defaultId: { type } }]),
    ])
      await api.ok('', { createCollection: { name, options } })
    await api.run('plain', { insertOne: { document: dotted } })
  },
  statements: [
    {
      id: 'documents-01',
      section: '2.3',
      says: 'a field name is any non-empty sequence of Unicode characters',
      run: (api) => keeps(api, 'plain', { _id: 'unicode', '名前 ✨ "\n': { 'é-ß': 1 } }),
    },
    {
      id: 'documents-02',
      section: '2.3',
      says: 'an empty field name is refused',
      run: (api) => refusesDocument(api, { _id: 'empty', '': 1 }, badName),
    },
    {
      id: 'documents-03',
      section: '7',
      says: 'a field name that starts with $ is refused',
      run: (api) => refusesDocument(api, { _id: 'dollar', $price: 1 }, badName),
    },
    {
      id: 'documents-04',
      section: '7',
      says: 'a nested field name that starts with $ is refused',
      run: (api) => refusesDocument(api, { _id: 'deep', a: { $b: 1, c: 2 } }, badName),
    },
    {
      id: 'documents-05',
      section: '7',
      says: 'the field name * is refused',
      run: (api) => refusesDocument(api, { _id: 'star', '*': 1 }, badName),
    },
    {
      id: 'documents-06',
      section: '2.3',
      says: 'a field name with * among other characters is allowed',
      run: (api) => keeps(api, 'plain', { _id: 'stars', 'a*': 1, '**': 2 }),
    },
    {
      id: 'documents-07',
      section: '2.3',
      says: 'a . in a filter is escaped as &. when the name contains it',
      run: (api) => api.matches('plain', { 'a&.b': 1 }, ['dotted']),
    },
    {
      id: 'documents-08',
      section: '2.3',
      says: 'an & in a filter is escaped as && when the name contains it',
      run: (api) => api.matches('plain', { 'x&&y': 2 }, ['dotted']),
    },
    {
      id: 'documents-09',
      section: '2.3',
      says: 'an & in a filter that escapes nothing is refused',
      run: (api) =>
        api.refuses(
          'plain',
          { find: { filter: { 'x&y': 2 } } },
          'FILTER/FILTER_INVALID_EXPRESSION',
        ),
    },
    {
      id: 'documents-10',
      section: '2.3',
      says: 'special characters are escaped in a sort',
      run: async (api) => {
        const documents = [2, 1, 3].map((n) => ({ 'n.n': n, group: 'sorted' }))
        await api.run('plain', { insertMany: { documents } })
        const find = { filter: { group: 'sorted' }, sort: { 'n&.n': 1 } }
        const projection = { _id: false, group: false }
        const sorted = [1, 2, 3].map((n) => ({ 'n.n': n }))
        await api.finds('plain', { ...find, projection }, sorted)
      },
    },
    {
      id: 'documents-11',
      section: '2.3',
      says: 'special characters are escaped in a projection',
      run: (api) => {
        const projection = { 'a&.b': true, 'x&&y': true }
        const expected = { _id: 'dotted', 'a.b': 1, 'x&y': 2 }
        return api.finds('plain', { filter: { _id: 'dotted' }, projection }, [expected])
      },
    },
    {
      id: 'documents-12',
      section: '2.3',
      says: 'special characters are escaped in an update',
      run: (api) =>
        api.updates(
          'plain',
          { _id: 'escaped', 'a.b': 1, 'x&y': 2 },
          { $set: { 'a&.b': 3, 'x&&y': 4 } },
          { _id: 'escaped', 'a.b': 3, 'x&y': 4 },
        ),
    },
    {
      id: 'documents-13',
      section: '2.3',
      says: 'dot notation does not nest fields of an inserted document',
      run: async (api) => {
        await keeps(api, 'plain', { _id: 'flat', 'flat.field': 1 })
        await api.matches('plain', { 'flat.field': 1 }, [])
      },
    },
    {
      id: 'documents-14',
      section: '2.3',
      says: 'dot notation addresses a nested field in a filter',
      run: (api) => api.matches('plain', { 'a.b': 3 }, ['dotted']),
    },
    {
      id: 'documents-15',
      section: '2.3',
      says: 'dot notation addresses a nested field in a projection',
      run: (api) =>
        api.finds('plain', { filter: { _id: 'dotted' }, projection: { 'a.b': true } }, [
          { _id: 'dotted', a: { b: 3 } },
        ]),
    },
    {
      id: 'documents-16',
      section: '2.3',
      says: 'dot notation addresses a nested field in an update',
      run: (api) =>
        api.updates(
          'plain',
          { _id: 'nested', a: { b: 1, c: [1, 2] } },
          { $set: { 'a.b': 2, 'a.c.1': 3 } },
          { _id: 'nested', a: { b: 2, c: [1, 3] } },
        ),
    },
    {
      id: 'documents-17',
      section: '2.3',
      says: 'dot notation addresses a nested field in a sort',
      run: async (api) => {
        const documents = [1, 2].map((n) => ({ _id: `by-${n}`, by: { n } }))
        await api.run('plain', { insertMany: { documents } })
        const filter = { by: { $exists: true } }
        const sorted = documents.toReversed()
        await api.finds('plain', { filter, sort: { 'by.n': -1 } }, sorted)
      },
    },
    {
      id: 'documents-18',
      section: '1',
      says: 'all numbers are of one type: 1 equals 1.0',
      run: async (api) => {
        const insert = '{"insertOne": {"document": {"_id": "one", "number": 1.0}}}'
        await api.replies('plain', insert, { status: { insertedIds: ['one'] } })
        await api.matches('plain', { number: 1 }, ['one'])
      },
    },
    {
      id: 'documents-19',
      section: '1',
      says: 'documents of a collection may have different fields and types',
      run: async (api) => {
        const documents = [{ mixed: 1 }, { mixed: 'one', b: [] }, { mixed: { c: null } }]
        const { status } = await api.run('plain', { insertMany: { documents } })
        assert.equal((status!['insertedIds'] as unknown[]).length, 3)
      },
    },
    {
      id: 'documents-20',
      section: '2.4',
      says: '_id may be a string',
      run: (api) => keeps(api, 'plain', { _id: 'a string' }),
    },
    {
      id: 'documents-21',
      section: '2.4',
      says: '_id may be a number',
      run: (api) => keeps(api, 'plain', { _id: 12.5 }),
    },
    {
      id: 'documents-22',
      section: '2.4',
      says: '_id may be an object identifier',
      run: (api) => keeps(api, 'plain', { _id: { $objectId: '66f2c46a1b7c3d8e4f5a6b7c' } }),
    },
    {
      id: 'documents-23',
      section: '2.4',
      says: '_id may be a UUID',
      run: (api) => keeps(api, 'plain', { _id: { $uuid: uuid } }),
    },
    {
      id: 'documents-24',
      section: '2.3',
      says: '_id is unique',
      run: (api) =>
        refusesDocument(api, { _id: 'dotted' }, 'DOCUMENT/DOCUMENT_ALREADY_EXISTS'),
    },
    {
      id: 'documents-25',
      section: '2.3',
      says: 'an omitted _id is generated as a string without a default ID format',
      run: (api) =>
        generates(
          api,
          'plain',
          /^"[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-.{12}"$/,
        ),
    },
    ...Object.entries(formats).map(([type, format], at) => ({
      id: `documents-${26 + at}`,
      section: '2.3',
      says: `an omitted _id is generated in the default ID format ${type}`,
      run: (api: Api) => generates(api, type, format),
    })),
    {
      id: 'documents-30',
      section: '2.4',
      says: 'a binary value is Base64 in $binary',
      run: (api) => keeps(api, 'plain', { _id: 'bytes', b: { $binary: 'AAECAw==' } }),
    },
    {
      id: 'documents-31',
      section: '2.4',
      says: '$vector is an array of numbers',
      run: (api) => keeps(api, 'vectors', { _id: 'array', $vector: [0.5, 0.25] }),
    },
    {
      id: 'documents-32',
      section: '2.4',
      says: '$vector is a Base64 string of big-endian 4-byte numbers in $binary',
      run: async (api) => {
        await api.run('vectors', {
          insertMany: {
            documents: [
              { _id: 'east', group: 'binary', $vector: { $binary: oneZero } },
              { _id: 'north', group: 'binary', $vector: { $binary: zeroOne } },
            ],
          },
        })
        const find = { filter: { group: 'binary' }, sort: { $vector: [0, 1] } }
        await api.finds('vectors', { ...find, projection: { _id: true } }, [
          { _id: 'north' },
          { _id: 'east' },
        ])
      },
    },
    {
      id: 'documents-33',
      section: '2.3',
      says: 'a $vector of another dimension than the collection has is refused',
      run: (api) =>
        api.refuses(
          'vectors',
          { insertOne: { document: { _id: 'long', $vector: [1, 2, 3] } } },
          'DOCUMENT/INVALID_VECTOR_LENGTH',
          { status: { insertedIds: [] }, documentIds: ['long'] },
        ),
    },
    {
      id: 'documents-34',
      section: '2.3',
      says: 'an embedding is generated from $vectorize',
      run: async (api) => {
        await api.run('texts', {
          insertOne: { document: { _id: 'aab', $vectorize: 'aab' } },
        })
        const projection = { $vector: true, $vectorize: true }
        await api.finds('texts', { filter: { _id: 'aab' }, projection }, [
          { _id: 'aab', $vectorize: 'aab', $vector: [3, 2] },
        ])
      },
    },
    {
      id: 'documents-35',
      section: '2.3',
      says: '$lexical is text for lexicographical matching',
      run: async (api) => {
        const document = { _id: 'oak', $lexical: 'Oak, elm and beech' }
        await api.run('texts', { insertOne: { document } })
        await api.matches('texts', { $lexical: { $match: 'elm oak' } }, ['oak'])
      },
    },
    {
      id: 'documents-36',
      section: '2.3',
      says: '$hybrid populates $vectorize and $lexical',
      run: async (api) => {
        await api.run('texts', { insertOne: { document: { _id: 'both', $hybrid: 'ab' } } })
        await api.finds('texts', { filter: { _id: 'both' }, projection: { '*': true } }, [
          { _id: 'both', $lexical: 'ab', $vectorize: 'ab', $vector: [2, 2] },
        ])
      },
    },
    {
      id: 'documents-37',
      section: '7',
      says: 'a document with $vector and $vectorize is refused',
      run: (api) =>
        refusesInsert(
          api,
          'texts',
          { $vector: [1, 0], $vectorize: 'a' },
          'SCHEMA/INVALID_USAGE_OF_VECTORIZE',
        ),
    },
    {
      id: 'documents-38',
      section: '7',
      says: 'a document with $hybrid and $vectorize is refused',
      run: (api) =>
        refusesInsert(
          api,
          'texts',
          { $hybrid: 'a', $vectorize: 'a' },
          '/HYBRID_FIELD_CONFLICT',
        ),
    },
    {
      id: 'documents-39',
      section: '7',
      says: 'a document with $hybrid and $lexical is refused',
      run: (api) =>
        refusesInsert(
          api,
          'texts',
          { $hybrid: 'a', $lexical: 'a' },
          '/HYBRID_FIELD_CONFLICT',
        ),
    },
    {
      id: 'documents-40',
      section: '7',
      says: '$vectorize is refused in a collection without an embedding provider',
      run: (api) =>
        refusesInsert(
          api,
          'vectors',
          { $vectorize: 'a' },
          'SCHEMA/EMBEDDING_SERVICE_NOT_CONFIGURED',
        ),
    },
    {
      id: 'documents-41',
      section: '7',
      says: '$lexical is refused in a collection without lexical search',
      run: (api) =>
        refusesDocument(
          api,
          { _id: 'lexical', $lexical: 'a' },
          'SCHEMA/LEXICAL_NOT_ENABLED_FOR_COLLECTION',
        ),
    },
    {
      id: 'documents-42',
      section: '7',
      says: '$hybrid is refused in a collection without an embedding provider',
      run: (api) =>
        refusesInsert(
          api,
          'vectors',
          { $hybrid: 'a' },
          'SCHEMA/EMBEDDING_SERVICE_NOT_CONFIGURED',
        ),
    },
    {
      id: 'documents-43',
      section: '7',
      says: '$hybrid is refused in a collection without lexical search',
      run: (api) =>
        api.refuses(
          'wordless',
          { insertOne: { document: { _id: 'h', $hybrid: 'a' } } },
          'SCHEMA/LEXICAL_NOT_ENABLED_FOR_COLLECTION',
          { status: { insertedIds: [] }, documentIds: ['h'] },
        ),
    },
    {
      id: 'documents-44',
      section: '2.3',
      says: 'fields that start with $ are excluded from returned documents by default',
      run: async (api) => {
        await api.run('texts', {
          insertOne: { document: { _id: 'hidden', n: 1, $hybrid: 'b' } },
        })
        await api.finds('texts', { filter: { _id: 'hidden' } }, [{ _id: 'hidden', n: 1 }])
      },
    },
    {
      id: 'documents-45',
      section: '2.3',
      says: 'fields that start with $ are returned if the projection includes them',
      run: async (api) => {
        await api.run('texts', {
          insertOne: { document: { _id: 'shown', n: 1, $hybrid: 'b' } },
        })
        const projection = { $lexical: true, $vector: true, n: true }
        await api.finds('texts', { filter: { _id: 'shown' }, projection }, [
          { _id: 'shown', n: 1, $lexical: 'b', $vector: [1, 2] },
        ])
      },
    },
    {
      id: 'documents-46',
      section: '2.3',
      says: '_id is not returned if the projection excludes it',
      run: (api) =>
        api.finds(
          'plain',
          { filter: { _id: 'dotted' }, projection: { _id: false, a: true } },
          [{ a: { b: 3 } }],
        ),
    },
    {
      id: 'documents-47',
      section: '2.4',
      says: 'a $binary vector whose bytes are not 4-byte numbers is refused',
      run: (api) =>
        api.refuses(
          'vectors',
          { insertOne: { document: { _id: 'odd', $vector: { $binary: 'P4AAAAA=' } } } },
          'DOCUMENT/SHRED_BAD_BINARY_VECTOR_VALUE',
          { status: { insertedIds: [] }, documentIds: ['odd'] },
        ),
    },
    {
      id: 'documents-48',
      section: '7',
      says: 'a nested field name * is refused',
      run: (api) => refusesDocument(api, { _id: 'deep star', a: [{ '*': 1 }] }, badName),
    },
    {
      id: 'documents-49',
      section: '7',
      says: 'a field name that starts with $ is refused in a replacement',
      run: (api) =>
        api.refuses(
          'plain',
          { findOneAndReplace: { filter: { _id: 'dotted' }, replacement: { $price: 1 } } },
          badName,
        ),
    },
    {
      id: 'documents-50',
      section: '7',
      says: 'an update cannot create a field with the name *',
      run: (api) =>
        api.refuses(
          'plain',
          { updateOne: { filter: { _id: 'dotted' }, update: { $set: { '*': 1 } } } },
          badName,
        ),
    },
    {
      id: 'documents-51',
      section: '7',
      says: 'a replacement with $vector and $vectorize is refused',
      run: (api) => {
        const replacement = { $vector: [1, 0], $vectorize: 'a' }
        return api.refuses(
          'texts',
          { findOneAndReplace: { filter: { _id: 'absent' }, replacement } },
          'SCHEMA/INVALID_USAGE_OF_VECTORIZE',
        )
      },
    },
    {
      id: 'documents-52',
      section: '2.3',
      says: 'an _id that is an array is refused',
      run: (api) =>
        api.refuses(
          'plain',
          { insertOne: { document: { _id: [1] } } },
          'DOCUMENT/SHRED_BAD_DOCID_TYPE',
          { status: { insertedIds: [] } },
        ),
    },
    {
      id: 'documents-53',
      section: '2.3',
      says: '$vectorize is a string',
      run: (api) =>
        refusesInsert(
          api,
          'texts',
          { $vectorize: 1 },
          'DOCUMENT/INVALID_VECTORIZE_VALUE_TYPE',
        ),
    },
    {
      id: 'documents-54',
      section: '2.3',
      says: '$lexical is a string',
      run: (api) =>
        api.refuses(
          'texts',
          { insertOne: { document: { _id: 'number', $lexical: 1 } } },
          'DOCUMENT/SHRED_BAD_DOCUMENT_LEXICAL_TYPE',
          { status: { insertedIds: [] }, documentIds: ['number'] },
        ),
    },
    {
      id: 'documents-55',
      section: '2.3',
      says: '$hybrid is a string',
      run: (api) =>
        refusesInsert(api, 'texts', { $hybrid: 1 }, '/HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE'),
    },
    {
      id: 'documents-56',
      section: '4.5',
      says: 'a projection includes fields by true, and _id',
      run: async (api) => {
        const document = { _id: 'projected', n: 1, $vector: [1, 0] }
        await api.run('vectors', { insertOne: { document } })
        const find = { filter: { _id: 'projected' }, projection: { $vector: true } }
        await api.finds('vectors', find, [document])
      },
      deviation: { difference: 90, says: '$vector alone is added to the whole document' },
    },
  ],
}
