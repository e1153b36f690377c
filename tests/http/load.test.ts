/** Overload: which requests the server rejects, and how it recovers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Config } from '../../src/settings/config.ts'
import { LocalRateLimit } from '../../src/http/local-rate-limit.ts'
import { startServer, type Answer, type TestServer } from '../harness.ts'
import { lettersCollection, PatientProvider } from './patient-provider.ts'
import {
  headOf,
  openConnection,
  readReply,
  readUntil,
  requestOf,
} from './raw-connection.ts'

let server: TestServer
let provider: PatientProvider
const sockets: Socket[] = []

beforeEach(async () => {
  provider = await PatientProvider.start()
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  provider.answerAll()
  await server.close()
  await provider.close()
})

async function start(config: Partial<Config>): Promise<void> {
  server = await startServer({ providers: provider.settings, ...config })
  const created = await server.command('/default_keyspace', {
    createCollection: lettersCollection,
  })
  assert.deepEqual(created.body, { status: { ok: 1 } })
}

/**
 * Starts a server with a command timeout. An earlier server without a timeout creates the
 * collection, because a busy machine might exceed the timeout.
 */
async function startWithTimeout(commandTimeoutMs: number): Promise<void> {
  await start({})
  await server.stop()
  const { dataDir } = server
  server = await startServer({ providers: provider.settings, dataDir, commandTimeoutMs })
}

/** A command that runs until the test lets the provider answer. */
function insertSlowly(_id: number): Promise<Answer> {
  const document = { _id, $vectorize: `text ${_id}` }
  return server.command('/default_keyspace/letters', { insertOne: { document } })
}

function findSlowly(): Promise<Answer> {
  const sort = { $vectorize: 'a text' }
  return server.command('/default_keyspace/letters', { find: { sort } })
}

/**
 * The reply to a command that times out while it waits for the provider. On a busy machine the
 * command may time out before it calls the provider. Then it is sent again.
 */
async function outOfTime(send: () => Promise<Answer>): Promise<Answer> {
  const before = provider.requests
  let answer = await send()
  while (provider.requests === before) answer = await send()
  return answer
}

function findKeyspaces(headers: Record<string, string> = {}): Promise<Answer> {
  return server.command('', { findKeyspaces: {} }, headers)
}

async function scrape(): Promise<string> {
  return (await server.send('/metrics', {})).text
}

async function open(): Promise<Socket> {
  const socket = await openConnection(server.url)
  sockets.push(socket)
  return socket
}

/**
 * Sends the command until it is not rejected for load. An earlier command counts until the server
 * knows that its reply was sent, which may be after the client has read it.
 */
async function afterOthers(send: () => Promise<Answer>): Promise<Answer> {
  let answer = await send()
  while (answer.codes[0] === 'SERVER_OVERLOADED') answer = await send()
  return answer
}

function assertOverloaded(answer: Answer): void {
  assert.equal(answer.http, 503)
  assert.deepEqual(answer.codes, ['SERVER_OVERLOADED'])
  assert.equal(answer.body.errors![0]!.family, 'SERVER')
  assert.equal(answer.headers.get('retry-after'), '1')
  assert(answer.headers.get('x-request-id') !== null)
}

describe('commands up to the limit', () => {
  test('are served, and one more is rejected until one of them ends', async () => {
    await start({ commandsMax: 3 })
    const running = [1, 2, 3].map(insertSlowly)
    await provider.asked(3)
    assertOverloaded(await findKeyspaces())
    // A server that is overloaded does not parse bodies, so it does not notice the invalid JSON.
    assertOverloaded(await server.command('/nowhere', '{"not": json'))
    assert.deepEqual((await server.send('/v1', { method: 'POST' })).codes, [
      'MISSING_AUTHENTICATION_TOKEN',
    ])
    assert.match(await scrape(), /^stela_commands_refused_total\{reason="overloaded"\} 2$/m)
    assert.equal((await server.send('/stargate/health', {})).http, 200)

    provider.answerAll()
    for (const answer of await Promise.all(running)) assert.deepEqual(answer.codes, [])
    const again = [4, 5].map((_id) => afterOthers(() => insertSlowly(_id)))
    await provider.asked(2)
    assert.equal((await afterOthers(findKeyspaces)).http, 200)
    provider.answerAll()
    await Promise.all(again)
  })

  test('are served on a connection whose earlier request was rejected', async () => {
    await start({ commandsMax: 1 })
    const running = insertSlowly(1)
    await provider.asked(1)
    const socket = await open()
    socket.write(requestOf({ find: 'x'.repeat(200_000) }))
    await readUntil(socket, 'SERVER_OVERLOADED')
    provider.answerAll()
    await running
    const send = async () => {
      socket.write(requestOf({ findKeyspaces: {} }))
      return readReply(socket)
    }
    let reply = await send()
    while (reply.includes('SERVER_OVERLOADED')) reply = await send()
    assert.match(reply, /default_keyspace/)
  })

  test('do not include requests whose bodies have not arrived completely', async () => {
    await start({ commandsMax: 1 })
    const body = `{"findKeyspaces": {}}${' '.repeat(100)}`
    const half = headOf(body.length) + body.slice(0, -50)
    const arriving = await Promise.all(Array.from({ length: 20 }, () => open()))
    for (const socket of arriving) socket.write(half)
    assert.equal((await findKeyspaces()).http, 200)

    // The limit applies when the body is complete. Here one command already runs, so the request is
    // rejected.
    const running = afterOthers(() => insertSlowly(1))
    await provider.asked(1)
    arriving[0]!.write(' '.repeat(50))
    await readUntil(arriving[0]!, 'SERVER_OVERLOADED')
    provider.answerAll()
    await running
    // Until the server knows that the reply of the earlier command was sent, it may reject some of
    // these requests.
    for (const socket of arriving.slice(1)) {
      socket.write(' '.repeat(50))
      const reply = await readReply(socket)
      if (reply.includes('default_keyspace')) return
      assert.match(reply, /SERVER_OVERLOADED/)
    }
    assert.fail('none of them is served')
  })

  test('are served during a burst of requests, and rejected inserts are not executed', async () => {
    await start({ commandsMax: 4, durable: false })
    await server.command('/default_keyspace', { createCollection: { name: 'rush' } })
    const insert = (_id: number) =>
      server.command('/default_keyspace/rush', { insertOne: { document: { _id } } })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => insert(i)))
    const done = answers.filter(({ http }) => http === 200)
    for (const answer of done) assert.deepEqual(answer.codes, [])
    for (const answer of answers) if (answer.http !== 200) assertOverloaded(answer)
    // Not every completed insert makes room at once, because a command counts until the server
    // knows that its reply was sent. So the limit of four commands guarantees only three successes.
    assert(done.length >= 3)
    const { body } = await server.command('/default_keyspace/rush', { countDocuments: {} })
    assert.deepEqual(body, { status: { count: done.length } })
  })

  test('count until their replies are read or their clients are disconnected', async () => {
    await start({ commandsMax: 2, durable: false })
    const long = '/default_keyspace/long'
    await server.command('/default_keyspace', {
      createCollection: { name: 'long', options: { indexing: { deny: ['text'] } } },
    })
    for (let _id = 0; _id < 4; _id++) {
      const document = { _id, text: 'x'.repeat(3_000_000) }
      await server.command(long, { insertOne: { document } })
    }
    /**
     * Sends a find without reading its reply. Waits until the find runs, because a later find could
     * otherwise start first.
     */
    const findUnread = async (n: number) => {
      const socket = await open()
      socket.pause()
      socket.write(requestOf({ find: {} }, `/v1${long}`))
      const inFlight = `stela_http_requests_in_flight ${n + 1}\n`
      while (!(await scrape()).includes(inFlight));
      return socket
    }
    const untilFound = async (http: number) => {
      while ((await findKeyspaces()).http !== http);
    }
    // While both finds run, other commands are rejected. After the client has read one reply, other
    // commands are served.
    const slow = [await findUnread(1), await findUnread(2)]
    await untilFound(503)
    await readReply(slow[0]!)
    await untilFound(200)
    // The server disconnects clients that do not read within the reply timeout, and then serves
    // other commands.
    await server.stop()
    const { dataDir } = server
    server = await startServer({ dataDir, commandsMax: 2, replyTimeoutMs: 300 })
    const deaf = [await findUnread(1), await findUnread(2)]
    const closed = deaf.map((socket) => once(socket, 'close'))
    while (!/^stela_replies_unread_total 2$/m.test(await scrape()));
    await untilFound(200)
    for (const socket of deaf) socket.resume()
    await Promise.all(closed)
  })
})

describe('connections up to the limit', () => {
  test('are served, and further connections are closed until an open one ends', async () => {
    await start({ connectionsMax: 0 })
    await server.stop()
    server = await startServer({ dataDir: server.dataDir, connectionsMax: 3 })
    const three = [await open(), await open(), await open()]
    const fourth = await open()
    await once(fourth.resume(), 'close')
    for (const socket of three) {
      socket.write(requestOf({ findKeyspaces: {} }))
      await readUntil(socket, 'default_keyspace')
    }
    three[0]!.destroy()
    // Connects repeatedly, because the server may notice late that the client has closed a
    // connection.
    let text = ''
    for (let i = 0; i < 1_000 && text === ''; i++) {
      const socket = await open()
      socket.write(requestOf({ findKeyspaces: {} }))
      text = await readUntil(socket, 'default_keyspace').catch(() => '')
    }
    assert.match(text, /200 OK/)
  })
})

describe('a long command', () => {
  test('is aborted at its timeout, and a read reports that nothing was changed', async () => {
    await startWithTimeout(150)
    const answer = await outOfTime(findSlowly)
    assert.equal(answer.http, 200)
    assert.deepEqual(answer.codes, ['TIMEOUT_READING_DATA'])
    const [error] = answer.body.errors!
    assert.equal(error!.family, 'SERVER')
    assert.equal(error!.scope, 'DATABASE')
    assert.match(error!.message, /^find on default_keyspace\.letters .* 0\.15 s/)
    await provider.left(1)
  })

  test('that exceeds its timeout reports that its writes may have been stored', async () => {
    await startWithTimeout(150)
    const answer = await outOfTime(() => insertSlowly(1))
    assert.deepEqual(answer.codes, ['TIMEOUT_WRITING_DATA'])
    assert.match(answer.body.errors![0]!.message, /may have been written, and they remain/)
    await provider.left(1)
    // Restarts the server without a timeout, which a busy machine might exceed.
    await server.stop()
    server = await startServer({ dataDir: server.dataDir })
    const letters = '/default_keyspace/letters'
    const { body } = await server.command(letters, { countDocuments: {} })
    assert.deepEqual(body, { status: { count: 0 } })
  })

  test('that exceeds its timeout leaves its connection usable for later commands', async () => {
    await startWithTimeout(150)
    const socket = await open()
    const letters = '/v1/default_keyspace/letters'
    const slow = requestOf({ find: { sort: { $vectorize: 'a' } } }, letters)
    const timesOut = async () =>
      assert.match(await readReply(socket), /"TIMEOUT_READING_DATA"/)
    /** Asserts that a find succeeds. Retries, because a busy machine may exceed the timeout. */
    const finds = async () => {
      let text: string
      do {
        socket.write(requestOf({ find: {} }, letters))
        text = await readReply(socket)
      } while (text.includes('"TIMEOUT_READING_DATA"'))
      assert.match(text, /"documents":\[\]/)
    }
    for (let i = 0; i < 2; i++) {
      socket.write(slow)
      await timesOut()
      await finds()
    }
    // After the first of two pipelined commands has timed out, the second one times out too, and
    // the connection stays usable.
    socket.write(slow + slow)
    await timesOut()
    await timesOut()
    await finds()
  })

  test('is aborted at its timeout even during a read of the store', async () => {
    await start({ durable: false })
    const books = '/default_keyspace/books'
    await server.command('/default_keyspace', { createCollection: { name: 'books' } })
    for (let i = 0; i < 60; i++) {
      const documents = Array.from({ length: 100 }, (_, n) => ({ n, text: `${i} ${n}` }))
      await server.command(books, { insertMany: { documents } })
    }
    await server.stop()
    server = await startServer({ dataDir: server.dataDir, commandTimeoutMs: 1 })
    const long = { find: { filter: { $not: { text: { $gte: '' } } } } }
    const answer = await server.command(books, long)
    assert.deepEqual(answer.codes, ['TIMEOUT_READING_DATA'])

    // The timeout may fire before the write starts. Once it has started, the server waits for it,
    // however long it takes.
    const documents = Array.from({ length: 100 }, (_, i) => ({ _id: i }))
    const written = await server.command(books, { insertMany: { documents } })
    const isDone = written.codes.length === 0
    if (!isDone) assert.match(written.codes.join(), /^TIMEOUT_(?:READING|WRITING)_DATA$/)
    await server.stop()
    server = await startServer({ dataDir: server.dataDir })
    const filter = { _id: { $in: documents.map(({ _id }) => _id) } }
    const { body } = await server.command(books, { countDocuments: { filter } })
    assert.deepEqual(body.status, { count: isDone ? 100 : 0 })
  })

  test('runs to its end when there is no timeout', async () => {
    await start({ commandTimeoutMs: 0 })
    const running = insertSlowly(1)
    await provider.asked(1)
    provider.answerAll()
    assert.deepEqual((await running).codes, [])
  })

  test('that exceeds its timeout counts as a server error, unless its client disconnects first', async () => {
    await startWithTimeout(1_000)
    await outOfTime(findSlowly)
    await provider.left(1)
    const socket = await open()
    const slow = { findOne: { sort: { $vectorize: 'a' } } }
    socket.write(requestOf(slow, '/v1/default_keyspace/letters'))
    await provider.asked(1)
    socket.destroy()
    await provider.left(2)
    const metrics = await scrape()
    assert.match(metrics, /\{command="find",outcome="server_error"\} [1-9]/)
    assert.match(metrics, /\{command="findOne",outcome="client_left"\} 1/)
    assert.doesNotMatch(metrics, /\{command="findOne",outcome="server_error"\}/)
  })
})

describe('a rate limit of commands', () => {
  test('rejects commands of a token that exceeds it, and no commands of other tokens', async () => {
    const account = { name: 'ann', password: 'secret' }
    const ann = { Token: `Cassandra:${btoa('ann')}:${btoa('secret')}` }
    await start({ rateLimit: 2, accounts: [account] })
    // Creating the collection already counts as one command of the rate limit.
    let refused: Answer | undefined
    for (let i = 0; i < 50 && refused === undefined; i++) {
      const answer = await findKeyspaces()
      if (answer.http !== 200) refused = answer
    }
    assert(refused !== undefined)
    assert.equal(refused.http, 429)
    assert.deepEqual(refused.codes, ['RATE_LIMIT_EXCEEDED'])
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.match(refused.body.errors![0]!.message, /2 commands per second/)
    assert.equal((await findKeyspaces(ann)).http, 200)
    assert.deepEqual((await findKeyspaces({ Token: 'wrong' })).codes, [
      'UNAUTHENTICATED_REQUEST',
    ])
    assert.match(
      await scrape(),
      /^stela_commands_refused_total\{reason="rate_limited"\} [1-9]/m,
    )
    assert.equal((await server.send('/stargate/health', {})).http, 200)
  })

  test('allows a burst of the commands of one second, and then the rate', () => {
    const limit = new LocalRateLimit(10)
    let now = 1_000
    const burst = (count: number) =>
      Array.from({ length: count }, () => limit.take('ann', now)).filter((s) => s === 0)
    assert.equal(burst(30).length, 10)
    assert.equal(limit.take('bob', now), 0)
    now += 100
    assert.equal(burst(5).length, 1)
    now += 450
    assert.equal(burst(10).length, 4)
    now += 3_600_000
    assert.equal(burst(30).length, 10)
  })

  test('states the seconds until the next command is allowed', () => {
    const limit = new LocalRateLimit(1)
    assert.equal(limit.take('ann', 0), 0)
    assert.equal(limit.take('ann', 0), 1)
    assert.equal(limit.take('ann', 999), 1)
    assert.equal(limit.take('ann', 1_000), 0)
  })

  test('takes bounded memory for any number of principals', () => {
    const limit = new LocalRateLimit(1)
    for (let i = 0; i < 250_000; i++) assert.equal(limit.take(`token ${i}`, 0), 0)
    // The limit remembers the latest principals, and evicts the earliest ones.
    assert.equal(limit.take('token 249999', 0), 1)
    assert.equal(limit.take('token 0', 0), 0)
  })
})
