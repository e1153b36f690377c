/** Column types as CQL text: in definitions, and as listed by system_schema. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  printColumn,
  printType,
  readPrimitive,
  readType,
} from '../../../src/engine/cassandra/catalog/cql-type.ts'
import type { ColumnType, UserTypes } from '../../../src/language/columns/column-type.ts'
import { columnTypes } from './column-values.ts'

const types: UserTypes = [
  { name: 'address', fields: [{ name: 'street', type: 'text' }] },
  { name: 'Address', fields: [{ name: 'n', type: 'int' }] },
  { name: 'text', fields: [{ name: 'n', type: 'int' }] },
]

const address = { type: 'userDefined', udtName: 'address' } as const

describe('types in system_schema', () => {
  for (const [text, type] of [
    ['text', { type: 'text' }],
    ['varchar', { type: 'text' }],
    ['timeuuid', { type: 'timeuuid' }],
    ['counter', { type: 'counter' }],
    ['list<text>', { type: 'list', valueType: 'text' }],
    ['set<frozen<address>>', { type: 'set', valueType: address }],
    ['map<timeuuid, int>', { type: 'map', keyType: 'timeuuid', valueType: 'int' }],
    ['vector<float, 5>', { type: 'vector', dimension: 5 }],
    [
      "'org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 5)'",
      { type: 'vector', dimension: 5 },
    ],
    ['address', address],
    ['"Address"', { type: 'userDefined', udtName: 'Address' }],
    ['"text"', { type: 'userDefined', udtName: 'text' }],
  ] satisfies [string, ColumnType][])
    test(`${text} is supported`, () => {
      assert.deepEqual(readType(text, types), { type })
    })

  for (const [text, type] of [
    ['frozen<list<int>>', { type: 'list', valueType: 'int' }],
    ['frozen<map<text, address>>', { type: 'map', keyType: 'text', valueType: address }],
    ['frozen<set<frozen<address>>>', { type: 'set', valueType: address }],
    ['frozen<address>', address],
  ] satisfies [string, ColumnType][])
    test(`${text} is supported and frozen`, () => {
      assert.deepEqual(readType(text, types), { type, isFrozen: true })
    })

  for (const text of [
    'tuple<int, text>',
    'frozen<tuple<int, text>>',
    'list<frozen<list<int>>>',
    'map<frozen<address>, int>',
    'map<text, frozen<set<int>>>',
    'set<frozen<tuple<int>>>',
    'vector<int, 3>',
    'vector<float, 5',
    'list<vector<float, 3>>',
    'unknown_type',
    "'org.apache.cassandra.db.marshal.DateRangeType'",
    'empty',
    '',
    'list<>',
    'int>',
  ])
    test(`"${text}" is not supported`, () => {
      assert.equal(readType(text, types), undefined)
    })

  test('must be primitive in fields of user-defined types', () => {
    assert.equal(readPrimitive('varchar'), 'text')
    assert.equal(readPrimitive('frozen<list<int>>'), undefined)
    assert.equal(readPrimitive('"int"'), undefined)
  })
})

describe('types in definitions', () => {
  for (const [type, text] of [
    [{ type: 'map', keyType: 'text', valueType: 'int' }, 'map<text, int>'],
    [{ type: 'list', valueType: address }, 'list<frozen<"ks"."address">>'],
    [{ type: 'vector', dimension: 3 }, 'vector<float, 3>'],
    [{ type: 'userDefined', udtName: 'Address' }, '"ks"."Address"'],
  ] satisfies [ColumnType, string][])
    test(`are written as ${text}`, () => {
      assert.equal(printType(type, 'ks'), text)
    })

  test('include the words FROZEN and STATIC of a column', () => {
    const type = { type: 'list', valueType: 'int' } as const
    const column = { name: 'a"b', type, isFrozen: true, isStatic: true } as const
    assert.equal(printColumn(column, 'ks'), '"a""b" frozen<list<int>> STATIC')
  })

  test('are read back as they were written', () => {
    fc.assert(
      fc.property(columnTypes(['address', 'Address', 'text']), (type) => {
        const text = printType(type, 'ks').replaceAll('"ks".', '')
        assert.deepEqual(readType(text, types), { type })
      }),
    )
  })
})
