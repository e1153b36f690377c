/** The options minSimilarity and diversity of finds that sort by $vector or $vectorize. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Collections, type Target } from './collections.ts'
import { LetterModels, lettersCollection } from './letter-models.ts'

const models = await LetterModels.start()
after(() => models.close())

const plane = { vector: { dimension: 2, metric: 'cosine' } }

/** Similarities to [1, 0]: 1, 0.8535534, 0.5, 0. */
const compass = [
  { _id: 'east', n: 1, $vector: [1, 0] },
  { _id: 'north-east', n: 2, $vector: [1, 1] },
  { _id: 'north', n: 1, $vector: [0, 2] },
  { _id: 'west', n: 2, $vector: [-3, 0] },
  { _id: 'nowhere', n: 1 },
]
const east = { $vector: [1, 0] }

async function idsOf(target: Target, find: object): Promise<unknown[]> {
  const { data } = await target.run({ find })
  assert.equal(data!.nextPageState, null)
  return data!.documents!.map(({ _id }) => _id)
}

describe('minSimilarity', () => {
  const collections = new Collections({}, { providers: models.settings })

  test('omits documents that are less similar', async () => {
    const places = await collections.create(compass, plane)
    for (const [minSimilarity, expected] of [
      [0, ['east', 'north-east', 'north', 'west']],
      [0.1, ['east', 'north-east', 'north']],
      [0.5, ['east', 'north-east', 'north']],
      [0.6, ['east', 'north-east']],
      [0.9, ['east']],
      [1, ['east']],
    ] as const) {
      const find = { sort: east, options: { minSimilarity } }
      assert.deepEqual(await idsOf(places, find), expected)
    }
    const none = { sort: { $vector: [-1, -3] }, options: { minSimilarity: 0.95 } }
    const { text } = await places.send({ find: none })
    assert.equal(text, '{"data":{"documents":[],"nextPageState":null}}')
  })

  test('is compared with the similarities that includeSimilarity returns', async () => {
    for (const metric of ['cosine', 'dot_product', 'euclidean']) {
      const documents = Array.from({ length: 30 }, (_, n) => ({
        _id: n,
        $vector: [Math.cos(n / 7) / 1.3, Math.sin(n / 7) / 1.3],
      }))
      const places = await collections.create(documents, {
        vector: { dimension: 2, metric },
      })
      const find = async (options: object) =>
        (await places.run({ find: { sort: { $vector: [0.6, 0.1] }, options } })).data!
          .documents!
      const all = await find({ includeSimilarity: true })
      for (const { $similarity } of all) {
        const least = $similarity as number
        const isAtLeast = (other: Record<string, unknown>) =>
          Number(other['$similarity']) >= least
        const expected = all.filter(isAtLeast)
        const options = { minSimilarity: least, includeSimilarity: true }
        assert.deepEqual(await find(options), expected)
        // A minimum above the similarity of a document excludes the document, even if the
        // difference is below the precision of a 32-bit float.
        const above = least + 2 ** -40
        if (above > 1) continue
        const nearer = all.filter((other) => Number(other['$similarity']) >= above)
        assert.deepEqual(await find({ ...options, minSimilarity: above }), nearer)
      }
    }
  })

  test('can be combined with a filter, a limit and includeSortVector', async () => {
    const places = await collections.create(compass, plane)
    const options = { minSimilarity: 0.5 }
    for (const [filter, expected] of [
      [{ n: 1 }, ['east', 'north']],
      [{ n: 2 }, ['north-east']],
      [{ _id: { $in: ['west', 'north'] } }, ['north']],
      [{ _id: 'west' }, []],
    ] as const)
      assert.deepEqual(await idsOf(places, { sort: east, filter, options }), expected)
    for (const [limit, expected] of [
      [1, ['east']],
      [2, ['east', 'north-east']],
      [50, ['east', 'north-east', 'north']],
    ] as const) {
      const find = { sort: east, options: { ...options, limit } }
      assert.deepEqual(await idsOf(places, find), expected)
    }
    const { status } = await places.run({
      find: {
        sort: east,
        filter: { _id: 'west' },
        options: { ...options, includeSortVector: true },
      },
    })
    assert.deepEqual(status, { sortVector: [1, 0] })
  })

  test('decides whether findOne returns the nearest document', async () => {
    const places = await collections.create(compass, plane)
    const filter = { n: 2 }
    for (const [minSimilarity, expected] of [
      [0.85, 'north-east'],
      [0.86, undefined],
    ] as const) {
      const options = { minSimilarity }
      const { data } = await places.run({ findOne: { sort: east, filter, options } })
      assert.equal(data!.document?.['_id'], expected)
    }
  })

  test('applies to a sort by $vectorize', async () => {
    const documents = ['aaaa', 'aaab', 'bbbb'].map(($vectorize, _id) => ({
      _id,
      $vectorize,
    }))
    const letters = await collections.create(documents, lettersCollection)
    const sort = { $vectorize: 'aa' }
    const { data } = await letters.run({
      find: { sort, options: { includeSimilarity: true } },
    })
    const second = data!.documents![1]!['$similarity']
    const options = { minSimilarity: second }
    assert.deepEqual(await idsOf(letters, { sort, options }), [0, 1])
  })

  test('omits documents with a negative dot product if it is 0', async () => {
    const vector = { dimension: 2, metric: 'dot_product' }
    const places = await collections.create(compass, { vector })
    const find = { sort: east, options: { minSimilarity: 0 } }
    assert.deepEqual(await idsOf(places, find), ['east', 'north-east', 'north'])
  })

  test('causes no warning if at most 1000 documents are similar enough', async () => {
    const documents = Array.from({ length: 1010 }, (_, n) => ({ _id: n, $vector: [1, n] }))
    const vector = { dimension: 2, metric: 'euclidean' }
    const places = await collections.create(documents, { vector })
    for (const [nearer, isCutOff] of [
      [10, false],
      [1000, false],
      [1001, true],
    ] as const) {
      const minSimilarity = 1 / (1 + (nearer - 0.5) ** 2)
      const { data, status } = await places.run({
        find: { sort: { $vector: [1, 0] }, options: { minSimilarity } },
      })
      assert.equal(data!.documents!.length, Math.min(nearer, 1000))
      assert.equal(data!.nextPageState, null)
      assert.equal(status?.warnings?.length ?? 0, isCutOff ? 1 : 0)
    }
  })

  test('accepts every numeral from 0 to 1', async () => {
    const places = await collections.create(compass, plane)
    for (const [numeral, count] of [
      ['5e-1', 3],
      ['-0', 4],
      ['0.500000000000000000000000000000001', 3],
      ['1E0', 1],
      ['1.000', 1],
    ] as const) {
      const { body } = await places.send(
        `{"find":{"sort":{"$vector":[1,0]},"options":{"minSimilarity":${numeral}}}}`,
      )
      assert.equal(body.data!.documents!.length, count, numeral)
    }
  })

  test('is rejected if it is not a number from 0 to 1', async () => {
    const places = await collections.create(compass, plane)
    for (const [numeral, code, message] of [
      [
        '-0.1',
        'COMMAND_FIELD_VALUE_INVALID',
        /minSimilarity cannot be -0\.1: .* from 0 to 1/,
      ],
      [
        '1.1',
        'COMMAND_FIELD_VALUE_INVALID',
        /minSimilarity cannot be 1\.1: .* from 0 to 1/,
      ],
      [
        '1e400',
        'COMMAND_FIELD_VALUE_INVALID',
        /minSimilarity cannot be 1.*: .* from 0 to 1/,
      ],
      [
        'null',
        'COMMAND_FIELD_VALUE_INVALID',
        /minSimilarity cannot be `null`: .* from 0 to 1/,
      ],
      [
        '"high"',
        'REQUEST_STRUCTURE_MISMATCH',
        /minSimilarity must be .* from 0 to 1.* String/,
      ],
      [
        'true',
        'REQUEST_STRUCTURE_MISMATCH',
        /minSimilarity must be .* from 0 to 1.* Boolean/,
      ],
      [
        '[0.5]',
        'REQUEST_STRUCTURE_MISMATCH',
        /minSimilarity must be .* from 0 to 1.* Array/,
      ],
    ] as const)
      for (const command of ['find', 'findOne']) {
        const options = `{"minSimilarity":${numeral}}`
        const error = await places.refuse(
          `{"${command}":{"sort":{"$vector":[1,0]},"options":${options}}}`,
          code,
        )
        assert.match(error.message, message)
      }
    const sent = `{"find":{"sort":{"$vector":[1,0]},"options":{"minSimilarity":NaN}}}`
    await places.refuse(sent, 'REQUEST_NOT_JSON')
  })

  test('is rejected without a sort by a vector', async () => {
    const places = await collections.create(compass, {
      ...plane,
      lexical: { enabled: true },
    })
    for (const sort of [undefined, {}, { n: 1 }, { $lexical: 'word' }])
      for (const command of ['find', 'findOne']) {
        const options = { minSimilarity: 0 }
        const { message } = await places.refuse(
          { [command]: { sort, options } },
          'COMMAND_FIELD_VALUE_INVALID',
        )
        assert.match(message, /minSimilarity cannot be 0: .* requires a sort by a vector/)
      }
  })

  test('is rejected as unknown by other commands', async () => {
    const places = await collections.create(compass, plane)
    const options = { minSimilarity: 0.5 }
    for (const command of [
      { updateOne: { sort: east, update: {}, options } },
      { findOneAndUpdate: { sort: east, update: {}, options } },
      { findAndRerank: { sort: { $hybrid: 'x' }, options } },
    ])
      await places.refuse(command, 'COMMAND_FIELD_UNKNOWN')
  })
})

const line = { vector: { dimension: 2, metric: 'euclidean' } }

/** Similarities to [0, 0]: 0.5 for a, b and c, 0.2 for d and e. */
const numbers = [
  { _id: 'a', n: 1, $vector: [1, 0] },
  { _id: 'b', n: 2, $vector: [1, 0] },
  { _id: 'c', n: 1, $vector: [-1, 0] },
  { _id: 'd', n: 2, $vector: [2, 0] },
  { _id: 'e', n: 1, $vector: [-2, 0] },
  { _id: 'f', n: 2 },
]
const zero = { $vector: [0, 0] }

/** The ids of the found documents as one text. */
async function idTextOf(target: Target, find: object): Promise<string> {
  return (await idsOf(target, find)).join('')
}

describe('diversity', () => {
  const collections = new Collections({}, { providers: models.settings })

  test('prefers documents that differ from the documents ranked before them', async () => {
    const places = await collections.create(numbers, line)
    for (const [diversity, limit, expected] of [
      [undefined, 5, 'abcde'],
      [0, 5, 'abcde'],
      [0, 2, 'ab'],
      [0.5, 5, 'acdeb'],
      [0.5, undefined, 'acdeb'],
      [0.5, 3, 'acd'],
      [0.5, 1, 'a'],
      [1, 5, 'aecdb'],
      [1, 2, 'ae'],
    ] as const) {
      const find = { sort: zero, options: { diversity, limit } }
      assert.equal(await idTextOf(places, find), expected)
    }
  })

  test('chooses among the documents that match the filter and are similar enough', async () => {
    const places = await collections.create(numbers, line)
    for (const [filter, options, expected] of [
      [{ _id: { $ne: 'c' } }, {}, 'aedb'],
      [{ n: 2 }, {}, 'bd'],
      [{ n: 9 }, {}, ''],
      [{}, { minSimilarity: 0.3 }, 'acb'],
      [{}, { minSimilarity: 0.3, limit: 2 }, 'ac'],
      [{}, { minSimilarity: 0.6 }, ''],
      [{ n: 1 }, { minSimilarity: 0.3 }, 'ac'],
    ] as const) {
      const find = { sort: zero, filter, options: { ...options, diversity: 0.5 } }
      assert.equal(await idTextOf(places, find), expected)
    }
  })

  test('chooses among 50 documents, or four times the limit if that is more', async () => {
    const documents = Array.from({ length: 49 }, (_, n) => ({
      _id: n,
      $vector: [n / 1000, 0],
    }))
    const places = await collections.create(
      [...documents, { _id: 49, $vector: [1, 0] }, { _id: 50, $vector: [-1.01, 0] }],
      line,
    )
    const first = async (limit: number) => {
      const options = { diversity: 1, limit }
      const { data } = await places.run({ find: { sort: zero, options } })
      assert.equal(data!.documents!.length, limit)
      return data!.documents!.slice(0, 2).map(({ _id }) => _id)
    }
    for (const [limit, expected] of [
      [2, [0, 49]],
      [12, [0, 49]],
      [13, [0, 50]],
      [51, [0, 50]],
      [1, [0]],
    ] as const)
      assert.deepEqual(await first(limit), expected)
  })

  test('returns no vectors unless the projection includes them', async () => {
    const large = 'x'.repeat(5000)
    const places = await collections.create(
      [
        { _id: 1, a: 1, $vector: [1, 0] },
        { _id: 2, a: 2, large, $vector: [-1, 0] },
      ],
      line,
    )
    for (const [projection, expected] of [
      [undefined, [`{"_id":1,"a":1}`, `{"_id":2,"a":2,"large":"${large}"}`]],
      [{ a: 1 }, ['{"_id":1,"a":1}', '{"_id":2,"a":2}']],
      [{ large: 0 }, ['{"_id":1,"a":1}', '{"_id":2,"a":2}']],
      [{ '*': 0 }, ['{}', '{}']],
      [
        { a: 1, $vector: 1 },
        ['{"_id":1,"a":1,"$vector":[1.0,0.0]}', '{"_id":2,"a":2,"$vector":[-1.0,0.0]}'],
      ],
    ] as const) {
      const options = { diversity: 0.5 }
      const { text } = await places.send({ find: { sort: zero, projection, options } })
      assert.equal(
        text,
        `{"data":{"documents":[${expected.join(',')}],"nextPageState":null}}`,
      )
    }
  })

  test('returns the similarity to the query and the sort vector on request', async () => {
    const places = await collections.create(numbers, line)
    const options = { diversity: 0.5, includeSimilarity: true, includeSortVector: true }
    const { data, status } = await places.run({ find: { sort: zero, options } })
    assert.deepEqual(
      data!.documents!.map(({ _id, $similarity }) => [_id, $similarity]),
      [
        ['a', 0.5],
        ['c', 0.5],
        ['d', 0.2],
        ['e', 0.2],
        ['b', 0.5],
      ],
    )
    assert.deepEqual(status, { sortVector: [0, 0] })
  })

  test('does not change which document findOne returns: the nearest', async () => {
    const places = await collections.create(numbers, line)
    for (const diversity of [0, 0.5, 1]) {
      const options = { diversity, minSimilarity: 0.5 }
      const { data } = await places.run({ findOne: { sort: zero, options } })
      assert.equal(data!.document!['_id'], 'a')
    }
  })

  test('compares vectors from an embedding service, and binary vectors', async () => {
    const texts = ['aaaa', 'aaab', 'aaaab', 'abbb']
    const letters = await collections.create(
      texts.map(($vectorize, n) => ({ _id: String(n), $vectorize })),
      lettersCollection,
    )
    const find = { sort: { $vectorize: 'aa' }, options: { diversity: 1, limit: 2 } }
    assert.equal(await idTextOf(letters, find), '23')
    const bytes = Buffer.alloc(8)
    bytes.writeFloatBE(-2, 0)
    const binary = { _id: 'g', $vector: { $binary: bytes.toString('base64') } }
    const precise = { _id: 'h', $vector: [0.1, 1e-9] }
    const places = await collections.create([...numbers.slice(0, 2), binary, precise], line)
    const all = { sort: zero, options: { diversity: 0.5 } }
    assert.equal(await idTextOf(places, all), 'hgab')
  })

  test('is rejected if it is not a number from 0 to 1', async () => {
    const places = await collections.create(numbers, line)
    for (const [diversity, code, message] of [
      [-0.1, 'COMMAND_FIELD_VALUE_INVALID', /diversity cannot be -0\.1: .* from 0 to 1/],
      [1.1, 'COMMAND_FIELD_VALUE_INVALID', /diversity cannot be 1\.1: .* from 0 to 1/],
      [NaN, 'COMMAND_FIELD_VALUE_INVALID', /diversity cannot be `null`: .* from 0 to 1/],
      ['some', 'REQUEST_STRUCTURE_MISMATCH', /diversity must be .* from 0 to 1.* String/],
    ] as const)
      for (const command of ['find', 'findOne']) {
        const sent = { [command]: { sort: zero, options: { diversity } } }
        assert.match((await places.refuse(sent, code)).message, message)
      }
  })

  test('is rejected without a sort by a vector, and with a skip or a page state', async () => {
    const places = await collections.create(numbers, line)
    const code = 'COMMAND_FIELD_VALUE_INVALID'
    for (const sort of [undefined, { n: 1 }, { $lexical: 'word' }])
      for (const command of ['find', 'findOne']) {
        const options = { diversity: 0.5 }
        const { message } = await places.refuse({ [command]: { sort, options } }, code)
        assert.match(message, /diversity cannot be 0\.5: .* requires a sort by a vector/)
      }
    await places.refuse(
      { find: { sort: zero, options: { diversity: 0.5, skip: 1 } } },
      code,
    )
    const options = { diversity: 0.5, limit: 1001 }
    await places.refuse({ find: { sort: zero, options } }, code)
    await places.refuse(
      { find: { sort: zero, options: { diversity: 0.5, pageState: 'abc' } } },
      'SORT_CLAUSE_INVALID',
    )
  })

  test('is rejected as unknown by other commands', async () => {
    const places = await collections.create(numbers, line)
    const options = { diversity: 0.5 }
    for (const command of [
      { updateOne: { sort: zero, update: {}, options } },
      { findOneAndUpdate: { sort: zero, update: {}, options } },
      { findAndRerank: { sort: { $hybrid: 'x' }, options } },
    ])
      await places.refuse(command, 'COMMAND_FIELD_UNKNOWN')
  })
})

describe('diversity on a server with a configured limit', () => {
  const collections = new Collections({ vectorLimitMax: 20 })

  test('chooses among no more documents than a vector search returns', async () => {
    const documents = Array.from({ length: 30 }, (_, n) => ({ _id: n, $vector: [n, 0] }))
    const places = await collections.create(documents, line)
    for (const [limit, warnings] of [
      [3, 0],
      [20, 0],
      [undefined, 1],
    ] as const) {
      const options = { diversity: 1, limit }
      const { data, status } = await places.run({ find: { sort: zero, options } })
      const ids = data!.documents!.map(({ _id }) => _id as number)
      assert.deepEqual(ids.slice(0, 2), [0, 19])
      assert.equal(ids.length, limit ?? 20)
      assert.equal(Math.max(...ids), 19)
      assert.equal(status?.warnings?.length ?? 0, warnings)
    }
  })
})
