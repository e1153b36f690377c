/** Two servers on one engine serve the same data. The engine stays open when they stop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultRoleId } from '../../src/auth/roles.ts'
import { openEmbedded } from '../engine/embedded/embedded-store.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

test('servers on a given engine serve the same data, and leave it open', async (context) => {
  const { engine } = await openEmbedded(context)
  const [one, two] = [await startServer({}, engine), await startServer({}, engine)]
  const books = '/default_keyspace/books'
  await one.command('/default_keyspace', { createCollection: { name: 'books' } })
  await one.command(books, { insertOne: { document: { _id: 'alien' } } })
  const found = await two.command(books, { findOne: {} })
  assert.deepEqual(found.body.data!.document, { _id: 'alien' })

  await one.close()
  const more = await two.command(books, { insertOne: { document: { _id: 'moon' } } })
  assert.deepEqual(more.body.status, { insertedIds: ['moon'] })
  await two.close()
  const target = await engine.findTarget('default_keyspace', 'books')
  assert.equal(await engine.estimateCount(target!), 2)
})

test('a token created at one server is valid at the other until either server revokes the token', async (context) => {
  const { engine } = await openEmbedded(context)
  const start = () => startServer({ adminPort: 0 }, engine)
  const servers = [await start(), await start()] as const
  context.after(() => Promise.all(servers.map((server) => server.close())))
  const [one, two] = servers
  const manage = async (
    server: TestServer,
    method: string,
    path: string,
    body?: object,
  ) => {
    const answer = await fetch(`${server.adminUrl}/v2${path}`, {
      method,
      headers: { Authorization: `Bearer ${testToken}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return (text === '' ? undefined : JSON.parse(text)) as {
      clientId: string
      token: string
    }
  }
  const codesAt = async (server: TestServer, token: string) =>
    (await server.command('', { findKeyspaces: {} }, { Token: token })).codes
  const roles = [defaultRoleId('RO User')]
  const { clientId, token } = await manage(one, 'POST', '/tokens', { roles })
  for (const server of servers) assert.deepEqual(await codesAt(server, token), [])
  await manage(two, 'DELETE', `/clientIdSecrets/${clientId}`)
  for (const server of servers)
    assert.deepEqual(await codesAt(server, token), ['UNAUTHENTICATED_REQUEST'])
})
