import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'

let server: TestServer
before(async () => {
  server = await startServer()
  await server.command('/default_keyspace', { createCollection: { name: 'numbers' } })
})
after(() => server.close())

for (const numeral of [
  '9007199254740993',
  '-123456789012345678901234567890',
  '0.1000000000000000055511151231257827',
  '3.141592653589793238462643383279',
  '1'.repeat(100),
])
  test(`${numeral} is returned with every digit`, async () => {
    const id = JSON.stringify(numeral)
    await server.command(
      '/default_keyspace/numbers',
      `{"insertOne":{"document":{"_id":${id},"n":${numeral}}}}`,
    )
    const found = await server.command(
      '/default_keyspace/numbers',
      `{"findOne":{"filter":{"_id":${id}}}}`,
    )
    assert.equal(found.text, `{"data":{"document":{"_id":${id},"n":${numeral}}}}`)
  })
