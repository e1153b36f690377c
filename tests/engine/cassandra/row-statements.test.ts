/** CQL statements that read, write and delete rows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeRow } from '../../../src/engine/cassandra/rows/merge-statements.ts'
import {
  deleteRows,
  readRow,
  selectBestMatches,
  selectedColumns,
  selectNearest,
  selectRows,
} from '../../../src/engine/cassandra/rows/row-statements.ts'
import type { RowMerge } from '../../../src/engine/contract.ts'
import type { Column, Table } from '../../../src/engine/schema.ts'
import type { Value } from '../../../src/json/value.ts'
import type { ColumnValue } from '../../../src/language/columns/column.ts'
import { atOnce } from '../../../src/runtime/steps.ts'

const p: Column = { name: 'p', type: { type: 'int' } }
const c: Column = { name: 'c', type: { type: 'double' } }
const at: Column = { name: 'at', type: { type: 'timestamp' } }
const tags: Column = { name: 'tags', type: { type: 'list', valueType: 'text' } }
const ids: Column = { name: 'ids', type: { type: 'set', valueType: 'int' } }
const m: Column = { name: 'm', type: { type: 'map', keyType: 'text', valueType: 'int' } }
const v: Column = { name: 'v', type: { type: 'vector', dimension: 2 } }
const place: Column = { name: 'place', type: { type: 'userDefined', udtName: 'place' } }
const shared: Column = { name: 'shared', type: { type: 'int' }, isStatic: true }

const table: Table = {
  kind: 'table',
  keyspace: 'ks',
  name: 'T',
  uid: '1',
  definition: {
    columns: [at, c, ids, m, p, place, shared, tags, v],
    partitionBy: ['p'],
    partitionSort: [
      { column: 'c', direction: 1 },
      { column: 'at', direction: -1 },
    ],
    indexes: [],
  },
  types: [{ name: 'place', fields: [{ name: 'street', type: 'text' }] }],
}

const merged = (...given: Parameters<typeof mergeRow>) => atOnce(mergeRow(...given))
const read = (...given: Parameters<typeof readRow>) => atOnce(readRow(...given))

/** A list or set in the encoding of the protocol; for a map, keys and values alternate. */
const collection = (count: number, ...parts: Buffer[]) =>
  Buffer.concat([int(count), ...parts.flatMap((part) => [int(part.length), part])])
const int = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const a = Buffer.from('a')

const ms = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

const selected = selectedColumns(table, [tags, c])
const start =
  'SELECT "p" AS "#0", "c" AS "#1", toUnixTimestamp("at") AS "#2", "tags" AS "#3"'
const branch = { terms: [{ text: '"p" = ?', values: [1] }], allowFiltering: false }

describe('a statement that reads rows', () => {
  test('has the conditions of one branch of a filter', () => {
    assert.deepEqual(selectRows(table, { columns: selected, branch }), {
      text: `${start} FROM "ks"."T" /* 1 */ WHERE "p" = ?`,
      values: [1],
    })
  })

  test('can read all rows and return the token of each partition', () => {
    const all = { terms: [], allowFiltering: false }
    assert.deepEqual(
      selectRows(table, { columns: selected, branch: all, limit: 20, withToken: true }),
      {
        text: `${start}, token("p") AS "#token" FROM "ks"."T" /* 1 */ LIMIT ?`,
        values: [20],
      },
    )
  })

  test('can read backwards and allow filtering', () => {
    const filtered = { ...branch, allowFiltering: true }
    assert.deepEqual(
      selectRows(table, { columns: selected, branch: filtered, limit: 5, direction: -1 }),
      {
        text:
          `${start} FROM "ks"."T" /* 1 */ WHERE "p" = ? ORDER BY "c" DESC, "at" ASC LIMIT ? ` +
          'ALLOW FILTERING',
        values: [1, 5],
      },
    )
  })

  test('can order rows by their similarity to a vector', () => {
    const vector = Buffer.from([0x3f, 0x80, 0, 0, 0xbf, 0, 0, 0])
    assert.deepEqual(
      selectNearest(table, {
        columns: selected,
        branch,
        column: v,
        numbers: Float32Array.of(1, -0.5),
        limit: 10,
      }),
      {
        text: `${start} FROM "ks"."T" /* 1 */ WHERE "p" = ? ORDER BY "v" ANN OF ? LIMIT ?`,
        values: [1, vector, 10],
      },
    )
  })

  test('can order rows by BM25', () => {
    const text = 'owls at night'
    assert.deepEqual(
      selectBestMatches(table, {
        columns: selected,
        branch,
        column: tags,
        text,
        limit: 10,
      }),
      {
        text: `${start} FROM "ks"."T" /* 1 */ WHERE "p" = ? ORDER BY "tags" BM25 OF ? LIMIT ?`,
        values: [1, text, 10],
      },
    )
  })

  test('changes its text after a user-defined type changed', () => {
    const columns = selectedColumns(table, [place])
    const [before, after] = [table.types[0]!.fields, []].map(
      (fields) =>
        selectRows({ ...table, types: [{ name: 'place', fields }] }, { columns, branch })
          .text,
    )
    assert.match(before!, /FROM "ks"\."T" \/\* 1 \*\/ \/\* [0-9a-f]{16} \*\/ WHERE/)
    assert.notEqual(before, after)
  })

  test('changes its text after the table was dropped and created again', () => {
    const columns = selectedColumns(table, [place])
    const texts = ['1', '2'].map(
      (uid) => selectRows({ ...table, uid }, { columns, branch }).text,
    )
    assert.notEqual(texts[0], texts[1])
  })

  test('returns rows whose values are converted from those of the driver', () => {
    const row = {
      '#0': 1,
      '#1': -0,
      '#2': 2n ** 63n - 1n,
      '#3': null,
      '#token': 5n,
    }
    assert.deepEqual(read(table, selected, row), {
      values: new Map<string, unknown>([
        ['p', 1],
        ['c', 0],
        ['at', '+292278994-08-17T07:12:55.807Z'],
      ]),
      token: 5n,
    })
  })

  test('returns undefined instead of a row when a partition has only static columns', () => {
    const row = { '#0': 1, '#1': null, '#2': null, '#3': null }
    assert.equal(read(table, selected, row), undefined)
  })
})

describe('statements that write rows', () => {
  const key: readonly (readonly [Column, ColumnValue | undefined])[] = [
    [p, 1],
    [c, 1.5],
    [at, '1970-01-01T00:00:00.001Z'],
  ]
  const where = 'WHERE "p" = ? AND "c" = ? AND "at" = ?'

  test('insert a row as a whole', () => {
    const merge: RowMerge = {
      kind: 'insert',
      values: new Map([...key, [tags, undefined], [ids, [1, 2]]]),
    }
    assert.deepEqual(merged(table, merge), [
      {
        text: 'INSERT INTO "ks"."T" /* 1 */ ("at", "c", "ids", "p", "tags") VALUES (?, ?, ?, ?, ?)',
        values: [ms(1n), 1.5, collection(2, int(1), int(2)), 1, null],
        isIdempotent: true,
      },
    ])
  })

  test('update only the given columns', () => {
    const merge: RowMerge = {
      kind: 'update',
      values: new Map([...key, [tags, ['a']], [m, undefined]]),
    }
    assert.deepEqual(merged(table, merge), [
      {
        text: `UPDATE "ks"."T" /* 1 */ SET "m" = ?, "tags" = ? ${where}`,
        values: [null, collection(1, a), 1, 1.5, ms(1n)],
        isIdempotent: true,
      },
    ])
  })

  test('add elements with + and remove elements with -', () => {
    const change = (kind: 'add' | 'remove', of: Column, ...elements: Value[]) =>
      merged(table, {
        kind: 'update',
        values: new Map(key),
        elements: new Map([[of, { kind, elements }]]),
      })[0]!
    for (const [write, text, bound, isIdempotent] of [
      [change('add', tags, 'a'), '"tags" = "tags" + ?', collection(1, a), false],
      [change('remove', tags, 'a'), '"tags" = "tags" - ?', collection(1, a), true],
      [change('add', ids, 1), '"ids" = "ids" + ?', collection(1, int(1)), true],
      [change('add', m, ['a', 1]), '"m" = "m" + ?', collection(1, a, int(1)), true],
      [change('remove', m, 'a'), '"m" = "m" - ?', collection(1, a), true],
    ] as const) {
      assert.equal(write.text, `UPDATE "ks"."T" /* 1 */ SET ${text} ${where}`)
      assert.deepEqual(write.values[0], bound)
      assert.equal(write.isIdempotent, isIdempotent)
    }
  })

  test('are an INSERT and an UPDATE when an insert adds elements', () => {
    const merge: RowMerge = {
      kind: 'insert',
      values: new Map(key),
      elements: new Map([[ids, { kind: 'add', elements: [1] }]]),
    }
    assert.deepEqual(
      merged(table, merge).map(({ text }) => text.slice(0, 6)),
      ['INSERT', 'UPDATE'],
    )
  })

  test('are omitted when nothing changes', () => {
    assert.deepEqual(merged(table, { kind: 'update', values: new Map(key) }), [])
  })

  test('name only the partition when only static columns change', () => {
    const merge: RowMerge = {
      kind: 'update',
      values: new Map([...key, [shared, 7]]),
    }
    assert.equal(
      merged(table, merge)[0]!.text,
      'UPDATE "ks"."T" /* 1 */ SET "shared" = ? WHERE "p" = ?',
    )
  })
})

describe('statements that delete rows', () => {
  test('delete by the whole key, or by a prefix of it', () => {
    assert.deepEqual(deleteRows(table, new Map([['p', { eq: [1] }]])), [
      { text: 'DELETE FROM "ks"."T" /* 1 */ WHERE "p" = ?', values: [1] },
    ])
    const low = { value: 0, inclusive: true }
    assert.deepEqual(
      deleteRows(
        table,
        new Map([
          ['p', { eq: [1, 2] }],
          ['c', { low, high: { value: 5, inclusive: false } }],
        ]),
      ),
      [
        {
          text: 'DELETE FROM "ks"."T" /* 1 */ WHERE "p" IN ? AND "c" >= ? AND "c" < ?',
          values: [[1, 2], -0, 5],
        },
      ],
    )
  })

  test('delete both signed zeros when the key contains zero', () => {
    const conditions = new Map([
      ['p', { eq: [1] }],
      ['c', { eq: [0] }],
    ])
    assert.deepEqual(deleteRows(table, conditions), [
      {
        text: 'DELETE FROM "ks"."T" /* 1 */ WHERE "p" = ? AND "c" IN ?',
        values: [1, [-0, 0]],
      },
    ])
  })

  test('are omitted when no key can match', () => {
    assert.deepEqual(deleteRows(table, new Map([['p', { eq: [] }]])), [])
  })

  test('are undefined when Cassandra orders the key differently, so that rows must be deleted one by one', () => {
    const byText: Table = {
      ...table,
      definition: {
        ...table.definition,
        columns: [p, { name: 'c', type: { type: 'text' } }],
        partitionSort: [{ column: 'c', direction: 1 }],
      },
    }
    const low = { value: '\uFFFD', inclusive: true }
    const conditions = new Map([
      ['p', { eq: [1] }],
      ['c', { low }],
    ])
    assert.equal(deleteRows(byText, conditions), undefined)
  })
})
