/**
 * Hybrid search on an engine that serves nothing, with models whose results can be computed by
 * hand. The vector of a text is [number of a's + 1, number of b's + 1]. The score of a passage is
 * the number of occurrences of the query.
 */
import { insertDocuments } from '../../src/collections/insert.ts'
import { findReranked } from '../../src/collections/rerank/rerank.ts'
import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  documentStoreOf,
  type DocumentStore,
} from '../../src/collections/document-store.ts'
import { LocalDocumentTurns } from '../../src/collections/local-document-turns.ts'
import type {
  AskedRerank,
  HybridEligibility,
  RerankServer,
} from '../../src/collections/rerank/rerank-plan.ts'
import { readRerankService } from '../../src/collections/options/rerank-options.ts'
import type { CollectionOptions } from '../../src/engine/schema.ts'
import { ApiError } from '../../src/errors/api-error.ts'
import { wholeText } from '../../src/json/long-text.ts'
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import { parseHybridSort } from '../../src/language/sorts/parse-hybrid-sort.ts'
import { noKey } from '../../src/providers/authentication.ts'
import type { Models, RerankRequest } from '../../src/providers/models.ts'
import type { RerankingProviders } from '../../src/providers/reranking-providers.ts'
import { similarity } from '../../src/search/vector/similarity.ts'
import { json } from './json.ts'
import { collection, PlainEngine } from './plain-engine.ts'

const providers: RerankingProviders = new Map([
  [
    'judge',
    {
      displayName: 'Judge',
      enabled: true,
      isDefault: true,
      supportedAuthentication: noKey,
      models: [
        { name: 'fair', isDefault: true, support: { status: 'SUPPORTED' } },
        { name: 'old', isDefault: false, support: { status: 'DEPRECATED' } },
        { name: 'gone', isDefault: false, support: { status: 'END_OF_LIFE' } },
      ],
    },
  ],
])

const service = { provider: 'judge', modelName: 'fair' }

const options: Partial<CollectionOptions> = {
  vector: {
    dimension: 2,
    metric: 'cosine',
    sourceModel: 'other',
    service: { provider: 'counter', modelName: 'letters' },
  },
  rerank: { enabled: true, service },
}

interface Asked extends Partial<Omit<AskedRerank, 'sort'>> {
  readonly sort?: unknown
  readonly filter?: object
  readonly projection?: object
}

class Fixture {
  readonly asked: RerankRequest[] = []
  readonly texts: string[] = []
  readonly documents: DocumentStore
  readonly server: RerankServer

  constructor(
    changes: Partial<CollectionOptions> = {},
    {
      engine = new PlainEngine(),
      reranking = true,
      hybridEligibility = 'both',
    }: {
      readonly engine?: PlainEngine
      readonly reranking?: boolean
      readonly hybridEligibility?: HybridEligibility
    } = {},
  ) {
    const models = {
      embeddingProviders: new Map(),
      rerankingProviders: providers,
      embed: ({ texts }) => {
        this.texts.push(...texts)
        return Promise.resolve(texts.map(vectorOf))
      },
      rerank: (request) => {
        this.asked.push(request)
        const { passages, query } = request
        return Promise.resolve(passages.map((text) => text.split(query).length - 1))
      },
      answeringReranker: (service) => service,
      close: () => Promise.resolve(),
    } satisfies Models
    const credentials = { rerankingKey: 'key' }
    this.server = { features: { reranking, hybridEligibility }, models, credentials }
    this.documents = documentStoreOf(
      {
        ...{ engine, limits: defaultLimits, models, lexicalOperator: 'any' },
        documentTurns: new LocalDocumentTurns(),
      },
      collection({ ...options, ...changes }),
    )
  }

  async insert(...documents: readonly object[]): Promise<this> {
    const tester = ownCaller()
    await insertDocuments(this.documents, documents.map(json), true, tester)
    return this
  }

  async find(asked: Asked = {}, caller = ownCaller()) {
    const { sort, filter, projection, ...given } = asked
    const page = await findReranked(
      this.documents,
      {
        limit: undefined,
        hybridLimits: undefined,
        rerankOn: undefined,
        rerankQuery: undefined,
        service: undefined,
        withWarnings: true,
        ...given,
        sort: parseHybridSort(sort === undefined ? undefined : json(sort)),
      },
      { filter: filter && json(filter), projection: projection && json(projection) },
      this.server,
      caller,
    )
    const documents = parseStored(`[${wholeText(page.documents)}]`) as JsonObject[]
    return { ...page, documents, ids: documents.map((document) => document.get('_id')) }
  }

  async refuse(asked: Asked, code: string): Promise<ApiError> {
    const error = await this.find(asked).then(
      () => assert.fail(`it was to be refused with ${code}`),
      (failure: unknown) => failure,
    )
    if (!(error instanceof ApiError)) throw error
    assert.equal(error.code, code, error.message)
    return error
  }
}

/** The vector of a text: [number of a's + 1, number of b's + 1], so that no vector is zero. */
function vectorOf(text: string): Float32Array {
  const count = (letter: string) => text.split(letter).length
  return Float32Array.of(count('a'), count('b'))
}

function fair(modelName: string, more: object = {}) {
  return readRerankService(
    json({ provider: 'judge', modelName, ...more }),
    'options.rerank',
  )
}

describe('a hybrid search', () => {
  test('reranks the results of both searches, each document once', async () => {
    const fixture = await new Fixture().insert(
      { _id: 1, $hybrid: 'ant' },
      { _id: 2, $hybrid: 'ant ant bee' },
      { _id: 3, $hybrid: 'bee' },
      { _id: 4, $vector: [1, 9] },
      { _id: 5, $lexical: 'ant ant ant' },
    )
    const { ids, scores, sortVector } = await fixture.find({ sort: { $hybrid: 'ant' } })
    assert.deepEqual(ids, [2, 1, 3])
    assert.deepEqual(
      scores.map(({ rerank }) => rerank),
      [2, 1, 0],
    )
    assert.deepEqual(sortVector, vectorOf('ant'))
    const [request] = fixture.asked
    assert.equal(fixture.asked.length, 1)
    assert.equal(request!.query, 'ant')
    assert.deepEqual(request!.service, service)
    assert.deepEqual(request!.credentials, { rerankingKey: 'key' })
    assert.deepEqual(request!.passages.toSorted(), ['ant', 'ant ant bee', 'bee'])
  })

  test('returns the ranks, the fused score and the similarity of each document', async () => {
    const fixture = await new Fixture().insert(
      { _id: 'near', $vector: [2, 1], $lexical: 'wasp' },
      { _id: 'far', $vector: [1, 9], $lexical: 'ant' },
      { _id: 'half', $vector: [1, 1], $lexical: 'moth' },
    )
    const { ids, scores } = await fixture.find({
      sort: { $hybrid: 'ant' },
      hybridLimits: { vector: 2, lexical: 1 },
    })
    assert.deepEqual(ids, ['far', 'near', 'half'])
    const near = (vector: number[]) =>
      similarity('cosine', vectorOf('ant'), Float32Array.from(vector))
    assert.deepEqual(
      scores.map(({ rerank, vector, vectorRank, bm25Rank, rrf }) => ({
        rerank,
        vector,
        vectorRank,
        bm25Rank,
        rrf,
      })),
      [
        { rerank: 1, vector: near([1, 9]), vectorRank: null, bm25Rank: 1, rrf: 1 / 61 },
        { rerank: 0, vector: near([2, 1]), vectorRank: 1, bm25Rank: null, rrf: 1 / 61 },
        { rerank: 0, vector: near([1, 1]), vectorRank: 2, bm25Rank: null, rrf: 1 / 62 },
      ],
    )
  })

  test('omits documents without $lexical or $vector, and does not rank them', async () => {
    const fixture = await new Fixture().insert(
      { _id: 'no text', $vector: [2, 1] },
      { _id: 'blank', $vector: [2, 1], $lexical: ' ' },
      { _id: 'no vector', $lexical: 'ant ant' },
      { _id: 'null', $vector: null, $lexical: 'ant ant' },
      { _id: 'both', $vector: [1, 1], $lexical: 'ant' },
    )
    const { ids, scores } = await fixture.find({ sort: { $hybrid: 'ant' } })
    assert.deepEqual(ids, ['both'])
    assert.deepEqual(
      scores.map(({ vectorRank, bm25Rank }) => [vectorRank, bm25Rank]),
      [[1, 1]],
    )
  })

  test('reranks on $lexical by default, and omits documents without $lexical', async () => {
    const fixture = await new Fixture().insert(
      { _id: 1, $vectorize: 'vectorized', $lexical: 'lexical' },
      { _id: 2, $vectorize: 'only vectorized' },
      { _id: 3, $vector: [1, 1] },
    )
    const { ids } = await fixture.find({ sort: { $hybrid: 'ant' } })
    assert.deepEqual(ids, [1])
    assert.deepEqual(fixture.asked[0]!.passages, ['lexical'])
  })

  test('reranks on any path, and omits documents without a value there', async () => {
    const documents = [
      { _id: 1, pages: [{ text: 'one' }] },
      { _id: 2, pages: [{ text: 2.5 }] },
      { _id: 3, pages: [{ text: false }] },
      { _id: 4, pages: [{ text: null }] },
      { _id: 5, pages: [{ text: ' \n' }] },
      { _id: 6, pages: [] },
      { _id: 7 },
      { _id: 8, pages: { 0: { text: 'field' } } },
    ]
    const fixture = await new Fixture().insert(
      ...documents.map((document) => ({ ...document, $hybrid: 'ant' })),
    )
    const sort = { $hybrid: 'ant' }
    const { scores } = await fixture.find({ sort, rerankOn: 'pages.0.text' })
    assert.deepEqual(fixture.asked[0]!.passages, ['one', '2.5', 'false', 'field'])
    assert.deepEqual(
      scores.map(({ vectorRank }) => vectorRank),
      [1, 2, 3, 4],
    )
    await fixture.find({ sort, rerankOn: '$vectorize' })
    assert.deepEqual(fixture.asked[1]!.passages, Array(8).fill('ant'))
  })

  test('keeps every digit of a number that it reranks on', async () => {
    const fixture = new Fixture()
    const tester = ownCaller()
    const text = '{"_id": 1, "n": 12345678901234567890.5, "$hybrid": "ant"}'
    await insertDocuments(fixture.documents, [parseStored(text)], true, tester)
    await fixture.find({ sort: { $hybrid: 'ant' }, rerankOn: 'n' })
    assert.deepEqual(fixture.asked[0]!.passages, ['12345678901234567890.5'])
  })

  test('fails when it reranks on an object or array, and the error names the document', async () => {
    for (const [x, type] of [
      [{ y: 1 }, 'Object'],
      [['text'], 'Array'],
      [{ $date: 1 }, 'Object'],
    ] as const) {
      const fixture = await new Fixture().insert(
        { _id: 1, x: 'text', $hybrid: 'ant' },
        { _id: 'odd', x, $hybrid: 'ant' },
      )
      const error = await fixture.refuse(
        { sort: { $hybrid: 'ant' }, rerankOn: 'x' },
        'COMMAND_FIELD_VALUE_INVALID',
      )
      assert.match(error.message, new RegExp(`rerankOn.*"x".*"odd".*an ${type} there`))
      assert.deepEqual(error.documentIds, ['odd'])
      assert.deepEqual(fixture.asked, [])
    }
  })

  test('reranks by rerankQuery, or by the text of $hybrid when rerankQuery is blank', async () => {
    const fixture = await new Fixture().insert({ _id: 1, $hybrid: 'ant' })
    const sort = { $hybrid: ' ant ' }
    for (const rerankQuery of ['bee', ' ', '']) await fixture.find({ sort, rerankQuery })
    assert.deepEqual(
      fixture.asked.map(({ query }) => query),
      ['bee', 'ant', 'ant'],
    )
    assert.deepEqual(fixture.texts.slice(1), ['ant', 'ant', 'ant'])
  })

  test('searches by the vector in $hybrid when there is no text to embed', async () => {
    const fixture = await new Fixture().insert(
      { _id: 1, $vector: [1, 0], $lexical: 'ant', t: 'q' },
      { _id: 2, $vector: [0, 1], $lexical: 'ant', t: 'q q' },
    )
    const sort = { $hybrid: { $vector: [0, 2], $lexical: 'ant' } }
    const given = { rerankOn: 't', rerankQuery: 'q' }
    const { ids, scores, sortVector } = await fixture.find({ sort, ...given })
    assert.deepEqual(ids, [2, 1])
    assert.deepEqual(
      scores.map(({ vector }) => vector),
      [1, 0.5],
    )
    assert.deepEqual([...sortVector], [0, 2])
    assert.deepEqual(fixture.texts, [])
    const both = { $hybrid: { ...sort.$hybrid, $vectorize: 'ab' } }
    assert.deepEqual([...(await fixture.find({ sort: both, ...given })).sortVector], [2, 2])
    assert.deepEqual(fixture.texts, ['ab'])
  })

  test('accepts vectors as bytes and as numbers', async () => {
    const $binary = Buffer.from([0x3f, 0x80, 0, 0, 0, 0, 0, 0]).toString('base64')
    const fixture = await new Fixture().insert(
      { _id: 1, $vector: { $binary }, $lexical: 'ant' },
      { _id: 2, $vector: [0.1, 0.2], $lexical: 'ant' },
    )
    const sort = { $hybrid: { $vector: { $binary }, $lexical: 'ant' } }
    const given = { rerankOn: '$lexical', rerankQuery: 'q' }
    const { ids, sortVector } = await fixture.find({ sort, ...given })
    assert.deepEqual(ids, [1, 2])
    assert.deepEqual([...sortVector], [1, 0])
  })

  test('filters both searches, and applies the limit after reranking', async () => {
    const fixture = await new Fixture().insert(
      ...Array.from({ length: 12 }, (_, i) => ({
        _id: i,
        even: i % 2 === 0,
        $hybrid: 'ant '.repeat(i + 1),
      })),
    )
    const sort = { $hybrid: 'ant' }
    assert.equal((await fixture.find({ sort })).ids.length, 10)
    const filter = { even: true }
    assert.deepEqual((await fixture.find({ sort, filter })).ids, [10, 8, 6, 4, 2, 0])
    const hybridLimits = { vector: 12, lexical: 12 }
    assert.deepEqual(
      (await fixture.find({ sort, filter, limit: 2, hybridLimits })).ids,
      [10, 8],
    )
  })

  test('finds as many documents by each search as the limit allows, by default', async () => {
    const fixture = await new Fixture().insert(
      ...Array.from({ length: 120 }, (_, i) => ({ _id: i, $hybrid: 'ant' })),
    )
    const sort = { $hybrid: 'ant' }
    const counts: number[] = []
    for (const given of [
      {},
      { limit: 3 },
      { limit: 110 },
      { limit: 3, hybridLimits: { vector: 7, lexical: 5 } },
    ]) {
      await fixture.find({ sort, ...given })
      counts.push(fixture.asked.at(-1)!.passages.length)
    }
    assert.deepEqual(counts, [10, 3, 110, 7])
  })

  test('includes documents without $lexical when hybridEligibility is "vector"', async () => {
    const documents = [
      { _id: 1, $vectorize: 'ant' },
      { _id: 2, $vectorize: 'bee', $lexical: 'ant ant' },
      { _id: 3, $vector: [1, 1] },
      { _id: 4, $lexical: 'ant' },
      { _id: 5, $hybrid: { $vectorize: 'ant ant ant' } },
    ]
    const fixture = await new Fixture({}, { hybridEligibility: 'vector' }).insert(
      ...documents,
    )
    const { ids, scores, warnings } = await fixture.find({ sort: { $hybrid: 'ant' } })
    assert.deepEqual(ids, [5, 2, 1])
    assert.deepEqual(
      scores.map(({ bm25Rank }) => bm25Rank),
      [null, 1, null],
    )
    assert.deepEqual(warnings, [])
  })

  test('finds documents with some of the terms when few documents contain all terms', async () => {
    const fixture = await new Fixture().insert(
      { _id: 1, $vector: [1, 1], $lexical: 'in a house' },
      { _id: 2, $vector: [1, 1], $lexical: 'a garden with a tree' },
      { _id: 3, $vector: [1, 1], $lexical: 'tree in a garden' },
      { _id: 4, $vector: [1, 1], $lexical: 'stone' },
    )
    const ranks = async (given: Asked) => {
      const found = await fixture.find({ sort: { $hybrid: 'tree in a garden' }, ...given })
      const ranked = found.ids.map((id, i) => [id, found.scores[i]!.bm25Rank])
      return ranked.toSorted(([a], [b]) => Number(a) - Number(b))
    }
    assert.deepEqual(await ranks({}), [
      [1, 3],
      [2, 2],
      [3, 1],
      [4, null],
    ])
    assert.deepEqual(await ranks({ hybridLimits: { vector: 1, lexical: 1 } }), [
      [1, null],
      [3, 1],
    ])
  })

  test('fuses the results of both searches by _ids of every type', async () => {
    const uuid = '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f'
    const objectId = '66f2c46a1b7c3d8e4f5a6b7c'
    const ids = [{ $uuid: uuid }, { $objectId: objectId }, { $date: 5 }, null, true, 'x']
    const fixture = await new Fixture().insert(
      ...ids.map((_id) => ({ _id, $hybrid: 'ant' })),
    )
    const found = await fixture.find({ sort: { $hybrid: 'ant' } })
    assert.equal(found.ids.length, ids.length)
    assert(found.scores.every(({ vectorRank, bm25Rank }) => vectorRank && bm25Rank))
  })

  test('applies the projection and never returns a similarity', async () => {
    const fixture = await new Fixture().insert({ _id: 1, a: 1, b: 2, $hybrid: 'ant' })
    const sort = { $hybrid: 'ant' }
    const shown = async (projection?: object) =>
      (await fixture.find({ sort, ...(projection && { projection }) })).documents[0]
    const document = (fields: Record<string, Value>) => new Map(Object.entries(fields))
    assert.deepEqual(await shown(), document({ _id: 1, a: 1, b: 2 }))
    assert.deepEqual(await shown({ b: 1 }), document({ _id: 1, b: 2 }))
    assert.deepEqual(
      await shown({ '*': 1 }),
      document({ _id: 1, a: 1, b: 2, $vector: [2, 1], $vectorize: 'ant', $lexical: 'ant' }),
    )
    assert.deepEqual(await shown({ '*': 0 }), document({}))
  })

  test('returns the vector, and does not call the reranker, when it finds nothing', async () => {
    const fixture = new Fixture()
    const found = await fixture.find({ sort: { $hybrid: 'ant' } })
    assert.deepEqual(found.documents, [])
    assert.deepEqual(found.scores, [])
    assert.deepEqual(found.sortVector, vectorOf('ant'))
    assert.deepEqual(fixture.asked, [])
  })

  test('runs both searches concurrently', async () => {
    const bothStarted = Promise.withResolvers<undefined>()
    let searches = 0
    class WaitingEngine extends PlainEngine {
      override search(): Promise<undefined> {
        if (++searches === 2) bothStarted.resolve(undefined)
        return bothStarted.promise
      }
    }
    const fixture = await new Fixture({}, { engine: new WaitingEngine() }).insert({
      _id: 1,
      $hybrid: 'ant',
    })
    assert.deepEqual((await fixture.find({ sort: { $hybrid: 'ant' }, limit: 1 })).ids, [1])
    assert.equal(searches, 2)
  })

  test('passes its abort signal to providers', async () => {
    const fixture = await new Fixture().insert({ _id: 1, $hybrid: 'ant' })
    const tester = ownCaller()
    await fixture.find({ sort: { $hybrid: 'ant' } }, tester)
    assert.equal(fixture.asked[0]!.caller.signal, tester.signal)
  })
})

describe('a service named by the command', () => {
  test('reranks instead of the service of the collection, even when the collection has no service', async () => {
    for (const rerank of [{ enabled: false }, { enabled: true, service }]) {
      const fixture = await new Fixture({ rerank }).insert({ _id: 1, $hybrid: 'ant' })
      await fixture.find({ sort: { $hybrid: 'ant' }, service: fair('fair') })
      assert.deepEqual(fixture.asked[0]!.service, { provider: 'judge', modelName: 'fair' })
    }
  })

  test('is rejected when it is incomplete or unknown, or its model is deprecated or removed', async () => {
    const sort = { $hybrid: 'ant' }
    const read = (given: object) => readRerankService(json(given), 'options.rerank')
    for (const [given, problem] of [
      [{}, /options\.rerank requires a provider.*judge/],
      [{ provider: 'none', modelName: 'fair' }, /"none" is unknown/],
      [{ provider: 'judge' }, /requires a modelName.*fair/],
      [{ provider: 'judge', modelName: 'unfair' }, /no model "unfair"/],
      [{ provider: 'judge', modelName: 'fair', authentication: { key: 'x' } }, /authen/],
      [{ provider: 'judge', modelName: 'fair', parameters: { x: 1 } }, /parameters/],
    ] as const) {
      const fixture = new Fixture()
      const error = await fixture.refuse(
        { sort, service: read(given) },
        'INVALID_RERANK_OVERRIDE',
      )
      assert.match(error.message, problem)
    }
    await new Fixture().refuse({ sort, service: fair('old') }, 'DEPRECATED_AI_MODEL')
    await new Fixture().refuse({ sort, service: fair('gone') }, 'END_OF_LIFE_AI_MODEL')
  })

  test('is required when the model of the collection was removed, but not when the model is deprecated', async () => {
    const using = (modelName: string) =>
      new Fixture({ rerank: { enabled: true, service: { provider: 'judge', modelName } } })
    const sort = { $hybrid: 'ant' }
    await using('old').find({ sort })
    await using('gone').refuse({ sort }, 'END_OF_LIFE_AI_MODEL')
    await using('gone').find({ sort, service: fair('fair') })
  })
})

describe('a hybrid search with several errors', () => {
  test('reports the first error in the order of checks', async () => {
    const vector = options.vector!
    const plain = { dimension: 2, metric: 'cosine', sourceModel: 'other' } as const
    const text = { $hybrid: 'ant' }
    const numbers = { $hybrid: { $vector: [1], $lexical: '!' } }
    const off = { enabled: false }
    const hybridLimits = { vector: 101, lexical: 0 }
    const checks: readonly [string, Partial<CollectionOptions>, Asked][] = [
      ['UNSUPPORTED_VECTOR_SORT_FOR_COLLECTION', { lexical: off, rerank: off }, {}],
      ['UNSUPPORTED_VECTORIZE_SORT_FOR_COLLECTION', { vector: plain, lexical: off }, {}],
      [
        'LEXICAL_NOT_ENABLED_FOR_COLLECTION',
        { vector, lexical: off },
        { sort: { $hybrid: { $vectorize: 'ant', $lexical: 'ant' } }, hybridLimits },
      ],
      ['COMMAND_FIELD_VALUE_INVALID', { vector, rerank: off }, { hybridLimits }],
      ['UNSUPPORTED_RERANKING_COMMAND', { vector, rerank: off }, { filter: { $x: 1 } }],
      ['INVALID_RERANK_OVERRIDE', { vector }, { sort: {}, service: fair('none') }],
      ['COMMAND_FIELD_VALUE_INVALID', { vector }, { sort: { $hybrid: { $lexical: 'x' } } }],
      ['MISSING_RERANK_QUERY_TEXT', { vector }, { sort: {} }],
      ['MISSING_RERANK_QUERY_TEXT', { vector }, { sort: numbers }],
      ['INVALID_VECTOR_LENGTH', { vector }, { sort: numbers, rerankQuery: 'q' }],
    ]
    for (const [code, changes, asked] of checks) {
      const { vector: changed, ...others } = changes
      const fixture = new Fixture({ ...others, vector: changed! })
      await fixture.refuse({ sort: text, ...asked }, code)
    }
    await new Fixture({ vector: undefined! }, { reranking: false }).refuse(
      { sort: text },
      'RERANKING_FEATURE_NOT_ENABLED',
    )
  })

  test('reports an invalid clause before it embeds a text', async () => {
    const fixture = new Fixture()
    const sort = { $hybrid: 'ant' }
    await fixture.refuse({ sort, filter: { $x: 1 } }, 'FILTER_INVALID_EXPRESSION')
    const projection = { $x: 1 }
    await fixture.refuse({ sort, projection }, 'UNSUPPORTED_PROJECTION_PARAM')
    await fixture.refuse({ sort: { $hybrid: '!' } }, 'SORT_CLAUSE_VALUE_INVALID')
    assert.deepEqual(fixture.texts, [])
  })
})
