/**
 * The official client with addresses of the cloud: databases by host name, and the host of the
 * management API. The test replaces only name resolution, which an operator would configure in DNS.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { DataAPIClient, type Fetcher } from '@datastax/astra-db-ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

let server: TestServer
let client: DataAPIClient

/** Resolves host names of the cloud to this server, and keeps the Host header. */
const fetcher: Fetcher = {
  async fetch({ url, method, headers, body }) {
    const { host, pathname, search } = new URL(url)
    const here = host.startsWith('api.') ? server.adminUrl : server.url
    const sent = request(here + pathname + search, {
      method,
      headers: { ...headers, Host: host },
    })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
    return {
      url,
      status: response.statusCode!,
      statusText: response.statusMessage!,
      httpVersion: 1,
      headers: response.headers as Record<string, string>,
      body: text,
    }
  },
}

before(async () => {
  server = await startServer({ adminPort: 0, durable: false })
  client = new DataAPIClient(testToken, { httpOptions: { client: 'custom', fetcher } })
})

after(async () => {
  await client.close()
  await server.close()
})

test('the client creates a database, uses it by its host name, adds and drops a keyspace, and drops the database', async () => {
  const admin = client.admin()
  const config = { cloudProvider: 'AWS', region: 'us-east-2' } as const
  const dbAdmin = await admin.createDatabase('cloudy', config)
  const db = dbAdmin.db()
  assert.match(
    db.endpoint,
    /^https:\/\/[0-9a-f-]{36}-us-east-2\.apps\.astra\.datastax\.com/,
  )
  const collection = await db.createCollection<{ _id: number; n: number }>('numbers')
  await collection.insertMany(Array.from({ length: 30 }, (_, n) => ({ _id: n, n })))
  assert.equal((await collection.find({}).toArray()).length, 30)
  assert.equal((await db.info()).name, 'cloudy')

  assert.deepEqual(await dbAdmin.listKeyspaces(), ['default_keyspace'])
  await dbAdmin.createKeyspace('second', { updateDbKeyspace: true })
  assert.deepEqual(await dbAdmin.listKeyspaces(), ['default_keyspace', 'second'])
  assert.deepEqual(await db.listCollections(), [], 'that is the new keyspace')
  await dbAdmin.dropKeyspace('second')
  assert.deepEqual(await dbAdmin.listKeyspaces(), ['default_keyspace'])

  const home = await server.command('/default_keyspace', { findCollections: {} })
  assert.deepEqual(home.body.status, { collections: [] })
  await dbAdmin.drop()
  assert.equal((await admin.dbInfo(dbAdmin.id)).status, 'TERMINATED')
  await assert.rejects(collection.findOne({}), /404|UNKNOWN_DATABASE/)
})
