/** Column values are unchanged after a round trip through the driver's encoding. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  bindElement,
  bindValue,
  bindWritten,
  elementSpellings,
  readValue,
} from '../../../src/engine/cassandra/cql/cql-values.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { printJson } from '../../../src/json/print.ts'
import type { Value } from '../../../src/json/value.ts'
import type { ColumnValue } from '../../../src/language/columns/column.ts'
import type {
  ColumnType,
  ElementType,
  PrimitiveName,
  UserTypes,
} from '../../../src/language/columns/column-type.ts'
import {
  BadValue,
  readElement,
  readValue as readGiven,
} from '../../../src/language/columns/values.ts'
import { columnTypes, givenValues } from './column-values.ts'
import { atOnce } from '../../../src/runtime/steps.ts'

const limits = { depthMax: 100, numeralLengthMax: 2_000, valuesMax: 10_000 }
const read = (text: string): Value => parseJson(text, limits)

const placeType = { type: 'userDefined', udtName: 'Place' } as const

const types: UserTypes = [
  {
    name: 'Place',
    fields: [
      { name: 'street', type: 'text' },
      { name: 'n', type: 'decimal' },
      { name: 'since', type: 'timestamp' },
      { name: 'constructor', type: 'duration' },
      { name: 'a', type: 'int' },
      { name: 'b', type: 'smallint' },
      { name: 'c', type: 'tinyint' },
      { name: 'd', type: 'boolean' },
      { name: 'e', type: 'double' },
      { name: 'f', type: 'float' },
    ],
  },
]

/** The driver's internal encoder. The driver has no type declarations for it. */
interface DriverEncoder {
  encode(value: unknown, type: unknown): Buffer
  decode(bytes: Buffer | null, type: unknown): unknown
}

const Encoder = createRequire(import.meta.url)('cassandra-driver/lib/encoder') as new (
  version: number,
  options: object,
) => DriverEncoder

const encoder = new Encoder(4, {
  encoding: { map: Map, set: Set, useBigIntAsLong: true, useBigIntAsVarint: true },
})

/** The driver's description of a column type. */
function infoOf(type: ColumnType): unknown {
  switch (type.type) {
    case 'list':
    case 'set':
      return { code: codes[type.type], info: elementInfo(type.valueType) }
    case 'map':
      return {
        code: codes['map'],
        info: [elementInfo(type.keyType), elementInfo(type.valueType)],
      }
    case 'vector':
      return {
        code: codes['custom'],
        info: [{ code: codes['float'] }, type.dimension],
        customTypeName: 'vector',
      }
    case 'userDefined':
      return elementInfo(type)
    default:
      return elementInfo(type.type)
  }
}

const codes: Readonly<Record<string, number>> = {
  ...{ custom: 0, ascii: 1, bigint: 2, blob: 3, boolean: 4, counter: 5, decimal: 6 },
  ...{ double: 7, float: 8, int: 9, text: 0x0a, timestamp: 0x0b, uuid: 0x0c, varint: 0x0e },
  ...{ timeuuid: 0x0f, inet: 0x10, date: 0x11, time: 0x12, smallint: 0x13, tinyint: 0x14 },
  ...{ duration: 0x15, list: 0x20, map: 0x21, set: 0x22, udt: 0x30 },
}

function elementInfo(type: ElementType): unknown {
  if (typeof type === 'string') return { code: codes[type] }
  const { fields } = types.find(({ name }) => name === type.udtName)!
  return {
    code: codes['udt'],
    info: { fields: fields.map(({ name, type: of }) => ({ name, type: elementInfo(of) })) },
  }
}

function readAll(...given: Parameters<typeof readValue>) {
  return atOnce(readValue(...given))
}

function roundTrip(type: ColumnType, value: ColumnValue | undefined) {
  const bound = atOnce(bindWritten({ type }, value, types))
  const bytes = encoder.encode(bound, infoOf(type))
  return readAll({ type }, encoder.decode(bytes, infoOf(type)), types)
}

describe('values of columns', () => {
  test('are read back as they were written, for random types', () => {
    fc.assert(
      fc.property(
        columnTypes(['Place']).chain((type) =>
          fc.tuple(fc.constant(type), givenValues(type, types)),
        ),
        ([type, given]) => {
          const value =
            type.type === 'vector'
              ? Float32Array.from(given as number[])
              : (readGiven(type, given, types) as Value | undefined)
          assert(!((value as unknown) instanceof BadValue), printJson(given))
          assert.deepEqual(roundTrip(type, value), value)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  for (const [name, texts] of [
    ['bigint', ['9223372036854775807', '-9223372036854775808', '0', '-1']],
    ['varint', ['0', '-1', '127', '128', '-128', '-129', `1${'0'.repeat(900)}`]],
    ['decimal', ['0', '-0.1', '1e999999999', '-1.5e-999999999', '100', '1.23e-7']],
    ['double', ['1e308', '5e-324', '"NaN"', '"Infinity"', '"-Infinity"', '0']],
    ['float', ['0.1', '16777216', '3.4e38', '"NaN"', '"-Infinity"']],
    ['date', ['"-5877641-06-23"', '"+5881580-07-11"', '"0000-01-01"', '"1970-01-01"']],
    ['time', ['"00:00"', '"23:59:59.999999999"', '"12:00:00.100"']],
    ['timestamp', ['"+292278994-08-17T07:12:55.807Z"', '"-292275055-05-16T16:47:04.192Z"']],
    ['duration', ['"PT0S"', '"-P178956970Y7M2147483647DT2562047H47M16.854775807S"']],
    ['inet', ['"127.0.0.1"', '"0:0:0:0:0:0:0:1"', '"fe80:0:0:0:0:0:0:ffff"']],
    ['blob', ['{"$binary": ""}', '{"$binary": "AP8="}']],
    ['text', ['""', '"__proto__"', '"🦉"']],
    ['timeuuid', ['"7d9a1e40-1a2b-11ee-be56-0242ac120002"']],
  ] satisfies [PrimitiveName, string[]][])
    for (const text of texts)
      test(`are read back, for type ${name}: ${text.slice(0, 60)}`, () => {
        const type = { type: name }
        const value = readGiven(type, read(text), types) as Value
        const bound = bindValue({ type }, value, types)
        const bytes = encoder.encode(bound, infoOf(type))
        // Queries select a timestamp column as a number of milliseconds, so the driver does not
        // decode it as a date.
        const given =
          name === 'timestamp'
            ? bytes.readBigInt64BE()
            : encoder.decode(bytes, infoOf(type))
        assert.deepEqual(readAll({ type }, given, types), value)
      })

  test('have null for missing fields of a user-defined type', () => {
    const type = placeType
    const bound = bindValue({ type }, new Map([['street', 'Elm']]), types)
    assert.deepEqual(
      { ...(bound as object) },
      {
        street: 'Elm',
        n: null,
        since: null,
        constructor: null,
        ...{ a: null, b: null, c: null, d: null, e: null, f: null },
      },
    )
  })

  test('are read if they were written before their type got a field', () => {
    const type = placeType
    assert.deepEqual(
      readAll({ type }, { street: 'Elm' }, types),
      new Map([['street', 'Elm']]),
    )
    assert.equal(readAll({ type }, {}, types), undefined)
    const list = { type: 'list', valueType: type } as const
    assert.deepEqual(readAll({ type: list }, [{}], types), [new Map()])
  })

  test('are read from each encoding of a user-defined type that a cluster may store', () => {
    fc.assert(
      fc.property(givenValues(placeType, types), (given) => {
        const value = readElement(placeType, given, types) as Value
        const spellings = elementSpellings(placeType, value, types) as Buffer[]
        const whole = encoder.encode(
          bindElement(placeType, value, types),
          infoOf(placeType),
        )
        assert.deepEqual(spellings.at(-1), whole)
        for (const bytes of spellings)
          assert.deepEqual(
            readAll(
              { type: { type: 'list', valueType: placeType } },
              [encoder.decode(bytes, infoOf(placeType))],
              types,
            ),
            [value],
          )
      }),
    )
  })

  test('are undefined when a list or map is empty or null', () => {
    const list = { type: 'list', valueType: 'int' } as const
    const map = { type: 'map', keyType: 'int', valueType: 'int' } as const
    assert.equal(readAll({ type: list }, [], types), undefined)
    assert.equal(readAll({ type: list }, null, types), undefined)
    assert.equal(readAll({ type: map }, new Map(), types), undefined)
  })

  test('are merged in a set when they differ only in the sign of zero', () => {
    const type = { type: 'set', valueType: 'double' } as const
    assert.deepEqual(readAll({ type }, new Set([-0, 0, 1]), types), [0, 1])
  })

  test('are rejected when a text cannot be encoded as UTF-8', () => {
    const list = { type: 'list', valueType: 'text' } as const
    for (const [type, value] of [
      [{ type: 'text' } as const, 'x\ud800'],
      [list, ['\udc00x']],
    ] as const)
      assert.throws(() => bindValue({ type }, value as string, types), {
        kind: 'value',
        message: /unpaired surrogate/,
      })
    assert.equal(bindValue({ type: { type: 'text' } }, '🦉', types), '🦉')
  })

  test('are rejected when a collection has a timestamp that the driver cannot read', () => {
    const type = { type: 'list', valueType: 'timestamp' } as const
    assert.throws(
      () => bindValue({ type }, ['+292278994-08-17T07:12:55.807Z'], types),
      (error) => error instanceof EngineError && error.kind === 'value',
    )
  })
})
