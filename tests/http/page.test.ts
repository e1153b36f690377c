/** The HTML page of the API, as a browser receives it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Script } from 'node:vm'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../harness.ts'

describe('GET /swagger-ui', () => {
  let server: TestServer
  let text: string
  let policy: Map<string, string>
  before(async () => {
    server = await startServer()
    const answer = await server.send('/swagger-ui', {})
    assert.equal(answer.http, 200)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
    text = answer.text
    policy = new Map(
      answer.headers
        .get('content-security-policy')!
        .split('; ')
        .map((directive) => {
          const space = directive.indexOf(' ')
          return [directive.slice(0, space), directive.slice(space + 1)]
        }),
    )
  })
  after(() => server.close())

  const partsOf = (tag: string) =>
    [...text.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(([, part]) => part!)

  test('answers with one page that loads nothing from elsewhere', () => {
    assert.match(text, /^<!doctype html>/)
    assert.doesNotMatch(text, /<(?:script|link|img|iframe)[^>]*\s(?:src|href)="(?!data:)/)
    assert.doesNotMatch(text, /(?:@import|url\()/)
    for (const [address] of text.matchAll(/https?:\/\/[^\s'"]+/g))
      assert.equal(address, 'http://www.w3.org/2000/svg')
  })

  test('has a Content-Security-Policy that allows only its own script and style, and requests to this server', () => {
    const digest = (part: string) =>
      `'sha256-${createHash('sha256').update(part).digest('base64')}'`
    assert.deepEqual(partsOf('script').map(digest), [policy.get('script-src')])
    assert.deepEqual(partsOf('style').map(digest), [policy.get('style-src')])
    assert.deepEqual(Object.fromEntries(policy), {
      'default-src': "'none'",
      'script-src': policy.get('script-src'),
      'style-src': policy.get('style-src'),
      'connect-src': "'self'",
      'img-src': 'data:',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
    // The Content-Security-Policy blocks inline styles and event handlers, so the page must not
    // contain any.
    assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=/)
  })

  test('has a script that parses, and that creates no HTML from data', () => {
    const [script] = partsOf('script')
    assert.doesNotThrow(() => new Script(script!))
    assert.doesNotMatch(script!, /innerHTML|outerHTML|insertAdjacent|document\.write|eval/)
    assert.doesNotMatch(script!, /localStorage|cookie/)
  })

  test('contains every element that its script uses', () => {
    const [script] = partsOf('script')
    const ids = new Set([...script!.matchAll(/byId\('(\w+)'\)/g)].map(([, id]) => id!))
    assert(ids.size > 5)
    for (const id of ids) assert(text.includes(`id="${id}"`), id)
  })

  test('answers 304 for a matching ETag', async () => {
    const first = await server.send('/swagger-ui', {})
    const tag = first.headers.get('etag')!
    const again = await server.send('/swagger-ui', { headers: { 'If-None-Match': tag } })
    assert.equal(again.http, 304)
    // A browser replaces the policy of a cached page with the policy of the 304 reply. So both must
    // be equal.
    assert.equal(
      again.headers.get('content-security-policy'),
      first.headers.get('content-security-policy'),
    )
  })

  test('redirects the path with a trailing slash', async () => {
    const answer = await server.send('/swagger-ui/', { redirect: 'manual' })
    assert.equal(answer.http, 308)
    const { href } = new URL(answer.headers.get('location')!, `${server.url}/swagger-ui/`)
    assert.equal(href, `${server.url}/swagger-ui`)
    const followed = await server.send('/swagger-ui/', {})
    assert.equal(followed.text, text)
  })

  test('rejects POST', async () => {
    const answer = await server.send('/swagger-ui', { method: 'POST' })
    assert.equal(answer.http, 404)
  })
})
