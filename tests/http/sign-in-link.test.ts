/** POST /console/sign-in: the exchange of a sign-in link for a token. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { fastify, type FastifyInstance } from 'fastify'
import { Audit } from '../../src/auth/audit.ts'
import { LocalLockout } from '../../src/auth/local-lockout.ts'
import { SignInCode } from '../../src/auth/sign-in-code.ts'
import { addSignInRoute } from '../../src/http/pages/sign-in-route.ts'
import { fixedLimits } from '../../src/limits.ts'
import { build, type Server } from '../../src/server.ts'
import { defaultConfig, type Config } from '../../src/settings/config.ts'
import { temporaryFolder, testToken } from '../harness.ts'

describe('a sign-in link', () => {
  let now: number
  let app: FastifyInstance
  let signInCode: SignInCode
  let logged: string[]
  beforeEach(() => {
    now = 1_000_000
    logged = []
    const note = (details: object, message: string) =>
      void logged.push(JSON.stringify({ ...details, message }))
    signInCode = new SignInCode(() => now)
    app = fastify()
    addSignInRoute(app, {
      signInCode,
      lockout: new LocalLockout(3, () => now),
      audit: new Audit({ info: note, warn: note }),
      publicUrl: undefined,
    })
  })

  interface Sent {
    readonly peer?: string
    readonly headers?: Record<string, string>
    readonly body?: string
  }

  async function redeem(code: string, { peer = '127.0.0.1', headers, body }: Sent = {}) {
    const response = await app.inject({
      method: 'POST',
      url: '/console/sign-in',
      remoteAddress: peer,
      headers: { 'content-type': 'application/json', host: 'localhost:8181', ...headers },
      payload: body ?? JSON.stringify({ code }),
    })
    const { token, errors } = response.json<{
      token?: string
      errors?: { message: string }[]
    }>()
    return { response, http: response.statusCode, token, message: errors?.[0]?.message }
  }

  test('gives its token once', async () => {
    const code = signInCode.create('secret')
    const first = await redeem(code)
    assert.deepEqual([first.http, first.token], [200, 'secret'])
    assert.equal(first.response.headers['cache-control'], 'no-store')
    const second = await redeem(code)
    assert.deepEqual([second.http, second.token], [403, undefined])
    assert.match(second.message!, /was used before/)
  })

  test('expires', async () => {
    const code = signInCode.create('secret')
    now += fixedLimits.signInCodeMs
    const { http, token, message } = await redeem(code)
    assert.deepEqual([http, token], [403, undefined])
    assert.match(message!, /has expired/)
  })

  test('works until it expires, from any loopback address', async () => {
    for (const peer of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
      const code = signInCode.create('secret')
      now += fixedLimits.signInCodeMs - 1
      assert.equal((await redeem(code, { peer })).token, 'secret', peer)
    }
  })

  test('is replaced by a later link', async () => {
    const first = signInCode.create('secret')
    const second = signInCode.create('secret')
    assert.match((await redeem(first)).message!, /is wrong/)
    assert.equal((await redeem(second)).token, 'secret')
  })

  test('is rejected from other machines, whatever a header says, and stays valid', async () => {
    const code = signInCode.create('secret')
    for (const sent of [
      { peer: '192.168.1.2' },
      { peer: '::ffff:10.0.0.1' },
      { peer: '2001:db8::127.0.0.1' },
      { peer: '10.0.0.1', headers: { 'x-forwarded-for': '127.0.0.1' } },
      { headers: { 'x-forwarded-for': '127.0.0.1' } },
      { headers: { forwarded: 'for=10.0.0.1' } },
      { headers: { 'x-real-ip': '10.0.0.1' } },
    ]) {
      const { http, token, message } = await redeem(code, sent)
      assert.deepEqual([http, token], [403, undefined], JSON.stringify(sent))
      assert.match(message!, /on the machine of the server/)
    }
    assert.equal((await redeem(code)).token, 'secret')
  })

  test('is rejected from pages of other origins, and accepted from the own page', async () => {
    const code = signInCode.create('secret')
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:9999' },
      // DNS rebinding: the name of the page resolves to this machine.
      { origin: 'http://evil.example:8181', host: 'evil.example:8181' },
    ]) {
      const { http, token } = await redeem(code, { headers })
      assert.deepEqual([http, token], [403, undefined], JSON.stringify(headers))
    }
    const own = { origin: 'http://localhost:8181' }
    assert.equal((await redeem(code, { headers: own })).token, 'secret')
  })

  test('counts wrong codes like invalid tokens', async () => {
    const code = signInCode.create('secret')
    for (let attempt = 0; attempt < 3; attempt++) {
      const { http, message } = await redeem(`${code}x`)
      assert.equal(http, 403)
      assert.match(message!, /is wrong/)
    }
    const locked = await redeem(code)
    assert.equal(locked.http, 429)
    assert.match(locked.message!, /Try again in 1 s/)
    now += 1_000
    assert.equal((await redeem(code)).token, 'secret')
  })

  test('is never logged', async () => {
    const code = signInCode.create('secret')
    await redeem(code, { peer: '10.0.0.1' })
    await redeem(`${code}x`)
    await redeem(code)
    await redeem(code)
    assert(logged.length >= 2)
    for (const line of logged) assert(!line.includes(code) && !line.includes('secret'))
  })

  test('needs a JSON body with the code', async () => {
    signInCode.create('secret')
    for (const body of [
      '{',
      '[]',
      'null',
      '{}',
      '{"code": 1}',
      `{"code": "${'x'.repeat(2_000)}"}`,
    ])
      assert.equal((await redeem('', { body })).http, 400, body.slice(0, 20))
  })
})

describe('a server', () => {
  const running: Server[] = []
  let dataDir: string
  before(async () => {
    dataDir = await temporaryFolder()
  })
  after(() => Promise.all(running.map((server) => server.close())))

  async function listen(config: Partial<Config>) {
    const server = await build({
      ...defaultConfig,
      ...{ port: 0, adminPort: 'off', dataDir, durable: false, logLevel: 'silent' },
      ...config,
    })
    running.push(server)
    return server.listen()
  }

  async function stop(): Promise<void> {
    await running.pop()!.close()
  }

  test('offers a link for the first token, but not at later starts, which know no token', async () => {
    const { createSignInLink, firstToken, url } = await listen({})
    const [, base, code] = /^(.*)\/console#sign-in=([\w-]{32})$/.exec(createSignInLink!())!
    assert.equal(base, url)
    const response = await fetch(`${url}/console/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: url },
      body: JSON.stringify({ code }),
    })
    assert.deepEqual(await response.json(), { token: firstToken })
    await stop()
    assert.equal((await listen({})).createSignInLink, undefined)
    await stop()
  })

  test('offers a link for a configured token', async () => {
    assert((await listen({ adminToken: testToken })).createSignInLink !== undefined)
    await stop()
  })

  test('offers no link without a console', async () => {
    const config = { adminToken: testToken, console: false }
    const { createSignInLink, url } = await listen(config)
    assert.equal(createSignInLink, undefined)
    const { status } = await fetch(`${url}/console/sign-in`, { method: 'POST' })
    assert.equal(status, 404)
    await stop()
  })
})
