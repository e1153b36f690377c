/**
 * Scans that read more than they return end at a maximum number of documents or rows, with an
 * error.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { testLimits } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const keyspace = '/default_keyspace'
const scannedMax = 30
const count = 50
const everyN = Array.from({ length: count }, (_, n) => n)

describe('a scan', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open({ limits: { ...testLimits, scannedMax } })
    server = await startServer({ checked: false }, engine)
    const options = { lexical: { enabled: false } }
    await send(keyspace, { createCollection: { name: 'documents', options } })
    const columns = { id: 'int', kind: 'text', n: 'int' }
    const definition = { columns, primaryKey: 'id' }
    await send(keyspace, { createTable: { name: 'rows', definition } })
    const index = { name: 'by_kind', definition: { column: 'kind' } }
    await send(`${keyspace}/rows`, { createIndex: index })
    const all = everyN.map((n) => ({
      kind: n < 5 ? 'few' : 'many',
      n,
    }))
    await send(`${keyspace}/documents`, {
      insertMany: { documents: all.map((one) => ({ _id: one.n, ...one })) },
    })
    await send(`${keyspace}/rows`, {
      insertMany: { documents: all.map((one) => ({ id: one.n, ...one })) },
    })
  })

  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  async function send(path: string, body: object) {
    const { codes, text, body: answered } = await server.command(path, body)
    assert.deepEqual(codes, [], text)
    return answered
  }

  for (const target of ['documents', 'rows'] as const) {
    const path = `${keyspace}/${target}`

    test(`is rejected with advice when it reads too many ${target}`, async () => {
      for (const find of [
        { filter: { n: { $nin: everyN } } },
        { filter: { kind: 'many', n: { $nin: everyN } } },
        { sort: { n: -1 } },
        { sort: { n: 1 }, filter: { kind: 'many' } },
      ]) {
        const { codes, text } = await server.command(path, { find })
        assert.deepEqual(codes, ['UNSUPPORTED_DATABASE_QUERY'], text)
        assert.match(
          text,
          new RegExp(`more than ${scannedMax} ${target} of ${target} must be read`),
        )
        assert.match(text, /index.*raise --max-scanned/)
      }
    })

    test(`reads ${target} when an index leaves few candidates`, async () => {
      const filter = { kind: 'few', n: { $gt: 2 } }
      for (const sort of [undefined, { n: -1 }]) {
        const { data } = await send(path, { find: { filter, ...(sort && { sort }) } })
        const found = (data!.documents as { n: number }[]).map(({ n }) => n)
        assert.deepEqual(sort ? found : found.toSorted(), sort ? [4, 3] : [3, 4])
      }
    })

    test(`reads all ${target} page by page`, async () => {
      const found = new Set<unknown>()
      for (let pageState: string | null | undefined; pageState !== null;) {
        const { data } = await send(path, { find: { options: { pageState } } })
        for (const { n } of data!.documents as { n: unknown }[]) found.add(n)
        pageState = data!.nextPageState!
      }
      assert.equal(found.size, count)
    })
  }
})
