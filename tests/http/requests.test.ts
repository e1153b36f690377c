import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, testToken, type Answer, type TestServer } from '../harness.ts'
import { headOf, openConnection, readUntil } from './raw-connection.ts'

const bodySizeMax = 20_000
const json = { Token: testToken, 'Content-Type': 'application/json' }

let server: TestServer
before(async () => {
  server = await startServer({
    limits: { ...defaultLimits, documentLengthMax: 10_000, bodySizeMax },
    accounts: [{ name: 'zoë', password: 'p:äss' }],
    badCredentialsMax: 0,
  })
  await server.command('', { createKeyspace: { name: 'library' } })
})
after(() => server.close())

function post(
  path: string,
  body: RequestInit['body'],
  headers: Record<string, string> = json,
) {
  return server.send(path, { method: 'POST', headers, body: body ?? null })
}

const findKeyspaces = '{"findKeyspaces":{}}'

function assertFound(answer: Answer): void {
  assert.equal(answer.http, 200)
  assert.deepEqual(answer.body, {
    status: { keyspaces: ['default_keyspace', 'library'] },
  })
}

describe('paths', () => {
  for (const path of ['/v1', '/v1/', '/api/json/v1', '/api/json/v1/', '/v1?x=/y'])
    test(`${path} takes general commands`, async () => {
      assertFound(await post(path, findKeyspaces))
    })

  for (const path of ['/v1/library', '/v1/library/', '/api/json/v1/library'])
    test(`${path} takes keyspace commands`, async () => {
      const answer = await post(path, '{"findCollections":{}}')
      assert.deepEqual(answer.body, { status: { collections: [] } })
    })

  for (const path of ['/v1/library/x', '/v1/library/x/', '/api/json/v1/library/x/'])
    test(`${path} takes collection commands`, async () => {
      const answer = await post(path, '{"listIndexes":{}}')
      assert.deepEqual(answer.codes, ['UNKNOWN_COLLECTION_OR_TABLE'])
    })

  test('names are percent-decoded and otherwise not changed', async () => {
    for (const [encoded, decoded] of [
      ['%6Cibrary', undefined],
      ['caf%C3%A9', 'café'],
      ['a%2Fb', 'a/b'],
      ['a%20b', 'a b'],
      ['a+b', 'a+b'],
      ['LIBRARY', 'LIBRARY'],
      ['x'.repeat(3_000), 'x'.repeat(3_000)],
    ] as const) {
      const answer = await post(`/v1/${encoded}`, '{"findCollections":{}}')
      if (decoded === undefined) assert.deepEqual(answer.codes, [])
      else {
        assert.deepEqual(answer.codes, ['UNKNOWN_KEYSPACE'])
        // Error messages quote at most the first 1 000 characters of a name.
        assert(answer.body.errors![0]!.message.includes(`"${decoded.slice(0, 1_000)}`))
      }
    }
  })

  test('a path that cannot be decoded gets the error of an unknown path', async () => {
    const answer = await post('/v1/%E0%A4%A', findKeyspaces)
    assert.equal(answer.http, 404)
    assert.deepEqual(answer.codes, ['UNKNOWN_PATH'])
    assert.equal((await post('/v1/%E0%A4%A', findKeyspaces, {})).http, 401)
  })

  test('unknown paths are answered without a token', async () => {
    const asked = ['/v2', '/v1x', '/api/json', '/favicon.ico'].map((path) => ['GET', path])
    // Web frameworks usually have no routes for the method PURGE.
    for (const [method, path] of [...asked, ['PURGE', '/v1x']] as [string, string][]) {
      const answer = await server.send(path, { method })
      assert.equal(answer.http, 404, path)
      assert.equal(answer.headers.get('content-type'), 'application/json')
      assert.deepEqual(answer.codes, ['UNKNOWN_PATH'])
      assert(answer.body.errors![0]!.message.includes(`"${path}"`))
    }
  })

  test('only POST is allowed, at every level', async () => {
    for (const path of ['/v1', '/v1/library', '/v1/library/x', '/api/json/v1/library/'])
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await server.send(path, { method, headers: json })
        assert.equal(answer.http, 405, `${method} ${path}`)
        if (method === 'HEAD') assert.equal(answer.text, '')
        else assert.deepEqual(answer.codes, ['UNSUPPORTED_METHOD'])
        assert.equal(answer.headers.get('allow'), 'POST')
      }
  })

  test('a missing or invalid token is the first error reported on every path under both prefixes', async () => {
    for (const path of ['/v1', '/v1/a/b/c/d', '/api/json/v1/', '/v1/library/x'])
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await server.send(path, { method })
        assert.equal(answer.http, 401, `${method} ${path}`)
        assert.deepEqual(answer.codes, ['MISSING_AUTHENTICATION_TOKEN'])
      }
    for (const path of ['/v1/a/b/c/d', '/api/json/v1/', '/v1/%E0%A4%A'])
      for (const method of ['GET', 'POST']) {
        const answer = await server.send(path, { method, headers: { Token: 'wrong' } })
        assert.equal(answer.http, 401, `${method} ${path}`)
        assert.deepEqual(answer.codes, ['UNAUTHENTICATED_REQUEST'])
      }
  })
})

describe('tokens', () => {
  const type = { 'Content-Type': 'application/json' }

  test('are read from the header Token, else X-Cassandra-Token, else Authorization: Bearer', async () => {
    const wrong = 'wrong'
    for (const headers of [
      { Token: testToken, 'X-Cassandra-Token': wrong, Authorization: `Bearer ${wrong}` },
      { 'X-Cassandra-Token': testToken, Authorization: `Bearer ${wrong}` },
      { Authorization: `Bearer ${testToken}` },
      { authorization: `bearer ${testToken}` },
    ])
      assertFound(await post('/v1', findKeyspaces, { ...type, ...headers }))
    for (const headers of [
      { Token: wrong, 'X-Cassandra-Token': testToken },
      { 'X-Cassandra-Token': wrong, Authorization: `Bearer ${testToken}` },
    ])
      assert.equal((await post('/v1', findKeyspaces, { ...type, ...headers })).http, 401)
  })

  test('are not read from another scheme of Authorization than Bearer', async () => {
    const answer = await post('/v1', findKeyspaces, {
      ...type,
      Authorization: 'Basic eDp5',
    })
    assert.deepEqual(answer.codes, ['MISSING_AUTHENTICATION_TOKEN'])
  })

  test('can be built from the name and password of an account', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const token = `Cassandra:${base64('zoë')}:${base64('p:äss')}`
    assertFound(await post('/v1', findKeyspaces, { ...type, Token: token }))
  })

  test('that are blank, malformed or wrong are rejected', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    for (const token of [
      '',
      ' ',
      'nonsense',
      `${testToken}x`,
      'Stela:a:b',
      'Cassandra:',
      'Cassandra:zoë:p',
      `Cassandra:${base64('zoë')}:${base64('other')}`,
      `Cassandra:${base64('zoë')}:${base64('p:äss')}:`,
    ]) {
      const headers = { ...type, Token: Buffer.from(token).toString('latin1') }
      const answer = await post('/v1', findKeyspaces, headers)
      assert.equal(answer.http, 401, token)
      assert.deepEqual(answer.codes, ['UNAUTHENTICATED_REQUEST'])
    }
  })
})

describe('content types', () => {
  test('JSON is accepted with parameters, in any case, and by default', async () => {
    for (const type of [
      'application/json; charset=UTF-8',
      'Application/JSON',
      'application/json;',
    ]) {
      const headers = { Token: testToken, 'Content-Type': type }
      assertFound(await post('/v1', findKeyspaces, headers))
    }
    const unnamed = new TextEncoder().encode(findKeyspaces)
    assertFound(await post('/v1', unnamed, { Token: testToken }))
  })

  test('other types are rejected, and the error names them', async () => {
    for (const type of [
      'text/plain',
      'application/jsonp',
      'application/x-ndjson',
      'json',
    ]) {
      const headers = { Token: testToken, 'Content-Type': type }
      const answer = await post('/v1', findKeyspaces, headers)
      assert.equal(answer.http, 415)
      assert.deepEqual(answer.codes, ['UNSUPPORTED_CONTENT_TYPE'])
      assert(answer.body.errors![0]!.message.includes(`"${type}"`))
    }
  })
})

describe('bodies', () => {
  const cases: readonly (readonly [what: string, body: string, code: string])[] = [
    ['an empty body', '', 'COMMAND_FIELD_VALUE_INVALID'],
    ['a blank body', ' \n', 'COMMAND_FIELD_VALUE_INVALID'],
    ['a truncated body', '{"findKeyspaces":{', 'REQUEST_NOT_JSON'],
    ['a body with a second value', '{"findKeyspaces":{}} {}', 'REQUEST_NOT_JSON'],
    ['a body with a comment', '{"findKeyspaces":{} /* all */}', 'REQUEST_NOT_JSON'],
    ['a body with a trailing comma', '{"findKeyspaces":{},}', 'REQUEST_NOT_JSON'],
    [
      'a command given twice',
      '{"findKeyspaces":{},"findKeyspaces":{}}',
      'REQUEST_NOT_JSON',
    ],
    [
      'a body with equal keys in the command',
      '{"findKeyspaces":{"a":{"b":1,"b":1}}}',
      'REQUEST_NOT_JSON',
    ],
    ['a body without a command', '{}', 'REQUEST_STRUCTURE_MISMATCH'],
    ['an array', '[{"findKeyspaces":{}}]', 'REQUEST_STRUCTURE_MISMATCH'],
    ['a string', '"findKeyspaces"', 'REQUEST_STRUCTURE_MISMATCH'],
    ['a number', '1', 'REQUEST_STRUCTURE_MISMATCH'],
    ['null', 'null', 'REQUEST_STRUCTURE_MISMATCH'],
    ['two commands', '{"findKeyspaces":{},"x":{}}', 'REQUEST_STRUCTURE_MISMATCH'],
    ['a command that is null', '{"findKeyspaces":null}', 'REQUEST_STRUCTURE_MISMATCH'],
    ['a command that is a list', '{"findKeyspaces":[]}', 'REQUEST_STRUCTURE_MISMATCH'],
    ['an unknown command', '{"findEverything":{}}', 'COMMAND_UNKNOWN'],
    [
      'a command named like a built-in property in JavaScript',
      '{"constructor":{}}',
      'COMMAND_UNKNOWN',
    ],
    ['a command named __proto__', '{"__proto__":{}}', 'COMMAND_UNKNOWN'],
    ['a command of another path', '{"createCollection":{"name":"x"}}', 'COMMAND_UNKNOWN'],
    [
      'a field named like a built-in property in JavaScript',
      '{"findKeyspaces":{"toString":1}}',
      'COMMAND_FIELD_UNKNOWN',
    ],
    [
      'a number of 101 characters',
      `{"findKeyspaces":{"x":${'1'.repeat(101)}}}`,
      'SHRED_DOC_LIMIT_VIOLATION',
    ],
    [
      'a body that is nested far too deeply',
      `{"findKeyspaces":${'['.repeat(5_000)}`,
      'SHRED_DOC_LIMIT_VIOLATION',
    ],
  ]
  for (const [what, body, code] of cases)
    test(`${what} is rejected as ${code}`, async () => {
      const answer = await post('/v1', body)
      assert.equal(answer.http, 200)
      assert.deepEqual(answer.codes, [code])
    })

  test('a number of 100 characters is accepted', async () => {
    const answer = await post('/v1', `{"findKeyspaces":{"x":${'1'.repeat(100)}}}`)
    assert.deepEqual(answer.codes, ['COMMAND_FIELD_UNKNOWN'])
  })

  test('bytes that are not UTF-8 are rejected as invalid JSON', async () => {
    const bytes = Buffer.from('{"createKeyspace":{"name":"caf\xe9"}}', 'latin1')
    const answer = await post('/v1', bytes)
    assert.equal(answer.http, 200)
    assert.deepEqual(answer.codes, ['REQUEST_NOT_JSON'])
  })

  test('an unknown command gets an error with the level and its commands', async () => {
    const { body } = await post('/v1', '{"findEverything":{}}')
    const { message } = body.errors![0]!
    assert(message.includes('"findEverything"'))
    assert(message.includes('General Command'))
    const listed = /\[(.*)\]/.exec(message)![1]!.split(', ')
    assert.deepEqual(listed, listed.toSorted())
    assert(listed.includes('createKeyspace') && listed.includes('findNamespaces'))
    assert(!listed.includes('createCollection'))
  })

  for (const [path, level, present] of [
    ['/v1/library', 'Keyspace Command', 'createCollection'],
    ['/v1/library/x', 'Collection Command', 'listIndexes'],
  ] as const)
    test(`an unknown command on ${path} is rejected as a ${level}`, async () => {
      const { body } = await post(path, '{"findKeyspaces":{}}')
      const { errorCode, message } = body.errors![0]!
      assert.equal(errorCode, 'COMMAND_UNKNOWN')
      assert(message.includes(level) && message.includes(present))
    })

  test('a body of exactly the maximum size is accepted', async () => {
    assertFound(await post('/v1', findKeyspaces.padEnd(bodySizeMax)))
  })

  test('a body of one byte more than the limit is rejected, and the error states the limit', async () => {
    const answer = await post('/v1', findKeyspaces.padEnd(bodySizeMax + 1))
    assert.equal(answer.http, 413)
    assert.deepEqual(answer.codes, ['BODY_TOO_LARGE'])
    assert.match(answer.body.errors![0]!.message, /20000 bytes/)
  })

  test('a body beyond the limit is also rejected when it has no Content-Length', async () => {
    const chunks = Array.from({ length: 50 }, () => Buffer.from(' '.repeat(1_000)))
    const answer = await server.send('/v1', {
      method: 'POST',
      headers: json,
      body: ReadableStream.from(chunks),
      duplex: 'half',
    })
    assert.equal(answer.http, 413)
    assert.deepEqual(answer.codes, ['BODY_TOO_LARGE'])
  })

  test('a character may be split between chunks of a body', async () => {
    const bytes = Buffer.from('{"createKeyspace":{"name":"café"}}')
    const answer = await server.send('/v1', {
      method: 'POST',
      headers: json,
      body: ReadableStream.from([...bytes].map((byte) => Buffer.from([byte]))),
      duplex: 'half',
    })
    assert.deepEqual(answer.codes, ['UNSUPPORTED_SCHEMA_NAME'])
    assert(answer.body.errors![0]!.message.includes('"café"'))
  })

  test('a character may be split between packets of a body with Content-Length', async () => {
    const bytes = Buffer.from('{"createKeyspace":{"name":"café"}}')
    const socket = (await openConnection(server.url)).setNoDelay()
    socket.write(headOf(bytes.length))
    for (const byte of bytes) {
      socket.write(Buffer.from([byte]))
      await nextTurn()
    }
    const text = await readUntil(socket, '}]}')
    assert(text.includes('UNSUPPORTED_SCHEMA_NAME') && text.includes('café'))
    socket.destroy()
  })
})

describe('the envelope', () => {
  test('is JSON by its content type', async () => {
    const answer = await post('/v1', findKeyspaces)
    assert.equal(answer.headers.get('content-type'), 'application/json')
  })

  test('contains only a status when the command returns nothing else', async () => {
    const answer = await post('/v1', '{"createKeyspace":{"name":"library"}}')
    assert.equal(answer.text, '{"status":{"ok":1}}')
  })

  test('contains errors with their members in a fixed order', async () => {
    const { body } = await post('/v1', '{"findEverything":{}}')
    assert.deepEqual(Object.keys(body), ['errors'])
    const error = body.errors![0]!
    assert.deepEqual(Object.keys(error), [
      'id',
      'family',
      'scope',
      'errorCode',
      'title',
      'message',
    ])
    assert.match(
      error.id,
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    assert.equal(error.family, 'REQUEST')
    assert.equal(error.scope, '')
  })

  test('gives every error an id', async () => {
    const ids = new Set<string>()
    for (let i = 0; i < 3; i++) ids.add((await post('/v1', '{}')).body.errors![0]!.id)
    assert.equal(ids.size, 3)
  })

  test('names the field with an invalid value', async () => {
    const answer = await post('/v1/library', '{"deleteCollection":{"name":""}}')
    assert.deepEqual(answer.codes, ['COMMAND_FIELD_VALUE_INVALID'])
    assert(answer.body.errors![0]!.message.includes('command.name'))
  })
})

describe('the root path', () => {
  test('lists the paths of health, reference and OpenAPI', async () => {
    const answer = await server.send('/', { headers: { Accept: '*/*' } })
    assert.equal(answer.http, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json')
    const { name, health, reference, openapi } = JSON.parse(answer.text) as Record<
      'name' | 'health' | 'reference' | 'openapi',
      string
    >
    assert.equal(name, 'Stela')
    for (const path of [health, reference, openapi])
      assert.equal((await server.send(`/${path}`, {})).http, 200, path)
  })
})

describe('health', () => {
  for (const path of [
    '/stargate/health',
    '/stargate/health/live',
    '/stargate/health/ready',
  ])
    test(`${path} reports UP without a token`, async () => {
      const response = await fetch(server.url + path)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'application/json')
      const health = (await response.json()) as { status: string; checks: unknown[] }
      assert.equal(health.status, 'UP')
      assert(Array.isArray(health.checks))
    })
})
