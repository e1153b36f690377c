/** The console as HTTP serves it: page, files, and the permissions of its origin. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { fastify } from 'fastify'
import { addConsolePage } from '../../src/http/pages/console-page.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

const folder = new URL('../../build/console/', import.meta.url)

function read(name: string): Buffer {
  return readFileSync(new URL(name, folder))
}

/** All files without their compressed forms. */
const names = readdirSync(folder).filter((name) => !/\.(?:br|gz)$/.test(name))

let server: TestServer
before(async () => {
  const corsOrigins = ['https://app.example'] as const
  server = await startServer({ adminPort: 0, corsOrigins })
})
after(() => server.close())

/** Sends a GET by http, because fetch would decompress the body. */
function ask(path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<unknown>; body: Buffer }>(
    (resolve, reject) => {
      request(server.url + path, { headers }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          const { statusCode: status = 0, headers: found } = response
          resolve({ status, headers: found, body: Buffer.concat(parts) })
        })
      })
        .on('error', reject)
        .end()
    },
  )
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; worker-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'"

describe('GET /console', () => {
  test('returns a page without inline scripts, with a strict Content-Security-Policy', async () => {
    const { status, headers, body } = await ask('/console')
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(headers['content-security-policy'], policy)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cache-control'], 'no-cache')
    const page = body.toString()
    assert.doesNotMatch(page, /<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/)
    for (const [, link] of page.matchAll(/\s(?:src|href)="([^"]+)"/g))
      assert.match(link!, /^(?:data:image\/|console\/[\w-]+\.(?:js|css)$)/)
  })

  test('returns 304 to clients that have the page', async () => {
    for (const accepted of ['identity', 'br']) {
      const asked = { 'Accept-Encoding': accepted }
      const { headers } = await ask('/console', asked)
      const known = { ...asked, 'If-None-Match': String(headers['etag']) }
      const again = await ask('/console', known)
      assert.equal(again.status, 304)
      assert.equal(again.headers['content-security-policy'], policy)
      // The ETag of one encoding does not match the body in another encoding.
      const other = accepted === 'br' ? 'gzip' : 'br'
      const elsewhere = await ask('/console', { ...known, 'Accept-Encoding': other })
      assert.equal(elsewhere.status, 200)
    }
  })

  test('redirects a path with a trailing slash', async () => {
    const { status, headers } = await ask('/console/')
    assert.equal(status, 308)
    const { href } = new URL(headers['location'] as string, `${server.url}/a/console/`)
    assert.equal(href, `${server.url}/a/console`)
  })

  test('serves compressed files that clients may cache for a year', async () => {
    for (const name of names.filter((each) => each !== 'index.html')) {
      assert.match(name, /-[A-Z0-9]{8}\.(?:js|css|svg)$/, 'named by what it holds')
      const whole = read(name)
      const { status, headers, body } = await ask(`/console/${name}`)
      assert.equal(status, 200)
      assert(body.equals(whole))
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['vary'], 'Accept-Encoding')
      const packed = await ask(`/console/${name}`, { 'Accept-Encoding': 'gzip, br, zstd' })
      assert.equal(packed.headers['content-encoding'], 'br')
      assert(brotliDecompressSync(packed.body).equals(whole))
      const zipped = await ask(`/console/${name}`, { 'Accept-Encoding': 'gzip' })
      assert(gunzipSync(zipped.body).equals(whole))
    }
  })

  test('explains how to build the console when it is not built', async (context) => {
    const app = fastify()
    context.after(() => app.close())
    addConsolePage(app, () => undefined, new URL('nowhere/', folder))
    const { statusCode, body } = await app.inject('/console')
    assert.equal(statusCode, 200)
    assert.match(body, /not built.*npm run build/)
  })

  test('returns 404 for paths that the page does not use, and for POST', async () => {
    for (const path of [
      '/console/nothing.js',
      '/console/index.html',
      '/console/index.html.br',
      '/console/..%2fvector-kernel.wasm',
      '/console/%2e%2e%2fvector-kernel.wasm',
      '/console/a/b',
      '/consoles',
    ]) {
      const { status, body } = await ask(path)
      assert.equal(status, 404, path)
      assert.match(body.toString(), /"UNKNOWN_PATH"/)
    }
    assert.equal((await server.send('/console', { method: 'POST' })).http, 404)
  })

  test('takes at most 100 KB compressed until the first display, and 300 KB in total', () => {
    const zipped = new Map(names.map((name) => [name, read(`${name}.gz`).length]))
    const page = read('index.html').toString()
    const first = [
      'index.html',
      ...[...page.matchAll(/"console\/([^"]+)"/g)].map((m) => m[1]!),
    ]
    const sum = (of: Iterable<string>) =>
      [...of].reduce((total, name) => total + zipped.get(name)!, 0)
    assert(first.length > 2, 'the page names a script and a style')
    assert(sum(first) <= 100_000, `${sum(first)} bytes before the first screen`)
    assert(sum(names) <= 300_000, `${sum(names)} bytes in all`)
  })
})

describe('the root path', () => {
  const browser = { Accept: 'text/html,*/*;q=0.8' }

  test('redirects browsers to the console, and no other clients', async () => {
    const { status, headers } = await ask('/', browser)
    assert.equal(status, 302)
    assert.equal(headers['location'], 'console')
    assert.match(String(headers['vary']), /\bAccept\b/)
    assert.equal((await ask('/', { Accept: '*/*' })).status, 200)
    assert.equal((await server.send('/', { method: 'POST' })).http, 404)
  })

  test('returns a page without scripts when there is no console', async (context) => {
    const plain = await startServer({ console: false })
    context.after(() => plain.close())
    const answer = await plain.send('/', { headers: browser })
    assert.equal(answer.http, 200)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(answer.headers.get('vary'), 'Accept')
    const own = answer.headers.get('content-security-policy')!
    assert.match(own, /^default-src 'none'; style-src 'sha256-[^ ]+'; /)
    assert(!own.includes('script-src') && !/<script|onload/.test(answer.text))
    for (const [, path] of answer.text.matchAll(/<a href="([^"]+)"/g))
      assert.equal((await plain.send(`/${path!}`, {})).http, 200, path)
    for (const path of ['/console', '/console/', `/console/${names[1]!}`, '/v2/currentOrg'])
      assert.deepEqual((await plain.send(path, {})).codes, ['UNKNOWN_PATH'], path)
  })
})

describe('the management API on the port of the console', () => {
  test('returns the same replies as on its own port', async () => {
    for (const path of ['/currentOrg', '/databases', '/databases/nonsense', '/', ''])
      for (const headers of [{}, { Token: 'wrong' }, { Token: testToken }]) {
        const here = await server.send(`/v2${path}`, { headers })
        const there = await fetch(`${server.adminUrl}/v2${path}`, { headers })
        assert.equal(here.http, there.status, path)
        assert.equal(here.text, await there.text())
      }
    const body = JSON.stringify({ roles: [] })
    const headers = { Token: testToken, 'Content-Type': 'application/json' }
    const made = await server.send('/v2/tokens', { method: 'POST', headers, body })
    assert.equal(made.http, 400)
    const big = { method: 'POST', headers, body: ' '.repeat(1_000_001) }
    assert.equal((await server.send('/v2/tokens', big)).http, 413)
  })

  test('does not allow other origins, even when the Data API allows them', async () => {
    const asked = {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'token',
    }
    const command = await server.send('/v1', { method: 'OPTIONS', headers: asked })
    assert.equal(command.http, 204)
    const { http, headers } = await server.send('/v2/currentOrg', {
      method: 'OPTIONS',
      headers: asked,
    })
    assert.equal(http, 401)
    const { Origin } = asked
    const read = await server.send('/v2/currentOrg', {
      headers: { Origin, Token: testToken },
    })
    for (const name of [...headers.keys(), ...read.headers.keys()])
      assert(!name.startsWith('access-control-'), name)
  })
})
