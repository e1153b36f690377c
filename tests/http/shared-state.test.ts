/**
 * Limits and turns in shared state that answers asynchronously. Requests must be admitted and
 * rejected as with local state, and servers that share the state must agree. Unreachable state must
 * cause an error and no other effect.
 */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, test, type TestContext } from 'node:test'
import { EngineError } from '../../src/engine/errors.ts'
import { defaultLimits } from '../../src/limits.ts'
import { defaultConfig, type Config } from '../../src/settings/config.ts'
import { openEmbedded } from '../engine/embedded/embedded-store.ts'
import { startServer, testToken, type Answer, type TestServer } from '../harness.ts'
import { headOf, openConnection, requestOf } from './raw-connection.ts'
import { RemoteState } from './remote-state.ts'

const books = '/default_keyspace/books'

const jsonHeaders = { Token: testToken, 'Content-Type': 'application/json' }

/** Texts of a body that arrives in several chunks and is parsed in several slices. */
const texts = Array<string>(40).fill('x'.repeat(5_000))

/** Two servers on one engine that share their limits and turns. */
interface Pair {
  readonly state: RemoteState
  readonly one: TestServer
  readonly two: TestServer
}

/** A client of another server, which takes parts of the shared limits. */
const other = { principalName: 'other', sharedConnection: undefined }

function insertOf(_id: string): string {
  return JSON.stringify({ insertOne: { document: { _id, texts } } })
}

/** Sends a body without Content-Length. */
function sendInChunks(server: TestServer, body: unknown, headers = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return server.send('/v1' + books, {
    method: 'POST',
    headers: { ...jsonHeaders, ...headers },
    body: new Blob([text]).stream(),
    duplex: 'half',
  } as RequestInit)
}

/** Starts two servers, and inserts one document. */
async function startPair(
  context: TestContext,
  config: Partial<Config> = {},
): Promise<Pair> {
  const { engine } = await openEmbedded(context)
  const alone = await startServer({}, engine)
  await alone.command('/default_keyspace', { createCollection: { name: 'books' } })
  await alone.command(books, { insertOne: { document: { _id: 'alien', read: 0 } } })
  await alone.close()
  const state = new RemoteState({ ...defaultConfig, ...config })
  const start = async () => {
    const server = await startServer({ checked: false, ...config }, engine, () => state)
    context.after(() => server.close())
    return server
  }
  return { state, one: await start(), two: await start() }
}

/** Waits until all amounts are released. If a request leaks an amount, the test times out. */
async function untilNothingIsHeld(state: RemoteState): Promise<void> {
  while (state.heldSum > 0) await nextTurn()
  // Requests that are still running may take an amount, which they must release too.
  for (let i = 0; i < 100; i++) await nextTurn()
  while (state.heldSum > 0) await nextTurn()
  assert.equal(state.heldSum, 0)
}

describe('state that servers share through a store', { timeout: 600_000 }, () => {
  test('is used by requests and replies of all kinds, and holds nothing after them', async (context) => {
    const { one, state } = await startPair(context, { compression: true })
    const long = await one.command(books, insertOf('announced'))
    assert.deepEqual(long.body.status, { insertedIds: ['announced'] })
    const packed = await one.send('/v1' + books, {
      method: 'POST',
      headers: { ...jsonHeaders, 'Content-Encoding': 'gzip' },
      body: gzipSync(insertOf('packed')),
    })
    assert.deepEqual(packed.body.status, { insertedIds: ['packed'] })
    const chunked = await sendInChunks(one, insertOf('chunked'))
    assert.deepEqual(chunked.body.status, { insertedIds: ['chunked'] })
    const found = await one.command(books, { find: {} })
    assert.equal(found.body.data!.documents!.length, 4)
    const updated = await one.command(books, {
      findOneAndUpdate: { filter: { _id: 'packed' }, update: { $set: { b: 1 } } },
    })
    assert.deepEqual(updated.body.status, { matchedCount: 1, modifiedCount: 1 })
    await untilNothingIsHeld(state)
    const unasked = Object.entries(state.ways).filter(([, { asked }]) => asked === 0)
    assert.deepEqual(
      unasked.map(([name]) => name),
      ['rateLimit'],
    )
  })

  test('limits the rate of a principal over all servers', async (context) => {
    const { one, two } = await startPair(context, { rateLimit: 0.001 })
    assert.equal((await one.command(books, { findOne: {} })).http, 200)
    const refused = await two.command(books, { findOne: {} })
    assert.equal(refused.http, 429)
    assert.deepEqual(refused.codes, ['RATE_LIMIT_EXCEEDED'])
    assert.equal(refused.headers.get('retry-after'), '1000')
  })

  test('rejects commands when other servers hold all capacity, until it is released', async (context) => {
    const { one, state } = await startPair(context)
    const { commandRoom } = state
    commandRoom.force(other, commandRoom.total)
    const refused = await one.command(books, { findOne: {} })
    assert.equal(refused.http, 503)
    assert.deepEqual(refused.codes, ['SERVER_OVERLOADED'])
    commandRoom.release(other, commandRoom.total)
    assert.equal((await one.command(books, { findOne: {} })).http, 200)
    await untilNothingIsHeld(state)
  })

  test('lets requests wait for memory until other servers release it', async (context) => {
    const { one, state } = await startPair(context)
    for (const part of ['bodyRoom', 'replyRoom', 'valueRoom'] as const) {
      const room = state[part]
      const way = state.ways[part]
      room.force(other, room.total)
      const before = way.asked
      const waiting = one.command(books, insertOf(part))
      // Bodies and replies ask twice: first without waiting, and then with waiting. Values only ask
      // with waiting.
      while (way.asked < before + (part === 'valueRoom' ? 1 : 2)) await nextTurn()
      room.release(other, room.total)
      assert.deepEqual((await waiting).body.status, { insertedIds: [part] })
      await untilNothingIsHeld(state)
    }
  })

  test('locks an address out of all servers', async (context) => {
    const { one, two } = await startPair(context, { badCredentialsMax: 2 })
    const guess = { Token: 'Cassandra:bm9ib2R5:Z3Vlc3M=' }
    const ask = (server: TestServer, headers?: Record<string, string>) =>
      server.command('', { findKeyspaces: {} }, headers)
    assert.deepEqual((await ask(one, guess)).codes, ['UNAUTHENTICATED_REQUEST'])
    assert.deepEqual((await ask(two, guess)).codes, ['UNAUTHENTICATED_REQUEST'])
    const locked = await ask(one, guess)
    assert.equal(locked.http, 429)
    assert.deepEqual(locked.codes, ['CREDENTIALS_LOCKED'])
  })

  test('makes changes of a document run one at a time across servers', async (context) => {
    // Each change has only one attempt. So if changes of a document did not take turns, a conflict
    // would make one fail.
    const { one, two } = await startPair(context, {
      limits: { ...defaultLimits, changeAttemptsMax: 1 },
    })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? one : two).command(books, {
          updateOne: { filter: { _id: 'alien' }, update: { $inc: { read: 1 } } },
        }),
      ),
    )
    assert.deepEqual(
      answers.flatMap(({ codes }) => codes),
      [],
    )
    const found = await two.command(books, { findOne: { filter: { _id: 'alien' } } })
    assert.deepEqual(found.body.data!.document, { _id: 'alien', read: 40 })
  })

  test('lets exactly one of several concurrent upserts insert a document', async (context) => {
    const { one, two } = await startPair(context)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? one : two).command(books, {
          updateOne: {
            filter: { title: 'Solaris' },
            update: { $inc: { read: 1 } },
            options: { upsert: true },
          },
        }),
      ),
    )
    const upserted = answers.filter(({ body }) => 'upsertedId' in body.status!)
    assert.equal(upserted.length, 1)
    const found = await one.command(books, {
      find: { filter: { title: 'Solaris' }, projection: { _id: 0 } },
    })
    assert.deepEqual(found.body.data!.documents, [{ title: 'Solaris', read: 20 }])
  })

  test('makes requests fail with UNAVAILABLE_DATABASE when a part of the state is unreachable', async (context) => {
    const { one, state } = await startPair(context, { rateLimit: 10_000 })
    await one.command(books, insertOf('large'))
    // Each request uses a new connection, so that the server must look up its principal.
    const send = (body: unknown) => sendInChunks(one, body, { Connection: 'close' })
    const find = { find: { filter: { _id: 'large' } } }
    const update = {
      updateOne: { filter: { _id: 'large' }, update: { $inc: { read: 1 } } },
    }
    for (const [part, way] of Object.entries(state.ways)) {
      // Clients whose token is not verified yet get errors without details about machines.
      const isUnknown = part === 'lockout'
      const problem = isUnknown
        ? /: the token could not be verified\./
        : /: node 7 is down\./
      let failures = 0
      for (const body of [insertOf(part), find, update])
        // Each round lets one more request to the shared state succeed before the failure. The last
        // round is the one without a failure.
        for (let after = 0; ; after++) {
          way.failAfter(after, new EngineError('unavailable', 'node 7 is down'))
          const answer = await send(body)
          if (!way.hasFailed) {
            assert.deepEqual(answer.codes, [], part)
            break
          }
          failures++
          assert.deepEqual(answer.codes, ['UNAVAILABLE_DATABASE'], part)
          assert.match(answer.body.errors![0]!.message, problem)
          assert.notEqual(answer.headers.get('x-request-id'), null)
          await untilNothingIsHeld(state)
        }
      assert(failures > 0, part)
      way.failAfter(0, new TypeError('it has no limits'))
      const bug = isUnknown ? 'UNAVAILABLE_DATABASE' : 'UNEXPECTED_SERVER_ERROR'
      assert.deepEqual((await send(update)).codes, [bug], part)
      way.failAfter(Infinity)
    }
    const parts = Object.keys(state.ways)
    const found = await one.command(books, { find: { projection: { read: 1 } } })
    const byId = ({ _id }: Record<string, unknown>) => String(_id)
    assert.deepEqual(
      found.body.data!.documents!.toSorted((a, b) => (byId(a) < byId(b) ? -1 : 1)),
      [
        { _id: 'alien', read: 0 },
        ...parts.map((_id) => ({ _id })),
        { _id: 'large', read: parts.length },
      ].toSorted((a, b) => (a._id < b._id ? -1 : 1)),
    )
    await untilNothingIsHeld(state)
  })

  test('hides from unauthenticated clients why a token cannot be looked up', async (context) => {
    const { one, state } = await startPair(context, { metrics: 'token', adminPort: 0 })
    for (const [kind, code] of [
      ['unreachable', 'FAILED_TO_CONNECT_TO_DATABASE'],
      ['unavailable', 'UNAVAILABLE_DATABASE'],
    ] as const) {
      state.ways.lockout.failAfter(0, new EngineError(kind, 'node 7 is down'))
      const metrics = await one.send('/metrics', { headers: { Token: testToken } })
      assert.equal(metrics.http, 500)
      assert.deepEqual(metrics.codes, [code])
      assert.match(metrics.body.errors![0]!.message, /: the token could not be verified\./)
    }
    for (const path of ['/v2/databases', '/v2/%zz']) {
      const managed = await fetch(one.adminUrl + path, {
        headers: { Authorization: `Bearer ${testToken}` },
      })
      assert.equal(managed.status, 503)
      assert.deepEqual(await managed.json(), {
        errors: [{ ID: 503, message: 'The token could not be verified.' }],
      })
    }
  })

  test('ends the wait for a turn at the deadline of the command', async (context) => {
    const { one, state } = await startPair(context, { commandTimeoutMs: 500 })
    const update = (filter: object, upsert = false) =>
      one.command(books, {
        updateOne: { filter, update: { $inc: { read: 1 } }, options: { upsert } },
      })
    state.ways.documentTurns.isDeaf = true
    const given = [{ _id: 'alien' }, { read: 0 }]
    for (const filter of given)
      assert.deepEqual((await update(filter)).codes, ['TIMEOUT_WRITING_DATA'])
    assert.deepEqual((await update({ read: 7 }, true)).codes, ['TIMEOUT_WRITING_DATA'])
    await untilNothingIsHeld(state)
  })

  test('holds nothing for a client that disconnects while a request is in flight', async (context) => {
    const { one, state } = await startPair(context, { rateLimit: 1_000_000 })
    const find = requestOf({ find: {} }, '/v1' + books)
    const growing = headOf(undefined, '/v1' + books) + '10000\r\n' + ' '.repeat(65_536)
    for (const request of [find, find.slice(0, -5), growing])
      for (let turns = 0; turns < 40; turns++) {
        const socket = await openConnection(one.url)
        socket.write(request)
        for (let i = 0; i < turns; i++) await nextTurn()
        socket.destroy()
      }
    await one.command(books, { findOne: {} })
    await untilNothingIsHeld(state)
  })
})
