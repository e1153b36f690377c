/** Reads tables, indexes and types from the system tables of a cluster. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { IndexRow } from '../../../src/engine/cassandra/catalog/read-index.ts'
import {
  readTable,
  readUserTypes,
  type ColumnRow,
} from '../../../src/engine/cassandra/catalog/read-table.ts'

const types = readUserTypes([
  { type_name: 'Place', field_names: ['street', 'n'], field_types: ['text', 'int'] },
  { type_name: 'route', field_names: ['stops'], field_types: ['frozen<list<text>>'] },
])

const row = {
  keyspace_name: 'ks',
  table_name: 't',
  id: '5f1e2d3c-4b5a-6978-8796-050403020100',
  comment: '',
  extensions: new Map<string, Buffer>(),
}

const column = (
  name: string,
  type: string,
  kind = 'regular',
  position = -1,
  order = 'none',
): ColumnRow => ({
  column_name: name,
  type,
  kind,
  position,
  clustering_order: order,
})

const index = (
  name: string,
  options: Record<string, string>,
  kind = 'CUSTOM',
): IndexRow => ({
  keyspace_name: 'ks',
  table_name: 't',
  index_name: name,
  kind,
  options: new Map(Object.entries(options)),
})

const sai = (target: string, more: Record<string, string> = {}) => ({
  class_name: 'StorageAttachedIndex',
  target,
  ...more,
})

describe('user-defined types', () => {
  test('are listed if all their fields are primitive', () => {
    assert.deepEqual(types, [
      {
        name: 'Place',
        fields: [
          { name: 'street', type: 'text' },
          { name: 'n', type: 'int' },
        ],
      },
    ])
  })
})

describe('tables of a cluster', () => {
  test('list key columns in key order', () => {
    const read = readTable(
      row,
      [
        column('a', 'int', 'clustering', 1, 'desc'),
        column('b', 'text', 'clustering', 0, 'asc'),
        column('p2', 'uuid', 'partition_key', 1),
        column('p1', 'int', 'partition_key', 0),
        column('place', '"Place"'),
      ],
      [],
      types,
    )
    assert.deepEqual(read, {
      kind: 'table',
      keyspace: 'ks',
      name: 't',
      uid: row.id,
      definition: {
        columns: [
          { name: 'a', type: { type: 'int' } },
          { name: 'b', type: { type: 'text' } },
          { name: 'p2', type: { type: 'uuid' } },
          { name: 'p1', type: { type: 'int' } },
          { name: 'place', type: { type: 'userDefined', udtName: 'Place' } },
        ],
        partitionBy: ['p1', 'p2'],
        partitionSort: [
          { column: 'b', direction: 1 },
          { column: 'a', direction: -1 },
        ],
        indexes: [],
      },
      types,
    })
  })

  test('list columns and indexes that are usable only through CQL', () => {
    const { definition } = readTable(
      row,
      [
        column('id', 'int', 'partition_key', 0),
        column('c', 'int', 'clustering', 0, 'asc'),
        column('s', 'frozen<list<int>>', 'static'),
        column('t', 'frozen<tuple<int, text>>', 'static'),
        column('r', 'route'),
      ],
      [index('legacy', { target: 'c' }, 'COMPOSITES'), index('whole', sai('full(s)'))],
      types,
    )!
    assert.deepEqual(definition.columns.at(-1), {
      name: 's',
      type: { type: 'list', valueType: 'int' },
      isFrozen: true,
      isStatic: true,
    })
    assert.deepEqual(definition.indexes, [])
    assert.deepEqual(definition.unsupported, {
      columns: [
        { name: 't', cqlDefinition: 'static frozen<tuple<int, text>>' },
        { name: 'r', cqlDefinition: 'route' },
      ],
      indexes: [
        {
          name: 'legacy',
          column: 'c',
          cqlDefinition: 'CREATE INDEX legacy ON ks.t (c);',
        },
        {
          name: 'whole',
          column: 's',
          cqlDefinition: `CREATE CUSTOM INDEX whole ON ks.t (full(s)) USING 'StorageAttachedIndex';`,
        },
      ],
    })
  })

  test('list key columns that are usable only through CQL', () => {
    const key = column('id', 'frozen<tuple<int, text>>', 'partition_key', 0)
    const { definition } = readTable(row, [key, column('n', 'int')], [], types)
    assert.deepEqual(definition.partitionBy, ['id'])
    assert.deepEqual(definition.unsupported?.columns, [
      { name: 'id', cqlDefinition: 'frozen<tuple<int, text>>' },
    ])
    assert.deepEqual(
      definition.columns.map(({ name }) => name),
      ['n'],
    )
  })

  const vectors = [column('id', 'int', 'partition_key', 0), column('v', 'vector<float, 3>')]
  const service = { provider: 'openai', modelName: 'small' }

  for (const [where, source] of [
    [
      'extensions',
      {
        comment: '{"data-api":{"vectorize":{"v":{"provider":"old","modelName":"old"}}}}',
        extensions: new Map([
          [
            'com.datastax.data-api.vectorize-config',
            Buffer.from(
              JSON.stringify({ v: { ...service, authentication: null, parameters: null } }),
            ),
          ],
        ]),
      },
    ],
    ['comment', { comment: JSON.stringify({ 'data-api': { vectorize: { v: service } } }) }],
  ] as const)
    test(`have the embedding services that are stored in the ${where}`, () => {
      const read = readTable({ ...row, ...source }, vectors, [], types)!
      assert.deepEqual(read.definition.columns[1]!.type, {
        type: 'vector',
        dimension: 3,
        service,
      })
    })

  for (const comment of ['a table of books', '{"data-api":7}', '[1]', '{'])
    test(`can have the comment ${comment} of another program`, () => {
      const read = readTable({ ...row, comment, extensions: null! }, vectors, [], types)!
      assert.deepEqual(read.definition.columns[1]!.type, { type: 'vector', dimension: 3 })
    })
})

describe('indexes of a cluster', () => {
  const columns = [
    column('id', 'int', 'partition_key', 0),
    column('n', 'int'),
    column('Ti"tle', 'text'),
    column('tags', 'set<text>'),
    column('m', 'map<text, int>'),
    column('v', 'vector<float, 3>'),
    column('place', '"Place"'),
  ]
  const readOne = (options: Record<string, string>, comment = '') =>
    readTable({ ...row, comment }, columns, [index('i', options)], types)!.definition
      .indexes[0]

  for (const [options, expected] of [
    [sai('n'), { kind: 'regular', column: 'n', part: 'value' }],
    [
      { ...sai('n'), class_name: 'org.apache.cassandra.index.sai.StorageAttachedIndex' },
      { kind: 'regular', column: 'n', part: 'value' },
    ],
    [
      { ...sai('n'), class_name: 'sai' },
      { kind: 'regular', column: 'n', part: 'value' },
    ],
    [
      sai('"Ti""tle"', { case_sensitive: 'true', ascii: 'false' }),
      { kind: 'regular', column: 'Ti"tle', part: 'value' },
    ],
    [
      sai('"Ti""tle"', { case_sensitive: 'false' }),
      {
        kind: 'regular',
        column: 'Ti"tle',
        part: 'value',
        folding: { ascii: false, caseSensitive: false, normalize: false },
      },
    ],
    [sai('values(tags)'), { kind: 'regular', column: 'tags', part: 'value' }],
    [sai('entries(m)'), { kind: 'regular', column: 'm', part: 'value' }],
    [sai('keys(m)'), { kind: 'regular', column: 'm', part: 'keys' }],
    [sai('values(m)'), { kind: 'regular', column: 'm', part: 'values' }],
    [sai('v'), { kind: 'vector', column: 'v', metric: 'cosine', sourceModel: 'other' }],
    [
      sai('v', { source_model: 'OPENAI_V3_SMALL' }),
      {
        kind: 'vector',
        column: 'v',
        metric: 'dot_product',
        sourceModel: 'openai-v3-small',
      },
    ],
    [
      sai('v', { similarity_function: 'euclidean', source_model: 'ada002' }),
      { kind: 'vector', column: 'v', metric: 'euclidean', sourceModel: 'ada002' },
    ],
    [
      sai('"Ti""tle"', { index_analyzer: 'english' }),
      { kind: 'text', column: 'Ti"tle', analyzer: 'english' },
    ],
    [
      sai('"Ti""tle"', { index_analyzer: '{"tokenizer":{"name":"ngram"}}' }),
      { kind: 'text', column: 'Ti"tle', analyzer: { tokenizer: { name: 'ngram' } } },
    ],
  ] as const)
    test(`are supported with the options ${JSON.stringify(options)}`, () => {
      assert.deepEqual(readOne(options), { name: 'i', ...expected })
    })

  for (const options of [
    sai('place'),
    sai('full(tags)'),
    sai('keys(tags)'),
    sai('gone'),
    { class_name: 'org.apache.cassandra.index.sasi.SASIIndex', target: 'n' },
  ])
    test(`are not supported with the options ${JSON.stringify(options)}`, () => {
      assert.equal(readOne(options), undefined)
    })

  test('include the indexes and source models that the comment of the table lists', () => {
    const noted = {
      i: { sourceModel: 'bert' },
      words: { column: 'Ti"tle', analyzer: 'standard' },
      gone: { column: 'dropped', analyzer: 'standard' },
      // Other programs may write anything into the comment of a table. Invalid entries are ignored.
      ...{ number: 7, nothing: null, list: ['Ti"tle'], bare: { column: 'Ti"tle' } },
      ...{ other: { column: 'n', analyzer: 'standard' }, model: { sourceModel: 7 } },
    }
    const comment = JSON.stringify({ 'data-api': { indexes: noted } })
    const { indexes } = readTable(
      { ...row, comment },
      columns,
      [index('i', sai('v', { similarity_function: 'COSINE' }))],
      types,
    )!.definition
    assert.deepEqual(indexes, [
      { name: 'i', column: 'v', kind: 'vector', metric: 'cosine', sourceModel: 'bert' },
      { name: 'words', column: 'Ti"tle', kind: 'text', analyzer: 'standard' },
    ])
  })
})
