/** The messages of MCP: required messages and headers, and replies to invalid ones. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { headersFor } from '../../src/mcp/versions.ts'
import { RunningServer } from '../commands/running-server.ts'
import { testToken } from '../harness.ts'
import { ownHeaders, ownMeta, post, request } from './assistant.ts'

const running = new RunningServer({ bodySizeMax: 300_000 })
const send = (body: string | object, headers?: Record<string, string>, path?: string) =>
  post(running.server, body, headers, path)

const initialize = (protocolVersion: unknown) =>
  request('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })

describe('the handshake of older revisions', () => {
  test('returns a distinct Mcp-Session-Id and the requested revision', async () => {
    const ids = new Set<string | null>()
    for (const version of ['2025-11-25', '2025-06-18']) {
      const { http, headers, body } = await send(initialize(version))
      assert.equal(http, 200)
      assert.equal(body.result!['protocolVersion'], version)
      assert.deepEqual(body.result!['capabilities'], {
        tools: {},
        resources: {},
        prompts: {},
      })
      const id = headers.get('mcp-session-id')
      assert.match(id!, /^[\x21-\x7e]{36}$/)
      ids.add(id)
    }
    assert.equal(ids.size, 2)
  })

  test('returns a supported revision when the requested one is not supported', async () => {
    for (const version of ['2024-11-05', '2026-07-28', 'soon'])
      assert.equal(
        (await send(initialize(version))).body.result!['protocolVersion'],
        '2025-11-25',
      )
    for (const version of [undefined, null, 5])
      assert.equal((await send(initialize(version))).body.error!.code, -32602)
  })

  test('is followed by a notification without a reply', async () => {
    const body = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const answer = await send(body)
    assert.deepEqual([answer.http, answer.text], [202, ''])
  })

  test('is optional, because the server is stateless', async () => {
    const call = request('tools/call', { name: 'findKeyspaces' })
    for (const headers of [
      {},
      { 'Mcp-Session-Id': 'of-another-server' },
      { 'MCP-Protocol-Version': '2025-11-25' },
      { 'MCP-Protocol-Version': '2025-06-18', 'Mcp-Session-Id': 'x' },
    ]) {
      const { http, body } = await send(call, headers)
      assert.equal(http, 200)
      assert.deepEqual(body.result!['_meta'], {
        status: { keyspaces: ['default_keyspace'] },
      })
    }
    assert.deepEqual((await send(request('ping'))).body, {
      jsonrpc: '2.0',
      id: 1,
      result: {},
    })
  })
})

describe('the newest revision', () => {
  const discover = request('server/discover', { _meta: ownMeta })
  const call = (name = 'findKeyspaces') => request('tools/call', { name, _meta: ownMeta })

  test('is reported in reply to server/discover', async () => {
    const { http, headers, body } = await send(discover, ownHeaders('server/discover'))
    assert.equal(http, 200)
    assert.equal(headers.get('mcp-session-id'), null)
    const { supportedVersions, resultType, cacheScope, ttlMs, _meta } = body.result!
    assert.deepEqual(supportedVersions, ['2026-07-28', '2025-11-25', '2025-06-18'])
    assert.deepEqual([resultType, cacheScope, ttlMs], ['complete', 'public', 300_000])
    assert('io.modelcontextprotocol/serverInfo' in (_meta as object))
  })

  test('marks every result as complete', async () => {
    const headers = ownHeaders('tools/call', 'findKeyspaces')
    const { body } = await send(call(), headers)
    assert.equal(body.result!['resultType'], 'complete')
    assert.deepEqual((body.result!['_meta'] as { status: unknown }).status, {
      keyspaces: ['default_keyspace'],
    })
  })

  test('requires headers that match the body', async () => {
    const name = 'findKeyspaces'
    const all = ownHeaders('tools/call', name)
    const encoded = `=?base64?${Buffer.from(name).toString('base64')}?=`
    assert.equal((await send(call(), { ...all, 'Mcp-Name': encoded })).http, 200)
    for (const headers of [
      {},
      { ...all, 'Mcp-Name': 'dropKeyspace' },
      { ...all, 'Mcp-Name': '=?base64?!!?=' },
      { ...all, 'Mcp-Method': 'tools/list' },
      { ...all, 'Mcp-Method': 'Tools/Call' },
      { ...all, 'MCP-Protocol-Version': '2025-11-25' },
      ...['Mcp-Name', 'Mcp-Method', 'MCP-Protocol-Version'].map((left) =>
        Object.fromEntries(Object.entries(all).filter(([header]) => header !== left)),
      ),
    ]) {
      const { http, body } = await send(call(), headers)
      assert.deepEqual([http, body.error!.code, body.id], [400, -32020, 1])
    }
  })

  test('requires metadata', async () => {
    const [version, capabilities] = Object.keys(ownMeta) as [string, string]
    for (const _meta of [
      undefined,
      {},
      null,
      'x',
      { [version]: '2026-07-28' },
      { [version]: '2026-07-28', [capabilities]: 5 },
      { [version]: 5, [capabilities]: {} },
    ]) {
      const body = request('tools/list', { _meta })
      const answer = await send(body, ownHeaders('tools/list'))
      assert.deepEqual([answer.http, answer.body.error!.code], [400, -32602])
    }
  })

  test('rejects a request with another revision, and lists the supported ones', async () => {
    for (const [body, headers] of [
      [request('tools/list'), { 'MCP-Protocol-Version': '1999-01-01' }],
      [
        request('tools/list', {
          _meta: { ...ownMeta, [Object.keys(ownMeta)[0]!]: '2030-01-01' },
        }),
        { ...ownHeaders('tools/list'), 'MCP-Protocol-Version': '2030-01-01' },
      ],
    ] as const) {
      const answer = await send(body, { ...headers })
      assert.deepEqual([answer.http, answer.body.error!.code], [400, -32022])
      const { supported } = answer.body.error!.data as { supported: string[] }
      assert.deepEqual(supported, ['2026-07-28', '2025-11-25', '2025-06-18'])
    }
  })

  test('returns 404 for methods of older revisions and for unknown methods', async () => {
    for (const method of ['initialize', 'ping', 'subscriptions/listen', 'toString', '']) {
      const body = request(method, { _meta: ownMeta })
      const answer = await send(body, ownHeaders(method))
      assert.deepEqual([answer.http, answer.body.error!.code], [404, -32601], method)
    }
  })

  test('has the headers that headersFor derives from the method and its parameters', () => {
    const params = { name: 'naïve', _meta: ownMeta }
    assert.deepEqual(headersFor('tools/call', params), {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': '=?base64?bmHDr3Zl?=',
    })
    assert.equal(
      headersFor('prompts/get', { ...params, name: ' a' })['Mcp-Name'],
      '=?base64?IGE=?=',
    )
    for (const none of [undefined, null, 5, {}, { _meta: null }, { _meta: {} }])
      assert.deepEqual(headersFor('tools/call', none), {})
  })
})

describe('a body', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  test('that is not a message is rejected with a JSON-RPC error', async () => {
    for (const [body, code] of [
      ['', -32700],
      ['{', -32700],
      ['hello', -32700],
      ['{"jsonrpc": "2.0", "id": 1, "method": "ping"', -32700],
      ['\xff\xfe', -32700],
      [nested(1000), -32600],
      ['null', -32600],
      ['5', -32600],
      ['"ping"', -32600],
      ['{}', -32600],
      ['[]', -32600],
      [`[${JSON.stringify(request('ping'))}]`, -32600],
      [
        `[${Array.from({ length: 1000 }, () => JSON.stringify(request('ping'))).join(',')}]`,
        -32600,
      ],
      [JSON.stringify({ id: 1, method: 'ping' }), -32600],
      [JSON.stringify({ jsonrpc: '1.0', id: 1, method: 'ping' }), -32600],
      [JSON.stringify({ jsonrpc: 2, id: 1, method: 'ping' }), -32600],
      [JSON.stringify({ jsonrpc: '2.0', id: 1 }), -32600],
      [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 5 }), -32600],
      ['{"jsonrpc": "2.0", "findKeyspaces": {}}', -32600],
      ['{"findKeyspaces": {}}', -32600],
    ] as const) {
      const answer = await send(body)
      assert.deepEqual(
        [answer.http, answer.body.error!.code],
        [400, code],
        body.slice(0, 99),
      )
      assert.doesNotMatch(answer.text, /\bat .*\.ts\b/)
    }
  })

  test('must have a string or a whole number as its id, which the reply repeats', async () => {
    for (const id of ['1', '"a"', '""', '-7', '0', '12345678901234567890', '"é😀\\n"']) {
      const { text } = await send(`{"jsonrpc": "2.0", "id": ${id}, "method": "ping"}`)
      assert.equal(text, `{"jsonrpc":"2.0","id":${id},"result":{}}`)
    }
    for (const id of ['null', '1.5', 'true', '[1]', '{}', '{"a": 1}']) {
      const answer = await send(`{"jsonrpc": "2.0", "id": ${id}, "method": "ping"}`)
      assert.deepEqual([answer.http, answer.body.error!.code], [400, -32600], id)
      assert(!('id' in answer.body))
    }
  })

  test('that is a notification gets no reply and has no effect', async () => {
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', method: 'nothing/known' },
      {
        jsonrpc: '2.0',
        method: 'tools/call',
        params: { name: 'createKeyspace', arguments: { name: 'unasked' } },
      },
      { jsonrpc: '2.0', id: 5, result: {} },
      { jsonrpc: '2.0', id: 5, error: { code: 1, message: '' } },
    ]) {
      const answer = await send(body)
      assert.deepEqual([answer.http, answer.text], [202, ''])
    }
    const { body } = await running.server.command('', { findKeyspaces: {} })
    assert.deepEqual(body.status, { keyspaces: ['default_keyspace'] })
  })

  test('must have a known method and its parameters', async () => {
    for (const [method, params, code] of [
      ['nothing', {}, -32601],
      ['__proto__', {}, -32601],
      ['constructor', undefined, -32601],
      ['resources/subscribe', { uri: 'stela://keyspaces' }, -32601],
      ['logging/setLevel', { level: 'info' }, -32601],
      ['x'.repeat(10_000), {}, -32601],
      ['ping', [1], -32602],
      ['ping', 'x', -32602],
      ['tools/call', undefined, -32602],
      ['tools/call', {}, -32602],
      ['tools/call', { name: 5 }, -32602],
      ['tools/call', { name: 'constructor' }, -32602],
      ['tools/call', { name: 'find', arguments: [] }, -32602],
      ['tools/call', { name: 'find', arguments: 'x' }, -32602],
      ['tools/list', { cursor: 'x' }, -32602],
      ['prompts/list', { cursor: 'x' }, -32602],
      ['prompts/get', {}, -32602],
      ['prompts/get', { name: 'explore-database', arguments: [] }, -32602],
      ['prompts/get', { name: 'explore-database', arguments: { keyspace: 5 } }, -32602],
      ['resources/templates/list', { cursor: {} }, -32602],
      ['resources/read', {}, -32602],
      ['resources/read', { uri: ['a'] }, -32602],
    ] as const) {
      const answer = await send(request(method, params))
      assert.deepEqual([answer.http, answer.body.error!.code], [200, code], method)
      assert(answer.text.length < 500)
    }
  })

  test('may contain keys that are built-in properties in JavaScript', async () => {
    const text =
      '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "__proto__": {"id": 2}, ' +
      '"params": {"name": "findKeyspaces", "arguments": {"__proto__": 1}}}'
    const { body } = await send(text)
    assert.equal(body.id, 1)
    assert.equal(body.result!['isError'], true)
  })

  test('may be as large as the body of a command, but no larger', async () => {
    const tool = (filler: string) =>
      request('tools/call', { name: 'findKeyspaces', arguments: { filler } })
    const fits = await send(tool('x'.repeat(290_000)))
    assert.equal(fits.body.result!['isError'], true)
    const large = await send(tool('x'.repeat(300_000)))
    assert.equal(large.http, 413)
  })
})

describe('a request', () => {
  const ping = request('ping')

  test('requires a token, like a command', async () => {
    for (const headers of [{ Token: '' }, { Token: 'wrong' }])
      assert.equal((await send(ping, headers)).http, 401)
    const answer = await running.server.send('/v1/mcp', { method: 'POST', body: '{}' })
    assert.equal(answer.http, 401)
    assert.deepEqual(answer.codes, ['MISSING_AUTHENTICATION_TOKEN'])
  })

  test('must declare JSON in its headers, and accept it', async () => {
    for (const type of ['text/plain', 'application/xml', 'text/event-stream'])
      assert.equal((await send(ping, { 'Content-Type': type })).http, 415, type)
    for (const accept of ['text/event-stream', 'text/html', 'application/jsonp', 'x']) {
      const { http, body } = await send(ping, { Accept: accept })
      assert.deepEqual([http, body.error!.code, body.id], [406, -32600, 1], accept)
    }
    for (const accept of [
      'application/json, text/event-stream',
      'text/event-stream,application/json;q=0.5',
      'application/*',
      '*/*',
    ])
      assert.equal((await send(ping, { Accept: accept })).http, 200, accept)
  })

  test('must be a POST, because there are no streams and no sessions', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS']) {
      const headers = {
        Token: testToken,
        Accept: 'text/event-stream',
        'Mcp-Session-Id': 'x',
      }
      const answer = await running.server.send('/v1/mcp', { method, headers })
      assert.equal(answer.http, 405, method)
      assert.equal(answer.headers.get('allow'), 'POST')
    }
    assert.equal((await running.server.send('/v1/mcp', {})).http, 401)
  })

  test('from a web page is rejected unless its origin is that of the server', async () => {
    const { host, port } = new URL(running.server.url)
    for (const origin of [`http://${host}`, `https://${host}`])
      assert.equal((await send(ping, { Origin: origin })).http, 200, origin)
    for (const origin of [
      'http://evil.example',
      `http://evil.example:${port}`,
      `http://localhost:${port}.evil.example`,
      `http://127.0.0.1:${Number(port) + 1}`,
      'http://127.0.0.1',
      'null',
      '',
      'file://',
      'nonsense',
    ]) {
      const { http, body } = await send(ping, { Origin: origin, Token: 'wrong' })
      assert.deepEqual([http, body.error!.code], [403, -32600], origin)
      const get = await running.server.send('/v1/mcp', { headers: { Origin: origin } })
      assert.equal(get.http, 403)
    }
    // The endpoint of commands needs no check of the origin: before a browser sends a token to it,
    // the browser sends a preflight request.
    const command = await running.server.command(
      '',
      { findKeyspaces: {} },
      { Origin: 'null' },
    )
    assert.equal(command.http, 200)
  })

  test('is accepted at /v1/mcp even if a keyspace is named mcp', async () => {
    const { server } = running
    await server.command('', { createKeyspace: { name: 'mcp' } })
    const command = await send({ findCollections: {} })
    assert.deepEqual([command.http, command.body.error!.code], [400, -32600])
    const place = { keyspace: 'mcp', collection: 'books' }
    const made = request('tools/call', { name: 'createCollection', arguments: place })
    assert.equal((await send(made)).body.result!['isError'], false)
    const inside = await server.command('/mcp/books', {
      insertOne: { document: { _id: 1 } },
    })
    assert.deepEqual(inside.body.status, { insertedIds: [1] })
    await server.command('', { dropKeyspace: { name: 'mcp' } })
  })

  test('is accepted at each form of the MCP path, but not in an unknown database', async () => {
    for (const path of ['/v1/mcp/', '/v1/mcp?a=b', '/api/json/v1/mcp'])
      assert.equal((await send(ping, {}, path)).http, 200, path)
    const unknown = '/databases/00000000-0000-0000-0000-000000000000/v1/mcp'
    assert.equal((await send(ping, {}, unknown)).http, 404)
    for (const path of ['/v1/mcp/a/b', '/v1/MCP/a/b'])
      assert.equal((await send(ping, {}, path)).http, 404, path)
  })
})

describe('settings of the operator', () => {
  const limited = new RunningServer(
    {},
    { rateLimit: 2, corsOrigins: ['https://a.example'], publicUrl: 'https://db.example' },
  )

  test('limit the rate of MCP requests', async () => {
    const tries = await Promise.all(
      Array.from({ length: 12 }, () => post(limited.server, request('ping'))),
    )
    const refused = tries.filter(({ http }) => http === 429)
    assert(refused.length > 0)
    assert(refused.every(({ headers }) => headers.get('retry-after') !== null))
  })

  test('define the allowed origins', async () => {
    for (const [origin, may] of [
      ['https://a.example', true],
      ['https://db.example', true],
      ['https://b.example', false],
      ['http://db.example', false],
    ] as const) {
      const { http, headers } = await post(limited.server, request('ping'), {
        Origin: origin,
      })
      assert.equal(http !== 403, may, origin)
      if (origin === 'https://a.example')
        assert.match(headers.get('access-control-expose-headers')!, /Mcp-Session-Id/)
    }
    const { headers } = await limited.server.send('/v1/mcp', {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://a.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'mcp-protocol-version,token,mcp-method',
      },
    })
    assert.equal(headers.get('access-control-allow-origin'), 'https://a.example')
  })
})
