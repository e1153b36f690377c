/** Cursors over many rows. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Table, TableFindCursor } from '@datastax/astra-db-ts'
import { assertUnchangeable, refusal, Service } from './client.ts'

const service = await Service.start()
const db = service.connect()

const readings = Table.schema({
  columns: { place: 'int', n: 'int', even: 'boolean' },
  primaryKey: { partitionBy: ['place'], partitionSort: { n: 1 } },
})

/** A thousand rows in four partitions, 250 in each. */
const rows = Array.from({ length: 1000 }, (_, i) => {
  return { place: i % 4, n: Math.floor(i / 4), even: i % 8 < 4 }
})

const inPlace2 = rows.filter(({ place }) => place === 2)

const table = await db.createTable('readings', { definition: readings })

before(async () => {
  await table.insertMany(rows, { chunkSize: 100 })
})

function keyOf({ place, n }: { place: number; n: number }): string {
  return `${place}/${n}`
}

/**
 * Asserts that `found` has each row once, with the rows of a partition together and sorted by `n`.
 */
function assertAll(found: readonly { place: number; n: number }[]): void {
  const places = new Set(found.map(({ place }) => place))
  const expected = [...places].flatMap((wanted) =>
    rows.filter(({ place }) => place === wanted),
  )
  assert.deepEqual(found.map(keyOf), expected.map(keyOf))
  assert.equal(found.length, rows.length)
}

describe('a cursor', () => {
  test('returns a thousand rows on fifty pages', async () => {
    const cursor = table.find({})
    assert(cursor instanceof TableFindCursor)
    assert.equal(cursor.dataSource, table)
    assert.equal(cursor.state, 'idle')
    assertAll(await cursor.toArray())
    assert.equal(cursor.state, 'closed')
    assert.equal(cursor.consumed(), 1000)
  })

  test('returns all rows in a sort that differs from the stored order', async () => {
    const byNumber = rows.toSorted((a, b) => b.n - a.n || a.place - b.place)
    const found = await table.find({}).sort({ n: -1 }).toArray()
    assert.deepEqual(found.map(keyOf), byNumber.map(keyOf))
    const some = await table.find({}).sort({ n: -1 }).skip(30).limit(150).toArray()
    assert.deepEqual(some.map(keyOf), byNumber.slice(30, 180).map(keyOf))
  })

  test('can be iterated, and is closed when the loop ends early', async () => {
    const seen: (typeof rows)[number][] = []
    for await (const row of table.find({})) seen.push(row as (typeof rows)[number])
    assertAll(seen)
    const cursor = table.find({})
    let count = 0
    for await (const row of cursor) {
      assert(row.n >= 0)
      if (++count === 30) break
    }
    assert.equal(cursor.consumed(), 30)
    assert.equal(cursor.state, 'closed')
  })

  test('passes each row to a function until the function returns false', async () => {
    let count = 0
    await table.find({ place: 1 }).forEach(() => {
      count++
    })
    assert.equal(count, 250)
    count = 0
    await table.find({ place: 1 }).forEach(() => ++count < 45)
    assert.equal(count, 45)
  })

  test('returns rows one by one', async () => {
    const cursor = table.find({ place: 2, n: { $lt: 23 } })
    const numbers: number[] = []
    while (await cursor.hasNext()) numbers.push((await cursor.next())!.n)
    assert.deepEqual(
      numbers,
      inPlace2.slice(0, 23).map(({ n }) => n),
    )
    assert.equal(await cursor.next(), null)
  })

  test('returns the buffered rows', async () => {
    const cursor = table.find({ place: 2 })
    assert.deepEqual(await cursor.next(), inPlace2[0])
    assert.equal(cursor.buffered(), 19)
    assert.deepEqual(cursor.consumeBuffer(3), inPlace2.slice(1, 4))
    assert.deepEqual(await cursor.toArray(), inPlace2.slice(4))
  })

  test('starts again when rewound, and can be cloned', async () => {
    const cursor = table.find({ place: 2 }, { sort: { n: -1 } })
    for (let i = 0; i < 25; i++) await cursor.next()
    const clone = cursor.clone()
    cursor.rewind()
    assert.equal(cursor.consumed(), 0)
    assert.deepEqual(await cursor.toArray(), inPlace2.toReversed())
    assert.deepEqual(await clone.toArray(), inPlace2.toReversed())
  })

  test('maps rows', async () => {
    const cursor = table
      .find({ place: 2 })
      .map(({ n }) => n + 1)
      .map((n) => `no. ${n}`)
    assert.deepEqual(
      await cursor.toArray(),
      inPlace2.map(({ n }) => `no. ${n + 1}`),
    )
  })

  test('accepts its clauses from its methods', async () => {
    const numbers = await table
      .find({})
      .filter({ place: 2, even: true })
      .sort({ n: -1 })
      .limit(45)
      .project<{ n: number }>({ n: 1 })
      .map((row) => row.n)
      .toArray()
    const even = inPlace2.filter((row) => row.even).map(({ n }) => n)
    assert.deepEqual(numbers, even.toReversed().slice(0, 45))
  })

  test('cannot be changed after it has started', async () => {
    await assertUnchangeable(table.find({}))
  })

  for (const limit of [1, 19, 20, 21, 40, 249, 250, 251])
    test(`returns at most ${limit} rows in total when the limit is ${limit}`, async () => {
      const found = await table.find({ place: 2 }, { limit }).toArray()
      assert.deepEqual(found, inPlace2.slice(0, limit))
      const all = await table.find({}, { limit }).toArray()
      assert.equal(new Set(all.map(keyOf)).size, limit)
    })

  test('filters by a list of values, over all pages', async () => {
    const filter = { place: { $in: [1, 3] }, n: { $gte: 200 } }
    const found = await table.find(filter).toArray()
    const expected = rows.filter(({ place, n }) => place % 2 === 1 && n >= 200)
    assert.deepEqual(found.map(keyOf).toSorted(), expected.map(keyOf).toSorted())
  })

  test('returns an empty result when nothing matches', async () => {
    const cursor = table.find({ place: 9 })
    assert.equal(await cursor.hasNext(), false)
    assert.deepEqual(await table.find({ place: 9 }).toArray(), [])
  })

  test('returns all rows when the server sorts them in memory', async () => {
    const found = await table.find({ place: 2 }, { sort: { even: 1, n: -1 } }).toArray()
    const [even, odd] = [true, false].map((is) => inPlace2.filter((row) => row.even === is))
    assert.deepEqual(found, [...odd!.toReversed(), ...even!.toReversed()])
    const options = { sort: { n: 1 as const }, skip: 15, limit: 10 }
    const skipped = await table.find({ place: 2 }, options).toArray()
    assert.deepEqual(skipped, inPlace2.slice(15, 25))
  })
})

describe('pages', () => {
  for (const [filter, options] of [
    [{}, {}],
    [{ place: 2 }, { sort: { n: -1 as const } }],
    [{ even: true }, {}],
  ] as const)
    test(`are fetched one by one with the filter and options ${JSON.stringify([filter, options])}`, async () => {
      const cursor = table.find(filter, options)
      const found: (typeof rows)[number][] = []
      let last: string | null
      do {
        const { result, nextPageState } = await cursor.fetchNextPage()
        last = nextPageState
        if (last !== null) assert.equal(result.length, 20)
        found.push(...(result as typeof rows))
      } while (last !== null)
      const everything = await table.find(filter, options).toArray()
      assert.deepEqual(found, everything)
      assert.deepEqual((await cursor.fetchNextPage()).result, [])
    })

  test('continue from the page state of another cursor', async () => {
    const options = { sort: { n: 1 as const }, limit: 100 }
    const first = await table.find({ place: 2 }, options).fetchNextPage()
    assert.deepEqual(first.result, inPlace2.slice(0, 20))
    const initialPageState = first.nextPageState!
    const rest = table.find({ place: 2 }, { ...options, initialPageState })
    assert.deepEqual(await rest.toArray(), inPlace2.slice(20, 100))
  })

  test('are rejected with the page state of another query', async () => {
    const { nextPageState } = await table.find({ place: 2 }).fetchNextPage()
    await refusal(table.find({ place: 1 }).initialPageState(nextPageState!).toArray())
    await refusal(table.find({}).initialPageState('no page at all').toArray())
  })

  test('do not end with an empty page', async () => {
    const cursor = table.find({ place: 2, n: { $lt: 40 } })
    assert.notEqual((await cursor.fetchNextPage()).nextPageState, null)
    assert.equal((await cursor.fetchNextPage()).nextPageState, null)
  })

  test('continue after their rows are deleted', async () => {
    const shrinking = await db.createTable('shrinking', { definition: readings })
    await shrinking.insertMany(inPlace2.slice(0, 45))
    const seen: number[] = []
    for await (const { place, n } of shrinking.find({ place: 2 })) {
      seen.push(n)
      await shrinking.deleteOne({ place, n })
    }
    assert.deepEqual(
      seen,
      inPlace2.slice(0, 45).map(({ n }) => n),
    )
    assert.equal(await shrinking.findOne({}), null)
  })
})
