/** Malformed and hostile commands on tables, and commands that reach or exceed a limit. */
import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { parseStored } from '../../src/json/parse.ts'
import type { Value } from '../../src/json/value.ts'
import { LetterModels } from '../commands/letter-models.ts'
import { Random, seed } from './random.ts'
import type { ProcessAnswer } from './server-process.ts'
import { Suspect } from './suspect.ts'
import { fuzzedTable, validCommands, variantsOf } from './table-variants.ts'

const models = await LetterModels.start()
const { embeddingUrls } = models.settings

const keyspace = '/default_keyspace'
const keptRows = [
  { id: 'kept-1', n: 2, s: ['x'], m: { '': 1 }, v: [1, 2] },
  { id: 'kept-1', n: 1, t: 'naïve 💥 \u0000 \\ "' },
]

const suspect = new Suspect(
  [
    ...['--embedding-urls', `openai=${embeddingUrls.get('openai')!}`],
    ...['--embedding-keys', 'openai=any', '--page-size', '1000'],
  ],
  async () => {
    await create('kept_rows', {
      columns: {
        id: 'text',
        n: 'int',
        t: 'text',
        s: { type: 'set', valueType: 'text' },
        m: { type: 'map', keyType: 'text', valueType: 'int' },
        v: { type: 'vector', dimension: 2 },
      },
      primaryKey: { partitionBy: ['id'], partitionSort: { n: -1 } },
    })
    const documents = keptRows
    await suspect.accepted(`${keyspace}/kept_rows`, { insertMany: { documents } })
  },
  // Allows no error of the family SERVER, because the client causes every fault in these commands.
  [],
)
after(() => models.close())
after((t) =>
  (t as { diagnostic(text: string): void }).diagnostic(`${suspect.inputs} inputs`),
)
afterEach(async () => {
  const find = { filter: { id: 'kept-1' } }
  const { body } = await suspect.server.command(`${keyspace}/kept_rows`, { find })
  assert.deepEqual(body.data!.documents, keptRows)
})

async function create(name: string, definition: object): Promise<void> {
  await suspect.accepted(keyspace, { createTable: { name, definition } })
}

describe(`variants of a command, each with one change, are answered, and change nothing if rejected (seed ${seed}):`, () => {
  const random = new Random(seed)
  const path = '/fuzz'
  const table = '/fuzz/fuzzed'

  /** Restores the initial state, so that each command starts from it. */
  async function prepare(): Promise<void> {
    await suspect.accepted('', { dropKeyspace: { name: 'fuzz' } })
    await suspect.accepted('', { createKeyspace: { name: 'fuzz' } })
    const fields = { street: 'text', zip: 'int' }
    await suspect.accepted(path, {
      createType: { name: 'address', definition: { fields } },
    })
    await suspect.accepted(path, {
      createTable: { name: 'fuzzed', definition: fuzzedTable },
    })
    for (const command of [
      { createVectorIndex: { name: 'by_v', definition: { column: 'v' } } },
      { createTextIndex: { name: 'by_t', definition: { column: 't' } } },
      { createIndex: { name: 'by_l', definition: { column: 'l' } } },
      { createIndex: { name: 'by_spare', definition: { column: 'big' } } },
      {
        insertMany: {
          documents: [
            { id: 'a', n: 1, l: ['x'] },
            { id: 'b', n: 5, d: 2 },
          ],
        },
      },
    ])
      await suspect.accepted(table, command)
  }

  /** The state that a rejected command must not change. */
  async function readState(): Promise<string> {
    const explain = { options: { explain: true } }
    const answers = [
      await suspect.accepted(path, { listTables: explain }),
      await suspect.accepted(path, { listTypes: explain }),
      await suspect.accepted(table, { listIndexes: explain }),
      await suspect.accepted(table, { find: {} }),
    ]
    // Omits warnings, because they contain generated ids.
    return answers
      .map(({ body: { data, status } }) => {
        return JSON.stringify([data, { ...status, warnings: undefined }])
      })
      .join('\n')
  }

  for (const { level, command } of validCommands)
    test(JSON.stringify(command).slice(1, 70), async () => {
      const target = level === 'table' ? table : path
      await prepare()
      let state = await readState()
      // Each run tests a random half of the variants.
      const variants = [...variantsOf(command, random)].filter(() => random.oneIn(2))
      for (let at = 0; at < variants.length; at += 16) {
        const bodies = variants.slice(at, at + 16)
        const answers = await Promise.all(bodies.map((body) => suspect.send(target, body)))
        const now = await readState()
        if (answers.every(isRefused))
          assert.equal(
            now,
            state,
            `changed by one of\n${bodies.join('\n').slice(0, 5_000)}`,
          )
        state = now
      }
      await prepare()
      await suspect.accepted(target, command)
    })
})

/**
 * Whether a command had no effect. An insertMany with errors may still have inserted its valid
 * rows.
 */
function isRefused({ codes, body: { status = {} } }: ProcessAnswer): boolean {
  const isPartly = 'insertedIds' in status || 'documentResponses' in status
  return codes.length > 0 && !isPartly
}

/** Values that each column type accepts, as JSON. */
const types: Readonly<Record<string, readonly string[]>> = {
  ascii: ['"a"', '""'],
  bigint: ['1', '9223372036854775807', '-9223372036854775808'],
  blob: ['{"$binary":"AAAA"}', '{"$binary":""}'],
  boolean: ['true', 'false'],
  date: ['"2024-02-29"', '"-0001-01-01"', '"+500000-12-31"'],
  decimal: ['1.5', '1e400', '-1e-400', '0.10', '-0.0', '1e999999', '9'.repeat(100)],
  double: ['1.5', '"NaN"', '"-Infinity"', '-0.0', '5e-324'],
  float: ['1.5', '"Infinity"', '1e-50'],
  inet: ['"127.0.0.1"', '"::1"', '"::ffff:1.2.3.4"'],
  int: ['1', '2147483647', '-2147483648', '5.00', '1.2E+02'],
  smallint: ['1', '-32768'],
  text: ['"a"', '""', '"\\u0000"', '"\\ud800"', '"\\ue000"', '"\\ud83d\\ude00"', '"a.b"'],
  time: ['"23:59:59.999999999"', '"00:00"'],
  timestamp: ['"2024-09-24T14:06:59.123Z"', '{"$date":-1}', '{"$date":8640000000000000}'],
  tinyint: ['1', '127'],
  uuid: [
    '"00000000-0000-4000-8000-00000000000a"',
    '"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"',
  ],
  varint: ['1', '9'.repeat(100), `-${'9'.repeat(99)}`, '1e50', '0'],
}

/** Values of all types. Each column type accepts only some of them. */
const anything: readonly string[] = [
  ...new Set(Object.values(types).flat()),
  ...['1e999999999', '-1e-999999999', '1e2147483648', '1e-2147483649', '-0', '1.0000001'],
  ...[
    '128',
    '32768',
    '2147483648',
    '9223372036854775808',
    '9'.repeat(101),
    `0.${'1'.repeat(99)}`,
  ],
  ...[
    '"é"',
    '"1"',
    '"nan"',
    '"+Infinity"',
    '" "',
    '"2024-02-30"',
    '"0000-00-00"',
    '"24:00"',
  ],
  ...['"+2000-01-01"', '"9999999999-01-01"', '"2024-01-01"', '"2024-01-01T00:00:00"'],
  ...[
    '"1.2.3.4/8"',
    '"1.2.3"',
    '"::1%eth0"',
    '"127.1"',
    '1e39',
    '"localhost"',
    '"256.1.1.1"',
    '"P1Y2M"',
    '"1y-2mo"',
  ],
  ...['"P"', '"-PT0S"', `"${'9'.repeat(30)}y"`, '"00000000-0000-4000-8000-00000000000"'],
  ...[
    '{"$binary":"AAAAAA"}',
    '{"$binary":5}',
    '{"$date":"x"}',
    '{"$date":1e300}',
    '{"$date":1.5}',
  ],
  ...[
    '{"$uuid":"x"}',
    '{"$objectId":"0123456789abcdef01234567"}',
    '{"a":1}',
    '[]',
    '[1]',
    'null',
  ],
  ...['{}', '[["a",1]]', '[[]]', '{"":""}', '"__proto__"', '{"__proto__":1}'],
]

describe(`values of every kind in columns of every type (seed ${seed})`, () => {
  const random = new Random(seed)
  for (const [type, own] of Object.entries(types))
    test(`get a reply, and find their rows when they are valid keys: ${type}`, async () => {
      const table = `v_${type}`
      const path = `${keyspace}/${table}`
      const field = { createType: { name: table, definition: { fields: { f: type } } } }
      await suspect.accepted(keyspace, field)
      await create(table, {
        columns: {
          p: type,
          c: type,
          x: type,
          y: type,
          l: { type: 'list', valueType: type },
          s: { type: 'set', valueType: type },
          k: { type: 'map', keyType: type, valueType: 'int' },
          m: { type: 'map', keyType: 'text', valueType: type },
          u: { type: 'userDefined', udtName: table },
        },
        primaryKey: { partitionBy: ['p'], partitionSort: { c: 1 } },
      })
      if (type !== 'blob')
        for (const column of ['y', 's', 'm', 'k'])
          await suspect.accepted(path, {
            createIndex: { name: `${table}_${column}`, definition: { column } },
          })
      const [first] = own
      const send = (body: string) => suspect.send(path, body)
      await Promise.all(
        anything.flatMap((value) => {
          const key = `"p":${first},"c":${first}`
          const pairs = `"k":[[${value},1],[${value},2]]`
          return [
            ...['x', 'y'].map((column) => `{${key},"${column}":${value}}`),
            `{${key},"l":[${value},${first}]}`,
            `{${key},"s":[${value},${value}]}`,
            `{${key},${pairs}}`,
            `{${key},"k":{${value.startsWith('"') ? value : '"k"'}:1}}`,
            `{${key},"m":{"k":${value}}}`,
            `{${key},"u":{"f":${value}}}`,
            `{"p":${value},"c":${value},"x":${first}}`,
          ]
            .map((document) => `{"insertOne":{"document":${document}}}`)
            .concat(
              ['x', 'y', 'c'].flatMap((column) => [
                `{"find":{"filter":{"${column}":${value}}}}`,
                `{"find":{"filter":{"${column}":{"$gt":${value}}}}}`,
                `{"find":{"filter":{"${column}":{"$nin":[${value}]}}}}`,
              ]),
              ['l', 's', 'm', 'k'].map(
                (column) => `{"find":{"filter":{"${column}":{"$in":[${value}]}}}}`,
              ),
              `{"find":{"filter":{"k":{"$keys":{"$all":[${value}]}}}}}`,
              `{"find":{"filter":{"m":{"$values":{"$nin":[${value}]}}}}}`,
              `{"find":{"sort":{"x":${value}}}}`,
              `{"updateOne":{"filter":{${key}},"update":{"$set":{"x":${value}}}}}`,
              `{"updateOne":{"filter":{${key}},"update":{"$push":{"l":${value},"s":${value}}}}}`,
              `{"updateOne":{"filter":{${key}},"update":{"$push":{"k":[${value},5]}}}}`,
              `{"updateOne":{"filter":{${key}},"update":{"$pullAll":{"l":[${value}],"k":[${value}]}}}}`,
              `{"deleteOne":{"filter":{"p":${value},"c":${value}}}}`,
              `{"deleteMany":{"filter":{"p":${value},"c":{"$lte":${value}}}}}`,
            )
            .filter(() => random.oneIn(12))
            .map(send)
        }),
      )
      await suspect.accepted(path, '{"deleteMany":{}}')
      // If a value can be a key, it finds its own row again, and no other row.
      for (const value of own) {
        const key = `"p":${value},"c":${value}`
        const { codes, body } = await send(
          `{"insertOne":{"document":{${key},"x":${first}}}}`,
        )
        if (value === '""' || value === '{"$binary":""}')
          assert.deepEqual(codes, ['INVALID_COLUMN_VALUES'])
        else {
          assert.deepEqual(codes, [], value)
          const found = await suspect.accepted(path, `{"find":{"filter":{${key}}}}`)
          assert.equal(found.body.data!.documents!.length, 1, value)
          const [id] = body.status!['insertedIds'] as unknown[][]
          assert.equal(id!.length, 2)
        }
      }
      const all = await suspect.accepted(path, '{"find":{}}')
      const kept = own.filter((value) => value !== '""' && value !== '{"$binary":""}')
      assert.equal(all.body.data!.documents!.length, kept.length, all.text)
      await suspect.accepted(keyspace, { dropTable: { name: table } })
      await suspect.accepted(keyspace, { dropType: { name: table } })
    })
})

/**
 * Names that programs often mishandle: names with a meaning in JavaScript, SQL or paths, names with
 * unusual characters, and long names.
 */
const oddNames = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'length'],
  ...['0', '10', '-1', '1e3', ' x', 'a.b', '.', '&', '$', '$set', '$eq', '$binary', '*'],
  ...['_id', 'é💥', '\u0000', 'a\u0000b', 'x\u2028', '\ud800', 'a\udc00b', '\udc00\ud800'],
  ...['"quoted\\"', "'; DROP TABLE doc; --", 'c1', 'c1k', 'n'.repeat(300)],
]

/** Whether a column or field may have this name. Names of operators and "*" are excluded. */
const mayBeColumn = (name: string) => !name.startsWith('$') && name !== '*'
const oddColumns = oddNames.filter(mayBeColumn)

describe('odd names', () => {
  test('can be names of columns, unless they are empty, too long or names of operators', async () => {
    for (const name of ['$', '$set', '*', '', ' ', 'n'.repeat(1_001)]) {
      const definition = { columns: { id: 'int', [name]: 'int' }, primaryKey: 'id' }
      const body = { createTable: { name: 'odd_columns', definition } }
      await suspect.refused(keyspace, body, 'UNSUPPORTED_SCHEMA_NAME')
    }
    const columns = `{"id":"text",${oddColumns.map((name) => `${quote(name)}:"int"`).join()}}`
    const definition = `{"columns":${columns},"primaryKey":"id"}`
    await suspect.accepted(
      keyspace,
      `{"createTable":{"name":"odd_columns","definition":${definition}}}`,
    )
    const path = `${keyspace}/odd_columns`
    const values = oddColumns.map((name, n) => `${quote(name)}:${n}`).join()
    await suspect.accepted(path, `{"insertOne":{"document":{"id":"all",${values}}}}`)
    const all = parseStored(`{"id":"all",${values}}`)
    assert.deepEqual(sortedFields(await documentOf(path, '{}')), sortedFields(all))

    for (const [n, name] of oddColumns.entries()) {
      const key = quote(name)
      const filter = `{${key}:{"$gte":${n},"$lte":${n}}}`
      assert.notEqual(await documentOf(path, `{"filter":${filter}}`), null, name)
      const sorted = await suspect.accepted(path, `{"find":{"sort":{${key}:-1}}}`)
      assert.equal(sorted.body.data!.documents!.length, 1)
      const shown = await documentOf(path, `{"projection":{${key}:1}}`)
      assert.deepEqual(shown, parseStored(`{${key}:${n}}`))
      for (const [update, value] of [
        [`"$set":{${key}:-5}`, -5],
        [`"$unset":{${key}:1}`, undefined],
      ] as const) {
        const command = `{"updateOne":{"filter":{"id":"all"},"update":{${update}}}}`
        await suspect.accepted(path, command)
        const row = (await documentOf(path, '{}')) as Map<string, unknown>
        assert.equal(row.get(name), value)
      }
    }
    for (const [n, name] of oddColumns.entries()) {
      const index = { name: `odd_${n}`, definition: { column: name } }
      await suspect.accepted(path, { createIndex: index })
      await suspect.accepted(path, { dropIndex: { name: `odd_${n}` } })
    }
    const drop = `{"alterTable":{"operation":{"drop":{"columns":[${oddColumns.map(quote).join()}]}}}}`
    await suspect.accepted(path, drop)
    assert.deepEqual(await documentOf(path, '{}'), parseStored('{"id":"all"}'))
  })

  test('can be map keys, names of fields, and texts', async () => {
    const fields = `{${oddColumns.map((name) => `${quote(name)}:"int"`).join()}}`
    await suspect.accepted(
      keyspace,
      `{"createType":{"name":"odd_fields","definition":{"fields":${fields}}}}`,
    )
    await create('odd_values', {
      columns: {
        id: 'text',
        c: 'text',
        m: { type: 'map', keyType: 'text', valueType: 'int' },
        u: { type: 'userDefined', udtName: 'odd_fields' },
        l: { type: 'list', valueType: 'text' },
      },
      primaryKey: { partitionBy: ['id'], partitionSort: { c: 1 } },
    })
    const path = `${keyspace}/odd_values`
    for (const column of ['m', 'l'])
      await suspect.accepted(path, {
        createIndex: { name: `ov_${column}`, definition: { column } },
      })
    const documents = oddNames.map((name) => {
      const key = quote(name)
      return `{"id":${key},"c":${key},"m":{${key}:1}${mayBeColumn(name) ? `,"u":{${key}:2}` : ''},"l":[${key}]}`
    })
    await suspect.accepted(path, `{"insertMany":{"documents":[${documents.join()}]}}`)
    for (const [at, name] of oddNames.entries()) {
      const key = quote(name)
      for (const filter of [
        `{"id":${key},"c":${key}}`,
        `{"m":{"$in":[[${key},1]]}}`,
        `{"m":{"$keys":{"$in":[${key}]}}}`,
        `{"l":{"$all":[${key}]}}`,
        `{"c":{"$gte":${key},"$lte":${key}}}`,
      ]) {
        const found = await suspect.accepted(path, `{"find":{"filter":${filter}}}`)
        const text = /^\{"data":\{"documents":(\[.*\]),"nextPageState":null\}/s.exec(
          found.text,
        )
        const rows = parseStored(text![1]!) as unknown[]
        assert.equal(rows.length, 1, filter)
        assert.deepEqual(sortedFields(rows[0]), sortedFields(parseStored(documents[at]!)))
      }
    }
    const rename = `{"alterType":{"name":"odd_fields","rename":{"fields":{${oddColumns
      .map((name, n) => `${quote(name)}:"f${n}"`)
      .join()}}}}}`
    await suspect.accepted(keyspace, rename)
    const [first] = oddNames
    const renamed = await documentOf(path, `{"filter":{"id":${quote(first!)}}}`)
    assert.deepEqual((renamed as Map<string, unknown>).get('u'), parseStored('{"f0":2}'))
  })

  test('are accepted for tables, types and indexes only when they are identifiers', async () => {
    const definition = { columns: { id: 'int', x: 'int' }, primaryKey: 'id' }
    const fields = { f: 'int' }
    for (const name of ['constructor', '__proto__', 'toString', 'catalog', '0', '_']) {
      await create(name, definition)
      await suspect.accepted(keyspace, { createType: { name, definition: { fields } } })
      const index = { createIndex: { name, definition: { column: 'x' } } }
      await suspect.accepted(`${keyspace}/${name}`, index)
      await suspect.accepted(`${keyspace}/${name}`, {
        insertOne: { document: { id: 1, x: 2 } },
      })
      const found = await suspect.accepted(`${keyspace}/${name}`, {
        find: { filter: { x: 2 } },
      })
      assert.deepEqual(found.body.data!.documents, [{ id: 1, x: 2 }])
      await suspect.accepted(keyspace, { dropIndex: { name } })
      await suspect.accepted(keyspace, { dropTable: { name } })
      await suspect.accepted(keyspace, { dropType: { name } })
    }
    const wrong = [
      'a b',
      'a-b',
      'é',
      'a.b',
      '../x',
      '\u0000',
      '\ud800',
      'x'.repeat(101),
      ' ',
    ]
    const kept = `${keyspace}/kept_rows`
    for (const name of [...wrong, 'x'.repeat(49)]) {
      await suspect.refused(
        keyspace,
        { createTable: { name, definition } },
        'UNSUPPORTED_SCHEMA_NAME',
      )
      await suspect.refused(
        keyspace,
        { createType: { name, definition: { fields } } },
        'UNSUPPORTED_SCHEMA_NAME',
      )
      await suspect.refused(keyspace, { dropTable: { name } }, 'CANNOT_DROP_UNKNOWN_TABLE')
      await suspect.refused(keyspace, { dropType: { name } }, 'CANNOT_DROP_UNKNOWN_TYPE')
      await suspect.refused(keyspace, { dropIndex: { name } }, 'CANNOT_DROP_UNKNOWN_INDEX')
    }
    for (const name of wrong)
      for (const command of ['createIndex', 'createTextIndex', 'createVectorIndex']) {
        const body = { [command]: { name, definition: { column: 't' } } }
        await suspect.refused(kept, body, 'UNSUPPORTED_SCHEMA_NAME')
      }
  })
})

describe('keys', () => {
  const path = `${keyspace}/keys`

  test('that are empty, null, missing or too long are rejected', async () => {
    await create('keys', {
      columns: { p: 'text', q: 'int', c: 'text', x: 'int' },
      primaryKey: { partitionBy: ['p'], partitionSort: { q: 1, c: -1 } },
    })
    const good = { p: 'a', q: 1, c: 'b' }
    const insert = (document: object) => ({ insertOne: { document } })
    for (const [document, code] of [
      [{ ...good, p: '' }, 'INVALID_COLUMN_VALUES'],
      [{ ...good, p: 'x'.repeat(65_536) }, 'INVALID_COLUMN_VALUES'],
      [{ ...good, p: 'é'.repeat(32_768) }, 'INVALID_COLUMN_VALUES'],
      [{ ...good, p: null }, 'MISSING_PRIMARY_KEY_COLUMNS'],
      [{ ...good, c: null }, 'MISSING_PRIMARY_KEY_COLUMNS'],
      [{ ...good, q: undefined }, 'MISSING_PRIMARY_KEY_COLUMNS'],
      [{}, 'MISSING_PRIMARY_KEY_COLUMNS'],
      [{ ...good, p: ['a'] }, 'INVALID_COLUMN_VALUES'],
      [{ ...good, q: '1' }, 'INVALID_COLUMN_VALUES'],
    ] as const)
      await suspect.refused(path, insert(document), code)
    const rows = await suspect.accepted(path, { find: {} })
    assert.deepEqual(rows.body.data!.documents, [])

    for (const p of ['x'.repeat(65_535), 'é'.repeat(32_767)]) {
      await suspect.accepted(path, insert({ ...good, p, c: '' }))
      const update = { $set: { x: 1 } }
      const filter = { ...good, p, c: '' }
      await suspect.accepted(path, { updateOne: { filter, update } })
      const found = await suspect.accepted(path, { find: { filter } })
      assert.deepEqual(found.body.data!.documents, [{ ...filter, x: 1 }])
      await suspect.accepted(path, { deleteMany: { filter: { p, q: { $gt: 0 } } } })
    }
    const left = await suspect.accepted(path, { find: {} })
    assert.deepEqual(left.body.data!.documents, [])
  })

  test('that look alike, or whose concatenations are equal, address different rows', async () => {
    const parts = [
      'a',
      'ab',
      'b',
      'a\u0000',
      '\u0000a',
      'a\u0001',
      '\ud800',
      '\ud801',
      '\uffff',
      '💥',
      '1',
    ]
    const documents = parts.flatMap((p) => parts.map((c) => ({ p, q: 1, c })))
    for (let at = 0; at < documents.length; at += 100)
      await suspect.accepted(path, {
        insertMany: { documents: documents.slice(at, at + 100) },
      })
    for (const filter of documents) {
      const { body } = await suspect.accepted(path, { find: { filter } })
      assert.deepEqual(body.data!.documents, [filter])
    }
    for (const p of parts) {
      const { body } = await suspect.accepted(path, { find: { filter: { p } } })
      assert.equal(body.data!.documents!.length, parts.length)
      await suspect.accepted(path, { deleteMany: { filter: { p, q: { $in: [1, 2] } } } })
    }
    const left = await suspect.accepted(path, { find: {} })
    assert.deepEqual(left.body.data!.documents, [])
  })
})

describe('page states', () => {
  const path = `${keyspace}/paged`
  const other = `${keyspace}/kept_rows`
  const page = (pageState: string, more: object = {}) => ({
    find: { ...more, options: { pageState } },
  })

  test('that are malformed are rejected, and forged ones cause no other error', async () => {
    await create('paged', {
      columns: { p: 'int', c: 'int', t: 'text' },
      primaryKey: { partitionBy: ['p'], partitionSort: { c: 1 } },
    })
    for (let p = 0; p < 11; p++) {
      const documents = Array.from({ length: 100 }, (_, c) => ({ p, c }))
      await suspect.accepted(path, { insertMany: { documents } })
    }
    const { body } = await suspect.accepted(path, { find: {} })
    const state = body.data!.nextPageState!
    assert.equal(typeof state, 'string')
    const rest = await suspect.accepted(path, page(state))
    assert.equal(rest.body.data!.documents!.length, 100)

    for (const wrong of [
      ...['x', 'AAAA', '!', '\u0000', '\ud800', '{}', 'null', 'A'.repeat(1_000_000)],
      ...[`${state}A`, `A${state}`, state.slice(1), state.slice(0, -5), state.repeat(2)],
      ...[state.toLowerCase(), Buffer.from('{}').toString('base64')],
    ])
      for (const target of [path, other])
        await suspect.refused(target, page(wrong), 'COMMAND_FIELD_VALUE_INVALID')
    const bytes = Buffer.from(state, 'base64')
    for (let at = 0; at < bytes.length; at++)
      for (const flip of [1, 128]) {
        const spoiled = Buffer.from(bytes)
        spoiled[at]! ^= flip
        const answer = await suspect.send(path, page(spoiled.toString('base64')))
        // A forged page state may be a valid position in the table. Otherwise it causes this error.
        for (const code of answer.codes) assert.equal(code, 'COMMAND_FIELD_VALUE_INVALID')
      }
  })

  test('from another table, sort or filter get a reply', async () => {
    const { body } = await suspect.accepted(path, { find: { filter: { c: { $gte: 0 } } } })
    const state = body.data!.nextPageState!
    await suspect.send(other, page(state))
    for (const more of [
      { filter: { p: 3 } },
      { filter: { p: 3, c: { $lt: 5 } } },
      { filter: { p: 3 }, sort: { c: -1 } },
      { sort: { t: 1 } },
      { filter: { t: 'x' } },
    ])
      await suspect.send(path, page(state, more))
    await suspect.refused(
      path,
      page(state, { sort: { t: 1 } }),
      'COMMAND_FIELD_VALUE_INVALID',
    )
  })
})

describe('table commands of extreme size', () => {
  test('get a reply when their clauses or bodies have megabytes', async () => {
    const fill = (part: (n: number) => string, size = 1_500_000) => {
      const parts: string[] = []
      for (let length = 0; length < size; length += parts.at(-1)!.length + 1)
        parts.push(part(parts.length))
      return parts.join()
    }
    const path = `${keyspace}/kept_rows`
    const filter = '"filter":{"id":"none","n":1}'
    for (const body of [
      `{"find":{"filter":{${fill((n) => `"f${n}":1`)}}}}`,
      `{"find":{"filter":{"$or":[${fill(() => '{}')}]}}}`,
      `{"find":{"filter":{"$and":[${fill((n) => `{"n":${n}}`)}]}}}`,
      `{"find":{"filter":{"n":{"$in":[${fill(String)}]}}}}`,
      `{"find":{"filter":{"s":{"$all":[${fill((n) => `"${n}"`)}]}}}}`,
      `{"find":{"sort":{${fill((n) => `"f${n}":1`)}}}}`,
      `{"find":{"sort":{"v":[${fill(String)}]}}}`,
      `{"find":{"projection":{${fill((n) => `"f${n}":1`)}}}}`,
      `{"updateOne":{${filter},"update":{"$set":{${fill((n) => `"f${n}":1`)}}}}}`,
      `{"updateOne":{${filter},"update":{"$pullAll":{"s":[${fill((n) => `"${n}"`)}]}}}}`,
      `{"insertMany":{"documents":[${fill(() => '{}')}]}}`,
      `{"insertOne":{"document":{${fill((n) => `"f${n}":1`)}}}}`,
      `{"insertOne":{"document":{"id":"none","n":1,"v":[${fill(String)}]}}}`,
      `{"deleteMany":{"filter":{"id":{"$in":[${fill((n) => `"${n}"`)}]}}}}`,
      `{"alterTable":{"operation":{"add":{"columns":{${fill((n) => `"f${n}":"int"`)}}}}}}`,
      `{"alterTable":{"operation":{"drop":{"columns":[${fill((n) => `"f${n}"`)}]}}}}`,
      `{"createIndex":{"name":"x","definition":{"column":"${'x'.repeat(1_000_000)}"}}}`,
    ]) {
      const answer = await suspect.send(path, body)
      if (!body.startsWith('{"updateOne"'))
        assert.equal(answer.codes.length, 1, body.slice(0, 80))
      assert(answer.text.length < 20_000, `${body.slice(0, 80)}: ${answer.text.length}`)
    }
    const columns = fill((n) => `"f${n}":"int"`)
    for (const body of [
      `{"createTable":{"name":"wide","definition":{"columns":{${columns}},"primaryKey":"f0"}}}`,
      `{"createType":{"name":"wide","definition":{"fields":{${columns}}}}}`,
      `{"alterType":{"name":"wide","add":{"fields":{${columns}}}}}`,
    ]) {
      const answer = await suspect.send(keyspace, body)
      assert.equal(answer.codes.length, 1, body.slice(0, 80))
      assert(answer.text.length < 20_000, `${body.slice(0, 80)}: ${answer.text.length}`)
    }
  })

  test('get a reply when their filters have ten billion combinations of key values', async () => {
    await create('combined', {
      columns: { a: 'int', b: 'int', c: 'int', d: 'int', e: 'int' },
      primaryKey: { partitionBy: ['a', 'b'], partitionSort: { c: 1, d: -1, e: 1 } },
    })
    const path = `${keyspace}/combined`
    await suspect.accepted(path, {
      insertOne: { document: { a: 1, b: 1, c: 1, d: 1, e: 1 } },
    })
    const $in = Array.from({ length: 100 }, (_, n) => n)
    const filter = { a: { $in }, b: { $in }, c: { $in }, d: { $in }, e: { $in } }
    const found = await suspect.send(path, { find: { filter } })
    assert.equal(found.body.data?.documents?.length ?? 1, 1)
    await suspect.send(path, { find: { filter, sort: { c: 1, d: -1 } } })
    await suspect.send(path, { deleteMany: { filter } })
  })
})

const quote = (text: string) => JSON.stringify(text)

/** The document that a findOne returns; its numbers keep all digits. */
async function documentOf(path: string, clauses: string): Promise<Value> {
  const answer = await suspect.accepted(path, `{"findOne":${clauses}}`)
  const { data } = Object.fromEntries(parseStored(answer.text) as Map<string, Value>)
  return (data as Map<string, Value>).get('document')!
}

/** Sorts the fields, because the order of the columns of a table is undefined. */
function sortedFields(row: unknown): unknown {
  return [...(row as Map<string, unknown>)].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
