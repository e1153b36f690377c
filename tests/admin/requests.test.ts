/** Rules of every call to the management API: tokens, paths, bodies and errors. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testToken } from '../harness.ts'
import { AdminServer, messageIn } from './admin-server.ts'

const admin = new AdminServer({
  accounts: [{ name: 'änn', password: 'pass:word' }],
})

describe('a token', () => {
  test('is accepted in the header Authorization, as Bearer, and in the header Token', async () => {
    for (const headers of [
      { Authorization: `Bearer ${testToken}` },
      { Authorization: `bearer  ${testToken}` },
      { Authorization: `Bearer ${testToken}`, Token: 'another' },
      { Authorization: 'Basic abc', Token: testToken },
      { Authorization: '', Token: testToken },
    ] as Record<string, string>[])
      assert.equal((await admin.call('GET', '/currentOrg', { headers })).http, 200)
  })

  test('can encode a name and a password, as in the Data API', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const token = `Cassandra:${base64('änn')}:${base64('pass:word')}`
    assert.equal((await admin.call('GET', '/databases', { token })).http, 200)
  })

  test('is checked before the path, the method and the body', async () => {
    for (const [method, path] of [
      ['GET', '/databases'],
      ['GET', '/nowhere'],
      ['PATCH', '/databases'],
      ['POST', '/databases'],
    ] as const) {
      const options = { headers: { Authorization: '' }, ...(method === 'POST' && bad) }
      assert.match(await admin.refuse(401, method, path, options), /has no token/)
      const message = await admin.refuse(401, method, path, { token: 'wrong' })
      assert.match(message, /is invalid/)
      assert(!message.includes('wrong'))
    }
  })

  const bad = { body: '{' }
})

describe('a path', () => {
  test('that does not exist is answered with 404', async () => {
    for (const path of ['/nowhere', '/databases/a/b/c/d', '//', '/%2e%2e/x'])
      await admin.refuse(404, 'GET', path)
    const outside = await fetch(`${admin.server.adminUrl}/`, {
      headers: { Token: testToken },
    })
    assert.equal(outside.status, 404)
    await outside.text()
  })

  test('that cannot be decoded is answered with 400', async () => {
    await admin.refuse(400, 'GET', '/%zz')
  })

  test('rejects unsupported methods with 405 and lists the allowed methods', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/databases', 'GET, POST'],
      ['OPTIONS', '/databases', 'GET, POST'],
      ['POST', '/currentOrg', 'GET'],
      ['GET', '/tokens', 'POST'],
      ['PATCH', '/organizations/roles/x', 'GET, PUT, DELETE'],
    ] as const) {
      const answer = await admin.call(method, path)
      assert.equal(answer.http, 405, `${method} ${path}`)
      assert.equal(answer.headers.get('allow'), allow)
      assert.match(messageIn(answer), new RegExp(allow))
    }
  })

  test('may end with a slash, and accepts HEAD where it accepts GET', async () => {
    assert.equal((await admin.call('GET', '/databases/')).http, 200)
    const { http, text } = await admin.call('HEAD', '/databases')
    assert.deepEqual([http, text], [200, ''])
  })
})

describe('a body', () => {
  test('must be JSON', async () => {
    for (const body of ['{', 'null x', '{"name": }', "{'a': 1}"])
      assert.match(
        await admin.refuse(400, 'POST', '/databases', { body }),
        /not valid JSON/,
      )
  })

  test('must be an object when the call reads its fields', async () => {
    for (const body of ['[]', 'null', '"name"', '1', ''])
      for (const path of ['/databases', '/clientIdSecrets', '/organizations/roles'])
        assert.match(await admin.refuse(400, 'POST', path, { body }), /a JSON object/)
  })

  test('is JSON by default and cannot have another content type', async () => {
    const headers = { 'Content-Type': 'text/plain' }
    const body = '{"name": "x"}'
    await admin.refuse(415, 'POST', '/databases', { body, headers })
    const utf8 = { 'Content-Type': 'application/json; charset=utf-8' }
    await admin.refuse(400, 'POST', '/clientIdSecrets', { body, headers: utf8 })
  })

  test('has a maximum size', async () => {
    const body = (length: number) => `{"name": "${'x'.repeat(length - 12)}"}`
    assert.equal(body(100).length, 100)
    await admin.refuse(400, 'POST', '/databases', { body: body(1_000_000) })
    await admin.refuse(413, 'POST', '/databases', { body: body(1_000_001) })
  })

  test('may be sent with calls that do not read a body', async () => {
    for (const body of ['', '{}', '[1]'])
      assert.deepEqual(await admin.ask('POST', '/pcus/actions/get', { body }), [])
  })

  test('may contain names of JavaScript built-ins', async () => {
    const body = '{"__proto__": {"name": "x"}, "constructor": 1, "name": "kept"}'
    const made = await admin.ask<{ id: string; info: object }>('POST', '/databases', {
      body,
    })
    assert.equal((made.info as { name: string }).name, 'kept')
    await admin.ask('POST', `/databases/${made.id}/terminate`)
  })
})

test('a reply repeats the request id', async () => {
  const headers = { 'X-Request-Id': 'mine-1' }
  for (const path of ['/currentOrg', '/nowhere']) {
    const answer = await admin.call('GET', path, { headers })
    assert.equal(answer.headers.get('x-request-id'), 'mine-1')
  }
})

test('every token can read the organization', async () => {
  const { token } = await admin.tokenOf('UI View Only')
  const id = await admin.organization()
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.deepEqual(await admin.ask('GET', '/currentOrg', { token }), { id })
})

test('calls that a single server does not support are rejected with the reason', async () => {
  const [{ id }] = await admin.ask<[{ id: string }]>('GET', '/databases')
  for (const [method, path] of [
    ['POST', `/databases/${id}/park`],
    ['POST', `/databases/${id}/unpark`],
    ['POST', `/databases/${id}/resize`],
    ['POST', `/databases/${id}/resetPassword`],
    ['POST', `/databases/${id}/secureBundleURL`],
    ['POST', `/databases/${id}/datacenters`],
    ['POST', `/databases/${id}/datacenters/${id}-1/terminate`],
    ['GET', `/databases/${id}/access-lists`],
    ['PUT', `/databases/${id}/access-lists`],
    ['GET', '/access-lists'],
    ['POST', '/pcus'],
  ] as const)
    assert.match(await admin.refuse(501, method, path), /^This server /)
  await admin.refuse(404, 'POST', '/databases/none/park')
})

test('the list of regions starts with the region of this server', async () => {
  const regions = await admin.ask<Record<string, unknown>[]>(
    'GET',
    '/regions/serverless?region-type=vector&filter-by-org=enabled',
  )
  assert.deepEqual(regions[0], {
    name: 'local',
    displayName: 'This server',
    cloudProvider: 'AWS',
    zone: 'na',
    classification: 'standard',
    enabled: true,
    reservedForQualifiedUsers: false,
    region_type: 'vector',
  })
  const providers = new Set(regions.map((region) => region['cloudProvider']))
  assert.deepEqual([...providers], ['AWS', 'GCP', 'AZURE'])
  const classic = await admin.ask<Record<string, unknown>[]>('GET', '/availableRegions')
  assert.deepEqual(
    classic.map((region) => region['region']),
    regions.map((region) => region['name']),
  )
})
