/** Malformed and hostile requests to collections, and requests that reach or exceed a limit. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { packValue, unpackList, type Packable } from '../../src/json/packed.ts'
import { parseStored } from '../../src/json/parse.ts'
import { escapeSegment } from '../../src/language/values/path.ts'
import { LetterModels, lettersCollection } from '../commands/letter-models.ts'
import { startServer } from '../harness.ts'
import { defaultLimits } from '../../src/limits.ts'
import { mutationsOf } from './mutations.ts'
import { Random, seed } from './random.ts'
import { Suspect } from './suspect.ts'

const models = await LetterModels.start()
const { embeddingUrls, rerankingUrls } = models.settings
const suspect = new Suspect([
  ...['--embedding-urls', `openai=${embeddingUrls.get('openai')!}`],
  ...['--embedding-keys', 'openai=any'],
  ...['--reranking-urls', `nvidia=${rerankingUrls.get('nvidia')!}`],
])
after(() => models.close())
after((t) =>
  (t as { diagnostic(text: string): void }).diagnostic(`${suspect.inputs} inputs`),
)

const keyspace = '/default_keyspace'
let ids = 0

/** Inserts a document with these fields (JSON) and returns its _id. */
async function insert(fields: string): Promise<number> {
  const _id = ++ids
  const answer = await suspect.open(`{"insertOne":{"document":{"_id":${_id},${fields}}}}`)
  assert.equal(answer.text, `{"status":{"insertedIds":[${_id}]}}`)
  return _id
}

async function textOf(_id: number): Promise<string> {
  const answer = await suspect.open({ findOne: { filter: { _id } } })
  return /^\{"data":\{"document":(.*)\}\}$/s.exec(answer.text)![1]!
}

/** The ids of the documents that match a filter in JSON. */
async function find(filter: string, more = ''): Promise<unknown[]> {
  const answer = await suspect.open(`{"find":{"filter":${filter}${more}}}`)
  assert.deepEqual(answer.codes, [], answer.text)
  return answer.body.data!.documents!.map((document) => document['_id'])
}

async function refuseInsert(fields: string, code: string): Promise<void> {
  const _id = ++ids
  const answer = await suspect.open(`{"insertOne":{"document":{"_id":${_id},${fields}}}}`)
  assert.deepEqual(answer.codes, [code], answer.text.slice(0, 2_000))
  const found = await suspect.open({ findOne: { filter: { _id } } })
  assert.equal(found.text, '{"data":{"document":null}}')
}

const quote = (text: string) => JSON.stringify(text)

describe('bodies', () => {
  test('that are cut at any byte are rejected as invalid JSON', async () => {
    const whole = Buffer.from(
      '{"insertOne":{"document":{"_id":"é💥","n":-1.5e+10,"t":[true,null,"\\u00e9\\n"]}}}',
    )
    for (let size = 0; size < whole.length; size++)
      await suspect.refused(
        `${keyspace}/open`,
        whole.subarray(0, size),
        size === 0 ? 'COMMAND_FIELD_VALUE_INVALID' : 'REQUEST_NOT_JSON',
      )
  })

  test('that are not valid UTF-8 are rejected as invalid JSON', async () => {
    for (const bytes of ['ff', 'c3', 'c080', 'eda080', 'f4908080', 'e282', '80'])
      for (const place of ['"a":"X"', '"X":1', '"a":X']) {
        const [start, end] = `{"insertOne":{"document":{${place}}}}`.split('X')
        const body = Buffer.concat([
          Buffer.from(start!),
          Buffer.from(bytes, 'hex'),
          Buffer.from(end!),
        ])
        await suspect.refused(`${keyspace}/open`, body, 'REQUEST_NOT_JSON')
      }
    await suspect.refused(`${keyspace}/open`, '\ufeff{"find":{}}', 'REQUEST_NOT_JSON')
  })

  test('that are nested to any depth get a reply', async () => {
    for (const depth of [400, 10_000, 100_000])
      for (const [open, middle, close] of [
        ['[', '', ']'],
        ['{"a":', '1', '}'],
        ['{"$and":[', '{}', ']}'],
        ['{"$not":', '{}', '}'],
      ] as const) {
        const value = open.repeat(depth) + middle + close.repeat(depth)
        for (const body of [
          `{"find":{"filter":${value}}}`,
          `{"insertOne":{"document":{"a":${value}}}}`,
          `{"find":{"projection":${value}}}`,
          `{"updateOne":{"filter":{"a":1},"update":{"$set":{"a":${value}}}}}`,
          value,
          open.repeat(depth),
        ])
          await suspect.open(body)
      }
  })

  test('can be as large as the limit, and one byte more is rejected', async () => {
    const { bodySizeMax } = defaultLimits
    const answer = await suspect.open('{"countDocuments":{}}'.padEnd(bodySizeMax))
    assert.deepEqual(answer.codes, [])
    assert.equal((await suspect.open('{"find":{}}'.padEnd(bodySizeMax + 1))).http, 413)

    const server = await startServer({
      limits: { ...defaultLimits, documentLengthMax: 100, bodySizeMax: 500 },
    })
    const command = '{"findKeyspaces":{}}'
    assert.equal((await server.command('', command.padEnd(500))).http, 200)
    assert.equal((await server.command('', command.padEnd(501))).http, 413)
    await server.close()
  })

  test('with millions of elements in one list or object get a reply', async () => {
    const fill = (part: (n: number) => string, size = 3_000_000) => {
      const parts: string[] = []
      for (let length = 0; length < size; length += parts.at(-1)!.length + 1)
        parts.push(part(parts.length))
      return parts.join(',')
    }
    for (const body of [
      `{"find":{"filter":{${fill((n) => `"f${n}":1`)}}}}`,
      `{"find":{"filter":{"$or":[${fill(() => '{}')}]}}}`,
      `{"find":{"filter":{"a":{"$in":[${fill(String)}]}}}}`,
      `{"find":{"filter":{"a":{"$all":[${fill(String)}]}}}}`,
      `{"find":{"sort":{${fill((n) => `"f${n}":1`)}}}}`,
      `{"find":{"projection":{${fill((n) => `"f${n}":1`)}}}}`,
      `{"updateOne":{"filter":{"a":1},"update":{"$set":{${fill((n) => `"f${n}":1`)}}}}}`,
      `{"insertMany":{"documents":[${fill(() => '{}')}]}}`,
      `{"insertOne":{"document":{"a":[${fill(() => '[]')}]}}}`,
      `{"insertOne":{"document":{"a":"${'é'.repeat(9_000_000)}"}}}`,
      `{"${'x'.repeat(15_000_000)}":{}}`,
      `{"find":{"options":{"pageState":"${'A'.repeat(15_000_000)}"}}}`,
    ]) {
      const answer = await suspect.open(body)
      assert(answer.text.length < 5_000, `${body.slice(0, 50)}: ${answer.text.length}`)
    }
  })
})

describe('unusual names', () => {
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    'length',
    '__defineGetter__',
    '0',
    '10',
    '-1',
    '1e3',
    '4294967295',
    ' ',
    'a.b',
    '.',
    '&',
    '&.',
    '&[',
    '&"x',
    'é💥',
    '\u0000',
    'a\u0000b',
    '\u001f\u007f\u2028',
    '\ud800',
    'a\udc00b',
    '\udc00\ud800',
    '"quoted\\"',
    "'; DROP TABLE doc; --",
    '%s%n${x}',
    'n'.repeat(1_000),
  ]
  for (const name of names)
    test(`can be names of fields: ${quote(name.slice(0, 30))}`, async () => {
      const key = quote(name)
      const path = quote(escapeSegment(name))
      const nested = quote(`in.${escapeSegment(name)}`)
      const short = name.length < 400
      const fields = short ? `${key}:1,"in":{${key}:[${key}]}` : `${key}:1`
      const id = await insert(fields)
      assert.deepEqual(
        parseStored(await textOf(id)),
        parseStored(`{"_id":${id},${fields}}`),
      )

      assert.deepEqual(await find(`{${path}:1,"_id":${id}}`), [id])
      assert.deepEqual(await find(`{${path}:{"$exists":true}}`), [id])
      assert.deepEqual(await find(`{${path}:{"$gt":0}}`), [id])
      assert.deepEqual(await find(`{"$and":[{${path}:{"$in":[1]}}]}`), [id])
      if (short) assert.deepEqual(await find(`{${nested}:${key}}`), [id])
      assert.deepEqual(await find(`{"_id":${id}}`, `,"sort":{${path}:-1}`), [id])

      const project = async (value: 0 | 1) =>
        parseStored(
          (
            await suspect.open(
              `{"findOne":{"filter":{"_id":${id}},"projection":{${path}:${value}}}}`,
            )
          ).text,
        )
      const shown = (document: string) => parseStored(`{"data":{"document":${document}}}`)
      assert.deepEqual(await project(1), shown(`{"_id":${id},${key}:1}`))
      assert.deepEqual(
        await project(0),
        shown(short ? `{"_id":${id},"in":{${key}:[${key}]}}` : `{"_id":${id}}`),
      )

      for (const [update, value] of [
        [`"$inc":{${path}:2}`, '3'],
        [
          `"$set":{${path}:{${quote(name.slice(0, 3))}:null}}`,
          `{${quote(name.slice(0, 3))}:null}`,
        ],
        [`"$unset":{${path}:""}`, undefined],
        [`"$push":{${path}:5}`, '[5]'],
      ] as const) {
        const answer = await suspect.open(
          `{"updateOne":{"filter":{"_id":${id}},"update":{${update}}}}`,
        )
        if (name.length === 1_000 && value?.startsWith('{')) {
          assert.deepEqual(answer.codes, ['SHRED_DOC_LIMIT_VIOLATION'])
          continue
        }
        assert.deepEqual(answer.body.status, { matchedCount: 1, modifiedCount: 1 })
        const stored = parseStored(await textOf(id)) as Map<string, unknown>
        assert.deepEqual(
          stored.get(name),
          value === undefined ? undefined : parseStored(value),
        )
      }

      await suspect.refused(`${keyspace}/open`, `{${key}:{}}`, 'COMMAND_UNKNOWN')
      await suspect.refused(keyspace, `{${key}:{}}`, 'COMMAND_UNKNOWN')
      await suspect.refused('', `{${key}:{}}`, 'COMMAND_UNKNOWN')
      await suspect.refused(
        `${keyspace}/open`,
        `{"find":{${key}:1}}`,
        'COMMAND_FIELD_UNKNOWN',
      )
      await suspect.refused(
        `${keyspace}/open`,
        `{"find":{"options":{${key}:1}}}`,
        'COMMAND_FIELD_UNKNOWN',
      )
      await suspect.refused(
        keyspace,
        `{"createCollection":{"name":"x","options":{${key}:1}}}`,
        'INVALID_CREATE_COLLECTION_FIELD',
      )
      await suspect.refused(
        `${keyspace}/open`,
        `{"find":{"filter":{"a":{${quote(`$${name}`)}:1}}}}`,
        'FILTER_UNSUPPORTED_OPERATOR',
      )
      await suspect.refused(
        `${keyspace}/open`,
        `{"updateOne":{"filter":{},"update":{${key}:{"a":1}}}}`,
        'UNSUPPORTED_UPDATE_OPERATION',
      )
      // Skips the name ".": clients drop such a segment of a URL, even when it is percent-encoded.
      if (name.isWellFormed() && name !== '.') {
        const segment = encodeURIComponent(name).replaceAll('.', '%2E')
        await suspect.refused(`/${segment}`, '{"findCollections":{}}', 'UNKNOWN_KEYSPACE')
        await suspect.refused(
          `${keyspace}/${segment}`,
          '{"find":{}}',
          'UNKNOWN_COLLECTION_OR_TABLE',
        )
      }
    })

  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'catalog'])
    test(`can be names of a keyspace and a collection: ${name}`, async () => {
      await suspect.accepted('', { createKeyspace: { name } })
      await suspect.accepted(`/${name}`, { createCollection: { name } })
      await suspect.accepted(`/${name}/${name}`, { insertOne: { document: { _id: name } } })
      const found = await suspect.accepted(`/${name}/${name}`, { find: {} })
      assert.deepEqual(found.body.data!.documents, [{ _id: name }])
      const list = await suspect.accepted(`/${name}`, { findCollections: {} })
      assert.deepEqual(list.body.status, { collections: [name] })
      await suspect.accepted('', { dropKeyspace: { name } })
      await suspect.refused(`/${name}`, { findCollections: {} }, 'UNKNOWN_KEYSPACE')
    })

  test('are distinguished even if path and value of two fields have the same concatenation', async () => {
    // The index entries of both fields have the same bytes if path and value are concatenated.
    const id = await insert('"a":["zzz\\u0000\\u0010"],"a\\u00000zzz":null,"b":["x","x"]')
    assert.deepEqual(await find(`{"_id":${id},"a":"zzz\\u0000\\u0010"}`), [id])
    assert.deepEqual(await find('{"a":"zzz\\u0000\\u0010"}'), [id])
    assert.deepEqual(await find('{"a\\u00000zzz":null}'), [id])
    await suspect.open({ deleteOne: { filter: { _id: id } } })
    assert.deepEqual(await find('{"a":"zzz\\u0000\\u0010"}'), [])
  })

  test('that are empty, reserved or malformed are rejected', async () => {
    for (const fields of ['"":1', '"a":{"":1}', '"$a":1', '"a":{"$b":1}', '"*":1'])
      await refuseInsert(fields, 'SHRED_BAD_FIELD_NAME')
    for (const path of ['', '.', 'a.', '.a', 'a..b', '&', 'a&', '&x', 'a.&'])
      for (const body of [
        { find: { filter: { [path]: 1 } } },
        { find: { sort: { [path]: 1 } } },
        { find: { projection: { [path]: 1 } } },
        { updateOne: { filter: {}, update: { $set: { [path]: 1 } } } },
        { updateOne: { filter: {}, update: { $rename: { a: path } } } },
      ]) {
        const answer = await suspect.send(`${keyspace}/kept`, body)
        assert.equal(answer.codes.length, 1, `${path}: ${answer.text}`)
      }
  })

  test('that look like numbers keep their order', async () => {
    const fields = '"10":1,"2":{"1":1,"0":2,"b":3,"a":4},"1":3,"-0":4,"01":5,"a":6'
    const id = await insert(fields)
    assert.equal(await textOf(id), `{"_id":${id},${fields}}`)
    await suspect.open({
      updateOne: { filter: { _id: id }, update: { $set: { 2: 2, 0: 0 } } },
    })
    assert.equal(
      await textOf(id),
      `{"_id":${id},"10":1,"2":2,"1":3,"-0":4,"01":5,"a":6,"0":0}`,
    )
  })
})

describe('values', () => {
  test('are returned unchanged, whatever their kind', async () => {
    for (const value of [
      '"\\ud800"',
      '"a\\udc00b"',
      '"\\udc00\\ud800"',
      '"\\u0000"',
      '"\\u0000\\ud83d\\ude00\\u0000"',
      '""',
      '"\\u2028\\u2029\\u007f"',
      '[]',
      '{}',
      '[[],{},[[]],null]',
      '9007199254740993',
      '-9007199254740993',
      `1${'0'.repeat(99)}`,
      `0.${'1'.repeat(98)}`,
      `-${'9'.repeat(99)}`,
      '1e400',
      '-1e400',
      '1e-400',
      '5e-324',
      '2e-324',
      '1.7976931348623157e308',
      '1.7976931348623159e308',
      '1e999999999',
      '-1e-999999999',
      '0.1',
      '{"$date":9007199254740991}',
      '{"$date":-9007199254740991}',
      '{"$binary":""}',
      '{"$uuid":"ABCDEF00-0000-0000-0000-00000000000a"}',
      '{"$objectId":"ABCDEF000000000000000000"}',
    ]) {
      const id = await insert(`"v":${value},"list":[${value}]`)
      assert.deepEqual(
        parseStored(await textOf(id)),
        parseStored(`{"_id":${id},"v":${value},"list":[${value}]}`),
      )
      if (value.startsWith('{"$binary')) continue
      assert((await find(`{"v":{"$eq":${value}}}`)).includes(id), value)
      assert((await find(`{"_id":${id},"list":{"$all":[${value}]}}`)).includes(id), value)
      assert((await find(`{"_id":${id}}`, ',"sort":{"v":1,"list":-1}')).includes(id), value)
      await suspect.open(`{"deleteOne":{"filter":{"_id":${id}}}}`)
      assert(!(await find(`{"v":{"$eq":${value}}}`)).includes(id), value)
    }
  })

  test('that are scalars can be an _id, whatever their kind', async () => {
    for (const id of [
      '"\\ud800"',
      '"\\u0000"',
      '"__proto__"',
      '1e400',
      '-1e-400',
      `1${'0'.repeat(98)}1`,
      'false',
      'null',
      '{"$date":-1}',
    ]) {
      await suspect.accepted(`${keyspace}/open`, `{"insertOne":{"document":{"_id":${id}}}}`)
      const again = await suspect.open(`{"insertOne":{"document":{"_id":${id}}}}`)
      assert.deepEqual(again.codes, ['DOCUMENT_ALREADY_EXISTS'])
      const found = await suspect.open(`{"findOne":{"filter":{"_id":${id}}}}`)
      assert.deepEqual(
        parseStored(found.text),
        parseStored(`{"data":{"document":{"_id":${id}}}}`),
      )
      const gone = await suspect.open(`{"deleteOne":{"filter":{"_id":${id}}}}`)
      assert.deepEqual(gone.body.status, { deletedCount: 1 })
    }
    for (const id of ['[]', '{}', '{"$x":1}', '{"$date":1.5}', '""', '{"$binary":""}']) {
      const answer = await suspect.open(`{"insertOne":{"document":{"_id":${id}}}}`)
      assert.equal(answer.codes.length, 1, id)
    }
  })

  test('that are zero are equal in every notation, with and without a minus sign', async () => {
    for (const zero of ['-0', '-0.0', '0e5', '-0e-999999999', `0.${'0'.repeat(90)}`]) {
      const id = await insert(`"zero":${zero}`)
      assert.deepEqual(await find('{"zero":0}'), [id])
      assert.deepEqual(await find('{"zero":-0}'), [id])
      await suspect.open({ deleteOne: { filter: { _id: id } } })
    }
  })

  test('with 101 digits, or with exponents that are too large, are rejected everywhere', async () => {
    const long = '1'.repeat(101)
    for (const body of [
      `{"insertOne":{"document":{"a":${long}}}}`,
      `{"find":{"filter":{"a":${long}}}}`,
      `{"find":{"options":{"limit":${long}}}}`,
      `{"updateOne":{"filter":{},"update":{"$inc":{"a":-0.${'1'.repeat(99)}}}}}`,
    ])
      await suspect.refused(`${keyspace}/open`, body, 'SHRED_DOC_LIMIT_VIOLATION')
    for (const beyond of ['1e2147483648', '1e99999999999999999999', '-1e-9999999999'])
      await suspect.refused(
        `${keyspace}/open`,
        `{"find":{"filter":{"a":${beyond}}}}`,
        'SHRED_DOC_LIMIT_VIOLATION',
      )
  })

  test('cause at most a limit error in $inc and $mul, whatever their magnitude', async () => {
    for (const start of ['1', '0.1', '1e400', '-1e-400', '9'.repeat(100), '0'])
      for (const operator of ['$inc', '$mul'])
        for (const by of [
          '1e999999999',
          '-1e-999999999',
          '1e308',
          '1e-308',
          '-0',
          '3e400',
        ]) {
          const id = await insert(`"n":${start}`)
          for (let times = 0; times < 4; times++) {
            const before = await textOf(id)
            const answer = await suspect.open(
              `{"updateOne":{"filter":{"_id":${id}},"update":{"${operator}":{"n":${by}}}}}`,
            )
            if (answer.codes.length > 0) {
              assert.deepEqual(answer.codes, ['SHRED_DOC_LIMIT_VIOLATION'])
              assert.equal(await textOf(id), before)
            }
          }
          await suspect.open({ deleteOne: { filter: { _id: id } } })
        }
  })

  test('that are out of range get a reply as limit, skip or $size', async () => {
    const numbers = [
      '9007199254740991',
      '9007199254740993',
      '1e400',
      '-1',
      '0',
      '1.5',
      '1e15',
    ]
    for (const number of numbers)
      for (const options of [
        `"limit":${number}`,
        `"skip":${number}`,
        `"skip":${number},"limit":${number}`,
      ])
        for (const sort of ['{}', '{"n":1}', '{"_id":-1}'])
          await suspect.send(
            `${keyspace}/kept`,
            `{"find":{"sort":${sort},"options":{${options}}}}`,
          )
    for (const size of ['4294967298', '9007199254740993', '1e400', '4294967294', '1e9'])
      assert.deepEqual(
        await find(`{"$or":[{"tags":{"$size":${size}}}]}`).catch(() => []),
        [],
      )
    const found = await suspect.send(
      `${keyspace}/kept`,
      '{"find":{"filter":{"tags":{"$size":4294967298}}}}',
    )
    assert.deepEqual(found.body.data?.documents ?? [], [])
  })
})

describe('limits', () => {
  const list = (count: number, part: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => part(n)).join(',')
  const nested = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
  const grouped = (count: number) =>
    list(Math.ceil(count / 1_000), (group) => {
      const inner = Math.min(1_000, count - group * 1_000) - 1
      return `"g${group}":{${list(inner, (n) => `"f${n}":${n}`)}}`
    })

  for (const [what, most, fields] of [
    ['elements of an array', 1_000, (n) => `"a":[${list(n, String)}]`],
    ['properties of an object', 1_000, (n) => `"a":{${list(n, (i) => `"f${i}":1`)}}`],
    // The _id counts as a property too.
    ['properties of a document', 2_000, (n) => grouped(n - 1)],
    ['levels', 16, (n) => `"a":${nested(n - 1)}`],
    ['levels of arrays', 16, (n) => `"a":${'['.repeat(n - 1)}${']'.repeat(n - 1)}`],
    ['characters of a path', 1_000, (n) => `"${'k'.repeat(n)}":1`],
    ['characters of a nested path', 1_000, (n) => `"a":{"${'k'.repeat(n - 2)}":1}`],
    ['bytes of a string', 8_000, (n) => `"a":"${'x'.repeat(n)}"`],
    [
      'bytes of two-byte characters',
      8_000,
      (n) => `"a":"${'é'.repeat(3_999)}${'x'.repeat(n - 7_998)}"`,
    ],
    [
      'bytes of three-byte characters',
      8_000,
      (n) => `"a":"${'€'.repeat(2_600)}${'x'.repeat(n - 7_800)}"`,
    ],
    [
      'bytes of four-byte characters',
      8_000,
      (n) => `"a":"${'💥'.repeat(1_900)}${'x'.repeat(n - 7_600)}"`,
    ],
    [
      'bytes of lone surrogates',
      8_000,
      (n) => `"a":"${'\\ud800'.repeat(2_600)}${'x'.repeat(n - 7_800)}"`,
    ],
    ['bytes of an array element', 8_000, (n) => `"a":["${'x'.repeat(n)}"]`],
  ] as readonly (readonly [string, number, (n: number) => string])[])
    test(`${most} ${what} are stored, and one more is rejected`, async () => {
      const id = await insert(fields(most))
      assert.deepEqual(
        parseStored(await textOf(id)),
        parseStored(`{"_id":${id},${fields(most)}}`),
      )
      await refuseInsert(fields(most + 1), 'SHRED_DOC_LIMIT_VIOLATION')
      const replaced = await suspect.open(
        `{"findOneAndReplace":{"filter":{"_id":${id}},"replacement":{${fields(most + 1)}}}}`,
      )
      assert.deepEqual(replaced.codes, ['SHRED_DOC_LIMIT_VIOLATION'])
      await suspect.open({ deleteOne: { filter: { _id: id } } })
    })

  test('4 000 000 characters of a document are stored, and one more is rejected', async () => {
    await suspect.accepted(keyspace, {
      createCollection: { name: 'long', options: { indexing: { deny: ['a'] } } },
    })
    const document = (length: number) => {
      const text = '{"_id":"long","a":""}'
      return `{"insertOne":{"document":${text.replace('""', `"${'x'.repeat(length - text.length)}"`)}}}`
    }
    await suspect.refused(
      `${keyspace}/long`,
      document(4_000_001),
      'SHRED_DOC_LIMIT_VIOLATION',
    )
    await suspect.accepted(`${keyspace}/long`, document(4_000_000))
    const found = await suspect.accepted(`${keyspace}/long`, { findOne: {} })
    assert.equal(found.text.length, 4_000_000 + '{"data":{"document":}}'.length)
    await suspect.accepted(keyspace, { deleteCollection: { name: 'long' } })
  })

  test('100 values of $in or $nin are accepted, and one more is rejected', async () => {
    for (const operator of ['$in', '$nin']) {
      await find(`{"a":{"${operator}":[${list(100, String)}]}}`)
      await suspect.refused(
        `${keyspace}/open`,
        `{"find":{"filter":{"a":{"${operator}":[${list(101, String)}]}}}}`,
        'FILTER_INVALID_EXPRESSION',
      )
    }
  })

  test('64 comparisons in a filter are accepted, and one more is rejected', async () => {
    for (const filter of [
      (count: number) => `{${list(count, (n) => `"f${n}":${n}`)}}`,
      (count: number) => `{"$or":[${list(count, (n) => `{"f${n}":{"$ne":${n}}}`)}]}`,
      (count: number) =>
        `{"$not":{"$and":[${list(count - 1, (n) => `{"f${n}":1}`)}],"x":{"$gt":1}}}`,
    ]) {
      await find(filter(64))
      await suspect.refused(
        `${keyspace}/open`,
        `{"find":{"filter":${filter(65)}}}`,
        'FILTER_FIELDS_LIMIT_VIOLATION',
      )
    }
  })

  test('100 documents of insertMany are inserted, and one more is rejected', async () => {
    const documents = (count: number) =>
      `{"insertMany":{"documents":[${list(count, () => '{"many":1}')}]}}`
    await suspect.accepted(`${keyspace}/open`, documents(100))
    await suspect.refused(`${keyspace}/open`, documents(101), 'COMMAND_FIELD_VALUE_INVALID')
  })
})

describe('filters', () => {
  test('that are nested as deeply as JSON may be get a reply', async () => {
    for (const [open, close] of [
      ['{"$and":[', ']}'],
      ['{"$or":[', ']}'],
      ['{"$not":', '}'],
      ['{"$or":[{"$not":', '}]}'],
      ['{"$and":[{},', ']}'],
    ] as const)
      for (const inner of ['{"n":1}', '{"n":{"$ne":1}}', '{}', '{"tags":{"$all":["a"]}}']) {
        const depth = Math.floor(490 / (open.match(/[{[]/g)!.length || 1))
        const filter = open.repeat(depth) + inner + close.repeat(depth)
        for (const command of [
          `{"find":{"filter":${filter}}}`,
          `{"countDocuments":{"filter":${filter}}}`,
          `{"updateOne":{"filter":${filter},"update":{"$unset":{"nothing":1}}}}`,
        ])
          await suspect.send(`${keyspace}/kept`, command)
      }
    // The filter has 64 comparisons, one on each level. The limit is 64.
    let filter = '{"n":{"$gt":-100}}'
    for (let level = 1; level <= 63; level++)
      filter = `{"${level % 2 === 0 ? '$or' : '$and'}":[{"f${level}":{"$ne":1}},${filter}]}`
    await suspect.accepted(`${keyspace}/kept`, `{"find":{"filter":${filter}}}`)
  })

  test('with very long lists get a reply', async () => {
    const numbers = (count: number) =>
      `[${Array.from({ length: count }, (_, n) => n).join()}]`
    await insert(`"big":${numbers(1_000)}`)
    for (const count of [10, 999, 1_000, 1_001, 40_000])
      for (const filter of [
        `{"big":{"$all":${numbers(count)}}}`,
        `{"$not":{"big":{"$all":${numbers(count)}}}}`,
        `{"big":{"$eq":${numbers(count)}}}`,
        `{"$or":[{"big":{"$all":${numbers(count)}}},{"a":{"$all":${numbers(count)}}}]}`,
      ])
        for (const command of ['find', 'countDocuments'])
          await suspect.open(`{"${command}":{"filter":${filter}}}`)
    assert.equal((await find(`{"big":{"$all":${numbers(1_000)}}}`)).length, 1)
    assert.equal((await find(`{"big":{"$all":${numbers(1_001)}}}`)).length, 0)
  })

  test('with paths that match array positions and field names in many ways get a reply', async () => {
    const deep = '[[[[[[1,2],{"0":3}]]]]]'
    const id = await insert(`"p":${deep},"q":{"0":{"0":{"0":{"0":1}}}}`)
    assert.deepEqual(await find('{"p.0.0.0.0.0.1":2}'), [id])
    assert.deepEqual(await find('{"p.0.0.0.0.1.0":3}'), [id])
    assert.deepEqual(await find('{"q.0.0.0.0":1}'), [id])
    const values = Array.from({ length: 100 }, (_, n) => n).join()
    const comparisons = Array.from({ length: 64 }, (_, n) => {
      const path = `${n % 2 === 0 ? 'p' : 'q'}${'.0'.repeat(1 + (n % 4))}`
      return `{"${path}":{"${n % 3 === 0 ? '$nin' : '$in'}":[${values}]}}`
    })
    for (const operator of ['$and', '$or'])
      await suspect.open(`{"find":{"filter":{"${operator}":[${comparisons.join()}]}}}`)
  })

  test('in thousands of different shapes do not increase the memory of the server', async () => {
    const shape = (n: number) => {
      const parts = Array.from({ length: 12 }, (_, bit) =>
        (n >> bit) % 2 === 0 ? `{"n":{"$gt":${n}}}` : `{"tags":{"$in":["a","b","${n}"]}}`,
      )
      return `{"find":{"filter":{"$or":[${parts.join()}]},"sort":{"${n % 2 === 0 ? 'n' : 'tags'}":1}}}`
    }
    const run = async (from: number, to: number) => {
      for (let n = from; n < to; n += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            suspect.send(`${keyspace}/kept`, shape(n + i)),
          ),
        )
    }
    const memory = () => {
      const status = readFileSync(`/proc/${suspect.server.child.pid!}/status`, 'utf8')
      return Number(/VmRSS:\s*(\d+)/.exec(status)![1]) / 1024
    }
    await run(0, 1_500)
    const before = memory()
    await run(1_500, 4_000)
    assert(memory() - before < 100, `${before} MB grew to ${memory()} MB`)
  })
})

describe('updates', () => {
  test('at invalid paths and far array positions are rejected and change nothing', async () => {
    const id = await insert('"a":[1,2,3],"o":{},"s":"x"')
    const before = await textOf(id)
    for (const path of [
      'a.999999999',
      'a.1000',
      'a.99999999999999999999',
      'a.4294967295.b',
      `o.${'x.'.repeat(400)}y`,
      `o${'.x'.repeat(16)}`,
      's.0',
      'a.x',
      'a.-1',
      'a.01',
      'k'.repeat(1_001),
      `o.${'k'.repeat(1_000)}`,
    ])
      for (const update of [
        { $set: { [path]: 1 } },
        { $inc: { [path]: 1 } },
        { $push: { [path]: 1 } },
        { $addToSet: { [path]: 1 } },
        { $min: { [path]: 1 } },
        { $currentDate: { [path]: true } },
        { $rename: { s: path } },
      ]) {
        const answer = await suspect.open({ updateOne: { filter: { _id: id }, update } })
        assert.equal(answer.codes.length, 1, `${JSON.stringify(update)}: ${answer.text}`)
      }
    for (const update of [
      { $unset: { 'a.999999999': 1, [`${'x.'.repeat(400)}y`]: 1 } },
      { $pop: { 'a.999999999': 1 } },
      { $rename: { 'a.999999999': 'b' } },
    ])
      await suspect.open({ updateOne: { filter: { _id: id }, update } })
    assert.equal(await textOf(id), before)
  })

  test('with positions far out of range put elements first or last', async () => {
    const id = await insert('"a":[]')
    for (const [position, value] of [
      [1e9, 1],
      [Number.MAX_SAFE_INTEGER, 2],
      [-1e9, 0],
      [Number.MIN_SAFE_INTEGER, -1],
    ])
      await suspect.open({
        updateOne: {
          filter: { _id: id },
          update: { $push: { a: { $each: [value], $position: position } } },
        },
      })
    assert.equal(await textOf(id), `{"_id":${id},"a":[-1,0,1,2]}`)
  })

  test('that would make a document too large change nothing', async () => {
    const id = await insert('"a":[1]')
    const before = await textOf(id)
    const many = Array.from({ length: 1_001 }, (_, n) => n)
    for (const update of [
      { $push: { a: { $each: many } } },
      { $addToSet: { a: { $each: many } } },
      { $set: Object.fromEntries(many.map((n) => [`f${n}`, n])) },
      { $set: { b: 'x'.repeat(8_001) } },
    ]) {
      const answer = await suspect.open({ updateOne: { filter: { _id: id }, update } })
      assert.deepEqual(answer.codes, ['SHRED_DOC_LIMIT_VIOLATION'])
    }
    assert.equal(await textOf(id), before)
  })
})

describe('page states', () => {
  test('that are garbage, forged or from another query are rejected', async (t) => {
    t.diagnostic(`SEED=${seed}`)
    const random = new Random(seed)
    const documents = Array.from({ length: 50 }, (_, n) => ({ n, tag: n % 2 }))
    await suspect.accepted(keyspace, { createCollection: { name: 'paged' } })
    await suspect.accepted(`${keyspace}/paged`, { insertMany: { documents } })
    const find = (clauses: object, pageState?: string) =>
      suspect.send(`${keyspace}/paged`, { find: { ...clauses, options: { pageState } } })
    const queries = [
      {},
      { filter: { tag: { $gte: 0 } } },
      { filter: { n: { $gt: 3 }, tag: { $exists: true } } },
      { sort: { n: 1 } },
      { sort: { tag: -1, n: 1 }, filter: { n: { $lt: 49 } } },
    ]
    const states: string[] = []
    for (const query of queries) {
      const { nextPageState } = (await find(query)).body.data!
      states.push(nextPageState!)
    }
    for (const [i, query] of queries.entries())
      for (const [j, state] of states.entries())
        assert.deepEqual(
          (await find(query, state)).codes,
          i === j ? [] : ['COMMAND_FIELD_VALUE_INVALID'],
        )

    const garbage = ['x', '====', '\u0000', '💥', '[]', 'null', 'W10', 'bnVsbA', 'e30']
    for (const state of garbage)
      assert.deepEqual((await find({}, state)).codes, ['COMMAND_FIELD_VALUE_INVALID'])

    const positions = [
      '["n",1e308]',
      '["n",-5]',
      '["n",9007199254740991]',
      '["r","n","AAAA",1]',
      '["r","tag","",0]',
      '["r","\\ud800","!!!",-1]',
      '["s",[],1]',
      '["s",[[]],null]',
      '["s",[[1],[2],[3]],[]]',
      '["s",[[{"$date":"x"}]],{"a":1}]',
      '["s",5,1]',
      '['.repeat(100_000),
      '["n"]',
      '',
      ...[
        ['n', 1e308],
        ['n'],
        ['r', 'n', '', -1],
        ['r', '\ud800', '\u00ff', 1],
        ['s', [], 1],
        ['s', [undefined], null],
        ['s', [1, 2, 3], []],
        ['s', [1], [undefined]],
        ['s', [new Map([['$date', 'x']])], new Map([['a', 1]])],
      ].map((place) => `\u0002${packValue(place).toString('latin1')}`),
    ]
    for (const [i, query] of queries.entries()) {
      const bytes = Buffer.from(states[i]!, 'base64url').subarray(1)
      const parts = unpackList(bytes, { depthMax: 9, valuesMax: 99 })!
      const [count, name, ...place] = parts
      // `old` encodes page states as version 0.1 did, `today` as the current version does.
      const old = (...where: unknown[]) =>
        Buffer.from(JSON.stringify([1, count, name, ...where]))
      const today = (...all: Packable[]) =>
        Buffer.concat([Uint8Array.of(2), packValue(all)])
      const forged = [
        ...positions.flatMap((position) => [
          old('engine', position),
          today(count, name, 'engine', position),
        ]),
        old('sorted', [[1], [2]]),
        old('sorted', []),
        old('sorted', [[{ a: 1 }], [], [[]]]),
        today(count, name, 'sorted', [1, 2]),
        today(count, name, 'sorted', []),
        today(count, name, 'sorted', [new Map([['a', 1]]), undefined, []]),
        today(-1e15, name, ...place),
        today(1.5, name, ...place),
      ]
      for (const state of forged) await find(query, state.toString('base64url'))
      for (let n = 0; n < 40; n++) {
        const bytes = Buffer.from(states[i]!, 'base64url')
        bytes[random.below(bytes.length)] = random.below(256)
        await find(query, bytes.toString('base64url'))
        await suspect.send(`${keyspace}/paged`, {
          updateMany: {
            update: { $unset: { nothing: 1 } },
            options: { pageState: bytes.toString('base64url') },
          },
        })
      }
    }
    await suspect.accepted(keyspace, { deleteCollection: { name: 'paged' } })
  })
})

test('each of 800 commands with random faults gets a reply', async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const mutations = mutationsOf(new Random(seed))
  // A run sends few commands. Other runs have other seeds, so they send other commands.
  const count = 800
  const vector = { dimension: 3, metric: 'dot_product' }
  const options = { vector, indexing: { deny: ['unindexed'] } }
  for (const [name, made] of [
    ['fuzzed', options],
    ['embedded', lettersCollection],
  ] as const)
    await suspect.accepted(keyspace, { createCollection: { name, options: made } })
  for (let sent = 0; sent < count; sent += 16)
    await Promise.all(
      Array.from({ length: 16 }, () => {
        const { path, body } = mutations.next().value
        return suspect.send(path, body)
      }),
    )
})
