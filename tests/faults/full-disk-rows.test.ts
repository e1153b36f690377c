/**
 * A disk that becomes full during an insertMany of rows: no row is stored, and the error says so.
 */
import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'
import { noDisks, SmallDisk, unmountLeftovers } from './small-disk.ts'

if (noDisks !== undefined) console.log(`Left out: ${noDisks}`)

let server: TestServer | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
  unmountLeftovers()
})
after(unmountLeftovers)

describe('insertMany of rows on a disk that fills up', { skip: noDisks ?? false }, () => {
  for (const ordered of [false, true])
    test(`stores no row, and its error says so, with ordered: ${ordered}`, async () => {
      const disk = await SmallDisk.mount(32)
      server = await startServer({ dataDir: disk.data })
      const table = '/default_keyspace/t'
      const definition = { columns: { id: 'int', a: 'text' }, primaryKey: 'id' }
      await server.command('/default_keyspace', {
        createTable: { name: 't', definition },
      })
      await server.command(table, { insertOne: { document: { id: 1, a: 'old' } } })
      disk.fill(1_000_000)

      const documents = [
        { id: 2, a: 'new' },
        { id: 1, a: 'y'.repeat(3_000_000) },
      ]
      const insertMany = { documents, options: { ordered } }
      const answer = await server.command(table, { insertMany })
      assert.deepEqual(answer.codes, ['FAILED_WRITE_REQUEST'])
      assert.match(answer.text, /Nothing of this batch of writes was stored/)
      const { data } = (await server.command(table, { find: {} })).body
      assert.deepEqual(data!.documents, [{ id: 1, a: 'old' }])
    })
})
