/** The management API through the official client. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  DataAPIClient,
  DevOpsAPIResponseError,
  type AstraAdmin,
} from '@datastax/astra-db-ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { thrown } from './client.ts'

let server: TestServer
let client: DataAPIClient
let admin: AstraAdmin

const adminWith = (adminToken: string) =>
  client.admin({ adminToken, endpointUrl: `${server.adminUrl}/v2` })

before(async () => {
  server = await startServer({ adminPort: 0, durable: false })
  client = new DataAPIClient(testToken)
  admin = adminWith(testToken)
})

after(async () => {
  await client.close()
  await server.close()
})

describe('AstraAdmin', () => {
  test('creates a database, uses it and drops it', async () => {
    const made = await admin.createDatabase('shop', {
      cloudProvider: 'GCP',
      region: 'us-east1',
      keyspace: 'mine',
    })
    const info = await admin.dbInfo(made.id)
    assert.equal(info.id, made.id)
    assert.equal(info.name, 'shop')
    assert.equal(info.status, 'ACTIVE')
    assert.equal(info.cloudProvider, 'GCP')
    assert.deepEqual(info.keyspaces, ['mine'])
    assert.deepEqual(
      info.regions.map(({ name }) => name),
      ['us-east1'],
    )
    assert(Math.abs(info.createdAt.getTime() - Date.now()) < 60_000)

    // The test uses the reported address, because the client itself knows only the addresses of one
    // cloud.
    const { dataEndpointUrl } = info.raw as { dataEndpointUrl: string }
    const here = new DataAPIClient(testToken, { environment: 'hcd' })
    const db = here.db(dataEndpointUrl, { keyspace: 'mine' })
    await db.createCollection('things')
    await db.collection('things').insertOne({ _id: 1 })
    assert.deepEqual(await db.collection('things').findOne({}), { _id: 1 })
    await here.close()

    await admin.dropDatabase(made.id)
    assert.equal((await admin.dbInfo(made.id)).status, 'TERMINATED')
    const ids = (databases: readonly { readonly id: string }[]) =>
      databases.map(({ id }) => id)
    assert(!ids(await admin.listDatabases()).includes(made.id))
    const dropped = await admin.listDatabases({ include: 'TERMINATED' })
    assert.deepEqual(ids(dropped), [made.id])
  })

  test('creates a database with the required options only', async () => {
    const config = { name: 'least', cloudProvider: 'AWS', region: 'local' } as const
    const { id } = await admin.createDatabase(config, { blocking: false })
    assert.deepEqual((await admin.dbInfo(id)).keyspaces, ['default_keyspace'])
    await admin.dropDatabase(id, { blocking: false })
  })

  test('lists databases page by page', async () => {
    for (const name of ['one', 'two', 'three'])
      await admin.createDatabase(name, { cloudProvider: 'AZURE', region: 'westeurope' })
    const names: string[] = []
    let startingAfter: string | undefined
    for (let pages = 0; pages < 10; pages++) {
      const page = await admin.listDatabases({
        limit: 2,
        include: 'NONTERMINATED',
        ...(startingAfter !== undefined && { startingAfter }),
      })
      names.push(...page.map(({ name }) => name))
      if (page.length < 2) break
      startingAfter = page.at(-1)!.id
    }
    assert.deepEqual(names, ['stela', 'one', 'two', 'three'])
    const azure = await admin.listDatabases({ provider: 'AZURE' })
    assert.deepEqual(
      azure.map(({ name }) => name),
      ['one', 'two', 'three'],
    )
  })

  test('returns regions and capacity groups', async () => {
    const [first, ...others] = await admin.findAvailableRegions()
    assert.equal(first!.name, 'local')
    assert.equal(first!.enabled, true)
    assert(others.length > 0)
    const all = await admin.findAvailableRegions({ onlyOrgEnabledRegions: false })
    assert.equal(all.length, others.length + 1)
    assert.deepEqual(await admin.listPCUGroups(), [])
  })

  test('throws an error with the status and the message of the server', async () => {
    const attempt = admin.dbInfo('00000000-0000-4000-8000-000000000000')
    const error = await thrown(DevOpsAPIResponseError, attempt)
    assert.equal(error.status, 404)
    assert.equal(error.errors[0]!.id, 404)
    assert.match(error.message, /There is no database/)
    const stranger = await thrown(DevOpsAPIResponseError, adminWith('no').listDatabases())
    assert.equal(stranger.status, 401)
    assert.equal(stranger.errors[0]!.id, 340018)
    const [home] = await admin.listDatabases()
    const kept = await thrown(DevOpsAPIResponseError, admin.dropDatabase(home!.id))
    assert.equal(kept.status, 409)
    const config = { cloudProvider: 'AWS', region: 'local', keyspace: 'a-b' } as const
    const bad = await thrown(DevOpsAPIResponseError, admin.createDatabase('bad', config))
    assert.equal(bad.status, 400)
  })
})
