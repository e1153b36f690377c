import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { hostname } from 'node:os'
import {
  defaultRetryPolicy,
  ProviderCaller,
  type ProviderCall,
  type RetryPolicy,
} from '../../src/providers/provider-call.ts'
import type { ProviderAddress } from '../../src/providers/provider-url.ts'
import { FakeProvider } from './fake-provider.ts'

const hasty: RetryPolicy = {
  timeoutMs: 250,
  retriesMax: 3,
  firstPauseMs: 1,
  pauseMaxMs: 4,
  jitter: 0.5,
}

const patient: RetryPolicy = { ...hasty, timeoutMs: 10_000 }

const chosenAt = (url: string): ProviderAddress => ({
  url: new URL(url),
  isChosen: true,
  isGuarded: false,
})
const guardedAt = (url: string): ProviderAddress => ({ ...chosenAt(url), isGuarded: true })

describe('a call to a provider', async () => {
  const fake = await FakeProvider.start()
  const logged: string[] = []
  const caller = new ProviderCaller(
    (level, message) => void logged.push(`${level} ${message}`),
  )
  after(() => caller.close())

  const callTo = (url: string, more: Partial<ProviderCall> = {}): ProviderCall => ({
    address: { url: new URL(url), isChosen: false, isGuarded: false },
    headers: {},
    body: '{}',
    replySizeMax: 1_000,
    ...more,
  })
  const call = (
    patience: RetryPolicy,
    more: Partial<ProviderCall> = {},
    signal = new AbortController().signal,
  ) => caller.call(callTo(fake.url, more), patience, signal)

  /**
   * Makes calls to a provider that never answers. On a busy machine, an attempt may time out before
   * the provider receives it. Then the calls are repeated.
   */
  async function untilHeard(callInVain: () => Promise<void>): Promise<void> {
    do {
      fake.answers('silence')
      await callInVain()
    } while (fake.asked.length <= hasty.retriesMax)
  }

  test('returns the status, the content type and the text of the answer', async () => {
    fake.answers({ status: 418, contentType: 'text/plain', body: 'short and stout' })
    assert.deepEqual(await call(patient), {
      kind: 'reply',
      status: 418,
      contentType: 'text/plain',
      text: 'short and stout',
    })
    assert.equal(fake.asked.length, 1)
  })

  test('is retried after a timeout, up to a maximum', async () => {
    await untilHeard(async () =>
      assert.deepEqual(await call(hasty), { kind: 'timeout', timeoutMs: 250 }),
    )
    assert.equal(fake.asked.length, 1 + hasty.retriesMax)
  })

  for (const status of [408, 504])
    test(`is retried after status ${status}`, async () => {
      let times = 0
      fake.answers(() => (++times < 3 ? { status, body: {} } : { body: { done: true } }))
      const outcome = await call(patient)
      assert(outcome.kind === 'reply')
      assert.equal(outcome.text, '{"done":true}')
      assert.equal(fake.asked.length, 3)
    })

  for (const status of [400, 401, 404, 429, 500, 502, 503])
    test(`is not retried after status ${status}`, async () => {
      fake.answers({ status, body: {} })
      const outcome = await call(patient)
      assert(outcome.kind === 'reply')
      assert.equal(outcome.status, status)
      assert.equal(fake.asked.length, 1)
    })

  test('does not follow redirects', async () => {
    fake.answers({ status: 307, headers: { location: `${fake.url}/elsewhere` }, body: '' })
    const outcome = await call(patient)
    assert(outcome.kind === 'reply')
    assert.equal(outcome.status, 307)
    assert.equal(fake.asked.length, 1)
  })

  test('rejects an answer that is too large', async () => {
    fake.answers({ body: 'x'.repeat(1_001) })
    assert.deepEqual(await call(patient), { kind: 'too large', sizeMax: 1_000 })
    fake.answers({ body: 'x'.repeat(1_000) })
    assert.equal((await call(patient)).kind, 'reply')
  })

  for (const answer of ['hang up', 'half an answer'] as const)
    test(`fails after one attempt when the provider sends this answer: ${answer}`, async () => {
      const fresh = new ProviderCaller()
      fake.answers(answer)
      const outcome = await fresh.call(
        callTo(fake.url),
        patient,
        new AbortController().signal,
      )
      assert.equal(outcome.kind, 'no reply')
      assert.equal(fake.asked.length, 1)
      fresh.close()
    })

  test('succeeds after the provider closed an idle keep-alive connection', async () => {
    fake.answers({ body: {} })
    await call(patient)
    let times = 0
    fake.answers(() => (++times === 1 ? 'hang up' : { body: {} }))
    assert.equal((await call(patient)).kind, 'reply')
    assert.equal(fake.asked.length, 2)
  })

  test('reports an unknown host, and names it in the log only', async () => {
    for (let i = 0; i < 3; i++) {
      const outcome = await caller.call(
        callTo('http://nowhere.invalid'),
        patient,
        new AbortController().signal,
      )
      assert(outcome.kind === 'bad host')
      assert(!outcome.problem.includes('nowhere'))
    }
    const [line, ...others] = logged.splice(0)
    assert.match(line!, /nowhere\.invalid cannot be reached: .*ENOTFOUND|EAI_AGAIN/)
    assert.deepEqual(others, [])
  })

  test('reports a refused connection, and names the address in the log only', async () => {
    const gone = await FakeProvider.start()
    const { url } = gone
    await gone.stop()
    const outcome = await caller.call(callTo(url), patient, new AbortController().signal)
    assert(outcome.kind === 'no reply')
    assert(!outcome.problem.includes('127.0.0.1'))
    const [line, ...others] = logged.splice(0)
    assert.match(
      line!,
      /^warn The provider at 127\.0\.0\.1:\d+ cannot be reached: .*REFUSED/,
    )
    assert.deepEqual(others, [])
  })

  test('is not sent with invalid headers', async () => {
    fake.answers({ body: {} })
    const outcome = await call(patient, { headers: { authorization: 'a\r\nb: c' } })
    assert.equal(outcome.kind, 'not sent')
    assert.equal(fake.asked.length, 0)
  })

  test('is aborted by its signal without a further attempt', async () => {
    fake.answers('silence')
    const abort = new AbortController()
    const outcome = call(patient, {}, abort.signal)
    while (fake.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    abort.abort()
    await assert.rejects(outcome, { name: 'AbortError' })
    assert.equal(fake.asked.length, 1)
  })

  test('is aborted by its signal during a pause between attempts', async () => {
    fake.answers({ status: 504, body: {} })
    const abort = new AbortController()
    const pausing = { ...patient, firstPauseMs: 600_000, pauseMaxMs: 600_000 }
    const outcome = call(pausing, {}, abort.signal)
    while (fake.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await new Promise((resolve) => setTimeout(resolve, 20))
    abort.abort()
    await assert.rejects(outcome, { name: 'AbortError' })
    assert.equal(fake.asked.length, 1)
  })

  test('is not started after its signal was aborted', async () => {
    fake.answers({ body: {} })
    await assert.rejects(call(patient, {}, AbortSignal.abort()), { name: 'AbortError' })
    assert.equal(fake.asked.length, 0)
  })

  test('connects to no private address when the address of the provider must be public', async () => {
    fake.answers({ body: {} })
    const port = new URL(fake.url).port
    for (const host of ['127.0.0.1', 'localhost', 'a.localhost', '[::1]', hostname()]) {
      const url = new URL(`http://${host}:${port}`)
      const outcome = await caller.call(
        callTo(fake.url, { address: { url, isChosen: true, isGuarded: true } }),
        patient,
        new AbortController().signal,
      )
      assert.equal(outcome.kind, 'bad host', host)
    }
    assert.equal(fake.asked.length, 0)
  })

  test('that fails at an address chosen by a collection always has the same error', async (context) => {
    const gone = await FakeProvider.start()
    const goneUrl = gone.url
    await gone.stop()
    const listen = async (act: (socket: Socket) => void): Promise<string> => {
      const sockets: Socket[] = []
      const server = createServer((socket) => {
        sockets.push(socket.on('error', () => undefined))
        act(socket)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      context.after(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    }
    const addresses: Record<string, ProviderAddress> = {
      'a name that leads to a private address': guardedAt(`http://${hostname()}:1`),
      'a private address': guardedAt('http://10.0.0.1:1'),
      'a name that leads nowhere': guardedAt('http://nowhere.invalid:1'),
      'the same, unguarded': chosenAt('http://nowhere.invalid:1'),
      'a port that nobody listens on': chosenAt(goneUrl),
      'something that is not HTTP': chosenAt(
        await listen((socket) => socket.end('+OK who are you\r\n')),
      ),
      'something that does not speak TLS': chosenAt(fake.url.replace('http:', 'https:')),
      'something that says nothing': chosenAt(await listen(() => undefined)),
    }
    const problems = new Set<string>()
    for (const [what, address] of Object.entries(addresses)) {
      const outcome = await caller.call(
        callTo(fake.url, { address }),
        { ...hasty, retriesMax: 1 },
        new AbortController().signal,
      )
      assert(outcome.kind === 'bad host', `${what}: ${outcome.kind}`)
      assert(outcome.problem.includes(address.url.host), what)
      problems.add(outcome.problem.replace(address.url.host, '<host>'))
    }
    assert.equal(problems.size, 1, [...problems].join('\n'))
    await untilHeard(async () => {
      const silent = await caller.call(
        callTo(fake.url, { address: chosenAt(fake.url) }),
        hasty,
        new AbortController().signal,
      )
      assert.equal(silent.kind, 'bad host')
    })
    assert.equal(fake.asked.length, 1 + hasty.retriesMax, 'whoever listens is asked again')
    assert.deepEqual(logged, [], 'callers cannot fill the log')
  })

  test('shares a bounded number of connections', async () => {
    fake.answers({ body: {}, afterMs: 20 })
    await Promise.all(Array.from({ length: 40 }, () => call(patient)))
    assert.equal(fake.asked.length, 40)
    assert(fake.runningMost <= 16, `${fake.runningMost} at once`)
  })

  test('uses the retry policy of the reference server', () => {
    assert.deepEqual(defaultRetryPolicy, {
      timeoutMs: 5_000,
      retriesMax: 3,
      firstPauseMs: 100,
      pauseMaxMs: 500,
      jitter: 0.5,
    })
  })
})
