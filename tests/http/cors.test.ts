/** Requests that browsers send for pages of other origins. */
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { readOrigins } from '../../src/settings/setting-values.ts'
import { runStela } from '../cli/run-stela.ts'
import { startServer, testToken, type Answer, type TestServer } from '../harness.ts'

let server: TestServer
afterEach(() => server.close())

const page = 'https://app.example'

/** Sends the preflight request of a command. */
function ask(
  path: string,
  origin: string,
  headers = 'content-type,token',
): Promise<Answer> {
  return server.send(path, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': headers,
    },
  })
}

const isAbout = (name: string) => name.startsWith('access-control-')

describe('without configured origins', () => {
  test('replies contain no CORS headers', async () => {
    server = await startServer()
    const answer = await server.command('', { findKeyspaces: {} }, { Origin: page })
    assert.equal(answer.http, 200)
    assert.deepEqual([...answer.headers.keys()].filter(isAbout), [])
    assert.equal(answer.headers.get('vary'), null)
    const asked = await ask('/v1', page)
    assert.equal(asked.http, 401)
    assert.deepEqual([...asked.headers.keys()].filter(isAbout), [])
  })
})

describe('with a list of origins', () => {
  const corsOrigins = [page, 'http://localhost:3000']

  test('pages of a listed origin can send commands and read the replies', async () => {
    server = await startServer({ corsOrigins })
    for (const path of ['/v1', '/v1/a', '/v1/a/b', '/api/json/v1/a', '/stargate/health'])
      for (const origin of corsOrigins) {
        const { http, headers, text } = await ask(path, origin)
        assert.equal(http, 204)
        assert.equal(text, '')
        assert.equal(headers.get('access-control-allow-origin'), origin)
        assert.match(headers.get('access-control-allow-methods')!, /\bPOST\b/)
        assert.equal(headers.get('access-control-allow-headers'), 'content-type,token')
        assert(Number(headers.get('access-control-max-age')) > 0)
        assert.match(headers.get('vary')!, /\bOrigin\b/)
      }
    const answer = await server.command('', { findKeyspaces: {} }, { Origin: page })
    assert.equal(answer.http, 200)
    assert.equal(answer.headers.get('access-control-allow-origin'), page)
    assert.match(answer.headers.get('access-control-expose-headers')!, /X-Request-Id/)
    assert.equal(answer.headers.get('vary'), 'Origin')
  })

  test('pages of unlisted origins get no CORS headers', async () => {
    server = await startServer({ corsOrigins })
    for (const origin of ['https://evil.example', `${page}.evil.example`, 'null', '']) {
      const asked = await ask('/v1', origin)
      assert.deepEqual([...asked.headers.keys()].filter(isAbout), [])
      const answer = await server.command('', { findKeyspaces: {} }, { Origin: origin })
      assert.deepEqual([...answer.headers.keys()].filter(isAbout), [])
      // `Vary` keeps caches from returning this reply to pages of another origin.
      assert.equal(answer.headers.get('vary'), 'Origin')
    }
  })

  test('pages can read errors of every layer', async () => {
    server = await startServer({ corsOrigins })
    const send = (path: string, method: string, headers: Record<string, string> = {}) =>
      server.send(path, { method, headers: { Origin: page, ...headers } })
    for (const [answer, http] of [
      [await send('/v1', 'POST'), 401],
      [await send('/v1', 'POST', { Token: 'wrong' }), 401],
      [await send('/nowhere', 'GET'), 404],
      [await send('/v1', 'GET', { Token: testToken }), 405],
      [await send('/metrics', 'GET'), 200],
      [await send('/stargate/health', 'GET'), 200],
    ] as const) {
      assert.equal(answer.http, http)
      assert.equal(answer.headers.get('access-control-allow-origin'), page)
    }
  })

  test('only headers that the server reads are allowed', async () => {
    server = await startServer({ corsOrigins })
    const wanted = [
      'token',
      'Content-Type',
      'authorization',
      'x-embedding-api-key',
      'x-anything-else',
      'feature-flag-lexical',
      'reranking-api-key',
      'user-agent',
    ]
    const asked = await ask('/v1', page, [...wanted, 'cookie', 'x', 'host'].join(', '))
    assert.deepEqual(
      asked.headers.get('access-control-allow-headers')!.split(/,\s*/),
      wanted,
    )
  })

  test('OPTIONS without a preflight is rejected like other methods', async () => {
    server = await startServer({ corsOrigins })
    const answer = await server.send('/v1', {
      method: 'OPTIONS',
      headers: { Token: testToken, Origin: page },
    })
    assert.equal(answer.http, 405)
  })
})

test('with the origin * pages of every origin are allowed', async () => {
  server = await startServer({ corsOrigins: '*' })
  const asked = await ask('/v1/a/b', 'https://anywhere.example')
  assert.equal(asked.http, 204)
  assert.equal(asked.headers.get('access-control-allow-origin'), '*')
  const answer = await server.command('', { findKeyspaces: {} }, { Origin: page })
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  assert.equal(answer.headers.get('vary'), null)
})

test('an invalid origin is rejected at startup', async () => {
  server = await startServer()
  for (const list of ['app.example', 'https://app.example/', 'https://a.example,*', 'x y'])
    assert.throws(() => readOrigins(list), { message: /is not an origin/ })
  assert.deepEqual(readOrigins('https://A.example, http://b.example:81'), [
    'https://a.example',
    'http://b.example:81',
  ])
  const { code, err } = await runStela(['serve', '--cors-origins', 'app.example'])
  assert.equal(code, 1)
  assert.match(err, /is not an origin/)
})
