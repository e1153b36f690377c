/** The page that shows the API to people, as a browser is given it. */
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

  test('allows its own script and style, and to ask this server, and nothing else', () => {
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
    // Such a policy lets neither of these work.
    assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=/)
  })

  test('has a script that a browser can read, and that makes no HTML of what it is sent', () => {
    const [script] = partsOf('script')
    assert.doesNotThrow(() => new Script(script!))
    assert.doesNotMatch(script!, /innerHTML|outerHTML|insertAdjacent|document\.write|eval/)
    assert.doesNotMatch(script!, /localStorage|cookie/)
  })

  test('names every element that its script looks for', () => {
    const [script] = partsOf('script')
    const ids = new Set([...script!.matchAll(/byId\('(\w+)'\)/g)].map(([, id]) => id!))
    assert(ids.size > 5)
    for (const id of ids) assert(text.includes(`id="${id}"`), id)
  })

  test('is confirmed to those who have it', async () => {
    const first = await server.send('/swagger-ui', {})
    const tag = first.headers.get('etag')!
    const again = await server.send('/swagger-ui', { headers: { 'If-None-Match': tag } })
    assert.equal(again.http, 304)
    // A browser takes the policy of the confirmation instead of the one it had.
    assert.equal(
      again.headers.get('content-security-policy'),
      first.headers.get('content-security-policy'),
    )
  })

  test('leads from the path with a slash at its end to the one without', async () => {
    const answer = await server.send('/swagger-ui/', { redirect: 'manual' })
    assert.equal(answer.http, 308)
    const { href } = new URL(answer.headers.get('location')!, `${server.url}/swagger-ui/`)
    assert.equal(href, `${server.url}/swagger-ui`)
    const followed = await server.send('/swagger-ui/', {})
    assert.equal(followed.text, text)
  })

  test('is not for POST', async () => {
    const answer = await server.send('/swagger-ui', { method: 'POST' })
    assert.equal(answer.http, 404)
  })
})
