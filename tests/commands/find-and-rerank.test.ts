import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { Collections, type Target } from './collections.ts'
import { LetterModels, lettersCollection } from './letter-models.ts'

const models = await LetterModels.start()
after(() => models.close())

describe('findAndRerank', () => {
  const collections = new Collections({}, { durable: false, providers: models.settings })
  beforeEach(() => models.forget())

  async function create(
    documents: readonly object[] = [],
    options: object = lettersCollection,
  ): Promise<Target> {
    const target = await collections.create(documents, options)
    models.forget()
    return target
  }

  const insects = [
    { _id: 'one', n: 1, $hybrid: 'ant' },
    { _id: 'two', n: 2, $hybrid: 'ant ant bee' },
    { _id: 'none', n: 3, $hybrid: 'bee' },
  ]

  const idsOf = (body: Awaited<ReturnType<Target['run']>>) =>
    body.data!.documents!.map((document) => document['_id'])

  test('returns documents in the order of the reranker, on one page', async () => {
    const target = await create(insects)
    const { text } = await target.send({ findAndRerank: { sort: { $hybrid: 'ant' } } })
    assert.equal(
      text,
      '{"data":{"documents":[{"_id":"two","n":2},{"_id":"one","n":1},{"_id":"none","n":3}],' +
        '"nextPageState":null}}',
    )
    assert.deepEqual(models.texts, ['ant'])
    assert.deepEqual(models.rerankings, [
      {
        model: 'nvidia/llama-3.2-nv-rerankqa-1b-v2',
        query: 'ant',
        passages: ['ant', 'ant ant bee', 'bee'],
        key: models.rerankings[0]!.key,
      },
    ])
  })

  test('returns scores with includeScores, and the vector with includeSortVector', async () => {
    const target = await create(insects)
    const { status } = await target.run({
      findAndRerank: {
        sort: { $hybrid: 'ant' },
        options: { includeScores: true, includeSortVector: true },
      },
    })
    // The query vector is [2, 1]; the documents have [3, 2], [2, 1] and [1, 2].
    assert.deepEqual(status, {
      documentResponses: [
        {
          scores: {
            $rerank: 1,
            $vector: 0.99613893,
            $vectorRank: 2,
            $bm25Rank: 2,
            $rrf: 2 / 62,
          },
        },
        {
          scores: {
            $rerank: 0,
            $vector: 1,
            $vectorRank: 1,
            $bm25Rank: 1,
            $rrf: 2 / 61,
          },
        },
        {
          scores: {
            $rerank: -1,
            $vector: 0.9,
            $vectorRank: 3,
            $bm25Rank: null,
            $rrf: 1 / 63,
          },
        },
      ],
      sortVector: [2, 1],
    })
  })

  test('returns scores as floating-point numbers even if integral, and ranks as integers', async () => {
    const target = await create(insects)
    const options = { includeScores: true, includeSortVector: true }
    const { text } = await target.send({
      findAndRerank: { sort: { $hybrid: 'ant' }, options },
    })
    assert(
      text.includes('"$rerank":0.0,"$vector":1.0,"$vectorRank":1,"$bm25Rank":1,'),
      text,
    )
    assert(text.includes('"sortVector":[2.0,1.0]'), text)
  })

  test('returns the vector, but no scores, when no document is found', async () => {
    const target = await create(insects)
    const nothing = { sort: { $hybrid: 'ant' }, filter: { n: 9 } }
    const { text } = await target.send({
      findAndRerank: {
        ...nothing,
        options: { includeScores: true, includeSortVector: true },
      },
    })
    assert.equal(
      text,
      '{"data":{"documents":[],"nextPageState":null},' +
        '"status":{"documentResponses":[],"sortVector":[2.0,1.0]}}',
    )
    const without = await target.send({ findAndRerank: nothing })
    assert.equal(without.text, '{"data":{"documents":[],"nextPageState":null}}')
    assert.deepEqual(models.rerankings, [])
  })

  test('applies a filter, a projection and a limit', async () => {
    const target = await create(insects)
    const body = await target.run({
      findAndRerank: {
        filter: { n: { $lte: 2 } },
        sort: { $hybrid: 'ant' },
        projection: { n: 0, $lexical: 1 },
        options: { limit: 1, hybridLimits: 2 },
      },
    })
    assert.deepEqual(body.data!.documents, [{ _id: 'two', $lexical: 'ant ant bee' }])
  })

  test('searches with a given vector', async () => {
    const target = await create(
      [
        { _id: 1, $vector: [1, 0], $lexical: 'ant', t: { s: ['q'] } },
        { _id: 2, $vector: [0, 1], $lexical: 'ant', t: { s: ['q q'] } },
        { _id: 3, $vector: [0, 1], $lexical: 'ant', t: { s: [] } },
      ],
      { vector: { dimension: 2 } },
    )
    const zeroOne = 'AAAAAD+AAAA='
    for (const $vector of [[0, 1], { $binary: zeroOne }]) {
      const body = await target.run({
        findAndRerank: {
          sort: { $hybrid: { $vector, $lexical: 'ant' } },
          options: { rerankOn: 't.s.0', rerankQuery: 'q', includeSortVector: true },
        },
      })
      assert.deepEqual(idsOf(body), [2, 1])
      assert.deepEqual(body.status, { sortVector: [0, 1] })
    }
  })

  test('accepts one limit for both searches, or a limit for each search', async () => {
    const target = await create(
      Array.from({ length: 30 }, (_, i) => ({ _id: i, $hybrid: 'ant' })),
    )
    for (const [hybridLimits, found] of [
      [undefined, 10],
      [null, 10],
      [4, 4],
      [{ $vector: 5, $lexical: 25 }, 25],
      [{ $vector: 25, $lexical: 1 }, 25],
    ] as const) {
      models.forget()
      const options = { limit: 10, hybridLimits }
      await target.run({ findAndRerank: { sort: { $hybrid: 'ant' }, options } })
      const passages = models.rerankings.flatMap((reranking) => reranking.passages)
      assert.equal(passages.length, found)
    }
  })

  test('ignores a $vector of null in $hybrid, and white space around its texts', async () => {
    const target = await create(insects)
    for (const $hybrid of [
      { $vectorize: ' ant ', $lexical: ' ant', $vector: null },
      { $vectorize: 'ant', $lexical: 'ant' },
    ]) {
      const body = await target.run({ findAndRerank: { sort: { $hybrid } } })
      assert.deepEqual(idsOf(body), ['two', 'one', 'none'])
    }
    assert.deepEqual(models.texts, ['ant', 'ant'])
    assert(models.rerankings.every(({ query }) => query === 'ant'))
  })

  test('requires a vector or a text to embed in $hybrid', async () => {
    const target = await create(insects)
    const options = { rerankOn: 'n', rerankQuery: 'ant' }
    for (const [$hybrid, message] of [
      [{ $lexical: 'ant' }, /sort\.\$hybrid.*\$lexical alone/],
      [{ $lexical: 'ant', $vectorize: '', $vector: null }, /\$lexical alone/],
    ] as const)
      for (const given of [{}, { options }]) {
        const command = { findAndRerank: { sort: { $hybrid }, ...given } }
        const error = await target.refuse(command, 'COMMAND_FIELD_VALUE_INVALID')
        assert.match(error.message, message)
      }
    for (const sort of [{}, { $hybrid: null }, { $hybrid: ' ' }, { $hybrid: {} }]) {
      const command = { findAndRerank: { sort, options } }
      const error = await target.refuse(command, 'COMMAND_FIELD_VALUE_INVALID')
      assert.match(error.message, /command\.sort .*\$hybrid/)
    }
  })

  test('reranks the vector search when $hybrid has no $lexical', async () => {
    const target = await create([
      ...insects,
      { _id: 'plain', n: 4, $vectorize: 'ant bee' },
      { _id: 'words', n: 5, $lexical: 'ant' },
    ])
    const options = { includeScores: true }
    for (const $hybrid of [
      { $vectorize: 'ant' },
      { $vectorize: ' ant', $lexical: null },
      { $vectorize: 'ant', $lexical: ' ' },
    ]) {
      models.forget()
      const body = await target.run({ findAndRerank: { sort: { $hybrid }, options } })
      // A document without $lexical is reranked on $vectorize.
      assert.deepEqual(idsOf(body), ['two', 'one', 'plain', 'none'])
      const [{ query, passages }] = models.rerankings as [(typeof models.rerankings)[0]]
      assert.equal(query, 'ant')
      assert.deepEqual(passages, ['ant', 'ant ant bee', 'ant bee', 'bee'])
      const [first] = body.status!['documentResponses'] as [object]
      assert.deepEqual(first, {
        scores: {
          $rerank: 1,
          $vector: 0.99613893,
          $vectorRank: 2,
          $bm25Rank: null,
          $rrf: 1 / 62,
        },
      })
      assert.equal(body.status!.warnings, undefined)
    }
    const given = await target.run({
      findAndRerank: {
        sort: { $hybrid: { $vector: [1, 2] } },
        options: { limit: 1, rerankOn: 'n', rerankQuery: '3' },
      },
    })
    assert.deepEqual(idsOf(given), ['none'])
  })

  test('reranks the vector search on a collection without lexical search', async () => {
    const { vector } = lettersCollection
    const target = await create(
      ['ant', 'ant ant bee', 'bee'].map((text, _id) => ({ _id, $vectorize: text })),
      { vector, lexical: { enabled: false } },
    )
    const find = (sort: object, options: object = {}) => ({
      findAndRerank: { sort, options: { includeScores: true, ...options } },
    })
    for (const $hybrid of ['ant', { $vectorize: 'ant' }]) {
      const body = await target.run(find({ $hybrid }))
      assert.deepEqual(idsOf(body), [1, 0, 2])
      assert.equal(body.status!.warnings, undefined)
    }
    const short = await target.run(find({ $hybrid: 'ant' }, { limit: 3, hybridLimits: 2 }))
    assert.equal(idsOf(short).length, 2)
    const [warning] = short.status!.warnings!
    assert.equal(warning!.errorCode, 'HYBRID_LIMITS_BELOW_LIMIT')
    assert.match(warning!.message, /at most 2 can be returned/)
    for (const command of [
      find({ $hybrid: { $vectorize: 'ant', $lexical: 'ant' } }),
      find({ $hybrid: 'ant' }, { rerankOn: '$lexical' }),
    ])
      await target.refuse(command, 'LEXICAL_NOT_ENABLED_FOR_COLLECTION')
  })

  test('uses $vectorize when both $vectorize and $vector are given', async () => {
    const target = await create(insects)
    const $hybrid = { $vectorize: 'ant', $vector: [0, 1, 2], $lexical: 'ant' }
    const { status } = await target.run({
      findAndRerank: { sort: { $hybrid }, options: { includeSortVector: true } },
    })
    assert.deepEqual(status, { sortVector: [2, 1] })
  })

  test('accepts a limit above 1000 only with hybridLimits', async () => {
    const target = await create(insects)
    const find = (options: object) => ({
      findAndRerank: { sort: { $hybrid: 'ant' }, options },
    })
    assert.equal(idsOf(await target.run(find({ limit: 1000 }))).length, 3)
    const error = await target.refuse(find({ limit: 1001 }), 'COMMAND_FIELD_VALUE_INVALID')
    assert.match(error.message, /options\.limit.*1001.*hybridLimits.*1000/)
    for (const limit of [1001, 5000])
      assert.equal(idsOf(await target.run(find({ limit, hybridLimits: 100 }))).length, 3)
  })

  const ants = (count: number, fields: object, from = 0) =>
    Array.from({ length: count }, (_, i) => ({ _id: from + i, ...fields }))

  test('ranks only documents that have both $lexical and $vector', async () => {
    const target = await create([
      ...ants(30, { $vectorize: 'ant' }),
      ...ants(30, { $lexical: 'ant ant' }, 100),
      ...ants(5, { $vectorize: 'ant', $lexical: ' ' }, 200),
      ...ants(5, { $vector: null, $lexical: 'ant ant' }, 300),
    ])
    await target.insert(...ants(7, { $vectorize: 'bee', $lexical: 'ant and bee' }, 400))
    for (const limit of [1, 5, 7]) {
      const body = await target.run({
        findAndRerank: {
          sort: { $hybrid: 'ant' },
          options: { limit, includeScores: true },
        },
      })
      assert.equal(idsOf(body).length, limit)
      const responses = body.status!['documentResponses'] as {
        scores: { $vectorRank: number; $bm25Rank: number }
      }[]
      assert.deepEqual(
        responses.map(({ scores }) => [scores.$vectorRank, scores.$bm25Rank]),
        Array.from({ length: limit }, (_, i) => [i + 1, i + 1]),
      )
    }
  })

  test('finds only documents that have the field of rerankOn', async () => {
    for (const indexing of [undefined, { deny: ['about'] }, { allow: ['n'] }]) {
      const target = await create(
        [
          ...ants(60, { n: 1, $hybrid: 'ant' }),
          ...ants(10, { n: 1, about: null, $hybrid: 'ant' }, 100),
          ...ants(10, { n: 1, about: { text: ' ' }, $hybrid: 'ant' }, 200),
          ...ants(3, { n: 1, about: { text: 'ant' }, $hybrid: 'bee' }, 300),
        ],
        { ...lettersCollection, ...(indexing && { indexing }) },
      )
      for (const [limit, filter] of [
        [1, {}],
        [3, { n: 1 }],
        [5, {}],
      ] as const) {
        const options = { limit, rerankOn: 'about.text' }
        const body = await target.run({
          findAndRerank: { sort: { $hybrid: 'ant' }, filter, options },
        })
        assert.equal(idsOf(body).length, Math.min(limit, 3))
        assert(idsOf(body).every((id) => Number(id) >= 300))
      }
    }
  })

  test('warns only if documents are missing because they lack $lexical', async () => {
    const warningsOf = async (target: Target, clauses: object) => {
      const sort = { $hybrid: 'ant' }
      const { options = {} } = clauses as { options?: object }
      const command = { sort, ...clauses, options: { ...options, includeScores: true } }
      const { status } = await target.run({ findAndRerank: command })
      assert.equal(await statusWithout(target, clauses), undefined)
      return status!.warnings ?? []
    }
    const statusWithout = async (target: Target, clauses: object) => {
      const sort = { $hybrid: 'ant' }
      return (await target.run({ findAndRerank: { sort, ...clauses } })).status
    }
    const target = await create([
      ...ants(3, { n: 1, $vectorize: 'ant', about: 'x' }),
      ...ants(2, { n: 2, $hybrid: 'ant' }, 100),
      ...ants(2, { n: 3, $lexical: 'ant' }, 200),
    ])
    for (const clauses of [
      {},
      { options: { limit: 3 } },
      { filter: { n: { $lt: 3 } } },
      { filter: { n: 1 } },
      { options: { rerankOn: 'about' } },
    ]) {
      const [warning, ...others] = await warningsOf(target, clauses)
      assert.deepEqual(others, [])
      assert.equal(warning!.errorCode, 'HYBRID_SEARCH_MISSING_LEXICAL')
      assert.match(warning!.message, /\$lexical.*--hybrid-eligibility vector/)
    }
    for (const clauses of [
      { options: { limit: 2 } },
      { filter: { n: 2 } },
      { filter: { n: 3 } },
      { filter: { n: 4 } },
      { options: { hybridLimits: 1 } },
      { options: { rerankOn: 'other' } },
    ])
      assert.deepEqual(await warningsOf(target, clauses), [])
  })

  test('searches by vector alone when no document has $lexical', async () => {
    const target = await create(ants(3, { n: 1, $vectorize: 'ant', about: 'x' }))
    const find = (clauses: object, options: object = {}) =>
      target.run({ findAndRerank: { sort: { $hybrid: 'ant' }, ...clauses, options } })
    const found = await find({}, { includeScores: true })
    assert.deepEqual(idsOf(found).toSorted(), [0, 1, 2])
    assert.deepEqual(
      found.status!.warnings!.map(({ errorCode }) => errorCode),
      ['HYBRID_SEARCH_WITHOUT_LEXICAL'],
    )
    assert.deepEqual(idsOf(await find({}, { rerankOn: 'about', limit: 2 })).length, 2)
    assert.equal((await find({})).status, undefined)
    models.forget()
    await find({})
    assert.deepEqual([models.texts, models.rerankings.length], [['ant'], 1])
    assert.deepEqual(idsOf(await find({ filter: { n: 2 } })), [])
    assert.deepEqual(idsOf(await find({}, { rerankOn: '$lexical' })), [])

    await target.run({ insertOne: { document: { _id: 9, n: 9, $lexical: 'bee' } } })
    assert.deepEqual(idsOf(await find({})), [])
    await target.run({ deleteOne: { filter: { _id: 9 } } })
    assert.equal(idsOf(await find({})).length, 3)
  })

  test('warns when hybridLimits prevent reaching the limit', async () => {
    const target = await create(insects)
    for (const [options, isWarned] of [
      [{ limit: 5, hybridLimits: { $vector: 2, $lexical: 2 } }, true],
      [{ limit: 4, hybridLimits: { $vector: 2, $lexical: 2 } }, false],
      [{ hybridLimits: 1 }, false],
      [{ limit: 1000 }, false],
    ] as const) {
      const command = {
        sort: { $hybrid: 'ant' },
        options: { ...options, includeSortVector: true },
      }
      const { status } = await target.run({ findAndRerank: command })
      const warnings = status!.warnings ?? []
      assert.deepEqual(
        warnings.map(({ errorCode }) => errorCode),
        isWarned ? ['HYBRID_LIMITS_BELOW_LIMIT'] : [],
      )
    }
  })

  test('finds documents that match only some words of a sentence', async () => {
    const target = await create([
      { _id: 1, $vectorize: 'a', $lexical: 'in a house' },
      { _id: 2, $vectorize: 'b', $lexical: 'a garden with a tree' },
      { _id: 3, $vectorize: 'ab', $lexical: 'tree in a garden' },
    ])
    const { status } = await target.run({
      findAndRerank: {
        sort: { $hybrid: 'tree in a garden' },
        options: { includeScores: true },
      },
    })
    const responses = status!['documentResponses'] as { scores: { $bm25Rank: number } }[]
    assert.deepEqual(responses.map(({ scores }) => scores.$bm25Rank).toSorted(), [1, 2, 3])
    const sort = { $lexical: 'tree in a garden' }
    const { data } = await target.run({
      find: { sort, options: { lexicalOperator: 'all' } },
    })
    assert.equal(data!.documents!.length, 1)
  })

  test('passes the API key in a header of the request to the reranker', async () => {
    const target = await create(insects)
    const command = { findAndRerank: { sort: { $hybrid: 'ant' } } }
    for (const header of ['reranking-api-key', 'x-rerank-api-key'])
      await target.send(command, { [header]: 'secret' })
    assert.deepEqual(
      models.rerankings.map(({ key }) => key),
      ['Bearer secret', 'Bearer secret'],
    )
  })

  test('reports a failure of the reranker', async () => {
    const target = await create(insects)
    models.failure = 429
    const error = await target.refuse(
      { findAndRerank: { sort: { $hybrid: 'ant' } } },
      'RERANKING_PROVIDER_RATE_LIMITED',
    )
    assert.match(error.message, /nvidia.*429.*out of order/)
  })

  test('reranks with the service given in the command', async () => {
    const target = await create(insects, {
      ...lettersCollection,
      rerank: { enabled: false },
    })
    const sort = { $hybrid: 'ant' }
    await target.refuse({ findAndRerank: { sort } }, 'UNSUPPORTED_RERANKING_COMMAND')
    const rerank = { provider: 'nvidia', modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2' }
    const body = await target.run({ findAndRerank: { sort, options: { rerank } } })
    assert.deepEqual(idsOf(body), ['two', 'one', 'none'])
    for (const wrong of [{}, { ...rerank, modelName: 'x' }, { ...rerank, provider: 'x' }])
      await target.refuse(
        { findAndRerank: { sort, options: { rerank: wrong } } },
        'INVALID_RERANK_OVERRIDE',
      )
  })

  test('rejects malformed requests', async () => {
    const target = await create()
    const mismatch = 'REQUEST_STRUCTURE_MISMATCH'
    for (const [clauses, code] of [
      [{ sort: 'ant' }, mismatch],
      [{ sort: { n: 1 } }, mismatch],
      [{ sort: { $vectorize: 'ant' } }, mismatch],
      [{ sort: { $hybrid: 'ant', n: 1 } }, mismatch],
      [{ sort: { $hybrid: 1 } }, mismatch],
      [{ sort: { $hybrid: ['ant'] } }, mismatch],
      [{ sort: { $hybrid: { $vectorize: 'ant', text: 'x' } } }, mismatch],
      [{ sort: { $hybrid: { $vectorize: 1 } } }, mismatch],
      [{ sort: { $hybrid: { $lexical: ['ant'] } } }, mismatch],
      [{ sort: { $hybrid: { $vector: [] } } }, 'SHRED_BAD_VECTOR_SIZE'],
      [{ sort: { $hybrid: { $vector: ['x'] } } }, 'SHRED_BAD_VECTOR_VALUE'],
      [{ sort: { $hybrid: { $vector: 'x' } } }, 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
      [{ sort: { $hybrid: { $vector: { x: 1 } } } }, 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'],
      [
        { sort: { $hybrid: { $vector: { $binary: 'AA==' } } } },
        'SHRED_BAD_BINARY_VECTOR_VALUE',
      ],
      [{ sort: { $hybrid: { $vector: { $binary: 1 } } } }, 'SHRED_BAD_BINARY_VECTOR_VALUE'],
      [{ options: { hybridLimits: '5' } }, mismatch],
      [{ options: { hybridLimits: 2.5 } }, mismatch],
      [{ options: { hybridLimits: { $vector: 5 } } }, mismatch],
      [{ options: { hybridLimits: { $vector: 5, $lexical: null } } }, mismatch],
      [{ options: { hybridLimits: { $vector: 5, $lexical: 5, $bm25: 5 } } }, mismatch],
      [{ options: { limit: '5' } }, mismatch],
      [{ options: { limit: 0 } }, 'COMMAND_FIELD_VALUE_INVALID'],
      [{ options: { rerankOn: 1 } }, mismatch],
      [{ options: { rerankQuery: {} } }, mismatch],
      [{ options: { rerank: 'nvidia' } }, mismatch],
      [{ options: { rerank: { provider: 1 } } }, mismatch],
      [{ options: { rerank: { name: 'nvidia' } } }, 'COMMAND_FIELD_UNKNOWN'],
      [{ options: { includeScores: 'yes' } }, mismatch],
      [{ options: { includeSimilarity: true } }, 'COMMAND_FIELD_UNKNOWN'],
      [{ options: { pageState: 'x' } }, 'COMMAND_FIELD_UNKNOWN'],
      [{ query: 'ant' }, 'COMMAND_FIELD_UNKNOWN'],
    ] as const)
      await target.refuse({ findAndRerank: clauses }, code)
  })

  test('rejects contradictory options and names the option', async () => {
    const target = await create()
    const sort = { $hybrid: { $vector: [1, 2], $lexical: 'ant' } }
    const text = { $hybrid: 'ant' }
    const invalid = 'COMMAND_FIELD_VALUE_INVALID'
    for (const [clauses, code, message] of [
      [{}, 'MISSING_RERANK_QUERY_TEXT', /rerankQuery/],
      [{ sort: {} }, 'MISSING_RERANK_QUERY_TEXT', /rerankQuery/],
      [{ sort: { $hybrid: null } }, 'MISSING_RERANK_QUERY_TEXT', /rerankQuery/],
      [{ sort: { $hybrid: ' ' } }, 'MISSING_RERANK_QUERY_TEXT', /rerankQuery/],
      [{ sort, options: { rerankOn: 't' } }, 'MISSING_RERANK_QUERY_TEXT', /text/],
      [{ sort, options: { rerankQuery: 'q' } }, invalid, /options\.rerankOn/],
      [{ sort, options: { rerankQuery: 'q', rerankOn: ' ' } }, invalid, /rerankOn/],
      [{ sort: text, options: { rerankOn: 'a..b' } }, invalid, /rerankOn.*empty part/],
      [{ sort: text, options: { rerankOn: '$vector' } }, invalid, /\$lexical/],
      [{ sort: text, options: { hybridLimits: 0 } }, invalid, /hybridLimits\.\$vector/],
      [{ sort: text, options: { hybridLimits: 101 } }, invalid, /1 to 100/],
      [
        { sort: text, options: { hybridLimits: { $vector: 1, $lexical: 101 } } },
        invalid,
        /hybridLimits\.\$lexical/,
      ],
      [
        {
          sort: { $hybrid: { $vector: [1, 2, 3], $lexical: 'ant' } },
          options: { rerankQuery: 'q', rerankOn: 't' },
        },
        'INVALID_VECTOR_LENGTH',
        /2 numbers/,
      ],
      [{ sort: text, filter: { n: { $x: 1 } } }, 'FILTER_UNSUPPORTED_OPERATOR', /\$x/],
      [{ sort: text, projection: 1 }, 'UNSUPPORTED_PROJECTION_DEFINITION', /Number/],
    ] as const) {
      const error = await target.refuse({ findAndRerank: clauses }, code)
      assert.match(error.message, message)
    }
    assert.deepEqual(models.texts, [])
  })

  test('rejects a collection without vectors, an embedding service or reranking', async () => {
    const { vector } = lettersCollection
    for (const [options, code] of [
      [{}, 'UNSUPPORTED_VECTOR_SORT_FOR_COLLECTION'],
      [{ vector: { dimension: 2 } }, 'UNSUPPORTED_VECTORIZE_SORT_FOR_COLLECTION'],
      [{ vector, rerank: { enabled: false } }, 'UNSUPPORTED_RERANKING_COMMAND'],
    ] as const) {
      const target = await create([], options)
      await target.refuse({ findAndRerank: { sort: { $hybrid: 'ant' } } }, code)
    }
  })

  test('is rejected when reranking is switched off', async () => {
    const target = await create()
    const off = { 'Feature-Flag-reranking': 'false' }
    const { codes } = await target.send({ findAndRerank: {} }, off)
    assert.deepEqual(codes, ['RERANKING_FEATURE_NOT_ENABLED'])
  })
})
