/**
 * Malformed and hostile vectors, texts and searches, and vectors and texts that reach or exceed a
 * limit.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { LetterModels, lettersCollection } from '../commands/letter-models.ts'
import { binaryOf } from '../model/search-oracle.ts'
import { Suspect } from './suspect.ts'

const models = await LetterModels.start()
const { embeddingUrls, rerankingUrls } = models.settings
const suspect = new Suspect(
  [
    ...['--embedding-urls', `openai=${embeddingUrls.get('openai')!}`],
    ...['--embedding-keys', 'openai=any'],
    ...['--reranking-urls', `nvidia=${rerankingUrls.get('nvidia')!}`],
  ],
  prepare,
)

const keyspace = '/default_keyspace'

/** Options of the collections, by name. */
const collections = {
  cosine: { vector: { dimension: 3, metric: 'cosine' } },
  euclidean: { vector: { dimension: 3, metric: 'euclidean' } },
  letters: lettersCollection,
  neither: { lexical: { enabled: false } },
} as const

type Name = keyof typeof collections

async function prepare(): Promise<void> {
  for (const [name, options] of Object.entries(collections))
    await suspect.accepted(keyspace, { createCollection: { name, options } })
  for (const name of ['cosine', 'euclidean'])
    await suspect.accepted(`${keyspace}/${name}`, {
      insertMany: {
        documents: [
          { _id: 'old', n: 1, $vector: [1, 2, 3], $lexical: 'old words' },
          { _id: 'bare', n: 2 },
        ],
      },
    })
  await suspect.accepted(`${keyspace}/letters`, {
    insertMany: { documents: [{ _id: 'old', n: 1, $hybrid: 'ab' }, { _id: 'bare' }] },
  })
}
after((t) => {
  ;(t as { diagnostic(text: string): void }).diagnostic(`${suspect.inputs} inputs`)
  return models.close()
})

const send = (name: Name, body: object | string) =>
  suspect.send(`${keyspace}/${name}`, body)

/** Sends a command that must succeed. */
function accept(name: Name, body: object | string) {
  known.delete(name)
  return suspect.accepted(`${keyspace}/${name}`, body)
}

/**
 * The last known contents of the collections. `accept` invalidates the contents of its collection.
 */
const known = new Map<Name, string>()

async function everythingIn(name: Name): Promise<string> {
  const { text } = await send(name, {
    find: { sort: { _id: 1 }, projection: { '*': 1 } },
  })
  known.set(name, text)
  return text
}

/** Sends an invalid command. It must fail with one of the codes and must change nothing. */
async function refuse(name: Name, body: string, ...codes: readonly string[]) {
  const before = known.get(name) ?? (await everythingIn(name))
  const answer = await send(name, body)
  assert.equal(answer.codes.length, 1, `${body.slice(0, 500)} => ${answer.text}`)
  if (codes.length > 0)
    assert(codes.includes(answer.codes[0]!), `${body.slice(0, 500)} => ${answer.text}`)
  assert(answer.text.length < 5_000, `${answer.text.length} characters say what is wrong`)
  assert.equal(await everythingIn(name), before, body.slice(0, 500))
}

/** Commands that store a field (JSON) in a document. */
const storing = (field: string) => [
  `{"insertOne":{"document":{"_id":"new",${field}}}}`,
  `{"insertMany":{"documents":[{"_id":"new",${field}}]}}`,
  `{"findOneAndReplace":{"filter":{"_id":"old"},"replacement":{${field}}}}`,
  `{"updateOne":{"filter":{"_id":"old"},"update":{"$set":{${field}}}}}`,
  `{"updateMany":{"filter":{"n":2},"update":{"$set":{${field}}}}}`,
  `{"findOneAndUpdate":{"filter":{"_id":"up"},"update":{"$setOnInsert":{${field}}},` +
    '"options":{"upsert":true}}}',
]

/** Commands that search by a sort (JSON). */
const searching = (sort: string) => [
  `{"find":{"sort":${sort}}}`,
  `{"find":{"sort":${sort},"filter":{"n":1},"options":{"limit":5}}}`,
  `{"findOne":{"sort":${sort}}}`,
  `{"updateOne":{"sort":${sort},"update":{"$set":{"hit":true}}}}`,
  `{"deleteOne":{"filter":{},"sort":${sort}}}`,
  `{"findOneAndUpdate":{"sort":${sort},"update":{"$set":{"hit":true}}}}`,
  `{"findOneAndReplace":{"sort":${sort},"replacement":{}}}`,
  `{"findOneAndDelete":{"sort":${sort}}}`,
]

const rerankingBy = (hybrid: string, options = '"rerankOn":"$lexical","rerankQuery":"q"') =>
  `{"findAndRerank":{"sort":{"$hybrid":${hybrid}},"options":{${options}}}}`

const binary = (...numbers: number[]) => JSON.stringify(binaryOf(numbers))
const zeros = (count: number) => `[${Array.from({ length: count }, () => '0.5').join()}]`

describe('vectors', () => {
  const badSize = 'SHRED_BAD_VECTOR_SIZE'
  const badValue = 'SHRED_BAD_VECTOR_VALUE'
  const badType = 'SHRED_BAD_DOCUMENT_VECTOR_TYPE'
  const badBinary = 'SHRED_BAD_BINARY_VECTOR_VALUE'
  const badLength = 'INVALID_VECTOR_LENGTH'

  /** Invalid vectors as JSON, with their error codes. */
  const vectors: readonly (readonly [string, string])[] = [
    ['[]', badSize],
    ['[1]', badLength],
    ['[1,2]', badLength],
    ['[1,2,3,4]', badLength],
    [zeros(4_096), badLength],
    ['[1,2,"3"]', badValue],
    ['[1,2,"NaN"]', badValue],
    ['[1,2,null]', badValue],
    ['[1,true,3]', badValue],
    ['[1,2,[3]]', badValue],
    ['[[1,2,3]]', badValue],
    ['[{},{},{}]', badValue],
    ['[1,2,{"$date":3}]', badValue],
    ['[1e39,0,0]', badValue],
    ['[1,-1e39,0]', badValue],
    ['[1e400,0,0]', badValue],
    ['[0,0,-1e999999999]', badValue],
    ['[1,1.00001e17,0]', badValue],
    [binary(1, NaN, 0), badValue],
    [binary(1, 0, Infinity), badValue],
    [binary(-Infinity, 0, 1), badValue],
    [binary(1), badLength],
    [binary(1, 2), badLength],
    [binary(1, 2, 3, 4), badLength],
    ['5', badType],
    ['"text"', badType],
    ['"[1,2,3]"', badType],
    ['true', badType],
    ['{}', badType],
    ['{"0":1,"1":2,"2":3}', badType],
    ['{"$binary":"AAAA","x":1}', badType],
    ['{"$date":1}', badType],
    ['{"$binary":null}', badBinary],
    ['{"$binary":5}', badBinary],
    ['{"$binary":["AAAA"]}', badBinary],
    ['{"$binary":""}', badBinary],
    ['{"$binary":"A"}', badBinary],
    ['{"$binary":"AAA="}', badBinary],
    ['{"$binary":"AAAAA==="}', badBinary],
    ['{"$binary":"AAAAAA"}', badBinary],
    ['{"$binary":"!!!!!!!!"}', badBinary],
    ['{"$binary":"P4AAA D8="}', badBinary],
    ['{"$binary":"-_-_-_-_-_-_-_-_"}', badBinary],
    ['{"$binary":"\\ud800\\u0000AA"}', badBinary],
  ]
  const zeroVectors = ['[0,0,0]', '[-0,0.0,0e5]', '[1e-7,-1e-7,0]', '[1e-400,0,5e-324]']

  test('with invalid values are not stored', async () => {
    for (const [vector, code] of vectors)
      for (const command of storing(`"$vector":${vector}`))
        for (const name of ['cosine', 'euclidean'] as const)
          await refuse(name, command, code)
  })

  test('that are too long are not stored', async () => {
    for (const count of [4_097, 100_000])
      for (const command of storing(`"$vector":${zeros(count)}`))
        await refuse('cosine', command, 'SHRED_DOC_LIMIT_VIOLATION')
  })

  test('with only zeros are stored when the metric allows them', async () => {
    for (const vector of [...zeroVectors, binary(0, 0, 0)])
      for (const command of storing(`"$vector":${vector}`)) {
        await refuse('cosine', command, badValue)
        await accept('euclidean', command)
        await accept('euclidean', {
          deleteMany: { filter: { _id: { $in: ['new', 'up'] } } },
        })
        await accept(
          'euclidean',
          '{"updateMany":{"filter":{"_id":"bare"},"update":{"$unset":{"$vector":1}}}}',
        )
      }
  })

  test('with invalid values are rejected by searches', async () => {
    const asSort = (code: string) =>
      code === badType || code === badBinary ? 'SORT_CLAUSE_VALUE_INVALID' : code
    for (const [vector, code] of [...vectors, ['null', badType] as const])
      for (const command of searching(`{"$vector":${vector}}`))
        for (const name of ['cosine', 'euclidean'] as const)
          await refuse(name, command, asSort(code))
    for (const vector of zeroVectors)
      for (const command of searching(`{"$vector":${vector}}`))
        await refuse('cosine', command, badValue)
    for (const count of [4_097, 9_000, 50_000])
      for (const command of searching(`{"$vector":${zeros(count)}}`))
        await refuse('cosine', command)
  })

  test('with invalid values are rejected by $hybrid searches', async () => {
    for (const [vector, code] of vectors)
      await refuse('cosine', rerankingBy(`{"$vector":${vector},"$lexical":"old"}`), code)
    for (const vector of zeroVectors)
      await refuse(
        'cosine',
        rerankingBy(`{"$vector":${vector},"$lexical":"old"}`),
        badValue,
      )
  })

  test('are rejected by a collection without vectors', async () => {
    for (const command of storing('"$vector":[1,2,3]'))
      if (!command.includes('"old"') && !command.includes('"n":2'))
        await refuse('neither', command, 'VECTOR_SEARCH_NOT_SUPPORTED')
    for (const command of searching('{"$vector":[1,2,3]}'))
      await refuse('neither', command, 'VECTOR_SEARCH_NOT_SUPPORTED')
    await refuse(
      'neither',
      rerankingBy('{"$vector":[1,2,3],"$lexical":"x"}'),
      'UNSUPPORTED_VECTOR_SORT_FOR_COLLECTION',
      'UNSUPPORTED_RERANKING_COMMAND',
    )
  })

  test('at the limits of their type are stored and found', async () => {
    for (const [_id, $vector] of [
      ['tiny', [1.1e-6, 0, 0]],
      ['large', [1e17, -1e17, 1e17]],
      ['denormal', [1e-40, 1, 1e-44]],
      ['digits', [0.1234567890123456, 1 / 3, 2 / 3]],
    ] as const) {
      await accept('cosine', { insertOne: { document: { _id, $vector } } })
      const options = { includeSimilarity: true, limit: 1 }
      const { body } = await accept('cosine', {
        find: { sort: { $vector }, projection: { '*': 1 }, options },
      })
      assert.deepEqual(body.data!.documents, [{ _id, $vector, $similarity: 1 }])
      await accept('cosine', { deleteOne: { filter: { _id } } })
    }
  })

  test('and texts are not changed by paths into them, or by operators other than $set and $unset', async () => {
    for (const field of ['$vector', '$vectorize', '$lexical'])
      for (const update of [
        { $inc: { [field]: 1 } },
        { $mul: { [field]: 2 } },
        { $min: { [field]: 1 } },
        { $max: { [field]: [1, 2, 3] } },
        { $push: { [field]: 1 } },
        { $addToSet: { [field]: 1 } },
        { $pop: { [field]: 1 } },
        { $rename: { [field]: 'x' } },
        { $rename: { n: field } },
        { $currentDate: { [field]: true } },
        { $set: { [`${field}.0`]: 1 } },
        { $unset: { [`${field}.0`]: 1 } },
        { $set: { [`n.${field}`]: 1 } },
      ])
        for (const name of ['cosine', 'letters', 'neither'] as const)
          if (name !== 'neither' || !('$rename' in update)) await refuseOrPass(name, update)
  })

  /** Sends an update. It may succeed or fail, but must not change the document. */
  async function refuseOrPass(name: Name, update: object): Promise<void> {
    const before = known.get(name) ?? (await everythingIn(name))
    const answer = await send(name, { updateOne: { filter: { _id: 'old' }, update } })
    const changed = answer.body.status?.['modifiedCount'] ?? 0
    assert.equal(changed, 0, `${JSON.stringify(update)} => ${answer.text}`)
    assert.equal(await everythingIn(name), before)
  }
})

describe('texts', () => {
  const notText = ['5', '-1e400', 'true', '[]', '["word"]', '{}', '{"$date":1}', '[[[]]]']

  test('as $lexical must be strings', async () => {
    for (const value of notText)
      for (const command of storing(`"$lexical":${value}`))
        await refuse('cosine', command, 'SHRED_BAD_DOCUMENT_LEXICAL_TYPE')
  })

  test('as $vectorize must be strings and exclude $vector, or nothing is embedded', async () => {
    models.forget()
    for (const value of notText)
      for (const command of storing(`"$vectorize":${value}`))
        if (!command.includes('"n":2'))
          await refuse('letters', command, 'INVALID_VECTORIZE_VALUE_TYPE')
    for (const command of storing('"$vectorize":"a","$vector":[1,2]'))
      if (!command.includes('"n":2'))
        await refuse('letters', command, 'INVALID_USAGE_OF_VECTORIZE')
    assert.deepEqual(models.texts, [])
  })

  test('as $vectorize require a provider', async () => {
    for (const command of storing('"$vectorize":"text"'))
      await refuse('cosine', command, 'EMBEDDING_SERVICE_NOT_CONFIGURED')
    for (const command of searching('{"$vectorize":"text"}'))
      await refuse('cosine', command, 'EMBEDDING_SERVICE_NOT_CONFIGURED')
  })

  test('with an invalid type, or without terms, are rejected by searches', async () => {
    for (const value of [...notText, 'null'])
      for (const command of searching(`{"$lexical":${value}}`))
        await refuse('cosine', command, 'SORT_CLAUSE_INVALID')
    for (const value of [...notText, 'null', '""', '" \\n\\u2003"'])
      for (const command of searching(`{"$vectorize":${value}}`))
        await refuse('letters', command, 'SORT_CLAUSE_VALUE_INVALID')
    for (const value of ['""', '" "', '"?!"', '"\\u0000"', '"…"'])
      for (const command of searching(`{"$lexical":${value}}`))
        await refuse('cosine', command, 'SORT_CLAUSE_VALUE_INVALID')
  })

  test('in invalid conditions on search fields are rejected by filters', async () => {
    for (const filter of [
      ...notText.map((value) => `{"$lexical":{"$match":${value}}}`),
      '{"$lexical":{"$match":null}}',
      '{"$lexical":{"$match":"old","$ne":"x"}}',
      '{"$lexical":{"$in":["old"]}}',
      '{"$lexical":{"$exists":true}}',
      '{"$lexical":"old"}',
      '{"$lexical.0":"o"}',
      '{"$not":{"$lexical":{"$match":"old"}}}',
      '{"$or":[{"$not":{"$and":[{"$lexical":{"$match":"old"}}]}}]}',
      '{"n":{"$match":"old"}}',
      '{"$vector":{"$match":"old"}}',
      '{"$vector":[1,2,3]}',
      '{"$vector":{"$in":[[1,2,3]]}}',
      '{"$vector":{"$size":3}}',
      '{"$vectorize":"x"}',
      '{"$hybrid":"x"}',
      '{"$similarity":{"$gt":0.5}}',
    ])
      for (const command of [
        'find',
        'findOne',
        'countDocuments',
        'deleteMany',
        'deleteOne',
      ])
        await refuse(
          'cosine',
          `{"${command}":{"filter":${filter}}}`,
          'FILTER_INVALID_EXPRESSION',
        )
  })

  test('with too many bytes of terms are not stored', async () => {
    const { lexicalSizeMax } = defaultLimits
    const long = [
      'x '.repeat(lexicalSizeMax + 1),
      'abcd '.repeat(lexicalSizeMax / 4) + 'x',
      'é '.repeat(lexicalSizeMax / 2) + 'x',
      'x'.repeat(lexicalSizeMax + 1),
      '漢字'.repeat(2_000),
      'word '.repeat(200_000),
      'y'.repeat(1_000_000),
    ]
    for (const text of long)
      for (const command of storing(`"$lexical":${JSON.stringify(text)}`).slice(0, 4))
        await refuse(
          'cosine',
          command,
          'LEXICAL_CONTENT_TOO_LONG',
          'SHRED_DOC_LIMIT_VIOLATION',
        )
  })

  test('for searches may have as many bytes of terms as stored texts may, but no more', async () => {
    const { lexicalSizeMax } = defaultLimits
    const edge = Array.from({ length: lexicalSizeMax / 4 }, (_, n) => String(1000 + n))
    for (const [text, codes] of [
      [edge.join(' '), []],
      [[...edge, 'x'].join(' '), ['LEXICAL_CONTENT_TOO_LONG']],
    ] as const)
      for (const command of [
        { find: { sort: { $lexical: text } } },
        { find: { filter: { $lexical: { $match: text } } } },
        { deleteMany: { filter: { $lexical: { $match: text } } } },
      ])
        assert.deepEqual((await send('cosine', command)).codes, codes)
  })

  test('for searches can have any length', async () => {
    const distinct = Array.from({ length: 100_000 }, (_, n) => `w${n}`).join(' ')
    for (const text of [
      'old '.repeat(300_000),
      'x'.repeat(1_000_000),
      distinct,
      `old ${distinct}`,
      '?'.repeat(1_000_000),
      '漢'.repeat(200_000),
      '\ud800'.repeat(100_000),
    ])
      for (const command of [
        { find: { sort: { $lexical: text } } },
        { find: { filter: { $lexical: { $match: text } } } },
        { countDocuments: { filter: { $or: [{ $lexical: { $match: text } }, { n: 5 }] } } },
        { find: { sort: { $vector: [1, 0, 0] }, filter: { $lexical: { $match: text } } } },
      ]) {
        const answer = await send('cosine', command)
        assert(answer.text.length < 5_000, `${answer.text.length} characters`)
      }
  })

  test('with the syntax of query languages are searched as plain words', async () => {
    for (const [_id, text, found] of [
      ['operators', 'AND OR NOT NEAR', 'near AND not or'],
      ['quotes', '"quoted" \'single\' `tick`', '"single" quoted'],
      ['sql', "'; DROP TABLE doc; --", 'drop table DOC'],
      ['stars', 'pre* col:umn ^caret', 'caret pre col:umn'],
      ['names', '__proto__ constructor toString hasOwnProperty', 'constructor __proto__'],
      ['nul', 'before\u0000after', 'before after'],
      ['halves', 'left\ud800right \udc00', 'left right'],
      ['emoji', 'snow ☃ fire 🔥', 'fire snow'],
      ['joined', 'a\u200db e\u0301te\u0301', 'e\u0301te\u0301'],
      ['case', 'İSTANBUL STRASSE ΟΔΟΣ', 'strasse'],
      ['digits', '1,234.5 007 ١٢٣', '007'],
      ['long', 'z'.repeat(255), 'Z'.repeat(255)],
    ] as const) {
      await accept('cosine', {
        insertOne: { document: { _id, $lexical: text } },
      })
      for (const clauses of [
        { sort: { $lexical: found } },
        { filter: { $lexical: { $match: found } } },
      ]) {
        const { body } = await accept('cosine', { find: clauses })
        const ids = body.data!.documents!.map((document) => document['_id'])
        assert.deepEqual(ids, [_id], `${_id}: ${JSON.stringify(clauses)}`)
      }
      const { body } = await accept('cosine', {
        findOne: { filter: { _id }, projection: { $lexical: 1 } },
      })
      assert.equal(body.data!.document!['$lexical'], text)
      await accept('cosine', { deleteOne: { filter: { _id } } })
    }
  })

  test('are rejected by a collection without lexical search', async () => {
    const code = 'LEXICAL_NOT_ENABLED_FOR_COLLECTION'
    for (const command of storing('"$lexical":"words"'))
      if (!command.includes('"old"') && !command.includes('"n":2'))
        await refuse('neither', command, code)
    for (const command of searching('{"$lexical":"words"}'))
      await refuse('neither', command, code)
    await refuse('neither', '{"find":{"filter":{"$lexical":{"$match":"words"}}}}', code)
  })
})

describe('search fields below the root', () => {
  test('are rejected as field names', async () => {
    for (const field of ['$vector', '$vectorize', '$lexical', '$hybrid', '$similarity'])
      for (const value of ['[1,2,3]', '"text"', 'null'])
        for (const fields of [
          `"a":{"${field}":${value}}`,
          `"a":[{"${field}":${value}}]`,
          `"a":{"b":{"${field}":${value}}}`,
        ])
          for (const command of storing(fields).slice(0, 3))
            await refuse('cosine', command, 'SHRED_BAD_FIELD_NAME')
  })

  test('are rejected in projections, like paths into search fields', async () => {
    for (const projection of [
      '{"$vector.0":1}',
      '{"$lexical.x":0}',
      '{"$hybrid":1}',
      '{"$similarity":1}',
      '{"$vector":{"$slice":1}}',
      '{"a.$vector":1}',
      '{"$vector":"x"}',
    ])
      for (const command of [
        `{"find":{"projection":${projection}}}`,
        `{"find":{"sort":{"$vector":[1,2,3]},"projection":${projection}}}`,
        rerankingBy('{"$vector":[1,2,3],"$lexical":"old"}').replace(
          '"options"',
          `"projection":${projection},"options"`,
        ),
      ])
        await refuse('cosine', command)
  })
})

describe('$hybrid', () => {
  test('in a document is a text, null, or an object with $vectorize and $lexical', async () => {
    models.forget()
    for (const [value, code] of [
      ['5', 'HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE'],
      ['true', 'HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE'],
      ['["a"]', 'HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE'],
      ['{"a":"b"}', 'HYBRID_FIELD_UNKNOWN_SUBFIELDS'],
      ['{"$vector":[1,2]}', 'HYBRID_FIELD_UNKNOWN_SUBFIELDS'],
      ['{"$vectorize":"a","__proto__":"b"}', 'HYBRID_FIELD_UNKNOWN_SUBFIELDS'],
      ['{"$lexical":5}', 'HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE'],
      ['{"$vectorize":["a"]}', 'HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE'],
      ['{"$vectorize":{"$vectorize":"a"}}', 'HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE'],
      ['"a","$lexical":"b"', 'HYBRID_FIELD_CONFLICT'],
      ['null,"$vector":null', 'HYBRID_FIELD_CONFLICT'],
      ['{},"$vectorize":"b"', 'HYBRID_FIELD_CONFLICT'],
    ] as const)
      for (const command of storing(`"$hybrid":${value}`).slice(0, 3))
        await refuse('letters', command, code)
    for (const command of storing('"$hybrid":"a"').slice(3))
      await refuse('letters', command)
    assert.deepEqual(models.texts, [])
  })

  test('in a sort is a text or an object with the searches', async () => {
    const mismatch = 'REQUEST_STRUCTURE_MISMATCH'
    for (const value of [
      ...['5', 'true', '[]', '["a"]', '{"a":1}', '{"$vectorize":5}', '{"$lexical":[]}'],
      '{"$vectorize":"a","__proto__":1}',
      '{"$hybrid":"a"}',
      '{"$vectorize":{"$vectorize":"a"}}',
    ])
      await refuse('letters', rerankingBy(value), mismatch)
    for (const sort of [
      ...['5', '"a"', '[]', '{"n":1}', '{"$vector":[1,2]}', '{"$hybrid":"a","n":1}'],
      '{"$hybrid":"a","$vectorize":"a"}',
    ])
      await refuse('letters', `{"findAndRerank":{"sort":${sort}}}`, mismatch)
    for (const value of [
      ...['null', '""', '" \\t"', '{}', '{"$lexical":"a"}'],
      '{"$vector":[1,2],"$lexical":null}',
    ])
      await refuse('letters', `{"findAndRerank":{"sort":{"$hybrid":${value}}}}`)
    for (const sort of ['{"$hybrid":"a"}', '{"$hybrid":{"$vector":[1,2]}}'])
      for (const command of ['find', 'findOne'])
        await refuse(
          'letters',
          `{"${command}":{"sort":${sort}}}`,
          'SORT_CLAUSE_PATH_INVALID',
          'SORT_CLAUSE_INVALID',
        )
  })

  test('is rejected with options of wrong types or out of range', async () => {
    for (const options of [
      ...[
        '0',
        '-1',
        '101',
        '1e400',
        '-1e400',
        '1.5',
        '9007199254740993',
        '"5"',
        'true',
      ].map((number) => `"hybridLimits":${number}`),
      '"hybridLimits":[]',
      '"hybridLimits":[5,5]',
      '"hybridLimits":{}',
      '"hybridLimits":{"$vector":5}',
      '"hybridLimits":{"$vector":5,"$lexical":0}',
      '"hybridLimits":{"$vector":1e400,"$lexical":5}',
      '"hybridLimits":{"$vector":5,"$lexical":5,"$vectorize":5}',
      '"hybridLimits":{"$vector":5,"__proto__":5}',
      ...['0', '-1', '1001', '1e400', '1.5', '"5"', '[]'].map(
        (number) => `"limit":${number}`,
      ),
      ...['5', '{}', '[]', '"a..b"', '"$vector"', '"$hybrid"', '"."', '"&"'].map(
        (path) => `"rerankOn":${path}`,
      ),
      ...['5', '{}', '["a"]'].map((text) => `"rerankQuery":${text}`),
      '"includeScores":"yes"',
      '"includeSortVector":1',
      '"rerank":5',
      '"rerank":{}',
      '"rerank":{"provider":"nvidia"}',
      '"rerank":{"provider":"__proto__","modelName":"x"}',
      '"rerank":{"provider":"constructor","modelName":"constructor"}',
      '"skip":1',
      '"pageState":"x"',
    ])
      await refuse('letters', rerankingBy('"ab"', options))
  })

  test('with unusual texts is embedded, searched and reranked without a server error', async () => {
    for (const text of [
      '\u0000a',
      '\ud800',
      '💥'.repeat(1_000),
      'a'.repeat(100_000),
      '"\\',
    ])
      for (const options of ['', '"limit":1000000,"hybridLimits":100'])
        await accept(
          'letters',
          rerankingBy(JSON.stringify({ $vectorize: text, $lexical: 'ab' }), options),
        )
    for (const text of ['?', '\ud800', ' ! '])
      await refuse(
        'letters',
        rerankingBy(JSON.stringify(text)),
        'SORT_CLAUSE_VALUE_INVALID',
      )
  })

  test('is rejected with a rerankOn that leads to an array', async () => {
    await accept('letters', {
      insertOne: { document: { _id: 'odd', list: [1], $hybrid: 'ab' } },
    })
    await refuse(
      'letters',
      rerankingBy('"ab"', '"rerankOn":"list"'),
      'COMMAND_FIELD_VALUE_INVALID',
    )
    const one = await accept('letters', rerankingBy('"ab"', '"rerankOn":"list.0"'))
    assert.deepEqual(one.body.data!.documents, [{ _id: 'odd', list: [1] }])
    await accept('letters', { deleteOne: { filter: { _id: 'odd' } } })
  })
})

test('searches reject options of wrong types or ranges, and sorts that combine searches', async () => {
  for (const options of [
    ...['-1', '1.5', '"5"', '1001', '1e400', '[]', '{}'].map((limit) => `"limit":${limit}`),
    ...['0', '1', '-1', '1e400'].map((skip) => `"skip":${skip}`),
    '"pageState":"x"',
    '"includeSimilarity":"yes"',
    '"includeSortVector":0',
  ])
    await refuse('cosine', `{"find":{"sort":{"$vector":[1,2,3]},"options":{${options}}}}`)
  for (const sort of [
    '{"$vector":[1,2,3],"n":1}',
    '{"$vector":[1,2,3],"$lexical":"old"}',
    '{"$vector":[1,2,3],"__proto__":1}',
    '{"$lexical":"old","_id":1}',
    '{"$vectorize":"old","$lexical":"old"}',
  ])
    await refuse('cosine', `{"find":{"sort":${sort}}}`, 'SORT_CLAUSE_INVALID')
})
