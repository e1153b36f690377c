/** Inserts of single rows and of many. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DataAPIResponseError, TableInsertManyError } from '@datastax/astra-db-ts'
import { refusal, Service, thrown } from './client.ts'
import { everyRow, nothingKnown, NewTables, type Person } from './tables.ts'

const service = await Service.start()
const db = service.connect()

const tables = new NewTables(db)

function numbered(length: number): Person[] {
  return Array.from({ length }, (_, n) => ({ id: String(n).padStart(4, '0'), age: n }))
}

describe('insertOne', () => {
  test('returns the key of the row', async () => {
    const table = await tables.readings()
    const row = { place: 'a', day: 2, hour: 3, value: 0.5 }
    const { insertedId } = await table.insertOne(row)
    assert.deepEqual(insertedId, { place: 'a', day: 2, hour: 3 })
    assert.deepEqual(await table.findOne(insertedId), row)
  })

  test('merges with the existing row of the key', async () => {
    const table = await tables.people()
    await table.insertOne({ id: 'a', name: 'Ann', tags: new Set(['x']) })
    const { insertedId } = await table.insertOne({ id: 'a', age: 30, tags: new Set('y') })
    assert.deepEqual(insertedId, { id: 'a' })
    const merged = { ...nothingKnown, id: 'a', name: 'Ann', age: 30, tags: new Set(['y']) }
    assert.deepEqual(await everyRow(table, 'id'), [merged])
  })

  test('clears columns that are null or empty in the inserted row', async () => {
    const table = await tables.people()
    await table.insertOne({
      id: 'a',
      name: 'Ann',
      tags: new Set(['x']),
      days: [1],
      notes: new Map([['k', 'v']]),
    })
    await table.insertOne({
      id: 'a',
      name: null,
      tags: new Set(),
      days: [],
      notes: new Map(),
    })
    assert.deepEqual(await table.findOne({ id: 'a' }), { ...nothingKnown, id: 'a' })
    const sparse = db.table<Person>(table.name, { serdes: { sparseData: true } })
    assert.deepEqual(await sparse.findOne({ id: 'a' }), { id: 'a' })
  })

  for (const [why, row, code, said] of [
    ['without its key', { name: 'Ann' }, 'MISSING_PRIMARY_KEY_COLUMNS', 'id(text)'],
    ['with a null key', { id: null }, 'MISSING_PRIMARY_KEY_COLUMNS', 'id(text)'],
    ['with an unknown column', { id: 'a', nick: 'A' }, 'UNKNOWN_TABLE_COLUMNS', 'nick'],
    [
      'with a value of another type',
      { id: 'a', age: 'old' },
      'INVALID_COLUMN_VALUES',
      'age(int)',
    ],
    [
      'with a value out of range',
      { id: 'a', age: 2 ** 31 },
      'INVALID_COLUMN_VALUES',
      'age(int)',
    ],
    ['with an empty key', { id: '' }, 'INVALID_COLUMN_VALUES', 'id'],
  ] as const)
    test(`rejects a row ${why}`, async () => {
      const table = await tables.people()
      const error = await refusal(table.insertOne(row as unknown as Person))
      assert.equal(error.errorCode, code)
      assert(error.message.includes(said), error.message)
      assert.deepEqual(await table.find({}).toArray(), [])
    })
})

describe('insertMany', () => {
  for (const options of [
    { ordered: true },
    { ordered: true, chunkSize: 100 },
    { ordered: false },
    { concurrency: 1, chunkSize: 7 },
    { concurrency: 20, chunkSize: 10 },
    { chunkSize: 100 },
  ] as const)
    test(`inserts 257 rows with the options ${JSON.stringify(options)}`, async () => {
      const table = await tables.people()
      const rows = numbered(257)
      const { insertedCount, insertedIds } = await table.insertMany(rows, options)
      assert.equal(insertedCount, 257)
      const ids = rows.map(({ id }) => ({ id }))
      if ('ordered' in options && options.ordered) assert.deepEqual(insertedIds, ids)
      else assert.deepEqual(new Set(insertedIds.map(({ id }) => id)).size, 257)
      assert.deepEqual(
        await everyRow(table, 'id'),
        rows.map((row) => ({ ...nothingKnown, ...row })),
      )
    })

  test('accepts at most a hundred rows per request', async () => {
    const table = await tables.people()
    const attempt = table.insertMany(numbered(101), { chunkSize: 101 })
    const error = await thrown(TableInsertManyError, attempt)
    assert.deepEqual(error.insertedIds(), [])
    const [cause] = error.errors() as DataAPIResponseError[]
    assert.equal(cause!.errorDescriptors[0].errorCode, 'COMMAND_FIELD_VALUE_INVALID')
  })

  test('inserts nothing for an empty list', async () => {
    const table = await tables.people()
    assert.deepEqual(await table.insertMany([]), { insertedCount: 0, insertedIds: [] })
  })

  test('merges rows with the same key, even within one call', async () => {
    const table = await tables.people()
    const rows = [
      { id: 'a', name: 'Ann' },
      { id: 'a', age: 30 },
      { id: 'a', name: 'Anne' },
    ]
    const { insertedIds } = await table.insertMany(rows, { ordered: true })
    assert.deepEqual(insertedIds, [{ id: 'a' }, { id: 'a' }, { id: 'a' }])
    const merged = { ...nothingKnown, id: 'a', name: 'Anne', age: 30 }
    assert.deepEqual(await everyRow(table, 'id'), [merged])
  })

  const mixed = [
    { id: 'a', age: 1 },
    { id: 'b', age: 'two' },
    { id: 'c', age: 3 },
    { id: 'd', nick: 'D' },
    { id: 'e', age: 5 },
  ] as unknown as Person[]

  test('continues after invalid rows when unordered, and lists the invalid rows', async () => {
    const table = await tables.people()
    const error = await thrown(TableInsertManyError, table.insertMany(mixed))
    assert.deepEqual(error.insertedIds(), [{ id: 'a' }, { id: 'c' }, { id: 'e' }])
    const [cause] = error.errors() as DataAPIResponseError[]
    assert(cause instanceof DataAPIResponseError)
    assert.deepEqual(cause.errorDescriptors.map(({ errorCode }) => errorCode).toSorted(), [
      'INVALID_COLUMN_VALUES',
      'UNKNOWN_TABLE_COLUMNS',
    ])
    const responses = cause.rawResponse.status!['documentResponses'] as object[]
    assert.partialDeepStrictEqual(responses, [
      { _id: ['a'], status: 'OK' },
      { _id: [], status: 'ERROR' },
      { _id: ['c'], status: 'OK' },
      { _id: [], status: 'ERROR' },
      { _id: ['e'], status: 'OK' },
    ])
    const found = await everyRow(table, 'id')
    assert.deepEqual(
      found.map((row) => (row as Person).id),
      ['a', 'c', 'e'],
    )
  })

  test('stops at the first invalid row when ordered', async () => {
    const table = await tables.people()
    const attempt = table.insertMany(mixed, { ordered: true })
    const error = await thrown(TableInsertManyError, attempt)
    assert.equal(error.name, 'TableInsertManyError')
    assert.deepEqual(error.insertedIds(), [{ id: 'a' }])
    const [cause] = error.errors() as DataAPIResponseError[]
    const responses = cause!.rawResponse.status!['documentResponses'] as object[]
    assert.partialDeepStrictEqual(responses, [
      { _id: ['a'], status: 'OK' },
      { _id: [], status: 'ERROR' },
      { _id: ['c'], status: 'SKIPPED' },
      { _id: [], status: 'ERROR' },
      { _id: ['e'], status: 'SKIPPED' },
    ])
    assert.deepEqual(await everyRow(table, 'id'), [{ ...nothingKnown, id: 'a', age: 1 }])
  })

  test('sends no chunk after a failed one when ordered', async () => {
    const table = await tables.people()
    const rows = numbered(30)
    rows[11] = { id: 'wrong', age: 'x' as never }
    const attempt = table.insertMany(rows, { ordered: true, chunkSize: 10 })
    const error = await thrown(TableInsertManyError, attempt)
    assert.equal(error.insertedIds().length, 11)
    assert.equal((await everyRow(table, 'id')).length, 11)
  })
})
