/** Hybrid search through the official client. */
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { RerankedResult, UUID, vector } from '@datastax/astra-db-ts'
import { LetterModels, lettersCollection } from '../commands/letter-models.ts'
import { refusal, Service, type Document } from './client.ts'

const models = await LetterModels.start()
const service = await Service.start({ durable: false, providers: models.settings })
after(() => models.close())

const insects = [
  { _id: 'one', about: 'bee', $hybrid: 'ant' },
  { _id: 'two', about: 'bee bee', $hybrid: 'ant ant bee' },
  { _id: 'none', $hybrid: 'bee' },
]

function collectionOf(documents: readonly Document[] = insects) {
  return service.collection(documents, lettersCollection)
}

describe('findAndRerank through the client', () => {
  beforeEach(() => models.forget())

  const idsOf = (results: readonly RerankedResult<Document>[]) =>
    results.map(({ document }) => document['_id'])

  test('returns documents in reranked order, without scores by default', async () => {
    const collection = await collectionOf()
    const results = await collection
      .findAndRerank({}, { sort: { $hybrid: 'ant' } })
      .toArray()
    assert.deepEqual(idsOf(results), ['two', 'one', 'none'])
    assert(results.every((result) => result instanceof RerankedResult))
    assert.deepEqual(results[0]!.scores, {})
    assert.deepEqual(results[0]!.document, { _id: 'two', about: 'bee bee' })
  })

  test('returns the scores of each result with includeScores', async () => {
    const collection = await collectionOf()
    const results = await collection
      .findAndRerank({})
      .sort({ $hybrid: { $vectorize: 'ant', $lexical: 'bee' } })
      .includeScores()
      .toArray()
    assert.deepEqual(
      results.map(({ document, scores }) => [
        document._id,
        scores['$rerank'],
        scores['$vectorRank'],
        scores['$bm25Rank'],
      ]),
      [
        ['two', 1, 2, 2],
        ['one', 0, 1, null],
        ['none', -1, 3, 1],
      ],
    )
    for (const { scores } of results) {
      assert(scores['$vector']! > 0.8 && scores['$vector']! <= 1)
      assert(scores['$rrf']! > 0)
    }
  })

  test('accepts its options from methods of the cursor', async () => {
    const collection = await collectionOf()
    const results = await collection
      .findAndRerank({ about: { $exists: true } })
      .sort({ $hybrid: { $vectorize: 'ant', $lexical: 'ant' } })
      .hybridLimits({ $vector: 3, $lexical: 2 })
      .rerankOn('about')
      .rerankQuery('bee')
      .limit(1)
      .project({ about: 1, _id: 0 })
      .toArray()
    assert.deepEqual(
      results.map(({ document }) => document),
      [{ about: 'bee bee' }],
    )
    assert.deepEqual(models.rerankings[0]!.passages.toSorted(), ['bee', 'bee bee'])
    assert.equal(models.rerankings[0]!.query, 'bee')
  })

  test('searches with a vector that the application passes', async () => {
    const collection = await service.collection(
      [
        { _id: UUID.v7(), n: 1, $vector: vector([1, 0]), $lexical: 'ant' },
        { _id: UUID.v7(), n: 2, $vector: vector([0, 1]), $lexical: 'ant ant' },
      ],
      { vector: { dimension: 2 } },
    )
    const cursor = collection.findAndRerank(
      {},
      {
        sort: { $hybrid: { $vector: vector([0, 1]), $lexical: 'ant' } },
        rerankOn: '$lexical',
        rerankQuery: 'ant',
        hybridLimits: 5,
        includeSortVector: true,
      },
    )
    const sortVector = await cursor.getSortVector()
    assert.deepEqual(sortVector!.asArray(), [0, 1])
    const results = await cursor.toArray()
    assert.deepEqual(
      results.map(({ document }) => document['n']),
      [2, 1],
    )
    assert(results.every(({ document }) => document._id instanceof UUID))
  })

  test('returns the vector of the text, even when nothing is found', async () => {
    const collection = await collectionOf([])
    const cursor = collection.findAndRerank(
      {},
      { sort: { $hybrid: 'ant' }, includeSortVector: true, includeScores: true },
    )
    const { result, sortVector, nextPageState } = await cursor.fetchNextPage()
    assert.deepEqual(result, [])
    assert.deepEqual(sortVector!.asArray(), [2, 1])
    assert.equal(nextPageState, null)
  })

  test('returns documents with some or none of the words, up to the limit', async () => {
    const collection = await collectionOf([
      { _id: 'no text', $vectorize: 'ant in a house' },
      { _id: 'no vector', $lexical: 'ant in a house' },
      { _id: 'some', $vectorize: 'bee', $lexical: 'a house' },
      { _id: 'none', $vectorize: 'bbb', $lexical: 'stone' },
    ])
    const cursor = collection
      .findAndRerank({}, { sort: { $hybrid: 'ant in a house' }, limit: 2 })
      .includeScores()
    const results = await cursor.toArray()
    assert.deepEqual(
      results.map(({ document, scores }) => [document._id, scores['$bm25Rank']]),
      [
        ['some', 1],
        ['none', null],
      ],
    )
  })

  test('rejects a rerank service that the server does not have', async () => {
    const collection = await collectionOf()
    const rerank = { provider: 'nvidia', modelName: 'unknown' }
    const cursor = collection.findAndRerank({}, { sort: { $hybrid: 'ant' }, rerank })
    const error = await refusal(cursor.toArray())
    assert.equal(error.errorCode, 'INVALID_RERANK_OVERRIDE')
  })

  test('sends the key of the application to the reranker', async () => {
    const { name } = await collectionOf()
    const collection = service
      .connect()
      .collection<Document>(name, { rerankingApiKey: 'secret' })
    await collection.findAndRerank({}, { sort: { $hybrid: 'ant' } }).toArray()
    assert.equal(models.rerankings[0]!.key, 'Bearer secret')
  })
})
