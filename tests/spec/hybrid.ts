/** Hybrid search with reranking: sections 2.3, 4.7 and 7. */
import assert from 'node:assert/strict'
import { lettersCollection } from '../commands/letter-models.ts'
import type { Api } from './api.ts'
import type { Area } from './statement.ts'

/**
 * Texts for hybrid searches. The reranker counts the occurrences of the query in a passage. The
 * vectors of these texts are [2, 1], [3, 2] and [1, 2].
 */
const insects = [
  { _id: 'one', n: 1, $hybrid: 'ant' },
  { _id: 'two', n: 2, $hybrid: 'ant ant bee' },
  { _id: 'none', n: 3, $hybrid: 'bee' },
]
const sort = { $hybrid: 'ant' }
const given = { $hybrid: { $vector: [2, 1], $lexical: 'ant' } }
const rerank = { rerankOn: '$lexical', rerankQuery: 'ant' }

/** Sends findAndRerank, and compares the ids, the other data and the whole status of the reply. */
async function finds(
  api: Api,
  findAndRerank: object,
  ids: readonly string[],
  status?: object,
  collection = 'insects',
): Promise<void> {
  const command = { projection: { _id: true }, ...findAndRerank }
  const documents = ids.map((_id) => ({ _id }))
  const data = { documents, nextPageState: null }
  const reply = status === undefined ? { data } : { data, status: { ...status } }
  await api.replies(collection, { findAndRerank: command }, reply)
}

function refuses(api: Api, findAndRerank: object, expected: string) {
  return api.refuses('insects', { findAndRerank }, expected)
}

/** Options with which both searches find all documents, and only the best document is returned. */
const firstOnly = { limit: 1, hybridLimits: 3 }

const badValue = '/COMMAND_FIELD_VALUE_INVALID'

/** Forms of `$hybrid` with the same results as the plain text. */
const shapes: readonly (readonly [says: string, command: object])[] = [
  ['a string', { sort }],
  [
    '$vectorize and $lexical',
    { sort: { $hybrid: { $vectorize: 'ant', $lexical: 'ant' } } },
  ],
  ['$vector and $lexical', { sort: given, options: rerank }],
  [
    '$vector in $binary and $lexical',
    {
      sort: { $hybrid: { $vector: { $binary: 'QAAAAD+AAAA=' }, $lexical: 'ant' } },
      options: rerank,
    },
  ],
]

const scoresOfTwo = { $rerank: 1, $vector: 0.99613893, $vectorRank: 2, $bm25Rank: 2 }

export const hybrid: Area = {
  name: 'hybrid search',
  prepare: async (api) => {
    const vector = { dimension: 2 }
    const off = { enabled: false }
    for (const [name, options] of [
      ['insects', lettersCollection],
      ['unranked', { ...lettersCollection, rerank: off }],
      ['mute', { ...lettersCollection, lexical: off }],
      ['selective', { ...lettersCollection, indexing: { allow: ['n'] } }],
      ['serviceless', { vector }],
      ['flat', {}],
      ['serving', lettersCollection],
      ['unlexical', lettersCollection],
    ])
      await api.ok('', { createCollection: { name, options } })
    const others = [
      { _id: 'vector only', n: 4, $vectorize: 'ant' },
      { _id: 'lexical only', n: 5, $lexical: 'ant' },
      { _id: 'neither', n: 6 },
    ]
    await api.run('insects', { insertMany: { documents: [...insects, ...others] } })
  },
  statements: [
    ...shapes.map(([says, command], at) => ({
      id: `hybrid-0${1 + at}`,
      section: '4.7',
      says: `$hybrid may be ${says}`,
      run: (api: Api) => finds(api, command, ['two', 'one', 'none']),
    })),
    {
      id: 'hybrid-05',
      section: '4.7',
      says: 'documents are returned in reranked order',
      run: (api) =>
        finds(api, { sort, options: { rerankOn: 'n', rerankQuery: '3' } }, [
          'none',
          'one',
          'two',
        ]),
    },
    {
      id: 'hybrid-06',
      section: '2.3',
      says: 'documents without $lexical or $vector are excluded',
      run: (api) => finds(api, { sort, filter: { n: { $gt: 2 } } }, ['none']),
    },
    {
      id: 'hybrid-07',
      section: '4.7',
      says: 'documents must match the filter',
      run: (api) => finds(api, { sort, filter: { n: { $lt: 3 } } }, ['two', 'one']),
    },
    {
      id: 'hybrid-08',
      section: '4.7',
      says: 'the filter uses indexed fields only',
      run: (api) =>
        api.refuses(
          'selective',
          { findAndRerank: { sort, filter: { m: 1 } } },
          'FILTER/FILTER_PATH_UNINDEXED',
        ),
    },
    {
      id: 'hybrid-09',
      section: '4.7',
      says: 'the sort is required',
      run: (api) => refuses(api, {}, '/MISSING_RERANK_QUERY_TEXT'),
    },
    {
      id: 'hybrid-10',
      section: '4.7',
      says: 'the key of the sort is $hybrid',
      run: (api) =>
        refuses(api, { sort: { $vector: [1, 0] } }, '/REQUEST_STRUCTURE_MISMATCH'),
    },
    {
      id: 'hybrid-11',
      section: '4.7',
      says: '$hybrid as a string requires a collection with vectorize',
      run: (api) =>
        api.refuses(
          'serviceless',
          { findAndRerank: { sort } },
          'SORT/UNSUPPORTED_VECTORIZE_SORT_FOR_COLLECTION',
        ),
    },
    {
      id: 'hybrid-12',
      section: '4.7',
      // Difference 70.
      says: '$hybrid as an object without $lexical searches by vector',
      run: (api) =>
        finds(
          api,
          { sort: { $hybrid: { $vectorize: 'ant' } }, filter: { n: { $lt: 3 } } },
          ['two', 'one'],
        ),
    },
    {
      id: 'hybrid-13',
      section: '4.7',
      says: '$hybrid as an object without $vectorize and $vector is refused',
      run: (api) =>
        refuses(api, { sort: { $hybrid: { $lexical: 'ant' } }, options: rerank }, badValue),
    },
    {
      id: 'hybrid-14',
      section: '4.7',
      says: 'the default projection excludes fields that start with $',
      run: (api) =>
        api.replies(
          'insects',
          { findAndRerank: { sort, options: firstOnly } },
          { data: { documents: [{ _id: 'two', n: 2 }], nextPageState: null } },
        ),
    },
    {
      id: 'hybrid-15',
      section: '4.7',
      says: 'a projection can include fields that start with $',
      run: (api) =>
        api.replies(
          'insects',
          {
            findAndRerank: {
              sort,
              projection: { $lexical: true, n: true },
              options: firstOnly,
            },
          },
          {
            data: {
              documents: [{ _id: 'two', n: 2, $lexical: 'ant ant bee' }],
              nextPageState: null,
            },
          },
        ),
    },
    {
      id: 'hybrid-16',
      section: '4.7',
      says: 'limit is the maximum of documents in total',
      run: (api) =>
        finds(api, { sort, options: { limit: 2, hybridLimits: 3 } }, ['two', 'one']),
    },
    {
      id: 'hybrid-17',
      section: '4.7',
      says: 'limit has a default',
      run: async (api) => {
        const documents = Array.from({ length: 11 }, () => ({ n: 17, $hybrid: 'ant' }))
        await api.run('serving', { insertMany: { documents } })
        const findAndRerank = { sort, filter: { n: 17 } }
        const { data } = await api.run('serving', { findAndRerank })
        assert.equal(data!.documents!.length, 10)
      },
    },
    {
      id: 'hybrid-18',
      section: '4.7',
      says: 'a number in hybridLimits applies to both searches',
      // Both searches rank "one" first.
      run: (api) => finds(api, { sort, options: { hybridLimits: 1 } }, ['one']),
    },
    {
      id: 'hybrid-19',
      section: '4.7',
      says: 'an object in hybridLimits sets the limits separately',
      run: (api) => {
        const hybridLimits = { $vector: 3, $lexical: 1 }
        return finds(api, { sort, options: { hybridLimits } }, ['two', 'one', 'none'])
      },
    },
    {
      id: 'hybrid-20',
      section: '4.7',
      says: 'hybridLimits has the value of limit by default',
      run: (api) => finds(api, { sort, options: { limit: 1 } }, ['one']),
    },
    {
      id: 'hybrid-21',
      section: '4.7',
      says: 'includeScores adds the scores $rerank and $vector of each document',
      run: (api) =>
        finds(api, { sort, options: { ...firstOnly, includeScores: true } }, ['two'], {
          documentResponses: [{ scores: { ...scoresOfTwo, $rrf: 2 / 62 } }],
        }),
      deviation: { difference: 37, says: 'scores also contain the ranks' },
    },
    {
      id: 'hybrid-22',
      section: '4.7',
      says: 'includeScores is false by default',
      run: (api) =>
        finds(
          api,
          { sort, options: { limit: 3, includeSortVector: true } },
          ['two', 'one', 'none'],
          { sortVector: [2, 1] },
        ),
    },
    {
      id: 'hybrid-23',
      section: '4.7',
      says: 'includeSortVector adds the vector of the search',
      run: (api) =>
        finds(
          api,
          { sort: given, options: { ...rerank, limit: 3, includeSortVector: true } },
          ['two', 'one', 'none'],
          { sortVector: [2, 1] },
        ),
    },
    {
      id: 'hybrid-24',
      section: '4.7',
      says: 'there is no status without includeScores and includeSortVector',
      run: (api) =>
        finds(api, { sort, options: { includeScores: false, includeSortVector: false } }, [
          'two',
          'one',
          'none',
        ]),
    },
    {
      id: 'hybrid-25',
      section: '4.7',
      says: 'a search that finds nothing has an empty array of scores and the vector',
      run: (api) =>
        finds(
          api,
          {
            sort,
            filter: { n: 9 },
            options: { includeScores: true, includeSortVector: true },
          },
          [],
          { documentResponses: [], sortVector: [2, 1] },
        ),
    },
    {
      id: 'hybrid-26',
      section: '4.7',
      says: 'a search that finds nothing has an empty page without a status',
      run: (api) => finds(api, { sort, filter: { n: 9 } }, []),
    },
    {
      id: 'hybrid-27',
      section: '7',
      says: '$vector without rerankOn is refused',
      run: (api) =>
        refuses(api, { sort: given, options: { rerankQuery: 'ant' } }, badValue),
    },
    {
      id: 'hybrid-28',
      section: '7',
      says: '$vector without rerankQuery is refused',
      run: (api) =>
        refuses(
          api,
          { sort: given, options: { rerankOn: '$lexical' } },
          '/MISSING_RERANK_QUERY_TEXT',
        ),
    },
    {
      id: 'hybrid-29',
      section: '4.7',
      says: 'rerankOn is $lexical by default',
      run: async (api) => {
        const document = {
          _id: 'differs',
          n: 20,
          $vectorize: 'ant ant ant',
          $lexical: 'ant',
        }
        await api.run('serving', { insertOne: { document } })
        const options = { includeScores: true }
        const findAndRerank = { sort, filter: { n: 20 }, options }
        const { status } = await api.run('serving', { findAndRerank })
        const [response] = status!['documentResponses'] as { scores: object }[]
        assert.equal((response!.scores as { $rerank: number }).$rerank, 0)
      },
    },
    {
      id: 'hybrid-30',
      section: '4.7',
      says: 'documents without the field of rerankOn are excluded',
      run: async (api) => {
        const documents = [
          { _id: 'with', n: 30, title: 'ant', $hybrid: 'ant' },
          { _id: 'without', n: 30, $hybrid: 'ant' },
        ]
        await api.run('serving', { insertMany: { documents } })
        const options = { rerankOn: 'title' }
        await finds(
          api,
          { sort, filter: { n: 30 }, options },
          ['with'],
          undefined,
          'serving',
        )
      },
    },
    {
      id: 'hybrid-31',
      section: '4.7',
      says: 'the collection must have vectors',
      run: (api) =>
        api.refuses(
          'flat',
          { findAndRerank: { sort: given, options: rerank } },
          'SORT/UNSUPPORTED_VECTOR_SORT_FOR_COLLECTION',
        ),
    },
    {
      id: 'hybrid-32',
      section: '4.7',
      says: 'a sort with $lexical requires a collection with lexical search',
      run: (api) =>
        api.refuses(
          'mute',
          {
            findAndRerank: { sort: { $hybrid: { $vectorize: 'ant', $lexical: 'ant' } } },
          },
          'SCHEMA/LEXICAL_NOT_ENABLED_FOR_COLLECTION',
        ),
    },
    {
      id: 'hybrid-33',
      section: '4.7',
      says: 'the collection must have rerank enabled',
      run: (api) =>
        api.refuses(
          'unranked',
          { findAndRerank: { sort } },
          '/UNSUPPORTED_RERANKING_COMMAND',
        ),
    },
    {
      id: 'hybrid-34',
      section: '4.7',
      says: 'rerankQuery is the text of $vectorize by default',
      run: (api) =>
        finds(api, { sort: { $hybrid: { $vectorize: 'ant', $lexical: 'bee' } } }, [
          'two',
          'one',
          'none',
        ]),
    },
    {
      id: 'hybrid-35',
      section: '4.7',
      says: 'hybridLimits is a number or an object',
      run: (api) =>
        refuses(
          api,
          { sort, options: { hybridLimits: 'all' } },
          '/REQUEST_STRUCTURE_MISMATCH',
        ),
    },
    {
      id: 'hybrid-36',
      section: '2.3',
      says: 'hybrid search finds no documents in a collection whose documents have no $lexical',
      run: async (api) => {
        const document = { _id: 'vector', $vectorize: 'ant' }
        await api.run('unlexical', { insertOne: { document } })
        await finds(api, { sort }, ['vector'], undefined, 'unlexical')
      },
      deviation: { difference: 36, says: 'documents with $vector are found' },
    },
    {
      id: 'hybrid-37',
      section: '4.7',
      says: 'the status has only the requested members',
      run: async (api) => {
        const findAndRerank = { sort, options: { includeSortVector: true } }
        const { status } = await api.run('insects', { findAndRerank })
        const { sortVector, warnings, ...others } = status!
        assert.deepEqual([sortVector, others], [[2, 1], {}])
        assert.deepEqual(
          warnings!.map(({ errorCode }) => errorCode),
          ['HYBRID_SEARCH_MISSING_LEXICAL'],
        )
      },
      deviation: { difference: 36, says: 'the status also has a warning' },
    },
  ],
}
