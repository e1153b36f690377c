import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { defaultConfig } from '../../src/settings/config.ts'
import { Collections } from './collections.ts'
import { LetterModels, lettersCollection } from './letter-models.ts'

const models = await LetterModels.start()
after(() => models.close())

describe('findAndRerank with --hybrid-eligibility vector', () => {
  const collections = new Collections(
    {},
    {
      durable: false,
      providers: models.settings,
      features: { ...defaultConfig.features, hybridEligibility: 'vector' },
    },
  )

  test('returns documents that lack $lexical, and does not warn about them', async () => {
    const ants = [0, 1, 2].map((_id) => ({ _id, about: 'ant', $vectorize: 'ant' }))
    const target = await collections.create(
      [
        ...ants,
        { _id: 'both', about: 'ant', $hybrid: 'ant' },
        { _id: 'text', about: 'ant', $lexical: 'ant' },
        { _id: 'bare', about: 'ant', $vector: [1, 1] },
      ],
      lettersCollection,
    )
    const run = (options: object) =>
      target.run({ findAndRerank: { sort: { $hybrid: 'ant' }, options } })
    const find = async (options: object) =>
      (await run(options)).data!.documents!.map(({ _id }) => _id)
    assert.deepEqual((await find({})).toSorted(), [0, 1, 2, 'both'])
    assert.equal((await run({})).status, undefined)
    // A document without a text to rerank on does not count toward the limit.
    assert.equal((await find({ limit: 4 })).length, 4)
    const onField = await find({ rerankOn: 'about' })
    assert.deepEqual(onField.toSorted(), [0, 1, 2, 'bare', 'both'])
    assert.deepEqual(await find({ rerankOn: '$lexical' }), ['both'])
    const { status } = await run({ rerankOn: '$lexical', includeScores: true })
    const [warning] = status!.warnings!
    assert.equal(warning!.errorCode, 'HYBRID_SEARCH_MISSING_LEXICAL')
    assert.match(warning!.message, /or set options\.rerankOn to a field that they have\.$/)
  })
})
