/** CQL statements that define tables, indexes and types. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  changeTable,
  createTable,
  dropTable,
  type ChangedTable,
} from '../../../src/engine/cassandra/catalog/table-ddl.ts'
import {
  alterType,
  createType,
  dropType,
} from '../../../src/engine/cassandra/catalog/type-ddl.ts'
import type { TableIndex } from '../../../src/engine/schema.ts'
import type { TableChange } from '../../../src/engine/schema-change.ts'
import { apache, fork } from './capabilities.ts'

const target = { keyspace: 'ks', name: 'Books' }

const service = { provider: 'openai', modelName: 'small' }

const newTable = {
  columns: [
    { name: 'id', type: { type: 'uuid' } },
    { name: 'at', type: { type: 'timestamp' } },
    { name: 'n', type: { type: 'int' } },
    { name: 'tags', type: { type: 'set', valueType: 'text' } },
    { name: 'v', type: { type: 'vector', dimension: 3, service } },
  ],
  partitionBy: ['id'],
  partitionSort: [
    { column: 'at', direction: -1 },
    { column: 'n', direction: 1 },
  ],
} as const

const hex = (text: string) => `'0x${Buffer.from(text).toString('hex')}'`

const ownExtensions =
  `'com.datastax.data-api.schema-type': ${hex('table')}, ` +
  `'com.datastax.data-api.schema-def-version': ${hex('1')}`

const serviceExtension =
  "'com.datastax.data-api.vectorize-config': " +
  hex(
    '{"v":{"provider":"openai","modelName":"small","authentication":null,"parameters":null}}',
  )

const noSource = { comment: '', extensions: new Map() }

const table: ChangedTable = {
  ...target,
  definition: {
    partitionBy: ['id'],
    partitionSort: [{ column: 'at', direction: 1 }],
    columns: [
      ...newTable.columns,
      { name: 'title', type: { type: 'text' } },
      { name: 'm', type: { type: 'map', keyType: 'text', valueType: 'int' } },
    ],
    indexes: [
      { name: 'by_title', kind: 'text', column: 'title', analyzer: 'standard' },
      { name: 'by_n', kind: 'regular', column: 'n', part: 'value' },
    ],
  },
  source: noSource,
}

describe('tables on a cluster', () => {
  const body =
    'CREATE TABLE "ks"."Books" ("id" uuid, "at" timestamp, "n" int, "tags" set<text>, ' +
    '"v" vector<float, 3>, PRIMARY KEY (("id"), "at", "n")) WITH '

  test('store embedding services in the comment if the cluster has no extensions', () => {
    assert.equal(
      createTable(target, newTable, apache),
      body +
        `comment = '{"data-api":{"vectorize":{"v":{"provider":"openai","modelName":"small"}}}}' ` +
        'AND CLUSTERING ORDER BY ("at" DESC, "n" ASC)',
    )
  })

  test('store embedding services in extensions if the cluster has them', () => {
    assert.equal(
      createTable(target, newTable, fork),
      `${body}extensions = {${ownExtensions}, ${serviceExtension}} ` +
        'AND CLUSTERING ORDER BY ("at" DESC, "n" ASC)',
    )
  })

  test('are created without a WITH clause when they have no options', () => {
    const columns = [{ name: 'it\'s "so"', type: { type: 'int' } }] as const
    const key = { partitionBy: ['it\'s "so"'], partitionSort: [] }
    assert.equal(
      createTable(target, { columns, ...key }, apache),
      'CREATE TABLE "ks"."Books" ("it\'s ""so""" int, PRIMARY KEY (("it\'s ""so""")))',
    )
    assert.equal(dropTable(target), 'DROP TABLE IF EXISTS "ks"."Books"')
  })
})

function expectChange(
  change: TableChange extends infer C
    ? C extends TableChange
      ? Omit<C, 'table'>
      : never
    : never,
  expected: readonly string[],
  { on = table, can = apache }: { on?: ChangedTable; can?: typeof apache } = {},
) {
  assert.deepEqual(changeTable(on, { table: 'Books', ...change }, can), expected)
}

const alter = 'ALTER TABLE "ks"."Books"'

describe('changes of tables', () => {
  test('add columns and store their embedding services', () => {
    expectChange(
      {
        kind: 'addColumns',
        columns: [
          { name: 'a', type: { type: 'int' } },
          { name: "w'", type: { type: 'vector', dimension: 2, service } },
        ],
      },
      [
        `${alter} ADD ("a" int, "w'" vector<float, 2>)`,
        `${alter} WITH comment = '{"data-api":{"vectorize":{"w''":{"provider":"openai","modelName":"small"}}}}'`,
      ],
    )
  })

  test('drop columns and their stored embedding services', () => {
    const comment =
      '{"data-api":{"vectorize":{"v":{"provider":"p","modelName":"m"}}},"x":1}'
    expectChange({ kind: 'dropColumns', names: ['n', 'tags'] }, [
      `${alter} DROP ("n", "tags")`,
    ])
    expectChange(
      { kind: 'dropColumns', names: ['v'] },
      [`${alter} DROP ("v")`, `${alter} WITH comment = '{"x":1,"data-api":{}}'`],
      { on: { ...table, source: { comment, extensions: null } } },
    )
  })

  test('set embedding services and keep the comment and the extensions of other programs', () => {
    const change = { kind: 'putServices', services: new Map([['v', service]]) } as const
    const extensions = new Map([['other', Buffer.from('kept')]])
    expectChange(
      change,
      [
        `${alter} WITH extensions = {'other': ${hex('kept')}, ${ownExtensions}, ${serviceExtension}}`,
      ],
      { on: { ...table, source: { comment: null, extensions } }, can: fork },
    )
    expectChange(
      change,
      [
        `${alter} WITH comment = '{"comment":"Bob''s","data-api":{"vectorize":{"v":{"provider":"openai","modelName":"small"}}}}'`,
      ],
      { on: { ...table, source: { comment: "Bob's", extensions: null } } },
    )
  })

  test('remove an embedding service', () => {
    const comment = '{"data-api":{"vectorize":{"v":{"provider":"p","modelName":"m"}}}}'
    expectChange(
      { kind: 'putServices', services: new Map([['v', null]]) },
      [`${alter} WITH comment = ''`],
      { on: { ...table, source: { comment, extensions: null } } },
    )
  })
})

const custom = (name: string, on: string) =>
  `CREATE CUSTOM INDEX "${name}" ON "ks"."Books" (${on}) USING 'StorageAttachedIndex'`

describe('indexes on a cluster', () => {
  for (const [index, expected] of [
    [{ kind: 'regular', column: 'n', part: 'value' }, custom('i', '"n"')],
    [
      { kind: 'regular', column: 'title', part: 'value' },
      `${custom('i', '"title"')} WITH OPTIONS = {'ascii': 'false', 'case_sensitive': 'true', 'normalize': 'false'}`,
    ],
    [{ kind: 'regular', column: 'tags', part: 'value' }, custom('i', 'values("tags")')],
    [
      {
        kind: 'regular',
        column: 'tags',
        part: 'value',
        folding: { ascii: true, caseSensitive: false, normalize: true },
      },
      `${custom('i', 'values("tags")')} WITH OPTIONS = {'ascii': 'true', 'case_sensitive': 'false', 'normalize': 'true'}`,
    ],
    [{ kind: 'regular', column: 'm', part: 'value' }, custom('i', 'entries("m")')],
    [{ kind: 'regular', column: 'm', part: 'keys' }, custom('i', 'keys("m")')],
    [{ kind: 'regular', column: 'm', part: 'values' }, custom('i', 'values("m")')],
    [
      { kind: 'vector', column: 'v', metric: 'dot_product', sourceModel: 'other' },
      `${custom('i', '"v"')} WITH OPTIONS = {'similarity_function': 'DOT_PRODUCT'}`,
    ],
  ] satisfies [DistributiveOmit<TableIndex, 'name'>, string][])
    test(`are created as ${index.kind} indexes with ${expected.slice(44)}`, () => {
      expectChange({ kind: 'createIndex', index: { name: 'i', ...index } }, [expected])
    })

  const vector = {
    name: 'i',
    kind: 'vector',
    column: 'v',
    metric: 'cosine',
    sourceModel: 'openai-v3-large',
  } as const

  test('for vectors store the source model in the index, or in the comment of the table', () => {
    expectChange(
      { kind: 'createIndex', index: vector },
      [
        `${custom('i', '"v"')} WITH OPTIONS = {'source_model': 'OPENAI_V3_LARGE', 'similarity_function': 'COSINE'}`,
      ],
      { can: fork },
    )
    expectChange({ kind: 'createIndex', index: vector }, [
      `${alter} WITH comment = '{"data-api":{"indexes":{"i":{"sourceModel":"openai-v3-large"}}}}'`,
      `${custom('i', '"v"')} WITH OPTIONS = {'similarity_function': 'COSINE'}`,
    ])
  })

  test('on text are created if the cluster supports analyzers, and otherwise stored in the comment of the table', () => {
    const analyzer = { tokenizer: { name: 'standard' } }
    const index = { name: 'i', kind: 'text', column: 'title', analyzer } as const
    expectChange(
      { kind: 'createIndex', index },
      [
        `${custom('i', '"title"')} WITH OPTIONS = {'index_analyzer': '{"tokenizer":{"name":"standard"}}'}`,
      ],
      { can: fork },
    )
    expectChange({ kind: 'createIndex', index }, [
      `${alter} WITH comment = '{"data-api":{"indexes":{"i":{"column":"title","analyzer":{"tokenizer":{"name":"standard"}}}}}}'`,
    ])
  })

  test('are dropped from the cluster or from the comment of the table', () => {
    expectChange({ kind: 'dropIndex', name: 'by_n' }, ['DROP INDEX IF EXISTS "ks"."by_n"'])
    const comment =
      '{"data-api":{"indexes":{"by_title":{"column":"title","analyzer":"standard"}}}}'
    expectChange({ kind: 'dropIndex', name: 'by_title' }, [`${alter} WITH comment = ''`], {
      on: { ...table, source: { comment, extensions: null } },
    })
    expectChange(
      { kind: 'dropIndex', name: 'by_title' },
      ['DROP INDEX IF EXISTS "ks"."by_title"'],
      { can: fork },
    )
  })
})

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

describe('user-defined types', () => {
  test('are created, altered field by field, and dropped', () => {
    const fields = [
      { name: 'Street', type: 'text' },
      { name: 'n', type: 'int' },
    ] as const
    assert.equal(
      createType('ks', { name: 'address', fields }),
      'CREATE TYPE "ks"."address" ("Street" text, "n" int)',
    )
    assert.deepEqual(
      alterType('ks', 'address', {
        renamed: [['n', 'number']],
        added: [
          { name: 'zip', type: 'text' },
          { name: 'since', type: 'date' },
        ],
      }),
      [
        'ALTER TYPE "ks"."address" RENAME "n" TO "number"',
        'ALTER TYPE "ks"."address" ADD "zip" text',
        'ALTER TYPE "ks"."address" ADD "since" date',
      ],
    )
    assert.equal(dropType('ks', 'address'), 'DROP TYPE IF EXISTS "ks"."address"')
  })
})
