/**
 * Searches on an engine that serves no search: their results, the order of results, and every
 * command that can search.
 */
import { deleteDocument } from '../../src/collections/change-documents.ts'
import { countMatches, findDocument } from '../../src/collections/find-documents.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Metric } from '../../src/engine/schema.ts'
import { lexicalOperators } from '../../src/language/sorts/sort.ts'
import { seed } from '../language/documents.ts'
import { Fixture, tester, type Given } from '../collections/fixture.ts'

function withMetric(metric: Metric, dimension = 2): Fixture {
  return new Fixture({}, { vector: { dimension, metric, sourceModel: 'other' } })
}

async function similarities(fixture: Fixture, $vector: object): Promise<unknown[]> {
  const { documents } = await fixture.page(
    { sort: { $vector } },
    { includeSimilarity: true },
  )
  return documents.map((text) => (JSON.parse(text) as { $similarity: unknown }).$similarity)
}

describe('a search by vector', () => {
  test('returns the nearest documents first, by each metric', async () => {
    // [3, 3] has the direction of [1, 1], but [1, 0.5] is at a smaller distance from [1, 1].
    const documents = [
      { _id: 'long', $vector: [3, 3] },
      { _id: 'near', $vector: [1, 0.5] },
      { _id: 'opposite', $vector: [-1, -1] },
    ]
    for (const [metric, ids] of [
      ['cosine', ['long', 'near', 'opposite']],
      ['dot_product', ['long', 'near', 'opposite']],
      ['euclidean', ['near', 'long', 'opposite']],
    ] as const) {
      const fixture = withMetric(metric)
      await fixture.insert(...documents)
      assert.deepEqual((await fixture.page({ sort: { $vector: [1, 1] } })).ids, ids)
    }
  })

  test('returns a similarity that can be computed by hand', async () => {
    const stored = [0.1, 0.05, 0.08, 0.3, 0.6]
    const query = [0.15, 0.1, 0.1, 0.35, 0.55]
    // The products of components add up to 0.463, the squares to 0.4789 and 0.4575, and the squared
    // differences to 0.0104.
    for (const [metric, expected] of [
      ['cosine', 0.994447],
      ['dot_product', 0.7315],
      ['euclidean', 0.989707],
    ] as const) {
      const fixture = withMetric(metric, 5)
      await fixture.insert({ _id: 1, $vector: stored })
      const [similarity] = await similarities(fixture, query)
      assert(
        Math.abs((similarity as number) - expected) < 1e-6,
        `${metric}: ${String(similarity)}`,
      )
    }
    const fixture = withMetric('dot_product')
    await fixture.insert({ _id: 1, $vector: [2, 4] }, { _id: 2, $vector: [-2, -4] })
    assert.deepEqual(await similarities(fixture, [1, 1]), [3.5, -2.5])
  })

  test('breaks ties by ascending _id', async () => {
    const fixture = withMetric('cosine')
    const ids = [5, 'b', 1, 'a', 3]
    await fixture.insert(...ids.map((_id) => ({ _id, $vector: [1, 2] })))
    const { ids: found } = await fixture.page({ sort: { $vector: [1, 2] } })
    assert.deepEqual(found, [1, 3, 5, 'a', 'b'])
  })

  test('omits documents without a vector', async () => {
    const fixture = withMetric('cosine')
    await fixture.insert({ _id: 1 }, { _id: 2, $vector: null }, { _id: 3, $vector: [1, 2] })
    assert.deepEqual((await fixture.page({ sort: { $vector: [1, 2] } })).ids, [3])
  })

  test('compares vectors sent as arrays with vectors sent in binary', async () => {
    const fixture = withMetric('cosine')
    const bytes = Buffer.alloc(8)
    bytes.writeFloatBE(0.6, 0)
    bytes.writeFloatBE(0.8, 4)
    const binary = { $binary: bytes.toString('base64') }
    await fixture.insert({ _id: 1, $vector: [0.6, 0.8] }, { _id: 2, $vector: binary })
    assert.deepEqual(await similarities(fixture, [0.6, 0.8]), [1, 1])
    assert.deepEqual(await similarities(fixture, binary), [1, 1])
  })

  test('returns one page with the nearest matching documents, up to the maximum number', async () => {
    const fixture = new Fixture({ vectorLimitMax: 6, pageSize: 2 })
    await fixture.insert(
      ...Array.from({ length: 9 }, (_, n) => ({ _id: n, n, $vector: [1, n] })),
    )
    const sort = { $vector: [1, 0] }
    assert.deepEqual(await fixture.pages({ sort }), [[0, 1, 2, 3, 4, 5]])
    const codes = async (given: object, options = {}) =>
      (await fixture.page({ sort, ...given }, options)).warnings!.map(({ code }) => code)
    assert.deepEqual(await codes({}), ['VECTOR_SEARCH_RESULTS_TRUNCATED'])
    assert.deepEqual(await codes({}, { limit: 6 }), [])
    assert.deepEqual(await codes({ filter: { n: { $gte: 2 } } }), [
      'VECTOR_SEARCH_RESULTS_TRUNCATED',
    ])
    assert.deepEqual(await codes({ filter: { n: { $gte: 3 } } }), [])
    assert.deepEqual(await fixture.pages({ sort }, { limit: 3 }), [[0, 1, 2]])
    const filter = { n: { $gte: 5 } }
    assert.deepEqual(await fixture.pages({ sort, filter }, { limit: 2 }), [[5, 6]])
    assert.deepEqual(await fixture.pages({ sort, filter: { n: 100 } }), [[]])
  })

  test('returns the similarity in addition to any projection, on request', async () => {
    const fixture = withMetric('cosine')
    await fixture.insert({ _id: 1, a: 1, $vector: [1, 0] })
    const shown = async (projection: object, includeSimilarity = true) =>
      (await fixture.page({ sort: { $vector: [2, 0] }, projection }, { includeSimilarity }))
        .documents[0]
    assert.equal(await shown({}), '{"_id":1,"a":1,"$similarity":1}')
    assert.equal(await shown({ '*': 0 }), '{"$similarity":1}')
    assert.equal(await shown({ a: 1, _id: 0 }), '{"a":1,"$similarity":1}')
    assert.equal(await shown({ '*': 1 }), '{"_id":1,"a":1,"$vector":[1,0],"$similarity":1}')
    assert.equal(await shown({}, false), '{"_id":1,"a":1}')
  })

  test('also returns the similarity of a large document', async () => {
    const fixture = withMetric('cosine')
    const large = Array.from({ length: 900 }, (_, n) => ({ n }))
    await fixture.insert({ _id: 1, a: 1, large, $vector: [1, 0] })
    const { documents } = await fixture.page(
      { sort: { $vector: [2, 0] }, projection: { a: 1 } },
      { includeSimilarity: true },
    )
    assert.deepEqual(documents, ['{"_id":1,"a":1,"$similarity":1}'])
  })

  test('returns the vector that it compared with', async () => {
    const fixture = withMetric('cosine')
    const { sortVector } = await fixture.page({ sort: { $vector: [0.1, 2] } })
    assert.deepEqual(sortVector, Float32Array.of(0.1, 2))
    assert.equal((await fixture.page({ sort: { _id: 1 } })).sortVector, undefined)
    assert.equal((await fixture.page({ sort: { $lexical: 'x' } })).sortVector, undefined)
  })
})

describe('a search by terms', () => {
  test('ranks by BM25: more occurrences of the term in a shorter text score higher', async () => {
    const fixture = new Fixture()
    await fixture.insert(
      { _id: 1, $lexical: 'monkey bread is so tasty' },
      { _id: 2, $lexical: 'monkey' },
      { _id: 3, $lexical: 'monkey monkey monkey' },
      { _id: 4, $lexical: 'ape' },
      { _id: 5 },
    )
    assert.deepEqual((await fixture.page({ sort: { $lexical: 'monkey' } })).ids, [3, 2, 1])
  })

  test('returns texts with every term, then texts with some terms, by default', async () => {
    const fixture = new Fixture()
    await fixture.insert(
      { _id: 1, $lexical: 'banana banana banana' },
      { _id: 2, $lexical: `apple banana ${'other '.repeat(90)}` },
      { _id: 3, $lexical: 'apple' },
      { _id: 4, $lexical: 'cherry' },
      { _id: 5 },
    )
    const sort = { $lexical: 'apple banana' }
    assert.deepEqual((await fixture.page({ sort })).ids, [2, 1, 3])
    assert.deepEqual((await fixture.page({ sort, lexicalOperator: 'all' })).ids, [2])
    const sentence = { $lexical: 'which apple is the best' }
    assert.deepEqual((await fixture.page({ sort: sentence })).ids, [3, 2])
    assert.deepEqual(
      (await fixture.page({ sort: sentence, lexicalOperator: 'all' })).ids,
      [],
    )
  })

  test('returns texts with all terms on request, and weighs rare terms higher', async () => {
    const fixture = new Fixture()
    await fixture.insert(
      { _id: 1, $lexical: 'apple banana' },
      { _id: 2, $lexical: 'apple apple banana' },
      { _id: 3, $lexical: 'apple banana banana' },
      { _id: 4, $lexical: 'apple apple banana banana' },
      { _id: 5, $lexical: 'banana banana' },
    )
    for (const terms of ['apple banana', 'Banana, APPLE!', 'banana apple banana']) {
      const sort = { $lexical: terms }
      const { ids } = await fixture.page({ sort, lexicalOperator: 'all' })
      assert.deepEqual(ids, [2, 4, 1, 3], terms)
    }
  })

  test('counts terms over all documents, whatever the filter', async () => {
    const fixture = new Fixture()
    // "rare" occurs in one text and "common" in all texts, so "rare" has a higher weight.
    await fixture.insert(
      { _id: 1, n: 1, $lexical: 'rare common common common filler' },
      { _id: 2, n: 1, $lexical: 'rare rare rare common filler' },
      ...Array.from({ length: 20 }, (_, i) => ({ _id: 10 + i, $lexical: 'common' })),
    )
    const { ids } = await fixture.page({
      sort: { $lexical: 'rare common' },
      filter: { n: 1 },
    })
    assert.deepEqual(ids, [2, 1])
  })

  test('breaks ties by ascending _id', async () => {
    const fixture = new Fixture()
    await fixture.insert(...['c', 'a', 'b'].map((_id) => ({ _id, $lexical: 'same' })))
    assert.deepEqual((await fixture.page({ sort: { $lexical: 'same' } })).ids, [
      'a',
      'b',
      'c',
    ])
  })

  test('returns pages until the limit is reached', async () => {
    const fixture = new Fixture({ pageSize: 3 })
    await fixture.insert(
      ...Array.from({ length: 7 }, (_, _id) => ({ _id, $lexical: 'word' })),
    )
    const sort = { $lexical: 'word' }
    const all = [[0, 1, 2], [3, 4, 5], [6]]
    for (const limit of [undefined, 7, 8, 1000])
      assert.deepEqual(await fixture.pages({ sort }, { limit }), all)
    assert.deepEqual(await fixture.pages({ sort }, { limit: 6 }), all.slice(0, 2))
    assert.deepEqual(await fixture.pages({ sort }, { limit: 4 }), [[0, 1, 2], [3]])
    assert.deepEqual(await fixture.pages({ sort }, { limit: 3 }), [[0, 1, 2]])
    assert.deepEqual(await fixture.pages({ sort }, { limit: 1 }), [[0]])
    assert.deepEqual(await fixture.pages({ sort: { $lexical: 'none' } }), [[]])
  })

  test('has pages that end at the maximum size of a reply', async () => {
    const limits = { pageSize: 5, documentLengthMax: 1_000, replySizeMax: 1_000 }
    const fixture = new Fixture(limits)
    const text = 'x'.repeat(600)
    await fixture.insert(...[0, 1, 2, 3, 4].map((_id) => ({ _id, text, $lexical: 'word' })))
    const sort = { $lexical: 'word' }
    assert.deepEqual(await fixture.pages({ sort }), [[0, 1], [2, 3], [4]])
    assert.deepEqual(await fixture.pages({ sort }, { limit: 2 }), [[0, 1]])
    assert.deepEqual(await fixture.pages({ sort }, { limit: 3 }), [[0, 1], [2]])
  })

  test('never returns a similarity', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 1, $lexical: 'word' })
    const { documents } = await fixture.page(
      { sort: { $lexical: 'word' } },
      { includeSimilarity: true },
    )
    assert.deepEqual(documents, ['{"_id":1}'])
  })
})

describe('$match', () => {
  test('matches texts that contain every term, in any order', async () => {
    const fixture = new Fixture()
    await fixture.insert(
      { _id: 1, n: 1, $lexical: 'The quick brown fox' },
      { _id: 2, n: 2, $lexical: 'brown bread' },
      { _id: 3, n: 1, $lexical: null },
      { _id: 4, n: 1 },
    )
    const idsOf = async (filter: object) => (await fixture.page({ filter })).ids
    const match = (terms: string) => ({ $lexical: { $match: terms } })
    assert.deepEqual(await idsOf(match('FOX brown')), [1])
    assert.deepEqual(await idsOf(match('brown')), [1, 2])
    assert.deepEqual(await idsOf(match('brown cat')), [])
    assert.deepEqual(await idsOf({ ...match('brown'), n: 2 }), [2])
    assert.deepEqual(await idsOf({ $or: [match('bread'), { n: 1 }] }), [1, 2, 3, 4])
    assert.deepEqual(await idsOf({ $and: [match('brown'), match('quick')] }), [1])
    const { filter } = fixture.select({ filter: match('brown') })
    assert.equal(await countMatches(fixture.documents, filter, 10, tester), 2)
  })
})

describe('commands for one document', () => {
  const searches: readonly (readonly [string, Given])[] = [
    ['$vector', { sort: { $vector: [1, 0] } }],
    ['$lexical', { sort: { $lexical: 'job' } }],
  ]
  const documents = [
    { _id: 1, $vector: [1, 5], $lexical: 'some job' },
    { _id: 2, $vector: [1, 0], $lexical: 'job' },
    { _id: 3, $vector: [1, 9], $lexical: 'quite some job' },
  ]

  for (const [field, given] of searches) {
    test(`find the best match by ${field}`, async () => {
      const fixture = new Fixture()
      const findOne = () =>
        findDocument(fixture.documents, fixture.select(given), {}, tester)
      assert.equal((await findOne()).document, null)
      await fixture.insert(...documents)
      assert.equal((await findOne()).document, '{"_id":2}')
    })

    test(`update, replace or delete the best match by ${field}`, async () => {
      const fixture = new Fixture()
      await fixture.insert(...documents)
      const updated = await fixture.update(given, { $set: { seen: true } })
      assert.deepEqual([updated.matchedCount, updated.changedCount], [1, 1])
      assert.equal(updated.after!.text, '{"_id":2,"seen":true}')
      const deleted = await deleteDocument(fixture.documents, fixture.select(given), tester)
      assert.equal(deleted.before!.text, '{"_id":2,"seen":true}')
      const replaced = await fixture.replace(given, { taken: true })
      assert.equal(replaced.after!.text, '{"_id":1,"taken":true}')
      assert.deepEqual(await fixture.all(), [
        '{"_id":1,"taken":true}',
        '{"_id":3,"$vector":[1,9],"$lexical":"quite some job"}',
      ])
    })

    test(`take different documents when concurrent requests search by ${field}`, async () => {
      const fixture = new Fixture()
      await fixture.insert(...documents)
      const done = { $unset: { $vector: '' }, $set: { $lexical: 'done' } }
      const taken = await Promise.all(
        Array.from({ length: 5 }, () => fixture.update(given, done)),
      )
      const ids = taken.map(({ before }) => before?.text).filter((text) => text)
      assert.deepEqual(ids.toSorted(), ['{"_id":1}', '{"_id":2}', '{"_id":3}'])
    })

    test(`search again by ${field} when another request has changed the best match`, async () => {
      const fixture = new Fixture()
      await fixture.insert(...documents)
      let others = 1
      fixture.engine.meanwhile = () => {
        if (others-- > 0) fixture.engine.remove('2')
      }
      const { after } = await fixture.update(given, { $set: { seen: true } })
      assert.equal(after!.text, '{"_id":1,"seen":true}')
    })

    test(`upsert when a search by ${field} finds nothing`, async () => {
      const fixture = new Fixture()
      await fixture.insert({ _id: 1 })
      const { upsertedId } = await fixture.update(
        { ...given, filter: { _id: 7 } },
        { $set: { a: 1 } },
        { upsert: true },
      )
      assert.equal(upsertedId, 7)
    })
  }
})

/** Words of one letter. Analyzers do not split, join or remove them. */
const letters = ['p', 'q', 'r', 's']

interface Candidate {
  readonly _id: number
  readonly n: number
  readonly $vector?: readonly number[]
  readonly $lexical?: string
}

const candidate = fc.record(
  {
    n: fc.integer({ min: 0, max: 3 }),
    $vector: fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 2, maxLength: 2 }),
    $lexical: fc
      .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 })
      .map((words) => words.join(' ')),
  },
  { requiredKeys: ['n'] },
)

const collectionOfThem = fc
  .array(candidate, { maxLength: 25 })
  .map((documents) => documents.map((document, _id): Candidate => ({ _id, ...document })))

/** A filter, and a predicate with the meaning of the filter. */
const filterOfThem = fc.oneof(
  fc.constant({ filter: {}, accepts: () => true }),
  fc.integer({ min: 0, max: 3 }).map((least) => ({
    filter: { n: { $gte: least } },
    accepts: ({ n }: Candidate) => n >= least,
  })),
  fc.constantFrom(...letters).map((letter) => ({
    filter: { $lexical: { $match: letter } },
    accepts: ({ $lexical = '' }: Candidate) => $lexical.includes(letter),
  })),
)

/**
 * A sort, and the score that it gives to each document. The score is undefined for documents that
 * the search omits.
 */
const vectorSort = fc
  .tuple(
    fc.constantFrom<Metric[]>('cosine', 'dot_product', 'euclidean'),
    fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 2, maxLength: 2 }),
  )
  .map(([metric, query]) => ({
    metric,
    sort: { $vector: query },
    score: (_all: readonly Candidate[], { $vector: v }: Candidate) => {
      if (v === undefined) return undefined
      const dot = query[0]! * v[0]! + query[1]! * v[1]!
      if (metric === 'dot_product') return (1 + dot) / 2
      if (metric === 'cosine')
        return (1 + dot / (Math.hypot(...query) * Math.hypot(...v))) / 2
      return 1 / (1 + Math.hypot(query[0]! - v[0]!, query[1]! - v[1]!) ** 2)
    },
  }))

const lexicalSort = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...letters), { minLength: 1, maxLength: 3 }),
    fc.constantFrom(...lexicalOperators),
  )
  .map(([terms, lexicalOperator]) => ({
    metric: 'euclidean' as const,
    sort: { $lexical: terms.join(' ') },
    lexicalOperator,
    score: (all: readonly Candidate[], { $lexical }: Candidate) => {
      const texts = all.flatMap(({ $lexical: text }) => (text ? [text.split(' ')] : []))
      const text = $lexical?.split(' ')
      const found = terms.filter((term) => text?.includes(term))
      const hasAll = found.length === terms.length
      if (!text || found.length === 0 || (lexicalOperator === 'all' && !hasAll))
        return undefined
      const average = texts.flat().length / texts.length
      return terms
        .map((term) => {
          const having = texts.filter((words) => words.includes(term)).length
          const weight = Math.log(1 + (texts.length - having + 0.5) / (having + 0.5))
          const count = text.filter((word) => word === term).length
          return (weight * count) / (count + 1.2 * (0.25 + (0.75 * text.length) / average))
        })
        .reduce((sum, part) => sum + part, hasAll ? 1000 : 0)
    },
  }))

test('a search returns the same documents as a direct implementation of the formulas', async () => {
  const tolerance = 1e-6
  await fc.assert(
    fc.asyncProperty(
      collectionOfThem,
      filterOfThem,
      fc.oneof(vectorSort, lexicalSort),
      fc.integer({ min: 1, max: 30 }),
      async (generated, { filter, accepts }, { metric, score, ...sorted }, limit) => {
        const isZero = (vector?: readonly number[]) => vector?.every((x) => x === 0)
        const { sort } = sorted
        fc.pre(metric !== 'cosine' || !('$vector' in sort && isZero(sort.$vector)))
        const documents = generated.filter(
          ({ $vector }) => metric !== 'cosine' || !isZero($vector),
        )
        const fixture = withMetric(metric)
        if (documents.length > 0) await fixture.insert(...documents)
        const ids = (await fixture.pages({ ...sorted, filter }, { limit })).flat()

        const scores = new Map<unknown, number>()
        for (const document of documents.filter(accepts)) {
          const points = score(documents, document)
          if (points !== undefined) scores.set(document._id, points)
        }
        assert.equal(ids.length, Math.min(limit, scores.size))
        const found = ids.map((id) => scores.get(id)!)
        for (const [i, points] of found.entries())
          assert(i === 0 || points <= found[i - 1]! + tolerance, 'the best come first')
        const worst = found.at(-1) ?? Infinity
        for (const [id, points] of scores)
          assert(
            ids.includes(id) || points <= worst + tolerance,
            `${String(id)} is missing`,
          )

        const { document } = await findDocument(
          fixture.documents,
          fixture.select({ ...sorted, filter }),
          {},
          tester,
        )
        const first = document && (JSON.parse(document) as { _id: unknown })._id
        assert.equal(first, ids[0] ?? null)
      },
    ),
    { seed, numRuns: 200 },
  )
})
