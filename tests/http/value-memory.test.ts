/**
 * Bodies and documents with very many values. Tests check how many of them are processed at a time.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseJson } from '../../src/json/parse.ts'
import { isObject, type Value } from '../../src/json/value.ts'
import { measureValues } from '../../src/json/weight.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { startServer, type TestServer } from '../harness.ts'

const path = '/default_keyspace/wide'

/** A JSON array of empty objects, which take more memory per character than any other value. */
function objects(count: number): string {
  return `[${Array<string>(count).fill('{}').join(',')}]`
}

let server: TestServer
before(async () => {
  server = await startServer({ checked: false, durable: false })
  const options = { indexing: { deny: ['parts'] } }
  for (const name of ['wide', 'wider'])
    await server.command('/default_keyspace', { createCollection: { name, options } })
  for (let _id = 0; _id < 3; _id++) await insert(path, 100_000)
})
after(() => server.close())

/** Inserts a document with `count` objects, each of which takes 240 bytes of memory. */
function insert(where: string, count: number) {
  return server.command(where, `{"insertOne":{"document":{"parts":${objects(count)}}}}`)
}

async function held(): Promise<number> {
  const { text } = await server.send('/metrics', {})
  return Number(/^stela_value_memory_bytes (\d+)$/m.exec(text)![1])
}

/** The maximum amount of memory that was held before all requests ended. */
async function mostDuring(work: readonly Promise<unknown>[]): Promise<number> {
  const over = Promise.all(work).then(() => true)
  let most = 0
  for (let isOver = false; !isOver;) {
    most = Math.max(most, await held())
    isOver = await Promise.race([over, Promise.resolve(false)])
  }
  return most
}

describe('values', () => {
  test('parsed from bodies take a bounded amount of memory, however many bodies arrive at once', async () => {
    // Together, the six bodies need 360 MB, but one principal may hold at most 300 MB.
    const inserts = Array.from({ length: 6 }, () => insert(`${path}r`, 250_000))
    const most = await mostDuring(inserts)
    for (const { http, codes } of await Promise.all(inserts)) {
      assert.equal(http, 200)
      assert.deepEqual(codes, [])
    }
    assert(most >= 60_000_000 && most <= 300_000_000, `${most} bytes`)
    assert.equal(await held(), 0)
  })

  test('parsed from documents take the memory of one document per command', async () => {
    const find = { find: { projection: { parts: { $slice: 1 } } } }
    const finds = Array.from({ length: 3 }, () => server.command(path, find))
    const most = await mostDuring(finds)
    for (const { body } of await Promise.all(finds))
      for (const document of body.data!.documents!)
        assert.deepEqual(document['parts'], [{}])
    assert(most >= 24_000_000 && most <= 75_000_000, `${most} bytes`)
    assert.equal(await held(), 0)
  })

  test('parsed from changed documents take a bounded amount of memory, and all documents are changed', async () => {
    const update = { updateMany: { filter: {}, update: { $inc: { n: 1 } } } }
    const changed = server.command(path, update)
    const most = await mostDuring([changed])
    const { matchedCount, modifiedCount } = (await changed).body.status!
    assert.deepEqual([matchedCount, modifiedCount], [3, 3])
    assert(most >= 24_000_000 && most <= 75_000_000, `${most} bytes`)
    assert.equal(await held(), 0)
    const counted = await server.command(path, { countDocuments: { filter: { n: 1 } } })
    assert.deepEqual(counted.body.status, { count: 3 })
  })

  test('are estimated from the text before they are created', () => {
    const texts = [
      '{}',
      objects(1_000),
      '[[],[[]],{"a":[1,2,3]}]',
      '{"a":{"b":"{,{,["}}',
      '1',
    ]
    for (const text of texts) {
      const { size, values } = atOnce(measureValues(Buffer.from(text)))
      const limits = { depthMax: 10, numeralLengthMax: 10 }
      const value = parseJson(text, limits)
      assert(size >= 200 * countOf(value, isObject), text)
      assert(values <= countOf(value, () => true), text)
    }
    const many = atOnce(measureValues(Buffer.from(objects(500_000))))
    assert.equal(many.size, 500_000 * 240 + 24)
    assert.equal(many.values, 500_000)
  })

  test('beyond the limit of a body are rejected before they are created', async () => {
    const inserts = Array.from({ length: 3 }, () => insert(`${path}r`, 1_000_001))
    assert.equal(await mostDuring(inserts), 0)
    for (const { codes } of await Promise.all(inserts))
      assert.deepEqual(codes, ['TOO_MANY_VALUES_IN_BODY'])
  })
})

/** Number of values of a kind at all depths. */
function countOf(value: Value, isCounted: (value: Value) => boolean): number {
  const inside = Array.isArray(value) ? value : isObject(value) ? [...value.values()] : []
  return inside.reduce<number>(
    (sum, one) => sum + countOf(one, isCounted),
    isCounted(value) ? 1 : 0,
  )
}
